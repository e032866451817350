#include "base/memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <cstring>

namespace ouro {

std::uint64_t resident_bytes() {
  const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[128];
  const ssize_t size = read(file, text, sizeof text);
  close(file);
  // "size resident shared …", in pages.
  const char* end = text + (size > 0 ? size : 0);
  const char* at =
      static_cast<const char*>(std::memchr(text, ' ', static_cast<std::size_t>(end - text)));
  std::uint64_t pages = 0;
  if (at == nullptr || std::from_chars(at + 1, end, pages).ec != std::errc()) return 0;
  return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace ouro
