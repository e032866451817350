#include "format/output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <vector>

#include "base/half_written.h"
#include "base/system_error.h"
#include "format/compression.h"
#include "format/input.h"
#include "ouro/format.h"

namespace ouro {
namespace {

// Where the bytes of a path go.
struct Target {
  int fd = -1;
  std::unique_ptr<HalfWritten> part;  // Null: the file is written in place.
  std::string final;                  // The name that the part gets in the end.
};

class FileOutput : public Output {
 public:
  FileOutput(Target target, std::string name, Compression compression)
      : target_(std::move(target)),
        name_(std::move(name)),
        compressor_(make_compressor(compression)) {}
  ~FileOutput() override {
    if (!done_) close();
  }
  Status finish() override {
    if (auto status = write(true); !status.ok()) return status;
    done_ = true;
    if (!close()) return failure();
    const bool visible = target_.part == nullptr || target_.part->finish(target_.final);
    return visible ? Status{} : failure();
  }

 private:
  Status flush() override { return write(false); }
  Status write(bool last) {
    std::string_view bytes = compressor_->compress(buffer_, last);
    while (!bytes.empty()) {
      const ssize_t count = ::write(target_.fd, bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return failure();
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    buffer_.clear();
    return {};
  }
  // Standard output stays open, since others print there, too.
  bool close() { return target_.fd == STDOUT_FILENO || ::close(target_.fd) == 0; }
  [[nodiscard]] Status failure() const { return system_error(name_, "cannot write"); }

  Target target_;
  std::string name_;  // For messages.
  std::unique_ptr<Compressor> compressor_;
  bool done_ = false;
};

// The open descriptor that `path` is another name of; nothing if it is none. Opening such a path
// anew would write from the beginning of the file, over what others have written there.
std::optional<int> descriptor_of(std::string_view path) {
  if (path == "-" || path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder)) continue;
    int fd = -1;
    const char* const end = path.data() + path.size();
    const auto [stop, error] = std::from_chars(path.data() + folder.size(), end, fd);
    if (error == std::errc{} && stop == end && fd >= 0) return fd;
  }
  return std::nullopt;
}

Target open_descriptor(int fd) {
  return {
      .fd = fd == STDOUT_FILENO ? fd : ::fcntl(fd, F_DUPFD_CLOEXEC, 0), .part = {}, .final = {}};
}

// Devices, pipes and sockets are written in place. A regular file is written under another name, so
// that it is never incomplete. If `path` is a symbolic link, the file it names is replaced, not the
// link.
Target open_target(const std::string& path) {
  if (const auto fd = descriptor_of(path)) return open_descriptor(*fd);
  struct stat about {};
  const bool exists = ::stat(path.c_str(), &about) == 0;
  if (exists && !S_ISREG(about.st_mode)) {
    return {.fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC), .part = {}, .final = {}};
  }
  std::filesystem::path file = path;
  std::error_code error;
  constexpr int kMaxLinks = 40;  // The limit of Linux.
  for (int i = 0; i < kMaxLinks && std::filesystem::is_symlink(file, error); ++i) {
    file = file.parent_path() / std::filesystem::read_symlink(file, error);
    if (const auto fd = descriptor_of(file.native())) return open_descriptor(*fd);
  }
  Target target{.fd = -1,
                .part = std::make_unique<HalfWritten>(file.native() + ".part"),
                .final = file.native()};
  target.fd = ::open(target.part->path().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (target.fd < 0) {
    target.part->abandon();
  } else if (exists) {
    // If this fails, the file has the mode of a new one.
    [[maybe_unused]] const int kept = ::fchmod(target.fd, about.st_mode & 0777);
  }
  return target;
}

}  // namespace

Status write_file(const std::string& path, std::string_view text) {
  auto output = open_output(path);
  if (!output.ok()) return std::move(output).error();
  (*output)->buffer() = text;
  return (*output)->finish();
}

void remove_half_written() noexcept { HalfWritten::remove_all(); }

Result<std::unique_ptr<Output>> open_output(const std::string& path) {
  Compression compression = Compression::None;
  if (path.ends_with(".gz")) compression = Compression::Gzip;
  if (path.ends_with(".zst")) compression = Compression::Zstd;
  Target target = open_target(path);
  if (target.fd < 0) return system_error(path, "cannot create");
  return std::unique_ptr<Output>(std::make_unique<FileOutput>(
      std::move(target), path == "-" ? "standard output" : path, compression));
}

}  // namespace ouro
