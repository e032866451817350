// The table of formats. To add a format x: write x.h and x.cc with the functions that FormatEntry
// has, and add a row to the table in registry.cc.
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

  // For formats that are files. `first_bytes`: a file begins with one of these, white space aside;
  // empty: with any byte.
  std::string_view first_bytes = {};
  // Whether content that begins with `head` (at most 64 KiB) is of this format. Entries are asked
  // in the order of the table; the first that returns true is chosen.
  bool (*detect)(std::string_view head) = nullptr;
  Result<History> (*read)(Input& input, unsigned threads) = nullptr;

  // For formats that are folders, instead of the two above.
  bool (*detect_folder)(const std::string& path) = nullptr;
  Result<History> (*read_folder)(const std::string& path, unsigned threads) = nullptr;

  // Fails before anything is written if the format cannot express the history. Null: the format
  // cannot be written.
  Result<WriteReport> (*write)(const History& history, Output& output) = nullptr;
};

[[nodiscard]] std::span<const FormatEntry> format_table();

// The format of content that begins with `head`; Format::Detect if it is of none. `among`: only
// these formats are possible; empty: all are. If the first byte leaves only one of `among`, that is
// returned without asking it, so that a part of the first line is enough.
[[nodiscard]] Format detect_format(std::string_view head, std::span<const Format> among = {});
// The same for an input; skips a byte order mark in front of text. REQUIRES: nothing was read yet.
[[nodiscard]] Format detect_format(Input& input);

}  // namespace ouro
