// Memory for many small arrays that come and go, by size, with an account of what is in use.
//
// Cut from large pieces that the system may back by huge pages: with ten million keys, looking
// up page addresses would cost more than the data itself. Pieces are never given back.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ouro::stream {

// Zeroed memory, in huge pages where they pay. Throws std::bad_alloc.
class Pages {
 public:
  Pages() = default;
  explicit Pages(std::size_t bytes);  // REQUIRES: not zero.
  ~Pages();
  Pages(Pages&& other) noexcept;
  Pages& operator=(Pages&& other) noexcept;
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

class Pool {
 public:
  static constexpr std::size_t kLargest = 64 * 72;

  // REQUIRES: `bytes` is a multiple of 8, not zero and at most kLargest.
  void* take(std::size_t bytes) {
    used_ += bytes;
    Free*& head = free_[bytes / 8];
    if (head == nullptr) return cut(bytes);
    Free* const block = head;
    head = block->next;
    return block;
  }
  void give(void* block, std::size_t bytes) {
    used_ -= bytes;
    Free*& head = free_[bytes / 8];
    head = new (block) Free{head};
  }
  [[nodiscard]] std::size_t used() const { return used_; }

 private:
  struct Free {
    Free* next;
  };
  void* cut(std::size_t bytes);

  std::array<Free*, kLargest / 8 + 1> free_{};
  std::vector<Pages> pieces_;
  std::byte* next_ = nullptr;
  std::size_t left_ = 0;
  std::size_t used_ = 0;
};

}  // namespace ouro::stream
