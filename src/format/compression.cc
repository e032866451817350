#include "format/compression.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace ouro {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20;

class GzipSource : public ByteSource {
 public:
  GzipSource(std::unique_ptr<ByteSource> source, std::string name)
      : source_(std::move(source)), name_(std::move(name)), in_(kPiece) {
    ok_ = inflateInit2(&stream_, 15 + 32) == Z_OK;
  }
  ~GzipSource() override { inflateEnd(&stream_); }
  Result<std::size_t> read(char* buffer, std::size_t size) override {
    if (!ok_) return error_in(name_, "cannot start gzip decompression");
    stream_.next_out = reinterpret_cast<Bytef*>(buffer);
    stream_.avail_out = static_cast<uInt>(std::min<std::size_t>(size, 1u << 30));
    const uInt wanted = stream_.avail_out;
    while (stream_.avail_out == wanted) {
      if (stream_.avail_in == 0) {
        const auto count = source_->read(in_.data(), in_.size());
        if (!count.ok()) return count.error();
        if (*count == 0) {
          if (between_members_) return std::size_t{0};
          return error_in(name_, "the gzip data ends too early; the file is truncated");
        }
        stream_.next_in = reinterpret_cast<Bytef*>(in_.data());
        stream_.avail_in = static_cast<uInt>(*count);
      }
      if (between_members_) inflateReset(&stream_);  // Concatenated gzip files are one, too.
      between_members_ = false;
      const int code = inflate(&stream_, Z_NO_FLUSH);
      if (code == Z_STREAM_END) {
        between_members_ = true;
      } else if (code != Z_OK && code != Z_BUF_ERROR) {
        return error_in(name_, "damaged gzip data; compress the file again");
      }
    }
    return static_cast<std::size_t>(wanted - stream_.avail_out);
  }

 private:
  std::unique_ptr<ByteSource> source_;
  std::string name_;
  std::vector<char> in_;
  z_stream stream_{};
  bool ok_ = false;               // Whether zlib could be initialised.
  bool between_members_ = false;  // The data may end here.
};

class ZstdSource : public ByteSource {
 public:
  ZstdSource(std::unique_ptr<ByteSource> source, std::string name)
      : source_(std::move(source)),
        name_(std::move(name)),
        in_(ZSTD_DStreamInSize()),
        stream_(ZSTD_createDStream()) {}
  ~ZstdSource() override { ZSTD_freeDStream(stream_); }
  Result<std::size_t> read(char* buffer, std::size_t size) override {
    ZSTD_outBuffer out{buffer, size, 0};
    while (out.pos == 0) {
      if (input_.pos == input_.size) {
        const auto count = source_->read(in_.data(), in_.size());
        if (!count.ok()) return count.error();
        if (*count == 0) {
          if (!in_frame_) return std::size_t{0};
          return error_in(name_, "the zstd data ends too early; the file is truncated");
        }
        input_ = {in_.data(), *count, 0};
      }
      const std::size_t left = ZSTD_decompressStream(stream_, &out, &input_);
      if (ZSTD_isError(left) != 0) {
        return error_in(name_, std::string("damaged zstd data (") + ZSTD_getErrorName(left) +
                                   "); compress the file again");
      }
      in_frame_ = left != 0;
    }
    return out.pos;
  }

 private:
  std::unique_ptr<ByteSource> source_;
  std::string name_;
  std::vector<char> in_;
  ZSTD_DStream* stream_;
  ZSTD_inBuffer input_{nullptr, 0, 0};
  bool in_frame_ = false;  // The data must not end here.
};

class Plain : public Compressor {
 public:
  std::string_view compress(std::string& bytes, bool) override { return bytes; }
};

class Gzip : public Compressor {
 public:
  Gzip() { deflateInit2(&stream_, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY); }
  ~Gzip() override { deflateEnd(&stream_); }
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;
  std::string_view compress(std::string& bytes, bool last) override {
    out_.clear();
    stream_.next_in = reinterpret_cast<Bytef*>(bytes.data());
    stream_.avail_in = static_cast<uInt>(bytes.size());
    char piece[1 << 16];
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(piece);
      stream_.avail_out = sizeof(piece);
      deflate(&stream_, last ? Z_FINISH : Z_NO_FLUSH);
      out_.append(piece, sizeof(piece) - stream_.avail_out);
    } while (stream_.avail_out == 0);
    return out_;
  }

 private:
  z_stream stream_{};
  std::string out_;
};

class Zstd : public Compressor {
 public:
  ~Zstd() override { ZSTD_freeCStream(stream_); }
  std::string_view compress(std::string& bytes, bool last) override {
    out_.clear();
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    char piece[1 << 16];
    std::size_t left = 1;
    while (in.pos < in.size || (last && left != 0)) {
      ZSTD_outBuffer out{piece, sizeof(piece), 0};
      left = ZSTD_compressStream2(stream_, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
      out_.append(piece, out.pos);
    }
    return out_;
  }

 private:
  ZSTD_CStream* stream_ = ZSTD_createCStream();
  std::string out_;
};

}  // namespace

std::unique_ptr<ByteSource> decompressed(Compression compression,
                                         std::unique_ptr<ByteSource> source, std::string name) {
  if (compression == Compression::Gzip) {
    return std::make_unique<GzipSource>(std::move(source), std::move(name));
  }
  return std::make_unique<ZstdSource>(std::move(source), std::move(name));
}

std::unique_ptr<Compressor> make_compressor(Compression compression) {
  if (compression == Compression::Gzip) return std::make_unique<Gzip>();
  if (compression == Compression::Zstd) return std::make_unique<Zstd>();
  return std::make_unique<Plain>();
}

}  // namespace ouro
