// Writing a history where the user wants it.
#pragma once

#include <string>

#include "ouro/ouro.h"

namespace ouro::cli {

// Writes `history` to `path` in the format called `format`; if that is empty, the one that the
// extension of `path` means. Warns on standard error of what the format cannot express. Returns an
// exit status.
int write_out(const History& history, const std::string& path, const std::string& format);

}  // namespace ouro::cli
