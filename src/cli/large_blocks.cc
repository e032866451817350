// Replaces the global operator new, to put large blocks of memory on huge pages.
//
// The engines go through arrays of hundreds of megabytes in the order of keys, so on small pages
// most steps would also wait for the translation of an address. This file is left out of builds
// with sanitizers, which bring an allocator of their own.
#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kLarge = 2 * kHugePage;

void* allocate(std::size_t size) noexcept {
  if (size < kLarge) return std::malloc(size == 0 ? 1 : size);
  if (size > SIZE_MAX - kHugePage) return nullptr;
  const std::size_t rounded = (size + kHugePage - 1) / kHugePage * kHugePage;
  void* block = std::aligned_alloc(kHugePage, rounded);
  // Only a hint: without huge pages the program is just slower.
  if (block != nullptr) static_cast<void>(::madvise(block, rounded, MADV_HUGEPAGE));
  return block;
}

}  // namespace

void* operator new(std::size_t size) {
  for (;;) {
    if (void* block = allocate(size); block != nullptr) return block;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }
