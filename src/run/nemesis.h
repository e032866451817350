// Disturbs the servers of a run while the clients go on: pauses nodes, kills and restarts them,
// cuts them off from the others. One trouble at a time, and all is well again before the run ends.
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

namespace ouro::running {

enum class Trouble : std::uint8_t {
  Pause,  // SIGSTOP, later SIGCONT.
  Kill,   // SIGKILL, later started anew.
  Cut,    // Off from the other nodes.
};

// "pause", "kill", "cut"; an error names all of them.
[[nodiscard]] Result<Trouble> parse_trouble(std::string_view name);

struct NemesisOptions {
  std::vector<Trouble> troubles;            // Chosen from at random.
  std::uint64_t seed = 1;                   // Of the choices; when they come is up to the clock.
  std::chrono::milliseconds quiet{1000};    // Between two troubles, on average.
  std::chrono::milliseconds trouble{1000};  // How long one lasts, on average.
};

class Nemesis {
 public:
  // Starts at once. `now` is the clients' clock. REQUIRES: both outlive it; troubles are not empty.
  Nemesis(db::Server& server, NemesisOptions options, std::function<std::int64_t()> now);
  // Calls end() if nobody did.
  ~Nemesis();
  Nemesis(const Nemesis&) = delete;
  Nemesis& operator=(const Nemesis&) = delete;

  // Heals what is broken. The error is what could not be healed.
  Status end();

  // What was done when, for a remark: "1200000000 pause node 1; 2100000000 resume node 1". After
  // end().
  [[nodiscard]] const std::string& events() const { return events_; }
  [[nodiscard]] std::size_t trouble_count() const { return trouble_count_; }

 private:
  void work();
  Status disturb(Trouble trouble, std::size_t node);
  Status heal(Trouble trouble, std::size_t node);
  Status record(std::string_view what, std::size_t node, Status done);
  void wait(std::chrono::milliseconds about);

  db::Server& server_;
  NemesisOptions options_;
  std::function<std::int64_t()> now_;
  std::string events_;
  std::size_t trouble_count_ = 0;
  std::uint64_t random_;
  Status problem_;
  std::atomic<bool> ending_{false};
  std::thread thread_;
};

}  // namespace ouro::running
