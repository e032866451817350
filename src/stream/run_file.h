// A file that is written from front to end, synced, and read here and there: what a stream puts on
// disk. Errors name the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "ouro/result.h"

namespace ouro::stream {

// What is read or written at once, from front to end.
inline constexpr std::size_t kRunBuffer = std::size_t{256} << 10;

// Closed in the end.
class RunFile {
 public:
  RunFile() = default;
  ~RunFile();
  RunFile(const RunFile&) = delete;
  RunFile& operator=(const RunFile&) = delete;
  Status open(const std::string& path, int flags);
  Status read(void* bytes, std::size_t count, std::uint64_t at) const;
  // False: it is not in the system's cache, and was asked for.
  bool read_cached(void* bytes, std::size_t count, std::uint64_t at) const;
  Status write(const void* bytes, std::size_t count, std::uint64_t at) const;
  Status sync() const;
  [[nodiscard]] Result<std::uint64_t> size() const;  // In bytes.
  [[nodiscard]] Error failure(const char* what) const;

 private:
  std::string path_;
  int fd_ = -1;
};

}  // namespace ouro::stream
