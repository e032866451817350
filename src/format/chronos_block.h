// Parses one block of a Chronos array, as ArrayCutter cuts it.
#pragma once

#include <string_view>

#include "format/array_cutter.h"
#include "format/blocks.h"
#include "ouro/history_builder.h"

namespace ouro {

// Adds the transactions of `block` to `builder`. `file` is named in errors.
Status parse_chronos_block(const Block& block, std::string_view file, HistoryBuilder& builder);
// The same, but refuses what is behind the end of the array that `cutter` cuts.
Status parse_chronos_part(const Block& block, std::string_view file, const ArrayCutter& cutter,
                          HistoryBuilder& builder);

// In a history of lists, a read of null is a read of the empty list.
void read_null_as_empty(HistoryBuilder& builder);

inline constexpr char kChronosMixture[] =
    "lists and registers in one history; Chronos checks either";

}  // namespace ouro
