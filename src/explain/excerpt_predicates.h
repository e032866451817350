// What is left of a predicate read in a part of a history.
#pragma once

#include <optional>

#include "explain/excerpt_draft.h"

namespace ouro {

// Adds what is left of a predicate read to the part, and returns its number; nothing if the read
// must go, since the part has too little of what it rests on.
[[nodiscard]] std::optional<std::size_t> add_predicate_read(ExcerptDraft& draft, const Op& op);

}  // namespace ouro
