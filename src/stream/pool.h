// Memory for many small arrays that come and go, by size, with an account of what is in use.
//
// Cut from large pieces that the system may back by huge pages: with ten million keys, looking
// up page addresses would cost more than the data itself. Pieces are never given back.
//
// Memory that nobody used yet is slow: the system clears it, and a virtual machine's host must find
// it first, at 0.4 to 2 GB/s, which is about what a stream without a limit needs. So a large pool
// may have the next pieces made ready by a thread of its own.
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
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

// Pieces of one size that were touched already.
class ReadyPages {
 public:
  explicit ReadyPages(std::size_t bytes) : bytes_(bytes) {}
  ~ReadyPages();
  ReadyPages(const ReadyPages&) = delete;
  ReadyPages& operator=(const ReadyPages&) = delete;
  // Never waits: if no piece is ready, returns one that was not touched yet.
  Pages take();

 private:
  static constexpr std::size_t kReady = 4;
  void make_ready();

  const std::size_t bytes_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Pages> ready_;
  bool ends_ = false;
  std::thread maker_;
};

class Pool {
 public:
  static constexpr std::size_t kLargest = 64 * 72 + 8;

  Pool() { set_step(8); }
  // Few sizes, multiples of this: what is free was used for something else, and else would stay
  // free when the proportions change. REQUIRES: a multiple of 8; nothing was taken yet.
  void set_step(std::size_t bytes);
  // From here on a second thread makes memory ready, once the pool is large.
  void work_ahead() { works_ahead_ = true; }

  // REQUIRES: `bytes` is a multiple of 8, not zero and at most kLargest.
  void* take(std::size_t bytes) {
    bytes = rounded_[bytes / 8];
    used_ += bytes;
    Free*& head = free_[bytes / 8];
    if (head == nullptr) return cut(bytes);
    Free* const block = head;
    head = block->next;
    return block;
  }
  void give(void* block, std::size_t bytes) {
    bytes = rounded_[bytes / 8];
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
  Pages next_piece();

  static constexpr std::size_t kSizes = kLargest / 8 + 1;
  // The size to take instead; indexed by an eighth of the bytes asked for.
  std::array<std::uint16_t, kSizes> rounded_;
  std::array<Free*, kSizes> free_{};
  std::vector<Pages> pieces_;
  std::byte* next_ = nullptr;
  std::size_t left_ = 0;
  std::size_t used_ = 0;
  bool works_ahead_ = false;
  std::unique_ptr<ReadyPages> ahead_;
};

}  // namespace ouro::stream
