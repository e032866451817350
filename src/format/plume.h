// Plume's and PolySI's text: a line r(key,value,session,transaction) or w(…) per operation.
//
// Operations of aborted transactions have the number -1. Which of them belong together is not
// known, so each becomes an aborted transaction of its own. Every key starts as 0, unless a
// committed transaction writes 0 to it.
#pragma once

#include "format/input.h"
#include "format/output.h"
#include "ouro/format.h"

namespace ouro {

bool detect_plume(std::string_view head);
Result<History> read_plume(Input& input, unsigned threads);
Result<WriteReport> write_plume(const History& history, Output& output);

}  // namespace ouro
