// dbcop's .hist language: `[x:=1 y==2] [x==?]!` are two transactions, the second one aborted. := is
// a write and == a read; ? is the initial value. Lines of dashes separate sessions.
#pragma once

#include "format/input.h"
#include "ouro/format.h"

namespace ouro {

bool detect_dbcop_text(std::string_view head);
Result<History> read_dbcop_text(Input& input, unsigned threads);

}  // namespace ouro
