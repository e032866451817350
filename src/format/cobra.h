// Cobra's logs: a folder with a binary file T<number>.log per session.
//
// The value of a version is the id of its write, or the hash of what was written where the recorder
// gave all writes the same id. The ids INIT and NULL both mean the initial version, null. A read
// that names a write which is in no log is kept: it is a read of a value that nobody wrote.
#pragma once

#include <string>
#include <string_view>

#include "ouro/format.h"
#include "ouro/history_builder.h"

namespace ouro {

bool detect_cobra(const std::string& folder);
Result<History> read_cobra(const std::string& folder, unsigned threads);

// Adds the transactions of one log to `builder`. `file` is named in errors.
Status parse_cobra_log(std::string_view bytes, std::string_view file, SessionId session,
                       HistoryBuilder& builder);

}  // namespace ouro
