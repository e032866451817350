// A piece of a Chronos array into a builder.
#pragma once

#include <string_view>

#include "format/blocks.h"
#include "ouro/history_builder.h"

namespace ouro {

Status parse_chronos_block(const Block& block, std::string_view file, HistoryBuilder& builder);

}  // namespace ouro
