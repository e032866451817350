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
  // Only whole huge pages at their proper addresses count, so cut to those.
  const std::size_t spare = bytes >= kHugePage ? kHugePage : 0;
  void* const memory =
      mmap(nullptr, bytes + spare, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  data_ = static_cast<std::byte*>(memory);
  if (spare == 0) return;
  const std::size_t before = (kHugePage - reinterpret_cast<std::uintptr_t>(data_)) % kHugePage;
  if (before > 0) munmap(data_, before);
  data_ += before;
  if (before < spare) munmap(data_ + bytes, spare - before);
  madvise(data_, bytes, MADV_HUGEPAGE);  // A wish; it may fail.
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
  // Small blocks by the dozen, from the start of a cache line: half as many lie across two.
  constexpr std::size_t kLine = 64;
  const std::size_t count = bytes <= 2 * kLine ? kLine : 1;
  const std::size_t whole = (bytes * count + kLine - 1) / kLine * kLine;
  if (left_ < whole) {
    // Small at first, so that a small stream stays small.
    const std::size_t size =
        std::min(kFirstPiece << std::min<std::size_t>(pieces_.size(), 9), kHugePage * 8);
    pieces_.emplace_back(size);
    next_ = pieces_.back().data();
    left_ = size;
  }
  std::byte* const block = next_;
  next_ += whole;
  left_ -= whole;
  Free*& head = free_[bytes / 8];
  for (std::size_t i = count; i-- > 1;) head = new (block + i * bytes) Free{head};
  return block;
}

}  // namespace ouro::stream
