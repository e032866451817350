// Finds what a predicate read rests on when it is judged by version orders: for each row, which
// versions a part of the history must keep.
//
// A select or aggregate follows the writer of the last version, up to the one it saw, that changed
// what the row is to the read (RowVersions::Part): whether it matches, or the column that is
// aggregated. It precedes the writer of the next such version. A part of the history that lacks
// versions must not have such changes that the whole does not have. So the read may stay in a part
// only if, of each row that is left, three versions stay: the last one up to what the read saw that
// was such a change; the one before that, so that it is still a change; and, if the read returned
// the row, the version that it returned. Without other versions nobody precedes the read who did
// not before.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <array>
#include <functional>
#include <optional>
#include <vector>

#include "check/observed/observed.h"
#include "check/predicates/written_rows.h"
#include "check/versions/row_versions.h"
#include "check/versions/snapshot_moments.h"

namespace ouro {

class RowGrounds {
 public:
  // `history` must outlive it. The first question about a predicate read costs what check() by
  // versions does before it looks for cycles.
  RowGrounds(const History& history, Evidence evidence) : h_(history), evidence_(evidence) {}

  struct Row {
    KeyId key;
    std::array<OpId, 3> needed;  // Writes that must stay; invalid: the initial version, or none.
    OpId seen;                   // The write of the version that the read saw; invalid as above.
    Value value;                 // The value of that version.
    bool matches = false;        // Whether that version matches.
    // The value of the version that a version set may list instead of the one seen: the first of
    // the versions up to it that, without interruption, are the same to the read. Null: it need not
    // be listed. Unobserved: a version set cannot name it.
    Value like;
    Value initially;  // The initial version, with null and unobserved as for `like`.
    bool initial_matches = false;
    bool missed = false;  // A version set does not list the row, although it was never absent.
    // The position of the version seen among those of the row; nothing if that version must stay.
    std::optional<std::uint32_t> position;
  };
  // Whether all versions up to the one that the read saw, of those for which `stays` is true, are
  // the same to the read: then it follows no writer of the row. REQUIRES: row.position.
  [[nodiscard]] bool is_even(OpId read, const Row& row,
                             const std::function<bool(OpId)>& stays) const;

  // For every row that ever matched, one Row for each moment at which the read may have seen it,
  // sorted by key; null if the read is not judged by version orders.
  [[nodiscard]] const std::vector<Row>* of(OpId read);

  // The rows that ever mattered to a select or aggregate of which the history does not say what it
  // saw, and whether they did from the start; null if the read is none of these. By observation all
  // are.
  struct Matter {
    KeyId key;
    bool initially = false;
  };
  [[nodiscard]] const std::vector<Matter>* open(OpId read);

  // About how much work it is to answer for all predicate reads, in steps (budget.h).
  [[nodiscard]] std::uint64_t steps_for_all();
  // How much work this was since the last call, in steps.
  [[nodiscard]] std::uint64_t take_steps();

 private:
  void prepare();
  void prepare_versions();
  void note_writes();
  [[nodiscard]] std::vector<Matter> rows_written(const PredicateRead& read);
  [[nodiscard]] bool judged(OpId read) const;
  [[nodiscard]] bool is_open(OpId read) const;
  [[nodiscard]] std::vector<Row> ground(OpId read);
  [[nodiscard]] Row own(OpId read, const Op& write) const;
  [[nodiscard]] Row row(OpId read, SnapshotAt at,
                        std::span<const RowVersions::KeyPosition> matches) const;
  [[nodiscard]] std::uint32_t position(OpId read, SnapshotAt at, KeyId key) const;
  [[nodiscard]] bool misses(OpId read, KeyId key) const;
  [[nodiscard]] OpId write(const RowVersions::Version& version) const;

  const History& h_;
  const Evidence evidence_;
  bool prepared_ = false;
  std::optional<Observed> observed_;  // Nothing, and no rows, if the history cannot be judged.
  std::optional<RowVersions> rows_;
  // The moments at which reads without a version set may have taken their snapshots.
  std::vector<SnapshotAt> moments_{SnapshotAt::Start};
  absl::flat_hash_map<OpId, std::vector<Row>> known_;
  absl::flat_hash_map<OpId, std::vector<Matter>> open_;
  std::optional<WrittenRows> written_;  // By observation: by whoever did not abort.
  std::uint64_t steps_ = 0;             // What was done, but for looks at written_.
  std::uint64_t taken_ = 0;             // What take_steps() returned.
};

}  // namespace ouro
