// Parses large text in parallel: the input is cut into blocks at safe places, blocks are parsed on
// several threads into builders of their own, and those are joined in order. The result is the same
// for every number of threads, and memory beyond the history is a few blocks.
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

// How many of the first `bytes` make a block that can be parsed alone, given that more input
// follows; zero if none: then more is read. State may be kept from call to call: the next call
// starts behind the bytes taken. `bytes` are followed by a zero byte.
using CutBlock = std::function<std::size_t(std::string_view bytes)>;

// Cuts behind the last line break.
std::size_t cut_at_line(std::string_view bytes);

// Parses one block into `builder`. Called from several threads at once.
using ParseBlock = std::function<Status(const Block& block, HistoryBuilder& builder)>;

// Adds the history in `input` to `builder`. On failure the error is the first in input order.
Status parse_blocks(Input& input, const CutBlock& cut, const ParseBlock& parse, unsigned threads,
                    HistoryBuilder& builder);

}  // namespace ouro
