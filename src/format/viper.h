// Viper's logs: a folder with a file J<number>.log per session, a committed transaction a line.
//
// An insert or delete is a read of the row it found and, if it succeeded, a write; an update that
// hit no row is nothing. A value that is 0 means null. The transaction marked as initial gives the
// initial values; without one, a value nobody wrote is the initial value of its key.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "ouro/format.h"

namespace ouro {

bool detect_viper(const std::string& folder);
Result<History> read_viper(const std::string& folder, unsigned threads);

// Reads one log as a history of one session.
Result<History> parse_viper_log(const std::string& bytes, std::string_view file);

}  // namespace ouro
