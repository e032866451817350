// Starts a program that never outlives us, nor does anything that it starts in turn.
//
// Between us and the program stands a supervisor, a fork of this process that only waits. When the
// program ends, or when we end for whatever reason (the kernel then closes our end of the pipe to
// the supervisor), the supervisor kills everything that the program left behind and ends. Orphans
// become children of the supervisor, so it also finds daemons that put themselves into sessions of
// their own. If the supervisor is killed first, the kernel kills the program.
//
// Thread safety: one Process belongs to one thread at a time.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/temporary_folder.h"
#include "ouro/result.h"

namespace ouro::db {

struct Program {
  std::vector<std::string> words;  // The path of the program, then its arguments.
  // The user to run as if we are root, since servers refuse to run as root. Ignored if we are not.
  std::string user;
  std::filesystem::path directory = "/";       // The working directory.
  std::filesystem::path log;                   // Its output is appended here. Empty: discarded.
  std::vector<std::filesystem::path> scratch;  // Removed by the supervisor if we are killed.
  // Descriptors of ours that become its standard input and output. -1: it has nothing to read, and
  // its output goes to the log.
  int input = -1;
  int output = -1;
  // Whether it gets our environment and file mode mask, as programs of the user should. Servers get
  // a small environment that is always the same.
  bool our_environment = false;
};

class Process {
 public:
  // Returns once the program was executed. Fails if the user is unknown or it cannot be executed.
  static Result<Process> start(const Program& program);

  Process() = default;
  Process(Process&& other) noexcept { *this = std::move(other); }
  Process& operator=(Process&& other) noexcept;
  ~Process() { kill(); }

  [[nodiscard]] pid_t pid() const { return program_; }
  [[nodiscard]] bool running();
  // The exit status, 128 + n if signal n ended it; nothing if it still runs after `limit`.
  std::optional<int> wait(std::chrono::milliseconds limit);

  // Sends a signal to the program alone.
  void signal(int number);
  // Suspends (SIGSTOP) or continues (SIGCONT) the program and everything it started.
  void pause();
  void resume();
  // Kills the program and everything it started (SIGKILL); returns when nothing of it is left.
  void kill();
  // Asks the program with `signal_number` to end; kills it if it does not within `patience`.
  void stop(int signal_number, std::chrono::milliseconds patience);

 private:
  pid_t supervisor_ = -1;  // -1: not started, or ended and waited for.
  pid_t program_ = -1;
  int control_ = -1;  // Our end of the pipe to the supervisor.
  int status_ = -1;   // The exit status once the program ended.
};

// Runs `program` to its end. Fails with the last lines it printed if its status is not zero, or if
// it takes longer than `limit`, or as soon as `cancelled` turns true.
Status run_program(const Program& program, std::chrono::milliseconds limit,
                   const std::atomic<bool>* cancelled = nullptr);

// The last lines of a file, joined by "; " for a message of one line.
std::string last_lines(const std::filesystem::path& file, std::size_t count);
// The first lines of a server's log that call themselves errors; the last lines if none does.
std::string complaints(const std::filesystem::path& log);

// A new folder with a path short enough for Unix sockets. It belongs to `user` if we are root, else
// to us, and nobody else can read it.
Result<TemporaryFolder> make_scratch(const std::string& user);

// A port of 127.0.0.1 that nobody listens on. Calls of one process get different ports (until
// 15,000 were tried).
Result<int> free_port();

}  // namespace ouro::db
