// Finds places where the text of a large JSON array may be cut, so that the pieces can be parsed
// one by one (JsonTokens::Top has the kinds of pieces).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ouro {

// Cuts after an element of the array, which must be a map or a list.
class ArrayCutter {
 public:
  // A CutBlock (blocks.h). Once the array has ended, takes everything.
  std::size_t cut(std::string_view bytes);

  // The offset just after the array's closing bracket; kOpen until cut() has seen that. May be
  // called by another thread than cut().
  [[nodiscard]] std::uint64_t closed_at() const { return closed_at_.load(); }
  static constexpr std::uint64_t kOpen = ~std::uint64_t{0};

 private:
  bool started_ = false;     // The opening bracket of the array was taken.
  std::uint64_t taken_ = 0;  // How many bytes all calls of cut() took.
  std::atomic<std::uint64_t> closed_at_ = kOpen;
};

}  // namespace ouro
