// AWDIT's test histories: lines `r key value` and `w key value`; dashes end a transaction, equals
// signs a session. Nothing is written initially: a read without a writer is out of thin air.
#pragma once

#include "format/input.h"
#include "ouro/format.h"

namespace ouro {

bool detect_awdit_text(std::string_view head);
Result<History> read_awdit_text(Input& input, unsigned threads);

}  // namespace ouro
