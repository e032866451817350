// gzip and zstd, on the way in and on the way out.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "format/input.h"

namespace ouro {

enum class Compression { None, Gzip, Zstd };

// What data is compressed with that begins so.
[[nodiscard]] inline Compression compression_of(std::string_view head) {
  if (head.starts_with("\x1f\x8b")) return Compression::Gzip;
  return head.starts_with("\x28\xb5\x2f\xfd") ? Compression::Zstd : Compression::None;
}

// Gives the bytes of `source` decompressed; errors name `name`.
// REQUIRES: `compression` is not None.
[[nodiscard]] std::unique_ptr<ByteSource> decompressed(Compression compression,
                                                       std::unique_ptr<ByteSource> source,
                                                       std::string name);

// Compresses a stream piece by piece.
class Compressor {
 public:
  virtual ~Compressor() = default;
  // The next compressed bytes, after adding `bytes` to the stream; `last` ends it. Valid until the
  // next call.
  [[nodiscard]] virtual std::string_view compress(std::string& bytes, bool last) = 0;
};
// None gives back the bytes as they are.
[[nodiscard]] std::unique_ptr<Compressor> make_compressor(Compression compression);

}  // namespace ouro
