// Which write a read shows.
#pragma once

#include "ouro/history.h"

namespace ouro {

// The write of `writer` whose value `read` returned: of a list, the last of its elements; of a
// predicate read, the one behind a row or, without such a row, behind a visible version. Invalid if
// the read shows none of them.
[[nodiscard]] OpId write_behind(const History& history, TxnId writer, OpId read);

}  // namespace ouro
