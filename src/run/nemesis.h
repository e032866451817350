// Disturbs the servers of a run while the clients go on: pauses nodes, kills and restarts them, or
// cuts them off from the others; or does what a command of the user does. There is one trouble at a
// time, and it is undone before the run ends.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "db/server.h"
#include "ouro/result.h"
#include "workload/random.h"

namespace ouro::running {

enum class Trouble : std::uint8_t {
  Pause,    // SIGSTOP, later SIGCONT.
  Kill,     // SIGKILL, later a restart.
  Cut,      // Cut off from the other nodes, later joined again.
  Command,  // What the user's command does, and undoes.
};

// "pause", "kill", "cut"; an error names all of them. Command has no name.
[[nodiscard]] Result<Trouble> parse_trouble(std::string_view name);

struct NemesisOptions {
  std::vector<Trouble> troubles;            // Each trouble is chosen from these at random.
  std::uint64_t seed = 1;                   // For the choices and pauses.
  std::chrono::milliseconds quiet{1000};    // How long the pause between two is, on average.
  std::chrono::milliseconds trouble{1000};  // How long a trouble lasts, on average.
  std::string command = {};                 // Trouble::Command: for /bin/sh.
  std::chrono::milliseconds command_limit{30'000};  // The command is killed after so long.
};

class Nemesis {
 public:
  // Starts a thread that makes trouble. `now` gives the time of the clients' clock. REQUIRES:
  // `server`, and what `now` refers to, outlive this object; options.troubles is not empty, and if
  // `server` is null, it is Command alone.
  Nemesis(db::Server* server, NemesisOptions options, std::function<std::int64_t()> now);
  // Calls end().
  ~Nemesis();
  Nemesis(const Nemesis&) = delete;
  Nemesis& operator=(const Nemesis&) = delete;

  // Undoes the trouble that there is, and makes no more. The error says what could not be done.
  Status end();

  // What was done, with times: "1200000000 pause node 1; 2100000000 resume node 1". REQUIRES, here
  // and below: end() was called.
  [[nodiscard]] const std::string& events() const { return events_; }
  [[nodiscard]] std::size_t trouble_count() const { return trouble_count_; }

 private:
  void work();
  Status disturb(Trouble trouble, std::size_t node);
  Status heal(Trouble trouble, std::size_t node);
  // Adds to events_ that `what` was done, or returns the error if `done` is one.
  Status record(std::string_view what, std::size_t node, Status done);
  // Runs the command for the trouble that is the `number`-th, from 1; `what` is strike or heal.
  Status run_command(const char* what, std::size_t number);
  void wait(std::chrono::milliseconds about);

  db::Server* server_;
  NemesisOptions options_;
  std::function<std::int64_t()> now_;
  std::string events_;
  std::size_t trouble_count_ = 0;
  workload::Random random_;
  Status problem_;
  std::atomic<bool> ending_{false};
  std::thread thread_;
};

}  // namespace ouro::running
