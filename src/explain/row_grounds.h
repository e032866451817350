// What a predicate read rests on, row by row, by version orders.
//
// A select or aggregate depends on the version of a row with which the row began, or ceased, to
// match, and on being seen before the next such version. A part of the history that lacks versions
// must not invent changes of that kind. So the read keeps what it says of a row only if three
// versions stay: the last one up to what it saw that changed whether the row matches; the one
// before that, so that it still does; and, if the read returned the row, the version that it
// returned. What else goes makes nobody precede the read who did not before.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <array>
#include <functional>
#include <optional>
#include <vector>

#include "check/observed/observed.h"
#include "check/versions/row_versions.h"
#include "check/versions/snapshot_moments.h"

namespace ouro {

class RowGrounds {
 public:
  // `history` must outlive it. Cost: as check() by versions before it decides anything.
  explicit RowGrounds(const History& history);

  struct Row {
    KeyId key;
    std::array<OpId, 3> needed;  // Writes; invalid: the initial version, or nothing.
    OpId seen;                   // The write of the version that the read saw; invalid as above.
    Value value;                 // That version,
    bool matches = false;        // and whether it matches.
    // The first of the versions up to that one which match, or do not, like it; null: the initial
    // one, if that is no row. Unobserved: a version set cannot say so.
    Value like;
    Value initially;  // The initial version, told likewise.
    bool initial_matches = false;
    bool missed = false;  // A version set does not list it, although it was there all along.
    // Where that version stands among those of the row; nothing if it must stay.
    std::optional<std::uint32_t> position;
  };
  // Whether no version up to the one that the read saw, of those that `stays` says are left,
  // matches otherwise: then the read follows nobody there. REQUIRES: row.position.
  [[nodiscard]] bool is_even(OpId read, const Row& row,
                             const std::function<bool(OpId)>& stays) const;

  // Of every row that ever matched, one for each moment at which the read may have seen it, by key;
  // null if the read is none that version orders judge.
  [[nodiscard]] const std::vector<Row>* of(OpId read);

 private:
  [[nodiscard]] bool judged(OpId read) const;
  [[nodiscard]] std::vector<Row> ground(OpId read);
  [[nodiscard]] Row own(OpId read, const Op& write) const;
  [[nodiscard]] Row row(OpId read, SnapshotAt at,
                        std::span<const RowVersions::KeyPosition> matches) const;
  [[nodiscard]] std::uint32_t position(OpId read, SnapshotAt at, KeyId key) const;
  [[nodiscard]] bool misses(OpId read, KeyId key) const;
  [[nodiscard]] OpId write(const RowVersions::Version& version) const;

  const History& h_;
  std::optional<Observed> observed_;  // Nothing, and no rows, if the history cannot be judged.
  std::optional<RowVersions> rows_;
  // When reads without a version set may have seen what they saw.
  std::vector<SnapshotAt> moments_{SnapshotAt::Start};
  absl::flat_hash_map<OpId, std::vector<Row>> known_;
};

}  // namespace ouro
