// What clients did, as the observers of their connections saw it, on the way to the recorder.
//
// Thread safety: all functions of Ledger may be called from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "db/snapshot_order.h"
#include "tap/catalog.h"
#include "tap/statement.h"

namespace ouro::tapping {

// Of this machine's steady clock.
using Nanos = std::int64_t;
[[nodiscard]] inline Nanos now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

struct Read {
  Oid table = 0;
  std::string key;
  std::string value;   // JSON; "null" if there is no such row.
  std::string column;  // What predicates call its column; empty: none asks for it.
};

// All rows of a table that meet a condition on one of its columns.
struct Selection {
  Oid table = 0;
  std::string column;     // As predicates call it.
  std::string predicate;  // JSON.
  std::vector<Read> rows;
};

// What an UPDATE set.
struct Assigned {
  Oid table = 0;
  std::string row;  // Its name; empty: any rows.
  std::vector<std::string> columns;
  std::uint64_t count = 0;  // How many rows, as the server says.
};

// A statement that ran.
struct Execution {
  std::shared_ptr<const Text> text;  // May be null: not known.
  Nanos sent = 0;                    // Before it was sent to the server.
  Nanos done = 0;                    // After the server had answered.
  bool writes = false;               // Or may have written.
  bool returned = false;             // It read: its reads are judged, or there is a reason why not.
  std::string not_judged;            // Why its result is not judged; empty: it is.
  std::vector<Read> reads;
  std::optional<Selection> selection;  // The same rows, and that there are no others.
  std::optional<Assigned> assigned;
};

struct ClientTxn {
  enum class End : std::uint8_t { Committed, RolledBack, Unknown };
  std::string session;
  std::string application;
  End end = End::Committed;
  bool automatic = false;  // One statement outside of BEGIN and COMMIT.
  Nanos began = 0;
  Nanos ended = 0;
  std::vector<Execution> executions;
  bool unknown_writes = false;  // Something else than the statements may have written.
  bool undone_parts = false;    // Rolled back to a savepoint.
  std::string not_judged;       // Why nothing that it read is judged; empty: it is.
  // As the server said just before COMMIT.
  std::string isolation;
  std::optional<db::Snapshot> snapshot;  // Of the whole transaction, if it has one.
  std::uint64_t id = 0;                  // Zero: it has none.
};

class Ledger {
 public:
  // A transaction that may take a snapshot from now on. Returns a ticket for add() or close().
  std::uint64_t open(Nanos since);
  // The transaction of a ticket is over, and not worth recording.
  void close(std::uint64_t ticket);
  // The transaction of a ticket is over. If `next` is not zero, another one is open since then;
  // returns its ticket.
  std::uint64_t add(std::uint64_t ticket, ClientTxn txn, Nanos next = 0);

  // Nothing is recorded any more: what is added is dropped.
  void stop();
  // Whether statements of our own are worth it: something is recorded, and they did not keep
  // failing.
  [[nodiscard]] bool may_probe() const;

  struct Taken {
    std::vector<ClientTxn> finished;
    std::vector<Nanos> open;  // When those began that are not over yet.
  };
  // Takes what was added since the last call; together with what is open at the same moment.
  [[nodiscard]] Taken take();

  // Reads that belong to no transaction that can be recorded.
  struct Counts {
    std::uint64_t probes = 0;         // Own statements in connections of clients.
    std::uint64_t failed_probes = 0;  // Of these, those that failed.
    std::uint64_t rolled_back = 0;    // Transactions of clients that had no effect.
    std::uint64_t connections = 0;
    std::uint64_t not_understood = 0;  // Connections that were only passed through from some point.
  };
  void count(std::uint64_t Counts::*what);
  [[nodiscard]] Counts counts() const;

  // The tables; null until they are known.
  [[nodiscard]] std::shared_ptr<const Catalog> catalog() const;
  void set_catalog(std::shared_ptr<const Catalog> catalog);
  // A client used a table that is not in the catalog.
  void want_catalog();
  [[nodiscard]] bool catalog_is_wanted();

 private:
  mutable std::mutex mutex_;  // Guards all members.
  std::uint64_t last_ticket_ = 0;
  std::map<std::uint64_t, Nanos> open_;
  std::vector<ClientTxn> finished_;
  Counts counts_;
  std::shared_ptr<const Catalog> catalog_;
  bool wanted_ = false;
  bool stopped_ = false;
};

}  // namespace ouro::tapping
