// Finds the write that a read returned.
#pragma once

#include "ouro/history.h"

namespace ouro {

// The last write of `writer` that `read` shows: as its value, or as an element of a list; of a
// predicate read as a returned row or, without such a row, as a version of its version set. Invalid
// if the read shows none.
[[nodiscard]] OpId write_behind(const History& history, TxnId writer, OpId read);

// Whether the read returned, or saw, what the write wrote, whoever else wrote the same.
[[nodiscard]] bool is_seen(const History& history, OpId write, OpId read);

}  // namespace ouro
