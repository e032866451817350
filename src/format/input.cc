#include "format/input.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/parallel.h"
#include "base/system_error.h"
#include "format/compression.h"

namespace ouro {
namespace {

constexpr std::size_t kHeadBytes = 64 * 1024;
constexpr std::size_t kReadBytes = 1024 * 1024;

class FileSource : public ByteSource {
 public:
  FileSource(int fd, std::string name, bool owned)
      : fd_(fd), name_(std::move(name)), owned_(owned) {}
  ~FileSource() override {
    if (owned_) ::close(fd_);
  }
  Result<std::size_t> read(char* buffer, std::size_t size) override {
    for (;;) {
      const ssize_t count = ::read(fd_, buffer, size);
      if (count >= 0) return static_cast<std::size_t>(count);
      if (errno != EINTR) return system_error(name_, "cannot read");
    }
  }

 private:
  int fd_;
  std::string name_;
  bool owned_;
};

class MemorySource : public ByteSource {
 public:
  explicit MemorySource(std::string_view bytes) : rest_(bytes) {}
  Result<std::size_t> read(char* buffer, std::size_t size) override {
    const std::size_t count = std::min(size, rest_.size());
    if (count > 0) std::memcpy(buffer, rest_.data(), count);  // An empty view may be of nothing.
    rest_.remove_prefix(count);
    return count;
  }

 private:
  std::string_view rest_;
};

// Returns the bytes of `head` first, then those of `source`.
class PrefixedSource : public ByteSource {
 public:
  PrefixedSource(std::string head, std::unique_ptr<ByteSource> source)
      : head_(std::move(head)), source_(std::move(source)) {}
  Result<std::size_t> read(char* buffer, std::size_t size) override {
    if (given_ == head_.size()) return source_->read(buffer, size);
    const std::size_t count = std::min(size, head_.size() - given_);
    std::memcpy(buffer, head_.data() + given_, count);
    given_ += count;
    return count;
  }

