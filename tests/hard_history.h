// A history that no machine decides at once.
#pragma once

#include <string>

namespace ouro {

// Writes 3,000 transactions to `path`, in the native format, those of each session one after the
// other: so nothing says who came first, and to decide si or parallel-si takes very long.
void write_hard_history(const std::string& path);

}  // namespace ouro
