#include "stream/pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>
#include <system_error>
#include <utility>

namespace ouro::stream {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
// In bytes: the first piece of a pool, which doubles with each further one up to kDoublings times,
// and a piece that is made ready in advance.
constexpr std::size_t kFirstPiece = std::size_t{64} << 10;
constexpr std::size_t kDoublings = 8;
constexpr std::size_t kPiece = kHugePage * 2;

}  // namespace

Pages::Pages(std::size_t bytes) : bytes_(bytes) {
  // Huge pages need addresses that are multiples of their size, so take more and cut off the rest.
  const std::size_t spare = bytes > kHugePage ? kHugePage : 0;
  void* const memory =
      mmap(nullptr, bytes + spare, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  data_ = static_cast<std::byte*>(memory);
  if (spare == 0) return;
  const std::size_t before = (kHugePage - reinterpret_cast<std::uintptr_t>(data_)) % kHugePage;
  if (before > 0) munmap(data_, before);
  data_ += before;
  if (before < spare) munmap(data_ + bytes, spare - before);
  madvise(data_, bytes, MADV_HUGEPAGE);  // Only a wish: it may fail.
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

ReadyPages::~ReadyPages() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  wake_.notify_one();
  if (maker_.joinable()) maker_.join();
}

Pages ReadyPages::take() {
  const std::lock_guard lock(mutex_);
  try {
    if (!maker_.joinable()) maker_ = std::thread([this] { make_ready(); });
  } catch (const std::system_error&) {
    return Pages(bytes_);  // The system allows no more threads.
  }
  if (ready_.empty()) return Pages(bytes_);
  Pages piece = std::move(ready_.back());
  ready_.pop_back();
  wake_.notify_one();
  return piece;
}

void ReadyPages::make_ready() {
  constexpr std::size_t kSystemPage = 4096;
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return ends_ || ready_.size() < kReady; });
    if (ends_) return;
    lock.unlock();
    try {
      Pages piece(bytes_);
      for (std::size_t at = 0; at < bytes_; at += kSystemPage) {
        static_cast<volatile std::byte*>(piece.data())[at] = std::byte{0};
      }
      lock.lock();
      ready_.push_back(std::move(piece));
    } catch (const std::bad_alloc&) {
      return;  // Whoever needs the memory gets the same exception.
    }
  }
}

void Pool::set_step(std::size_t bytes) {
  for (std::size_t i = 0; i < kSizes; ++i) {
    const std::size_t whole = (i * 8 + bytes - 1) / bytes * bytes;
    rounded_[i] = static_cast<std::uint16_t>(whole <= kLargest ? whole : i * 8);
  }
}

Pages Pool::next_piece() {
  if (works_ahead_ && pieces_.size() > kDoublings) {
    if (ahead_ == nullptr) ahead_ = std::make_unique<ReadyPages>(kPiece);
    return ahead_->take();
  }
  // The first pieces are small, so that a small stream takes little memory.
  return Pages(kFirstPiece << std::min(pieces_.size(), kDoublings));
}

void* Pool::cut(std::size_t bytes) {
  // Cuts 64 small blocks at once, from the start of a pair of cache lines, so that fewer of them
  // lie across two pairs.
  constexpr std::size_t kLines = 128;
  const std::size_t count = bytes <= kLines ? 64 : 1;
  const std::size_t whole = (bytes * count + kLines - 1) / kLines * kLines;
  if (left_ < whole) {
    pieces_.push_back(next_piece());
    next_ = pieces_.back().data();
    left_ = pieces_.back().size();
  }
  std::byte* const block = next_;
  next_ += whole;
  left_ -= whole;
  Free*& head = free_[bytes / 8];
  for (std::size_t i = count; i-- > 1;) head = new (block + i * bytes) Free{head};
  return block;
}

}  // namespace ouro::stream
