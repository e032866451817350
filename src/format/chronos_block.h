// Parses one block of a Chronos array, as ArrayCutter cuts it.
#pragma once

#include <string_view>

#include "format/blocks.h"
#include "ouro/history_builder.h"

namespace ouro {

// Adds the transactions of `block` to `builder`. `file` is named in errors.
Status parse_chronos_block(const Block& block, std::string_view file, HistoryBuilder& builder);

}  // namespace ouro
