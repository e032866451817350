// A program that we start and that never outlives us, with everything it starts in turn.
//
// Between us and the program stands a supervisor, a fork of ours that does nothing but wait. When
// the program ends, or when we vanish for whatever reason (the kernel then closes our end of the
// pipe between us), the supervisor kills what the program left behind and ends. It adopts orphans,
// so daemons that put themselves into sessions of their own are found, too. Should the supervisor
// be killed first, the kernel kills the program.
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

#include "ouro/result.h"

namespace ouro::db {

struct Program {
  std::vector<std::string> words;  // The first one is the path.
  // Whom it runs as if we are root; else it runs as us. Servers refuse to run as root.
  std::string user;
  std::filesystem::path directory = "/";       // Where it runs.
  std::filesystem::path log;                   // Where its output is appended. Empty: nowhere.
  std::vector<std::filesystem::path> scratch;  // Removed by the supervisor if we vanish.
};

class Process {
 public:
  // Fails if the user is unknown or the program cannot be executed.
  static Result<Process> start(const Program& program);

  Process() = default;
  Process(Process&& other) noexcept { *this = std::move(other); }
  Process& operator=(Process&& other) noexcept;
  ~Process() { kill(); }

  [[nodiscard]] pid_t pid() const { return program_; }
  [[nodiscard]] bool running();
  // The exit status, 128 + n if signal n ended it; nothing if it still runs after `limit`.
  std::optional<int> wait(std::chrono::milliseconds limit);

  void signal(int number);
  // Stops, or continues, the program and everything it started.
  void pause();
  void resume();
  // Ends all of it at once, as a power failure would; returns when nothing is left.
  void kill();
  // Asks the program with `signal_number` to end; kills it if it does not within `patience`.
  void stop(int signal_number, std::chrono::milliseconds patience);

 private:
  pid_t supervisor_ = -1;  // -1: not started, or ended and waited for.
  pid_t program_ = -1;
  int control_ = -1;  // Our end of the pipe.
  int status_ = -1;
};

// Runs `program` to its end. Fails with the last lines it printed if its status is not zero, or if
// it takes longer than `limit`, or as soon as `cancelled` turns true.
Status run_program(const Program& program, std::chrono::milliseconds limit,
                   const std::atomic<bool>* cancelled = nullptr);

// The last lines of a file, joined by "; " for a message of one line.
std::string last_lines(const std::filesystem::path& file, std::size_t count);
// The first lines of a server's log that call themselves errors; the last lines if none does.
std::string complaints(const std::filesystem::path& log);

// A new directory that `user` owns (if we are root; else us) and nobody else can look into, with a
// path short enough for sockets. Removed with the object.
class ScratchDirectory {
 public:
  static Result<ScratchDirectory> make(const std::string& user);

  ScratchDirectory() = default;
  ScratchDirectory(ScratchDirectory&& other) noexcept : path_(std::move(other.path_)) {
    other.path_.clear();
  }
  ScratchDirectory& operator=(ScratchDirectory&& other) noexcept {
    std::swap(path_, other.path_);
    return *this;
  }
  ~ScratchDirectory();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// A port of 127.0.0.1 that nobody listens on, never the same twice.
Result<int> free_port();

}  // namespace ouro::db
