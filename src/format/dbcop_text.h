// dbcop's .hist language: `[x:=1 y==2] [x==?]!`, sessions separated by a line of dashes.
#pragma once

#include "format/input.h"
#include "ouro/format.h"

namespace ouro {

bool detect_dbcop_text(std::string_view head);
Result<History> read_dbcop_text(Input& input, unsigned threads);

}  // namespace ouro
