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
// interrupted or the process killed. docs/run.md describes the workloads and options.
//
// Thread safety: runs share no state, but two runs on one database disturb each other. run() starts
// a thread for each client and joins them before it returns.
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

// What happened so far. Each transaction counts once, by its status.
struct RunProgress {
  double seconds = 0;  // Since the clients started.
  std::uint64_t committed = 0;
  std::uint64_t aborted = 0;
  std::uint64_t unknown = 0;
};

struct RunOptions {
  std::string url;  // Of the database (docs/run.md). Empty: a temporary RocksDB.
  // The isolation to use, by the name that the driver knows; the same as the option "isolation" of
  // URLs that have one. Empty: the default of the driver.
  std::string isolation;
  // No answer of the database is waited for longer.
  std::chrono::milliseconds patience{10'000};
  // Instead of `url`: starts a private server from the installed packages and stops it afterwards,
  // whatever happens: "postgres", "galera?nodes=2&isolation=rr" (docs/databases.md).
  std::string start;
  // How to disturb the server of `start` during the run: some of "pause", "kill" and "cut", of
  // which one at a time is chosen at random.
  std::vector<std::string> nemesis;
  // How to disturb any database, in ways that only you know: a command for /bin/sh. It is run again
  // and again, with OURO_NEMESIS=strike in its environment and, after a while, with
  // OURO_NEMESIS=heal, which undoes it; the last time before the run ends.
  std::string nemesis_command;
  std::string history;  // The file to write, in native text. REQUIRED.
  // A folder to which the logs of the server of `start` are copied at the end. Empty: none.
  std::string server_logs;
  WorkloadOptions workload;  // `sessions` is the number of clients; `txns` is not used.
  // The run ends after so many seconds or so many transactions; zero: no limit. One must be set.
  double seconds = 5;
  std::uint64_t txns = 0;
  bool evidence = false;    // Record timestamps or version orders; the database must have them.
  bool timestamps = false;  // Refuse to run if `evidence` would lack timestamps.
  bool duplicates = false;  // Write values that repeat.
  // URL of a service (ouro serve) that gets the transactions while they happen, and the token that
  // it asks for. Needs `evidence`, and a database that tells timestamps at once.
  std::string serve;
  std::string serve_token;
  unsigned retries = 3;  // How often a transaction that the database aborted is tried again.
  double rate = 0;       // Transactions per second of all clients; zero: as fast as they can.
  std::chrono::microseconds think_time{0};  // The pause between two transactions of a client.
  bool record = true;  // False: leaves the history empty, to measure what recording costs.

  // Turns true: the run ends soon, as if its time were over. May be null.
  const std::atomic<bool>* stop = nullptr;
  // Called a few times a second, from the thread that called run().
  std::function<void(const RunProgress&)> progress;
};

struct RunReport {
  std::string database;                // The database and its version, for people.
  Level claims = Level::Serializable;  // The level that the database promises.
  RunProgress end;                     // The final counts.
  std::uint64_t retried = 0;           // How often a transaction was tried again.
  // Why transactions did not commit, and how often; most frequent first.
  std::vector<std::pair<std::string, std::uint64_t>> reasons;
  bool timestamps = false;         // Whether the history has timestamps.
  std::vector<std::string> notes;  // What else the user should know, one line each.
};

// Runs the workload and records the history. What goes wrong with single transactions is part of
// the history; the error is what kept the run from starting or from going on. Takes as long as the
// options say, and a little more to start and to collect evidence.
[[nodiscard]] Result<RunReport> run(const RunOptions& options);

// The level that the database of `options` promises with its settings. With Evidence::Timestamps,
// the level that it keeps in the order of its own timestamps. Starts no server and connects to
// none.
[[nodiscard]] Result<Level> claimed_level(const RunOptions& options,
                                          Evidence evidence = Evidence::Observed);

// What was tried with a driver, and whether its answer was right.
struct DriverFinding {
  std::string what;  // If it was not, says what is wrong.
  bool good = false;
};
struct DriverTrial {
  std::string database;  // What the driver says of itself.
  std::vector<DriverFinding> findings;
};
// Tries the driver that `command` starts (docs/drivers.md) with every kind of message. The error
// says why it cannot be used at all. No answer is waited for longer than `patience`, or three times
// that to start.
[[nodiscard]] Result<DriverTrial> try_driver(
    const std::string& command,
    std::chrono::milliseconds patience = std::chrono::milliseconds(10'000));

struct DatabaseInfo {
  std::string_view scheme;  // What its URLs begin with: "postgres".
  std::string_view description;
  bool built_in = false;  // Whether this build has its driver.
};
// All kinds of databases, also those that this build has no driver for.
[[nodiscard]] std::vector<DatabaseInfo> databases();

}  // namespace ouro
