// Finds the order of starts and commits on a PostgreSQL server from what its snapshots could see.
//
// A snapshot "xmin:xmax:xip" sees a committed transaction x if x < xmin, or x < xmax and x is not
// in xip. A server takes snapshots and makes commits visible one at a time, so the set of commits
// that snapshots see only grows: sorted by how many commits they see, each snapshot sees all that
// the one before it sees. Commits that a snapshot sees and the one before it does not became
// visible between the two.
//
// The order of commits between two neighbouring snapshots is taken from the write-ahead log. The
// log does not give the order of all commits: a commit is logged before it becomes visible, and for
// 0.4 to 1.5 % of commits the two orders differ.
//
// This file knows no connection, so it can be tested without a server.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace ouro::db {

struct Snapshot {
  std::uint64_t next = 0;                  // Transactions with this number or more had not ended.
  std::vector<std::uint64_t> in_progress;  // Numbers below `next` that had not ended. Sorted.

  [[nodiscard]] bool sees(std::uint64_t transaction) const;
};

// The number of ids of transactions that had ended. Snapshots of a server form a chain: each sees
// all that the one before it sees. The rank grows along the chain, and snapshots of equal rank see
// the same.
[[nodiscard]] std::int64_t rank_of(const Snapshot& snapshot);

// Parses "731:733:731,732": xmin, which follows from the others, xmax and xip. Nothing if `text` is
// not of this form.
[[nodiscard]] std::optional<Snapshot> parse_snapshot(std::string_view text);

struct SnapshotOrder {
  std::vector<std::int64_t> starts;   // By snapshot: a time; it sees exactly the commits before it.
  std::vector<std::int64_t> commits;  // By committed transaction: a time.
  std::size_t breaks = 0;             // How many snapshots do not see all that the one before sees.
                                      // If not zero, the order cannot be trusted.
};

// Gives each snapshot and each committed transaction a time. `logged` has committed transactions in
// the order of the log; those missing from it count as later than the others, in order of number.
// REQUIRES: `committed` is sorted. A snapshot lists the transaction that took it as in progress if
// that one ever wrote; the server leaves it out, so the caller adds it. Cost: O(n log n).
[[nodiscard]] SnapshotOrder order_snapshots(std::span<const Snapshot> snapshots,
                                            std::span<const std::uint64_t> committed,
                                            std::span<const std::uint64_t> logged);

// Where commits belong in a chain of snapshots.
struct CommitPlaces {
  // Of each commit: the rank of the first snapshot that sees it, and its index. Sorted.
  std::vector<std::pair<std::int64_t, std::size_t>> ranks;
  bool breaks = false;  // Snapshots contradict each other; then the places cannot be trusted.
};
// `chain` may be in any order. Commits that no snapshot tells apart keep their order. REQUIRES:
// `chain` is not empty; its last snapshot, by rank, sees all `commits`. Cost: O(n log n).
[[nodiscard]] CommitPlaces place_commits(std::vector<const Snapshot*> chain,
                                         std::span<const std::uint64_t> commits);

}  // namespace ouro::db
