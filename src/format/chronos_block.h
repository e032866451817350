// A piece of a Chronos array into a builder, and where the array may be cut into pieces.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "format/blocks.h"
#include "ouro/history_builder.h"

namespace ouro {

// Cuts an array behind an element, at `}`.
class ArrayCutter {
 public:
  // A CutBlock. REQUIRES: a zero byte behind `bytes`, as in a std::string.
  std::size_t cut(std::string_view bytes);

  // The offset behind the closing bracket, if cut() has seen it.
  [[nodiscard]] std::uint64_t closed_at() const { return closed_at_.load(); }
  static constexpr std::uint64_t kOpen = ~std::uint64_t{0};

 private:
  bool started_ = false;
  std::uint64_t taken_ = 0;
  std::atomic<std::uint64_t> closed_at_ = kOpen;
};

Status parse_chronos_block(const Block& block, std::string_view file, HistoryBuilder& builder);

}  // namespace ouro
