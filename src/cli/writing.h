// Writes a history to a file or to standard output.
#pragma once

#include <string>

#include "ouro/ouro.h"

namespace ouro::cli {

// Writes `history` to `path` ("-": standard output) in the format called `format`; if that is
// empty, in the one that the extension of `path` stands for. Warns on standard error of what the
// format cannot express. Returns an exit status.
int write_out(const History& history, const std::string& path, const std::string& format);

}  // namespace ouro::cli
