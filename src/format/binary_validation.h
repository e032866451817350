// Checks that columns from an untrusted file make a consistent History.
#pragma once

#include <optional>
#include <string>

#include "history/columns.h"
#include "ouro/history.h"

namespace ouro {

// All readers refuse deeper predicates, so code that walks predicates may recurse.
inline constexpr std::uint32_t kMaxPredicateDepth = 64;

// Returns the first inconsistency in words. If there is none, returns nothing: every index in the
// columns is in range, and two Value handles are equal exactly if their values are. Does not look
// at session_first and session_txns, which the reader computes. Cost: one pass over all columns,
// those of operations on `threads` threads (zero: one per core); names and pooled values are
// hashed.
[[nodiscard]] std::optional<std::string> validate_columns(const HistoryColumns& columns,
                                                          unsigned threads);

}  // namespace ouro
