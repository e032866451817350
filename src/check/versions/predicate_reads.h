// What predicate reads depend on, by version orders (Adya).
//
// A predicate read saw one version of every row: those of its version set, or else the last ones
// committed before its transaction started. A version changes its matches if it matches and the one
// before does not, or the other way round. The read follows whoever wrote the last such version up
// to the one it saw, and precedes whoever wrote the first one after that; version orders carry the
// rest. So each read needs at most two edges for each row that ever matches.
#pragma once

#include <vector>

#include "base/budget.h"
#include "check/observed.h"

namespace ouro {

struct PredicateEdge {
  TxnId reader;
  OpId read;     // A select or an aggregate.
  ItemId write;  // Of the version that changes the matches.
  bool overwrites = false;
};

// A version set that has what nobody may see, or a result that is not what it implies.
struct PredicateFlaw {
  AnomalyKind kind = AnomalyKind::ResultSetMismatch;
  OpId read;
  OpId write;            // Of the version; invalid: nobody wrote it, or it is about the result.
  std::string expected;  // Of a result: what it should be, as JSON.
};

struct PredicateFindings {
  std::vector<PredicateEdge> edges;  // By reader; of several edges between two, one of each kind.
  std::vector<PredicateFlaw> flaws;
  // The first read that found a row absent which was so more than once; invalid if there is none.
  OpId unclear;
  KeyId unclear_key;
};

// Fills in `out` if a predicate read makes `from` precede `to`: as an overwritten read of `from`,
// or as a read of `to`.
[[nodiscard]] bool explain_predicate(const Observed& observed, TxnId from, TxnId to,
                                     bool overwrites, Edge& out);

// The error is a row without a complete version order where some predicate read needs it, or one of
// which it is unclear when it was absent.
[[nodiscard]] Result<PredicateFindings> read_predicates(const Observed& observed,
                                                        const Budget& budget, unsigned threads);

}  // namespace ouro
