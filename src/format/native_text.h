// The native text format: JSON Lines, one transaction per line. docs/formats.md describes it.
#pragma once

#include "format/blocks.h"
#include "format/input.h"
#include "format/output.h"
#include "ouro/format.h"

namespace ouro {

bool detect_native_text(std::string_view head);
// Adds the lines of `block` to `builder`. `file` is named in errors.
Status parse_native_lines(const Block& block, std::string_view file, HistoryBuilder& builder);
Result<History> read_native_text(Input& input, unsigned threads);
Result<WriteReport> write_native_text(const History& history, Output& output);

}  // namespace ouro
