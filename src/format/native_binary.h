// The native binary format, .ouro: the columns of a History, most of which are used where they lie
// in the file.
//
// A file is a header of 32 bytes (magic, version, number of sections, size of the file), a table of
// sections (id, size of an entry, offset, number of entries), then the sections, each aligned to 64
// bytes. All is little endian. Empty sections are left out. docs/formats.md lists the sections.
#pragma once

#include "format/input.h"
#include "format/output.h"
#include "ouro/format.h"

namespace ouro {

bool detect_native_binary(std::string_view head);
Result<History> read_native_binary(Input& input, unsigned threads);
Result<WriteReport> write_native_binary(const History& history, Output& output);

}  // namespace ouro
