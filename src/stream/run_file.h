// A file that a stream puts on disk: written from front to end, synced, and then read anywhere.
// Errors name the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "ouro/result.h"

namespace ouro::stream {

// How many bytes are read or written at once where a file is read or written from front to end.
inline constexpr std::size_t kRunBuffer = std::size_t{256} << 10;

// The destructor closes the file. Positions are in bytes.
class RunFile {
 public:
  RunFile() = default;
  ~RunFile();
  RunFile(const RunFile&) = delete;
  RunFile& operator=(const RunFile&) = delete;
  Status open(const std::string& path, int flags);
  Status read(void* bytes, std::size_t count, std::uint64_t at) const;
  // Reads only if the system has the bytes in its cache. Otherwise asks the system to fetch them,
  // and returns false without waiting.
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
