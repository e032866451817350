// dbcop's YAML histories (2019). This reads the layout that dbcop printed, not YAML in general.
#pragma once

#include "format/input.h"
#include "ouro/format.h"

namespace ouro {

bool detect_dbcop_yaml(std::string_view head);
Result<History> read_dbcop_yaml(Input& input, unsigned threads);

}  // namespace ouro
