// What is wrong in plain sight: anomalies that single transactions show, without any search.
#pragma once

#include <vector>

#include "check/observed.h"

namespace ouro {

// Adds every wrong read that violates verdict.level: counts all, keeps `examples` of each kind, and
// sets the outcome if there are any.
void add_wrong_reads(Verdict& verdict, const Observed& observed, std::size_t examples);

// The predicate reads of transactions that take part whose result is not what their version set
// implies. Reads without a version set are none.
[[nodiscard]] std::vector<OpId> result_set_mismatches(const Observed& observed);

}  // namespace ouro
