// Standard output that may be closed, Ctrl-C, and a line of progress.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <string_view>

namespace ouro::cli {

// Writes to standard output at once. A closed pipe is no error: the text is dropped.
void print(std::string_view text);
// Whether a reader of standard output went away.
[[nodiscard]] bool output_closed();
// What else went wrong with standard output; empty if nothing.
[[nodiscard]] std::string output_error();

[[nodiscard]] bool stdout_is_terminal();
[[nodiscard]] bool stderr_is_terminal();

// From here on the first Ctrl-C only sets interrupted(); the second kills, as usual.
void catch_interrupt();
// The same for the signals that ask a process to end.
void catch_termination();
[[nodiscard]] const std::atomic<bool>& interrupted();
// The Ctrl-C so far did what it was for; the next one is for what comes now.
void forget_interrupt();

enum class OnInterrupt { Wait, Abandon };

// Runs `work` on another thread. If standard error is a terminal, shows `what` and the time from
// the first second on, and erases it at the end. Exceptions of `work` come out here.
//
// With Abandon an interrupt leaves `work` behind and returns false: then `work` must own what it
// touches, and the process must end by leave(). Otherwise true.
bool watched(const std::string& what, OnInterrupt on_interrupt, std::function<void()> work);

// The same for work that goes through stages, and is waited for: it says what it is at, whenever
// that changes, by calling what it is given.
using TellStage = std::function<void(std::string what)>;
void watched_in_stages(std::function<void(const TellStage&)> work);

// Ends the process without waiting for work left behind.
[[noreturn]] void leave(int status);

}  // namespace ouro::cli
