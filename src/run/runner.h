// Runs the clients, each on its own thread with its own connection and plan, and records all their
// transactions in one file.
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

// A line of the file that annotate.h may change after the run.
struct OpenLine {
  std::uint64_t line = 0;                          // From zero.
  std::uint64_t token = 0;                         // Of its trace.
  bool unknown = false;                            // Its commit was not answered.
  std::vector<std::uint32_t> predicate_ends = {};  // Transcript::predicate_ends()
};

class Runner {
 public:
  // All must outlive this object; `feeder` may be null. REQUIRES: `file` has a slot for each client
  // and one more, for load().
  Runner(const RunOptions& options, db::Database& database, HistoryFile& file,
         Feeder* feeder = nullptr);

  // Writes all keys, in recorded transactions, if the workload needs them to exist.
  Status load();
  // Runs the clients until the limit of time or transactions, or until told to stop. The error says
  // why they could not go on.
  Status run();

  [[nodiscard]] RunProgress progress() const;
  [[nodiscard]] std::uint64_t retried() const { return retried_; }
  // Why transactions did not commit, and how often; the most frequent first.
  [[nodiscard]] std::vector<std::pair<std::string, std::uint64_t>> reasons() const;
  // REQUIRES: run() has returned.
  [[nodiscard]] std::vector<OpenLine>& open_lines() { return open_lines_; }
  // The clock of the clients: nanoseconds since the runner was made.
  [[nodiscard]] std::int64_t now() const;

 private:
  class Worker;
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] bool over() const;
  // Whether one more transaction may begin. If so, counts it.
  bool take_one();
  // Ends the run with an error.
  void give_up(Error error);
  // Sleeps until `until`, but not longer than the run.
  void sleep_until(Clock::time_point until) const;
  // Whether a client that heard nothing of the database since `heard` gives up: a run that only a
  // number of transactions ends would wait for ever.
  [[nodiscard]] bool silent_since(Clock::time_point heard) const;
  // A connection to the node of `client`. Tries again until the run is over; null then.
  std::unique_ptr<db::Connection> connect(std::size_t client, Clock::time_point heard);
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
  std::atomic<std::uint64_t> begun_{0};  // Counted only if transactions are limited.
  std::atomic<std::uint64_t> committed_{0};
  std::atomic<std::uint64_t> aborted_{0};
  std::atomic<std::uint64_t> unknown_{0};
  std::atomic<std::uint64_t> retried_{0};
  std::atomic<std::size_t> running_{0};  // Clients that have not ended.

  mutable std::mutex mutex_;  // Guards all members below.
  std::map<std::string, std::uint64_t> reasons_;
  std::vector<OpenLine> open_lines_;
  std::optional<Error> error_;
};

}  // namespace ouro::running
