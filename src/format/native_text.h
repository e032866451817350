// The native text format: JSON Lines, one transaction a line. docs/formats.md describes it.
#pragma once

#include "format/input.h"
#include "format/output.h"
#include "ouro/format.h"

namespace ouro {

bool detect_native_text(std::string_view head);
Result<History> read_native_text(Input& input, unsigned threads);
Result<WriteReport> write_native_text(const History& history, Output& output);

}  // namespace ouro
