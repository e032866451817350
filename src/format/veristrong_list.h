// VeriStrong's histories of lists, which consist of numbers: the number of operations, then for
// each operation `session transaction R key length element…` (a read) or `session transaction A key
// element` (an append).
#pragma once

#include "format/input.h"
#include "ouro/format.h"

namespace ouro {

bool detect_veristrong_list(std::string_view head);
Result<History> read_veristrong_list(Input& input, unsigned threads);

}  // namespace ouro
