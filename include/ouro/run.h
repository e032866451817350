// Runs a workload on a database and records the history that its clients saw.
//
// Example (built and run as tests/example_run.cc):
//
//   ouro::RunOptions options;
//   options.url = "sim:si";
//   options.history = "run.jsonl";
//   options.seconds = 0;
//   options.txns = 1000;
//   const auto report = ouro::run(options);
//   if (!report.ok()) return fail(report.error());
//   const auto history = ouro::read_history(options.history);
//   const auto verdict = ouro::check(*history, report->claims);
//
// The history is written while the run goes on, so that it can be checked even if the run is
// interrupted or the process killed.
//
// Thread safety: runs share no state, but two runs on one database disturb each other.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ouro/check.h"
#include "ouro/level.h"
#include "ouro/result.h"
#include "ouro/workload.h"

namespace ouro {

struct RunProgress {
  double seconds = 0;  // Since the clients started.
  std::uint64_t committed = 0;
  std::uint64_t aborted = 0;
  std::uint64_t unknown = 0;
};

struct RunOptions {
  std::string url;  // Of the database, as docs/run.md says; empty: RocksDB, temporary.
  // Instead of `url`: starts a private server from the installed packages and stops it afterwards,
  // whatever happens: "postgres", "galera?nodes=2&isolation=rr" (docs/databases.md).
  std::string start;
  // What is done to that server during the run, each some of the time: "pause", "kill", "cut".
  std::vector<std::string> nemesis;
  std::string history;       // File to write, native text.
  WorkloadOptions workload;  // `sessions` is the number of clients; `txns` is not used.
  double seconds = 5;        // How long at most, …
  std::uint64_t txns = 0;    // … and how many transactions at most; zero: no limit.
  bool evidence = false;     // Collect timestamps or version orders, if the database has them.
  bool duplicates = false;   // Write values that repeat.
  // URL of a service (ouro serve) that gets the transactions while they happen, and what it wants
  // to be shown. Needs `evidence`, and a database that tells timestamps at once.
  std::string serve;
  std::string serve_token;
  unsigned retries = 3;  // Of a transaction that the database aborted.
  double rate = 0;       // Transactions per second of all clients; zero: as fast as they can.
  std::chrono::microseconds think_time{0};  // Between two transactions of a client.
  bool record = true;  // Off: only to see what recording costs; the history stays empty.

  const std::atomic<bool>* stop = nullptr;  // Turns true: end soon, as if the time were over.
  // Called a few times a second, from the thread that called run().
  std::function<void(const RunProgress&)> progress;
};

struct RunReport {
  std::string database;  // What it was, for people.
  Level claims = Level::Serializable;
  RunProgress end;
  std::uint64_t retried = 0;
  // Why transactions did not commit, most frequent first.
  std::vector<std::pair<std::string, std::uint64_t>> reasons;
  bool timestamps = false;         // Whether the history has them.
  std::vector<std::string> notes;  // What else the user should know, one line each.
};

// Runs and records. What goes wrong with single transactions is part of the history; an error is
// what kept the run from starting or from going on.
[[nodiscard]] Result<RunReport> run(const RunOptions& options);

// The level that the database of `options` promises with its settings; with `evidence` Timestamps,
// the level that it keeps in the order of its own timestamps. Neither starts nor connects.
[[nodiscard]] Result<Level> claimed_level(const RunOptions& options,
                                          Evidence evidence = Evidence::Observed);

struct DatabaseInfo {
  std::string_view scheme;
  std::string_view description;
  bool built_in = false;
};
// The kinds of databases there are, for help.
[[nodiscard]] std::vector<DatabaseInfo> databases();

}  // namespace ouro
