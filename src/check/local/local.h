// What is wrong in plain sight: anomalies that single transactions show, without any search.
#pragma once

#include <span>
#include <vector>

#include "check/observed/observed.h"

namespace ouro {

// Adds every wrong read that violates verdict.level, and every flaw of a predicate read, `flaws`
// among them: counts all, keeps `examples` of each kind, and sets the outcome if there are any.
void add_wrong_reads(Verdict& verdict, const Observed& observed,
                     std::span<const PredicateFlaw> flaws, std::size_t examples);

// What predicate reads of transactions that take part show by themselves, in their order: results
// that are not what the version set and own writes imply, or that have a row which the predicate
// does not select, or a row twice; and version sets that contradict an own write.
[[nodiscard]] std::vector<PredicateFlaw> plain_predicate_flaws(const Observed& observed);

}  // namespace ouro
