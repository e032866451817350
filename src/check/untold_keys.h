// By observation: which keys predicate reads do not tell of (ReadKey), and what those may be to
// them.
#pragma once

#include <vector>

#include "base/budget.h"
#include "check/observed/observed.h"
#include "check/predicates/written_rows.h"
#include "check/scans.h"
#include "check/versions/read_parts.h"
#include "ouro/check.h"

namespace ouro {

// All rows in any version, also of transactions that do not take part yet. `lists`: list_keys().
[[nodiscard]] WrittenRows written_rows(const Observed& observed, const std::vector<bool>& lists);

// Adds the keys of which a read may have seen something that it does not tell: those of `rows` that
// match.
void add_all_keys(const Observed& observed, WrittenRows& rows, OpId read,
                  std::vector<ReadKey>& out);

// A read that no versions mend: a select that does not return what its transaction wrote before, or
// an aggregate to which no row that it did not write matters. If the transaction takes part in any
// case, that is a violation. If not, it cannot take part; so one of the keys becomes a read, by
// which impossible_results() finds it whenever it would.
struct Impossible {
  OpId read;  // Of a transaction that takes part; invalid if there is none.

  void add(const Observed& whole, const std::vector<bool>& lists, OpId id,
           std::vector<ReadKey>& out);
};

// All keys of all predicate reads of which they may have seen something. Of a key without any
// version that matches it does not matter which one a read saw.
struct AllUntold {
  std::vector<ReadKey> keys;
  bool too_many = false;  // There are more than `most`.
  Impossible impossible;
};
[[nodiscard]] AllUntold all_untold(const Observed& observed, const Scans& scans, std::size_t most,
                                   const Budget& budget);

// The selects and aggregates of which no versions give the result, if each key that is a read of
// `observed` was seen as its source says, or, if it has none, as any of its candidates. Only reads
// that have such keys are looked at. Selects are judged by what their transaction wrote before. If
// the budget is exhausted, the result is meaningless.
[[nodiscard]] std::vector<PredicateFlaw> impossible_results(const Observed& observed,
                                                            const Budget& budget);

}  // namespace ouro
