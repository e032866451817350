// Where a JSON array may be cut into pieces that can be parsed alone.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ouro {

// Cuts an array behind an element that is a map or a list.
class ArrayCutter {
 public:
  // A CutBlock.
  std::size_t cut(std::string_view bytes);

  // The offset behind the closing bracket, if cut() has seen it.
  [[nodiscard]] std::uint64_t closed_at() const { return closed_at_.load(); }
  static constexpr std::uint64_t kOpen = ~std::uint64_t{0};

 private:
  bool started_ = false;
  std::uint64_t taken_ = 0;
  std::atomic<std::uint64_t> closed_at_ = kOpen;
};

}  // namespace ouro
