// Checks that columns from an untrusted file make a consistent History.
#pragma once

#include <optional>
#include <string>

#include "history/columns.h"
#include "ouro/history.h"

namespace ouro {

// Deeper predicates are refused by all readers, so that walking them may recurse.
inline constexpr std::uint32_t kMaxPredicateDepth = 64;

// The first inconsistency, or nothing: then every index in the columns is in range, and handles are
// equal exactly when values are. The columns of sessions are not looked at.
// Cost: one pass over all columns, those of operations on `threads` threads (zero: one per core);
// hashing for names and pooled values.
[[nodiscard]] std::optional<std::string> validate_columns(const HistoryColumns& columns,
                                                          unsigned threads);

}  // namespace ouro
