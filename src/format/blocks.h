// Parses large text in parallel: the input is cut into blocks that can be parsed alone, several
// threads parse blocks, each into a builder of its own, and the builders are joined in order. The
// result is the same for every number of threads. Besides the history, memory holds a few blocks.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "format/input.h"
#include "ouro/history_builder.h"

namespace ouro {

// A piece of the input that can be parsed alone.
struct Block {
  std::string bytes;           // Followed by Input::kPadding readable bytes.
  std::uint64_t first_line;    // 1-based line of its first byte.
  std::uint64_t first_column;  // 1-based column of its first byte.
  std::uint64_t offset;        // Of its first byte in the input.
  bool last;                   // Nothing follows. There is always a last block, maybe an empty one.
};

// Returns how many of `bytes`, from the first, make a block that can be parsed alone. Called only
// if more input may follow. Zero: there is no such place; it is called again with more bytes. Calls
// are made in order, each beginning where the last one cut, so a cutter may keep state. `bytes` are
// followed by a zero byte.
using CutBlock = std::function<std::size_t(std::string_view bytes)>;

// Cuts after the last line break.
std::size_t cut_at_line(std::string_view bytes);

// Parses one block into `builder`. Called from several threads at once.
using ParseBlock = std::function<Status(const Block& block, HistoryBuilder& builder)>;

// Adds the history in `input` to `builder`. The error is the first one in the order of the input.
Status parse_blocks(Input& input, const CutBlock& cut, const ParseBlock& parse, unsigned threads,
                    HistoryBuilder& builder);

}  // namespace ouro
