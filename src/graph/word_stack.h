// A stack of words that grows to gigabytes and shrinks, again and again: in blocks that do not move
// and are kept for the next time, so nothing is copied and memory is touched first only once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace ouro {

class WordStack {
 public:
  static constexpr std::size_t kBlock = std::size_t{1} << 16;  // Words: half a megabyte.

  // Room for `count` more words, which lie side by side. REQUIRES: count <= kBlock.
  std::uint64_t* push(std::size_t count) {
    if (blocks_.empty() || used_[top_] + count > kBlock) open_block();
    used_[top_] += count;
    return blocks_[top_].get() + used_[top_] - count;
  }
  // The word pushed last. REQUIRES: there is one.
  [[nodiscard]] std::uint64_t last() const { return blocks_[top_][used_[top_] - 1]; }
  // Takes back a push() of `count` words, which stay where they are until the next one.
  // REQUIRES: it was the last one that was not taken back.
  const std::uint64_t* pop(std::size_t count) {
    used_[top_] -= count;
    const std::uint64_t* words = blocks_[top_].get() + used_[top_];
    if (used_[top_] == 0 && top_ > 0) --top_;
    return words;
  }
  // Bytes used, for what was taken back, too.
  [[nodiscard]] std::size_t bytes() const {
    return blocks_.size() * kBlock * sizeof(std::uint64_t);
  }

 private:
  void open_block() {
    if (!blocks_.empty()) ++top_;
    if (top_ < blocks_.size()) return;
    blocks_.push_back(std::make_unique_for_overwrite<std::uint64_t[]>(kBlock));
    used_.push_back(0);
  }

  std::vector<std::unique_ptr<std::uint64_t[]>> blocks_;
  std::vector<std::size_t> used_;  // By block; zero behind top_.
  std::size_t top_ = 0;
};

}  // namespace ouro
