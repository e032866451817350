// What a part of a history calls its transactions, operations and keys, in terms of the whole.
#pragma once

#include "explain/excerpt.h"
#include "ouro/explain.h"

namespace ouro {

[[nodiscard]] TxnId lifted(TxnId txn, const Excerpt& part);
[[nodiscard]] OpId lifted(OpId op, const Excerpt& part);
void lift(Story& story, const Excerpt& part);
// A part of a part, as one of the whole.
[[nodiscard]] Excerpt lifted(Excerpt inner, const Excerpt& part);

}  // namespace ouro
