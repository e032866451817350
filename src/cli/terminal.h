// Standard output and standard error, which may be closed; Ctrl-C; and a line that shows progress.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace ouro::cli {

// Writes to standard output without a buffer. After an error, all further text is dropped.
void print(std::string_view text);
// Writes all of `text` to a file descriptor, whatever signals interrupt that. Returns the error
// that kept it from doing so, or zero.
int write_all(int file, std::string_view text);
// Whether standard output is a pipe that was closed. That is no error: nobody wants to read more.
[[nodiscard]] bool output_closed();
// What else went wrong with standard output; empty if nothing.
[[nodiscard]] std::string output_error();

// Writes to standard error without a buffer. What cannot be written is dropped: a verdict must not
// be lost because nobody listens to messages.
void print_error(std::string_view text);

[[nodiscard]] bool stdout_is_terminal();
[[nodiscard]] bool stderr_is_terminal();

// From now on the first Ctrl-C only sets interrupted(); the second one kills the process. However
// it is killed by that or by the signals below, no half-written file stays.
void catch_interrupt();
// The same for the signals that ask a process to end (SIGTERM, SIGHUP).
void catch_termination();
[[nodiscard]] const std::atomic<bool>& interrupted();
// Clears interrupted(), when what the Ctrl-C was meant for has ended.
void forget_interrupt();

// Runs `work` on another thread and waits for it. If standard error is a terminal and the work
// takes more than a second, shows `what` and the time meanwhile. Throws what `work` throws.
void watched(const std::string& what, std::function<void()> work);

// The same, but asks every few milliseconds whether to stop. If so, returns false at once, while
// `work` goes on; then `work` must own what it uses, and the process ends by leave(), see
// work_left_behind().
bool watched(const std::string& what, const std::function<bool()>& stop,
             std::function<void()> work);
// Whether work goes on that nobody waits for.
[[nodiscard]] bool work_left_behind();

// The same for work in stages that is waited for: `work` calls the function it is given to say what
// it does from then on, and what is to be printed at once, if anything.
using TellStage = std::function<void(std::string what, std::string printed)>;
void watched_in_stages(std::function<void(const TellStage&)> work);

// Keeps something alive until the process ends, since to free it would take long for nothing.
void keep_until_exit(std::shared_ptr<const void> what);

// Ends the process without waiting for work left behind.
[[noreturn]] void leave(int status);

}  // namespace ouro::cli
