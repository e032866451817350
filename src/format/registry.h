// The table of formats. To add one: write x.h/x.cc with the functions below and add a row.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "format/input.h"
#include "format/output.h"
#include "ouro/format.h"

namespace ouro {

struct FormatEntry {
  FormatInfo info;

  // Files: the bytes of which one comes first, spaces aside; empty: it may be any.
  std::string_view first_bytes = {};
  // Whether content that starts with `head` (at most 64 KiB) is of this format. Entries are asked
  // in the order of the table; the first that says yes is it.
  bool (*detect)(std::string_view head) = nullptr;
  Result<History> (*read)(Input& input, unsigned threads) = nullptr;

  // Folders, instead of the two above.
  bool (*detect_folder)(const std::string& path) = nullptr;
  Result<History> (*read_folder)(const std::string& path, unsigned threads) = nullptr;

  // Checks first that the format can say what the history says, then writes.
  Result<WriteReport> (*write)(const History& history, Output& output) = nullptr;
};

[[nodiscard]] std::span<const FormatEntry> format_table();

// The format of content that starts with `head`; Format::Detect if it is of none. If it must be
// one `among` some, and by its first byte can be one of these only, that is the answer: so a part
// of the first line is enough.
[[nodiscard]] Format detect_format(std::string_view head, std::span<const Format> among = {});
// The same for a file; leaves out a byte order mark in front of text. REQUIRES: nothing was read.
[[nodiscard]] Format detect_format(Input& input);

}  // namespace ouro
