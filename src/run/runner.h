// Threads of clients, each with its own connection and plan, that record into one file.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "db/database.h"
#include "ouro/run.h"
#include "run/feeder.h"
#include "run/history_file.h"
#include "run/player.h"
#include "run/transcript.h"
#include "workload/client.h"

namespace ouro::running {

// What evidence or resolution may still change about a line of the file.
struct OpenLine {
  std::uint64_t line = 0;
  std::uint64_t token = 0;
  bool unknown = false;
  std::vector<std::uint32_t> predicate_ends = {};  // Where version sets would go.
};

class Runner {
 public:
  // All must outlive it; `feeder` may be null. The file has a slot for each client and
  // one more.
  Runner(const RunOptions& options, db::Database& database, HistoryFile& file,
         Feeder* feeder = nullptr);

  // Loads the keys that the workload wants to be there, as transactions of their own.
  Status load();
  // Runs the clients until the end. The error is what kept all of them from going on.
  Status run();

  [[nodiscard]] RunProgress progress() const;
  [[nodiscard]] std::uint64_t retried() const { return retried_; }
  [[nodiscard]] std::vector<std::pair<std::string, std::uint64_t>> reasons() const;
  // Call these after run().
  [[nodiscard]] std::vector<OpenLine>& open_lines() { return open_lines_; }
  // Nanoseconds since the runner was made: the clients' clock.
  [[nodiscard]] std::int64_t now() const;

 private:
  class Worker;
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] bool over() const;
  // Whether one more transaction may begin; counts it.
  bool take_one();
  void give_up(Error error);
  void sleep_until(Clock::time_point until) const;
  // A connection to the node of `client`, tried for as long as the run lasts.
  std::unique_ptr<db::Connection> connect(std::size_t client);
  void note_reason(const std::string& reason);
  // Passes a line of the file on to the feeder, if there is one.
  void feed(const std::string& line, const Transcript::Frame& frame, const db::Trace& trace);

  const RunOptions& options_;
  db::Database& database_;
  HistoryFile& file_;
  Feeder* feeder_;
  db::Model model_;
  Clock::time_point made_ = Clock::now();
  Clock::time_point started_ = made_;
  std::optional<Clock::time_point> deadline_;

  std::atomic<bool> stop_{false};
  std::atomic<std::uint64_t> begun_{0};
  std::atomic<std::uint64_t> committed_{0};
  std::atomic<std::uint64_t> aborted_{0};
  std::atomic<std::uint64_t> unknown_{0};
  std::atomic<std::uint64_t> retried_{0};
  std::atomic<std::size_t> running_{0};

  mutable std::mutex mutex_;  // Guards all members below.
  std::map<std::string, std::uint64_t> reasons_;
  std::vector<OpenLine> open_lines_;
  std::optional<Error> error_;
};

}  // namespace ouro::running
