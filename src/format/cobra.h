// Cobra's logs: a folder with a binary file T<number>.log per session.
//
// A version is known by the id of its write, or by its value's hash where the recorder gave all
// writes the same id. INIT and NULL are one initial version: null. A read that names a write of
// no log stays as it is: a value nobody wrote.
#pragma once

#include <string>
#include <string_view>

#include "ouro/format.h"
#include "ouro/history_builder.h"

namespace ouro {

bool detect_cobra(const std::string& folder);
Result<History> read_cobra(const std::string& folder, unsigned threads);

// Adds the transactions of one log to `builder`. `file` stands in messages.
Status parse_cobra_log(std::string_view bytes, std::string_view file, SessionId session,
                       HistoryBuilder& builder);

}  // namespace ouro
