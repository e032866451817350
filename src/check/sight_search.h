// Decides a level where the history does not say what some predicate reads saw.
//
// 1. Decide without these reads. If the level is violated, that is the answer.
// 2. Compare them with the order that was found (check/versions/unplaced_reads.h). If it gives what
//    all of them returned, the level holds. Edges that follow from their results are added, and the
//    level is decided again.
// 3. If there are no more edges, whether a read saw some version of a row is a choice. First all
//    choices are made at once, as is likeliest; if the level does not hold then, one choice splits
//    the case in two, and both are decided like this. The level holds if it does in some case. It
//    is violated if all cases are refuted; these are its proof.
#pragma once

#include <functional>

#include "base/budget.h"
#include "check/observed/observed.h"
#include "check/versions/predicate_reads.h"
#include "check/versions/unplaced_reads.h"
#include "ouro/check.h"

namespace ouro {

// Decides the level with the given edges of predicate reads, and with those that other predicate
// reads need. Returns the edges that it used, too.
struct Settled {
  Verdict verdict;
  std::vector<PredicateEdge> edges;
};
using SettleWith = std::function<Settled(std::vector<PredicateEdge>)>;

// REQUIRES: predicates.unplaced() is not empty.
[[nodiscard]] Verdict search_sights(const Observed& observed, const PredicateReads& predicates,
                                    Level level, const SettleWith& settle, const Budget& budget);

// Which versions predicate reads may have seen at a level.
[[nodiscard]] UnplacedReads::Allowed allowed_versions(Level level);

}  // namespace ouro
