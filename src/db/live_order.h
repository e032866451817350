// Finds the order of starts and commits on a PostgreSQL server while transactions go on, from what
// its snapshots could see; snapshot_order.h does that afterwards, for all at once.
//
// The rank of a snapshot is its start timestamp as soon as it is known. A commit belongs in front
// of the first snapshot that sees it, which is known once no transaction is open that began before
// a snapshot of our own was taken which sees it, too: that is the *horizon*.
//
// This file knows no connection, so it can be tested without a server. Thread safety: all functions
// of LiveOrder may be called from any thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "db/database.h"
#include "db/snapshot_order.h"

namespace ouro::db {

class LiveOrder {
 public:
  // A transaction that takes its snapshot after this call. Each ticket must go to drop() or end().
  using Ticket = std::uint64_t;
  [[nodiscard]] Ticket begin();
  // It did not commit.
  void drop(Ticket ticket);

  struct Txn {
    std::uint64_t token = 0;
    std::uint64_t id = 0;  // Zero: it wrote nothing.
    Snapshot snapshot;
    bool certain = true;  // That it committed. Else settle() asks, once it has ended.
  };
  void end(Ticket ticket, Txn txn);

  // A snapshot of our own. REQUIRES: called after its answer came, in the order of the snapshots.
  void add(Snapshot snapshot);
  // Whether the transaction of this id, which has ended, committed; nothing: that is not known.
  using Committed = std::function<std::optional<bool>(std::uint64_t id)>;
  // The times of what can be placed now; a transaction that turned out not to have committed has no
  // commit. The error: what is known contradicts itself, or does not suffice.
  [[nodiscard]] Result<std::vector<Recovered::Times>> settle(const Committed& committed);

 private:
  struct Poll {
    Snapshot snapshot;
    Ticket last = 0;  // Tickets up to this one may have taken their snapshots before.
  };
  [[nodiscard]] Status ask(const Committed& committed, std::vector<Txn>& placed) const;
  [[nodiscard]] Result<std::vector<Recovered::Times>> place(
      const std::vector<Txn>& placed, const std::vector<const Snapshot*>& chain);

  std::mutex mutex_;  // Guards all members.
  Ticket last_ticket_ = 0;
  std::set<Ticket> open_;
  std::deque<Poll> polls_;  // After the last horizon.
  std::vector<Txn> waiting_;
  std::int64_t order_ = 0;  // Commits placed so far.
};

}  // namespace ouro::db
