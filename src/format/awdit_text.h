// AWDIT's test histories: lines `r key value` and `w key value`; a line of dashes ends a
// transaction, a line of equals signs a session. Keys have no initial value: a read of a value that
// nobody wrote is wrong.
#pragma once

#include "format/input.h"
#include "ouro/format.h"

namespace ouro {

bool detect_awdit_text(std::string_view head);
Result<History> read_awdit_text(Input& input, unsigned threads);

}  // namespace ouro
