// Stands for src/format/compression.cc: browsers decompress by themselves, and have neither zlib
// nor zstd for others.

#include <utility>

#include "format/compression.h"

namespace ouro {
namespace {

class Refused : public ByteSource {
 public:
  explicit Refused(std::string name) : name_(std::move(name)) {}
  Result<std::size_t> read(char*, std::size_t) override {
    return error_in(name_, "compressed; decompress it first");
  }

 private:
  std::string name_;
};

class Plain : public Compressor {
 public:
  std::string_view compress(std::string& bytes, bool) override { return bytes; }
};

}  // namespace

std::unique_ptr<ByteSource> decompressed(Compression, std::unique_ptr<ByteSource>,
                                         std::string name) {
  return std::make_unique<Refused>(std::move(name));
}

std::unique_ptr<Compressor> make_compressor(Compression) { return std::make_unique<Plain>(); }

}  // namespace ouro
