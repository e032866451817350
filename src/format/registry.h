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

  // Files: whether content that starts with `head` (at most 64 KiB) is of this format. Entries are
  // asked in the order of the table; the first that says yes is it.
  bool (*detect)(std::string_view head) = nullptr;
  Result<History> (*read)(Input& input, unsigned threads) = nullptr;

  // Folders, instead of the two above.
  bool (*detect_folder)(const std::string& path) = nullptr;
  Result<History> (*read_folder)(const std::string& path, unsigned threads) = nullptr;

  // Checks first that the format can say what the history says, then writes.
  Result<WriteReport> (*write)(const History& history, Output& output) = nullptr;
};

[[nodiscard]] std::span<const FormatEntry> format_table();

}  // namespace ouro
