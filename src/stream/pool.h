// Memory for many small arrays that come and go, with a free list for each size and a count of the
// bytes in use.
//
// Arrays are cut from large pieces that the system may back by huge pages: with ten million keys,
// translating addresses of small pages would cost more than reading the data. Pieces are returned
// to the system only when the pool is destroyed.
//
// The first use of memory is slow: the system clears it, and a virtual machine's host must find it
// first, at 0.4 to 2 GB/s, which is about what a stream without a limit needs. So a large pool may
// have the next pieces made ready by a thread of its own.
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

// Zeroed memory of the system, in huge pages if it is larger than one: a page is cleared as a whole
// when it is first used, which would cost a small stream more than all else. Throws std::bad_alloc.
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

// Makes pieces of one size ready in a thread of its own: allocates them and touches every page.
class ReadyPages {
 public:
  explicit ReadyPages(std::size_t bytes) : bytes_(bytes) {}
  ~ReadyPages();
  ReadyPages(const ReadyPages&) = delete;
  ReadyPages& operator=(const ReadyPages&) = delete;
  // Never waits: if no piece is ready, returns one that was not touched yet.
  Pages take();

 private:
  static constexpr std::size_t kReady = 4;  // How many pieces are made ready in advance.
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
  // The largest array: a full leaf of list versions and its pointer to the directory (sequence.h).
  static constexpr std::size_t kLargest = 64 * 72 + 8;

  Pool() { set_step(8); }
  // Rounds all sizes up to multiples of `bytes`. With few different sizes, memory freed by one use
  // serves another when the proportions change. REQUIRES: a multiple of 8; nothing was taken yet.
  void set_step(std::size_t bytes);
  // From here on a second thread makes memory ready, once the pool is large.
  void work_ahead() { works_ahead_ = true; }

  // Memory that is not zeroed. REQUIRES: `bytes` is a multiple of 8, not zero, at most kLargest.
  void* take(std::size_t bytes) {
    bytes = rounded_[bytes / 8];
    used_ += bytes;
    Free*& head = free_[bytes / 8];
    if (head == nullptr) return cut(bytes);
    Free* const block = head;
    head = block->next;
    return block;
  }
  // Frees what take() returned for the same `bytes`.
  void give(void* block, std::size_t bytes) {
    bytes = rounded_[bytes / 8];
    used_ -= bytes;
    Free*& head = free_[bytes / 8];
    head = new (block) Free{head};
  }
  [[nodiscard]] std::size_t used() const { return used_; }  // Bytes.

 private:
  struct Free {
    Free* next;
  };
  void* cut(std::size_t bytes);
  Pages next_piece();

  static constexpr std::size_t kSizes = kLargest / 8 + 1;
  // Both are indexed by an eighth of the bytes: the size to which they are rounded, and the first
  // free array of that size.
  std::array<std::uint16_t, kSizes> rounded_;
  std::array<Free*, kSizes> free_{};
  std::vector<Pages> pieces_;
  std::byte* next_ = nullptr;  // The part of the last piece that was not cut yet, and its bytes.
  std::size_t left_ = 0;
  std::size_t used_ = 0;
  bool works_ahead_ = false;
  std::unique_ptr<ReadyPages> ahead_;
};

}  // namespace ouro::stream