 private:
  std::string head_;
  std::size_t given_ = 0;
  std::unique_ptr<ByteSource> source_;
};

// Asks for few large pages of memory instead of many small ones, since the first access to each
// page takes time. It is only a hint, so failure does not matter.
void want_large_pages(char* bytes, std::size_t size) {
#if defined(MADV_HUGEPAGE)
  constexpr std::uintptr_t kPage = 4096;
  const std::uintptr_t skipped = -reinterpret_cast<std::uintptr_t>(bytes) % kPage;
  if (size > skipped) ::madvise(bytes + skipped, size - skipped, MADV_HUGEPAGE);
#endif
}

// Reads until `head` has `size` bytes or the source ends.
Status fill(ByteSource& source, std::string& head, std::size_t size) {
  while (head.size() < size) {
    const std::size_t had = head.size();
    head.resize(size);
    const auto count = source.read(head.data() + had, size - had);
    head.resize(had + (count.ok() ? *count : 0));
    if (!count.ok()) return count.error();
    if (*count == 0) break;
  }
  return {};
}

}  // namespace

Error error_at_line(std::string_view name, std::uint64_t line, std::string what) {
  return {.file = std::string(name), .line = line, .offset = {}, .what = std::move(what)};
}
Error error_at_byte(std::string_view name, std::uint64_t offset, std::string what) {
  return {.file = std::string(name), .line = {}, .offset = offset, .what = std::move(what)};
}
Error error_in(std::string_view name, std::string what) {
  return {.file = std::string(name), .line = {}, .offset = {}, .what = std::move(what)};
}

Result<Input> Input::open(const std::string& path) {
  if (path == "-") {
    return start("standard input",
                 std::make_unique<FileSource>(STDIN_FILENO, "standard input", false));
  }
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return system_error(path, "cannot open");
  auto source = std::make_unique<FileSource>(fd, path, true);
  struct stat status {};
  if (::fstat(fd, &status) == 0 && S_ISDIR(status.st_mode)) {
    return error_in(path, "is a folder; give the file in it");
  }
  auto input = start(path, std::move(source));
  if (input.ok() && !input->compressed_ && S_ISREG(status.st_mode)) {
    input->plain_file_ = fd;
    input->file_bytes_ = static_cast<std::size_t>(status.st_size);
  }
  return input;
}

Result<Input> Input::memory(std::string_view bytes, std::string_view name) {
  return start(std::string(name), std::make_unique<MemorySource>(bytes));
}

Result<Input> Input::start(std::string name, std::unique_ptr<ByteSource> raw) {
  std::string magic;
  if (auto status = fill(*raw, magic, 4); !status.ok()) return status.error();
  const Compression compression = compression_of(magic);
  std::unique_ptr<ByteSource> source =
      std::make_unique<PrefixedSource>(std::move(magic), std::move(raw));
  const bool compressed = compression != Compression::None;
  if (compressed) source = decompressed(compression, std::move(source), name);
  Input input(std::move(name), std::move(source));
  input.compressed_ = compressed;
  if (auto status = fill(*input.source_, input.head_, kHeadBytes); !status.ok()) {
    return status.error();
  }
  return input;
}

void Input::skip_byte_order_mark() {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  if (!head_.starts_with(kMark)) return;
  head_.erase(0, kMark.size());
  plain_file_ = -1;  // read_file() would return the mark, too.
}

Result<std::size_t> Input::read(char* buffer, std::size_t size) {
  if (head_read_ == head_.size()) return source_->read(buffer, size);
  const std::size_t count = std::min(size, head_.size() - head_read_);
  std::memcpy(buffer, head_.data() + head_read_, count);
  head_read_ += count;
  return count;
}

Result<std::string> Input::read_all() {
  std::string bytes;
  std::size_t size = 0;
  bytes.resize(kHeadBytes);
  for (;;) {
    if (size == bytes.size()) bytes.resize(bytes.size() * 2);
    const auto count = read(bytes.data() + size, bytes.size() - size);
    if (!count.ok()) return count.error();
    if (*count == 0) break;
    size += *count;
  }
  bytes.resize(size);
  bytes.reserve(size + kPadding);
  return bytes;
}

Result<Column<char>> Input::read_binary(unsigned threads) {
  if (plain_file_ >= 0) return read_file(threads);
  Column<char> bytes;
  std::size_t size = 0;
  for (;;) {
    // Each piece is as large as all before it, so that small inputs need little memory and large
    // ones few calls.
    const std::size_t piece = std::clamp<std::size_t>(size, kHeadBytes, 8 * kReadBytes);
    const auto count = read(bytes.extend(piece), piece);
    if (!count.ok()) return count.error();
    size += *count;
    bytes.truncate(size);
    if (*count == 0) break;
  }
  bytes.shrink();
  return bytes;
}

// Copying and the first access to memory take most of the time, so several threads share the work.
Result<Column<char>> Input::read_file(unsigned threads) {
  Column<char> bytes;
  char* to = bytes.extend(file_bytes_);
  want_large_pages(to, file_bytes_);
  const std::size_t pieces = (file_bytes_ + kReadBytes - 1) / kReadBytes;
  std::atomic<std::size_t> next_piece = 0;
  std::atomic<int> problem = 0;
  const auto read_pieces = [&](std::size_t) {
    for (std::size_t piece; (piece = next_piece++) < pieces && problem == 0;) {
      std::size_t at = piece * kReadBytes;
      const std::size_t end = std::min(at + kReadBytes, file_bytes_);
      while (at < end) {
        const ssize_t count = ::pread(plain_file_, to + at, end - at, static_cast<off_t>(at));
        if (count > 0) {
          at += static_cast<std::size_t>(count);
        } else if (count == 0 || errno != EINTR) {
          problem = count == 0 ? -1 : errno;
          break;
        }
      }
    }
  };
  for_each_part(std::min<std::size_t>(thread_count(threads), std::max<std::size_t>(pieces, 1)),
                read_pieces);
  if (problem == 0) return bytes;
  if (problem < 0) return error_in(name_, "became shorter while it was read; read it again");
  return error_in(name_, std::string("cannot read: ") + std::strerror(problem));
}

}  // namespace ouro
