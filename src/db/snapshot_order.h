// The order of starts and commits of a PostgreSQL server, from what its snapshots could see.
//
// A snapshot "xmin:xmax:xip" sees a committed transaction x if x < xmin, or x < xmax and x is not
// in xip. On one server snapshots and commits exclude each other, so what snapshots see only grows:
// sorted by how much they see, each contains the one before. The commits that a snapshot sees and
// the one before does not happened between the two. Among those no snapshot can tell who was first;
// the write-ahead log can, and only there is it asked: as a whole it is not the order of
// visibility, since a commit is logged before it becomes visible (0.4 to 1.5 % of commits stand
// elsewhere).
//
// Knows no connection, so it can be tested without a server.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace ouro::db {

struct Snapshot {
  std::uint64_t next = 0;                  // None from here on had ended.
  std::vector<std::uint64_t> in_progress;  // Sorted. Below, and still open.

  [[nodiscard]] bool sees(std::uint64_t transaction) const;
};

// "731:733:731,732"; the first number follows from the others. Nothing if it is not of this form.
[[nodiscard]] std::optional<Snapshot> parse_snapshot(std::string_view text);

struct SnapshotOrder {
  std::vector<std::int64_t> starts;   // For each snapshot; sees exactly the commits below it.
  std::vector<std::int64_t> commits;  // For each committed transaction.
  std::size_t breaks = 0;             // Snapshots that do not contain the one before: zero, or the
                                      // order is not to be trusted.
};

// Orders `snapshots` and `committed`, which must be sorted. `logged` are the committed transactions
// in the order of the log; those missing there count as later than the others, in order of number.
// REQUIRES: a snapshot taken by a transaction that had begun to write lists it as in progress; the
// server leaves it out. Cost: n log n.
[[nodiscard]] SnapshotOrder order_snapshots(std::span<const Snapshot> snapshots,
                                            std::span<const std::uint64_t> committed,
                                            std::span<const std::uint64_t> logged);

}  // namespace ouro::db
