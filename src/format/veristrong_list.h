// VeriStrong's numeric list-append histories: the number of operations, then for each
// `session transaction R key length element…` or `session transaction A key element`.
#pragma once

#include "format/input.h"
#include "ouro/format.h"

namespace ouro {

bool detect_veristrong_list(std::string_view head);
Result<History> read_veristrong_list(Input& input, unsigned threads);

}  // namespace ouro
