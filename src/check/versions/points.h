// Where commits and snapshots stand on the timeline that timestamps give
// (docs/levels.md#by-timestamps).
#pragma once

#include <compare>
#include <cstdint>

#include "ouro/history.h"

namespace ouro {

// What a predicate read without a version set saw: what was committed when its transaction started,
// or when it committed. Databases that take snapshots do the one, those that lock the other.
enum class SnapshotAt : std::uint8_t { Start, Commit };

// Whoever starts after the commit begins right then. At equal timestamps: commits, then
// transactions that begin and commit right then, those that only read last; then begins.
struct Point {
  enum class Kind : std::uint8_t { Commit, AtOnce, ReadAtOnce, Begin };
  Timestamp at;
  Kind kind = Kind::Commit;
  TxnId txn;
  constexpr auto operator<=>(const Point&) const = default;
};

// A transaction sees another if its snapshot() is behind that one's commit().
class Points {
 public:
  Points(const History& history, SnapshotAt at) : h_(history), at_(at) {}

  // REQUIRES: it has a commit timestamp.
  [[nodiscard]] Point commit(TxnId writer) const {
    const Timestamp commit = *h_.commit_ts(writer);
    const bool at_once = at_ == SnapshotAt::Commit || h_.start_ts(writer) >= commit;
    return {commit, at_once ? Point::Kind::AtOnce : Point::Kind::Commit, writer};
  }
  // REQUIRES: it has a start timestamp.
  [[nodiscard]] Point snapshot(TxnId reader) const {
    const Timestamp start = *h_.start_ts(reader);
    const Timestamp commit = h_.commit_ts(reader).value_or(start);
    if (at_ == SnapshotAt::Start && start < commit) return {start, Point::Kind::Begin, reader};
    return {commit, writes(reader) ? Point::Kind::AtOnce : Point::Kind::ReadAtOnce, reader};
  }

 private:
  [[nodiscard]] bool writes(TxnId txn) const {
    for (OpId id = h_.first_op(txn); id < h_.end_op(txn); ++id.value) {
      if (is_write(h_.op(id).kind)) return true;
    }
    return false;
  }

  const History& h_;
  SnapshotAt at_;
};

}  // namespace ouro
