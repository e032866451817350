// Viper's logs: a folder with a file J<number>.log per session; each line is a committed
// transaction.
//
// An insert or delete becomes a read of the row that it found and, if it succeeded, a write or a
// delete. A write that succeeded becomes a write; one that did not is left out. The value 0 means
// null. The transaction marked as initial gives the initial values. If there is none, the first
// value read from a key that nobody wrote there is its initial value.
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
