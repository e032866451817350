#include "format/output.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "format/input.h"

namespace ouro {
namespace {

enum class Compression { None, Gzip, Zstd };

// Compresses pieces one after the other into `out`.
class Compressor {
 public:
  explicit Compressor(Compression kind) : kind_(kind) {
    if (kind_ == Compression::Gzip)
      deflateInit2(&gzip_, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    if (kind_ == Compression::Zstd) zstd_ = ZSTD_createCStream();
  }
  ~Compressor() {
    if (kind_ == Compression::Gzip) deflateEnd(&gzip_);
    ZSTD_freeCStream(zstd_);
  }
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;

  // The compressed form of `bytes`; with `last`, of the end of the stream too.
  std::string_view compress(std::string& bytes, bool last) {
    if (kind_ == Compression::None) return bytes;
    out_.clear();
    if (kind_ == Compression::Gzip) {
      gzip(bytes, last);
    } else {
      zstd(bytes, last);
    }
    return out_;
  }

 private:
  void gzip(std::string& bytes, bool last) {
    gzip_.next_in = reinterpret_cast<Bytef*>(bytes.data());
    gzip_.avail_in = static_cast<uInt>(bytes.size());
    char piece[1 << 16];
    do {
      gzip_.next_out = reinterpret_cast<Bytef*>(piece);
      gzip_.avail_out = sizeof(piece);
      deflate(&gzip_, last ? Z_FINISH : Z_NO_FLUSH);
      out_.append(piece, sizeof(piece) - gzip_.avail_out);
    } while (gzip_.avail_out == 0);
  }
  void zstd(const std::string& bytes, bool last) {
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    char piece[1 << 16];
    std::size_t left = 1;
    while (in.pos < in.size || (last && left != 0)) {
      ZSTD_outBuffer out{piece, sizeof(piece), 0};
      left = ZSTD_compressStream2(zstd_, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
      out_.append(piece, out.pos);
    }
  }

  Compression kind_;
  z_stream gzip_{};
  ZSTD_CStream* zstd_ = nullptr;
  std::string out_;
};

class FileOutput : public Output {
 public:
  FileOutput(int fd, std::string path, Compression compression)
      : fd_(fd), path_(std::move(path)), compressor_(compression) {}
  ~FileOutput() override {
    if (to_stdout() || done_) return;
    ::close(fd_);
    ::unlink(part().c_str());
  }
  Status finish() override {
    if (auto status = write(true); !status.ok() || to_stdout()) return status;
    done_ = true;
    if (::close(fd_) != 0 || std::rename(part().c_str(), path_.c_str()) != 0) return failure();
    return {};
  }

 private:
  Status flush() override { return write(false); }
  Status write(bool last) {
    std::string_view bytes = compressor_.compress(buffer_, last);
    while (!bytes.empty()) {
      const ssize_t count = ::write(fd_, bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return failure();
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    buffer_.clear();
    return {};
  }
  [[nodiscard]] Status failure() const {
    return error_in(to_stdout() ? "standard output" : path_,
                    std::string("cannot write: ") + std::strerror(errno));
  }
  [[nodiscard]] bool to_stdout() const { return path_ == "-"; }
  [[nodiscard]] std::string part() const { return path_ + ".part"; }

  int fd_;
  std::string path_;
  Compressor compressor_;
  bool done_ = false;
};

}  // namespace

Result<std::unique_ptr<Output>> open_output(const std::string& path) {
  Compression compression = Compression::None;
  if (path.ends_with(".gz")) compression = Compression::Gzip;
  if (path.ends_with(".zst")) compression = Compression::Zstd;
  const int fd = path == "-" ? STDOUT_FILENO
                             : ::open((path + ".part").c_str(),
                                      O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return error_in(path, std::string("cannot create: ") + std::strerror(errno));
  return std::unique_ptr<Output>(std::make_unique<FileOutput>(fd, path, compression));
}

}  // namespace ouro
