#include "stream/pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>
#include <utility>

namespace ouro::stream {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kFirstPiece = std::size_t{64} << 10;

}  // namespace

Pages::Pages(std::size_t bytes) : bytes_(bytes) {
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  data_ = static_cast<std::byte*>(memory);
  if (bytes >= kHugePage) madvise(memory, bytes, MADV_HUGEPAGE);  // A wish; it may fail.
}

Pages::~Pages() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

Pages::Pages(Pages&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

Pages& Pages::operator=(Pages&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

void* Pool::cut(std::size_t bytes) {
  if (left_ < bytes) {
    // Small at first, so that a small stream stays small.
    const std::size_t size =
        std::min(kFirstPiece << std::min<std::size_t>(pieces_.size(), 9), kHugePage * 8);
    pieces_.emplace_back(size);
    next_ = pieces_.back().data();
    left_ = size;
  }
  void* const block = next_;
  next_ += bytes;
  left_ -= bytes;
  return block;
}

}  // namespace ouro::stream
