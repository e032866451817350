// Large blocks of memory on huge pages.
//
// The engines go through arrays of hundreds of megabytes in the order of keys, so on small pages
// most steps wait for the translation of an address too. Left out of builds with sanitizers, which
// bring an allocator of their own.
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
  // A hint: without huge pages it is slower, nothing else.
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
