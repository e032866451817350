// The order of values and the truth of predicates for the oracles: as docs/predicates.md defines
// them, independently of the engines and of certify/.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ouro/history.h"

namespace ouro::oracle {

// Below zero, zero or above, as `a` is less than, equal to or greater than `b`. Nothing if they do
// not compare: one is null, or one a number and the other a text.
[[nodiscard]] std::optional<int> compared_values(const History& history, Value a, Value b);

// Whether the key is within the bounds of a scan. Numbers are before texts.
[[nodiscard]] bool in_range(const History& history, const PredicateRead& scan, KeyId key);

// Whether an aggregate over these rows may give what `read` returned.
// Throws std::logic_error at long numbers, which the oracles do not need.
[[nodiscard]] bool is_aggregate(const History& history, const PredicateRead& read,
                                const std::vector<KeyVersion>& rows);

// Whether the predicate is true of the row, by SQL's logic; nothing: unknown.
[[nodiscard]] std::optional<bool> truth_of(const History& history, PredicateId predicate, KeyId key,
                                           Value row);

}  // namespace ouro::oracle
