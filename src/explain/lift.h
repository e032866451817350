// Translates ids of a part of a history to those of the whole. Invalid ids, and those of things
// that were added to the part, become invalid.
#pragma once

#include "explain/excerpt.h"
#include "ouro/explain.h"

namespace ouro {

[[nodiscard]] TxnId lifted(TxnId txn, const Excerpt& part);
[[nodiscard]] OpId lifted(OpId op, const Excerpt& part);
void lift(Story& story, const Excerpt& part);
// `inner` is a part of part.history; returns it as a part of the whole.
[[nodiscard]] Excerpt lifted(Excerpt inner, const Excerpt& part);

}  // namespace ouro
