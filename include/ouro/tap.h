// Watches a PostgreSQL database with an application that nobody changed: a proxy between the two
// that records what transactions read and wrote, and when they began and committed.
//
// Example (built and run as tests/example_tap.cc):
//
//   ouro::TapOptions options;
//   options.url = "postgres://shop@127.0.0.1:1/shop";
//   options.listen = "127.0.0.1:0";
//   options.history = "shop.jsonl";
//   options.stop = &stop;
//   options.ready = [](const std::string& at) { std::cout << "connect to " << at << '\n'; };
//   const auto report = ouro::tap(options);
//   if (!report.ok()) return fail(report.error());
//   std::cout << ouro::describe(*report);
//
// docs/tap.md says what is recorded, and what is not judged. The history is in native text and can
// be checked like any other, by Evidence::Timestamps or Evidence::Versions.
//
// Thread safety: taps share no state. tap() blocks; it calls `ready` from the thread that called
// it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ouro/check.h"
#include "ouro/level.h"
#include "ouro/result.h"

namespace ouro {

struct TapOptions {
  // postgres://USER:PASSWORD@HOST:PORT/DATABASE of the server. The user needs the attribute
  // REPLICATION, and the server wal_level = logical. REQUIRED.
  std::string url;
  std::string listen = "127.0.0.1:6432";  // Where clients connect; port 0 is any that is free.
  std::string history;                    // The file to write, in native text. Empty: none.
  std::string statements;  // A file for the SQL of each transaction, by its id. Empty: none.
  // Tables whose rows are read before recording begins, so that what they hold at first is known:
  // "tables" for all that can be judged, or names, "stock,shop.orders". Empty: what a key held at
  // first is what its first reader saw.
  std::string load;
  // URL of a service (ouro serve) that gets the transactions while they happen, and the token that
  // it asks for. Every transaction then has a start; at read committed a statement stands for
  // itself.
  std::string serve;
  std::string serve_token;
  // Transactions that are open for longer are not waited for, and what they read is not judged.
  std::chrono::milliseconds patience{10'000};
  // Only copies bytes: records nothing, and asks the server nothing. To compare the speed with.
  bool copy_only = false;

  // Turns true: the connections of clients are closed, and tap() returns soon. REQUIRED.
  const std::atomic<bool>* stop = nullptr;
  std::function<void(const std::string& address)> ready;  // Called once, when clients can connect.
  // Called from any thread when something happens after which nothing can be concluded any more, or
  // the service gets nothing more. Clients are served all the same. May be empty.
  std::function<void(const std::string& what)> notice;
};

struct TapReport {
  std::string server;  // "PostgreSQL 15.14"
  std::uint64_t connections = 0;
  std::uint64_t txns = 0;  // Of clients, as far as they committed and could be recorded.
  std::uint64_t read_committed = 0, repeatable_read = 0, serializable = 0;  // Of these, by level,
  std::uint64_t automatic = 0;      // and single statements outside of BEGIN and COMMIT.
  std::uint64_t rolled_back = 0;    // Had no effect.
  std::uint64_t others = 0;         // Transactions of which only the server's log tells.
  std::uint64_t without_start = 0;  // Of `txns`: whose statements had a snapshot each.
  // Statements that returned rows, or the absence of one.
  std::uint64_t judged = 0;
  std::uint64_t not_judged = 0;
  struct NotJudged {
    std::string why;
    std::string statement;  // With $1, $2 … for its constants.
    std::uint64_t count = 0;
  };
  std::vector<NotJudged> reasons;  // Most frequent first.
  // Why nothing can be concluded from the history. Empty: something can.
  std::vector<std::string> spoiled;
  std::string unsent;  // Why the service did not get everything. Empty: it did, or there is none.
  std::vector<std::string> notes;  // What else the user should know, one line each.
};

// Records until `stop` turns true. The error is what kept the tap from starting, or from writing.
[[nodiscard]] Result<TapReport> tap(const TapOptions& options);

// How a recorded history is best judged.
struct TapQuestion {
  Level level = Level::Si;
  Evidence evidence = Evidence::Timestamps;
};
// The strongest level that PostgreSQL promises to all transactions that were recorded.
[[nodiscard]] TapQuestion promised(const TapReport& report);
// The evidence by which the recorded history can be judged at `level`.
[[nodiscard]] Evidence evidence_for(const TapReport& report, Level level);

// What was recorded and what was not judged, in a few lines.
[[nodiscard]] std::string describe(const TapReport& report);
// The SQL of the transactions of the history at `counterexample`, a part of what was recorded;
// `statements` is the file of TapOptions. Empty if one of the two cannot be read. Cost: linear in
// both.
[[nodiscard]] std::string describe_statements(const std::string& statements,
                                              const std::string& counterexample);

}  // namespace ouro
