// Sees to it that selects and aggregates give what they returned, while the search orders the
// writers (search.h). By observation.
//
// A predicate read sees the last version of each row before its transaction begins. In the current
// order that gives its result, or not. Only a read that has another result becomes a matter of
// choice. Of the rows that may be to blame, one must then be seen in another version, which the
// solver is told as a lemma about what the transaction sees (seen_versions.h) and about the order
// of versions: of each such row, either the version that is seen now is not, or one is that would
// help, or it comes later than the one that is seen now.
//
// Which versions help depends on the result. If a select should not have found a row, only those of
// that row that do not match. If a count is too large, versions that do not match of rows that do;
// if a sum is too large, versions that give less; and so on. What cannot help is not in the lemma,
// and so it rules out many orders at once.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "check/polygraph/encoding.h"
#include "check/polygraph/seen_versions.h"
#include "check/versions/read_parts.h"
#include "check/versions/row_versions.h"
#include "solver/solver.h"

namespace ouro {

class Search;

class ResultChoices {
 public:
  // REQUIRES: all outlive the result, and all rows are open keys of `encoding`.
  ResultChoices(const Encoding& encoding, Search& search, SeenVersions& seen, const Budget& budget);

  // To be called after some node got another position in the order: all reads are looked at again.
  void moved() { is_checked_ = false; }
  // What to ask the solver for next, if a read gives another result than it returned; false if none
  // does. REQUIRES: arcs between chains that are neighbours run forward.
  bool next(Solver& solver, Guide::Next& next);
  // A read that no versions give the result of; invalid if none was met.
  [[nodiscard]] OpId impossible() const { return impossible_; }

 private:
  // A row that a read did not return and that its transaction did not write before, as the read
  // sees it now.
  struct Row {
    KeyId key;
    VersionId seen = kNoVersion;
    RowPart part;
  };
  // Whether a row would help if it had another part.
  using Helps = std::function<bool(const Row& row, const RowPart& other)>;
  // A literal, and how far it moves something in the current order.
  using Move = std::pair<std::uint64_t, Literal>;

  // What the read at hand sees; fills rows_.
  void look(OpId read);
  [[nodiscard]] bool fits(OpId read) const;
  // What the rows and the own writes before the read give.
  [[nodiscard]] std::vector<KeyPart> parts(OpId read) const;
  void check_all();
  void forbid(Solver& solver, OpId read, Guide::Next& next);
  // Which versions would help, and in rows_ only the rows that may be to blame.
  [[nodiscard]] Helps blame(OpId read);
  [[nodiscard]] Helps blame_count(OpId read, std::int64_t wanted);
  [[nodiscard]] Helps blame_sum(OpId read, Value wanted);
  [[nodiscard]] Helps blame_extreme(OpId read);
  // Adds to moves_ what would make the read see a version of the row that helps.
  void add_moves(Solver& solver, OpId read, const Row& row, const Helps& helps);

  const Observed& o_;
  const History& h_;
  Search& search_;
  SeenVersions& seen_;
  const Budget& budget_;
  BudgetTicker ticker_;
  RowVersions versions_;     // For what predicates match; in no order that matters.
  std::vector<OpId> reads_;  // Of transactions that take part.
  std::vector<OpId> open_;   // Those that had other results; the next is at the back.
  bool is_checked_ = false;  // Whether all were looked at since something moved.
  OpId impossible_;
  // Of the read at hand:
  OwnWrites own_;
  std::vector<Row> rows_;
  std::vector<KeyId> keys_;  // Of rows that may matter.
  std::vector<KeyId> returned_;
  std::vector<Move> moves_;
};

}  // namespace ouro
