// dbcop's JSON histories (since 2025): sessions of transactions of events, bare or with a header.
#pragma once

#include "format/input.h"
#include "ouro/format.h"

namespace ouro {

bool detect_dbcop_json(std::string_view head);
Result<History> read_dbcop_json(Input& input, unsigned threads);

}  // namespace ouro
