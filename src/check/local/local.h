// What is wrong in plain sight: anomalies that single transactions show, without any search.
#pragma once

#include <span>
#include <vector>

#include "check/observed/observed.h"

namespace ouro {

// Adds to `verdict` every wrong read that violates its level, the given `flaws` of predicate reads,
// and plain_predicate_flaws(). Counts them all, keeps the first `examples` of each kind, and sets
// the outcome to Violated if there are any.
void add_wrong_reads(Verdict& verdict, const Observed& observed,
                     std::span<const PredicateFlaw> flaws, std::size_t examples);

// What is wrong with single predicate reads of transactions that take part, in the order of the
// history: results that are not what the version set and own writes imply, or that have a row which
// the predicate does not select, or a row twice; and version sets that contradict an own write.
// Also reads that do not return what was written, and undone later, in the same part of a
// transaction.
[[nodiscard]] std::vector<PredicateFlaw> plain_predicate_flaws(const Observed& observed);

}  // namespace ouro
