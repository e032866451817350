#include "stream/run_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace ouro::stream {

RunFile::~RunFile() {
  if (fd_ >= 0) ::close(fd_);
}

Error RunFile::failure(const char* what) const {
  Error error;
  error.file = path_;
  error.what = what;
  return error;
}

Status RunFile::open(const std::string& path, int flags) {
  path_ = path;
  fd_ = ::open(path.c_str(), flags | O_CLOEXEC, 0600);
  if (fd_ >= 0) return {};
  return failure(fmt::format("cannot be opened: {}", std::strerror(errno)).c_str());
}

Status RunFile::read(void* bytes, std::size_t count, std::uint64_t at) const {
  auto* to = static_cast<std::byte*>(bytes);
  while (count > 0) {
    const ssize_t got = ::pread(fd_, to, count, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failure(fmt::format("cannot be read: {}", std::strerror(errno)).c_str());
    if (got == 0) return failure("is shorter than it was; did someone change it?");
    to += got;
    at += static_cast<std::uint64_t>(got);
    count -= static_cast<std::size_t>(got);
  }
  return {};
}

bool RunFile::read_cached(void* bytes, std::size_t count, std::uint64_t at) const {
  const iovec to{bytes, count};
  const ssize_t got = ::preadv2(fd_, &to, 1, static_cast<off_t>(at), RWF_NOWAIT);
  if (got == static_cast<ssize_t>(count)) return true;
  // Only a hint; if it fails, a later read() just takes longer.
  static_cast<void>(
      ::posix_fadvise(fd_, static_cast<off_t>(at), static_cast<off_t>(count), POSIX_FADV_WILLNEED));
  return false;
}

Status RunFile::write(const void* bytes, std::size_t count, std::uint64_t at) const {
  const auto* from = static_cast<const std::byte*>(bytes);
  const std::uint64_t first = at;
  while (count > 0) {
    const ssize_t put = ::pwrite(fd_, from, count, static_cast<off_t>(at));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) {
      return failure(
          fmt::format("cannot be written: {}; is the disk full?", std::strerror(errno)).c_str());
    }
    from += put;
    at += static_cast<std::uint64_t>(put);
    count -= static_cast<std::size_t>(put);
  }
  // Begins to write to the disk at once, so that sync() in the end has little to wait for.
  ::sync_file_range(fd_, static_cast<off_t>(first), static_cast<off_t>(at - first),
                    SYNC_FILE_RANGE_WRITE);
  return {};
}

Status RunFile::sync() const {
  if (::fsync(fd_) == 0) return {};
  return failure(fmt::format("cannot be synced: {}", std::strerror(errno)).c_str());
}

Result<std::uint64_t> RunFile::size() const {
  struct stat status {};
  if (::fstat(fd_, &status) == 0) return static_cast<std::uint64_t>(status.st_size);
  return failure(fmt::format("cannot be read: {}", std::strerror(errno)).c_str());
}

}  // namespace ouro::stream
