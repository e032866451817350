// The moments of commits and snapshots by timestamps (docs/levels.md#by-timestamps).
#pragma once

#include <cstdint>

#include "history/moment.h"
#include "ouro/history.h"

namespace ouro {

// What a predicate read without a version set saw: what was committed when its transaction started,
// or when it committed. Databases that take snapshots do the former, those that lock the latter.
enum class SnapshotAt : std::uint8_t { Start, Commit };

// A transaction sees another if its snapshot() is behind that one's commit(). With
// SnapshotAt::Commit every transaction begins when it commits.
class SnapshotMoments {
 public:
  SnapshotMoments(const History& history, SnapshotAt at) : h_(history), at_(at) {}

  // When it commits.
  // REQUIRES: it has a commit timestamp. Without a start timestamp it began before that.
  [[nodiscard]] Moment commit(TxnId writer) const {
    const Timestamp commit = *h_.commit_ts(writer);
    const Timestamp start = h_.start_ts(writer).value_or(kNoTimestamp);
    return lifetime(at_ == SnapshotAt::Commit ? commit : start, commit, true, writer.value).commit;
  }
  // When it takes its snapshot.
  // REQUIRES: it has a start timestamp. Without a commit timestamp it commits when it starts.
  [[nodiscard]] Moment snapshot(TxnId reader) const {
    const Timestamp start = *h_.start_ts(reader);
    const Timestamp commit = h_.commit_ts(reader).value_or(start);
    return lifetime(at_ == SnapshotAt::Commit ? commit : start, commit, writes(h_, reader),
                    reader.value)
        .begin;
  }

 private:
  const History& h_;
  SnapshotAt at_;
};

}  // namespace ouro
