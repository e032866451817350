// The bytes that a reader reads: from a file, standard input or memory, decompressed if needed.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/column.h"
#include "ouro/result.h"

namespace ouro {

// A stream of bytes.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Fills `buffer` with up to `size` bytes and returns how many; zero only at the end.
  virtual Result<std::size_t> read(char* buffer, std::size_t size) = 0;
};

class Input {
 public:
  // Opens `path`, or standard input for "-". Content in gzip or zstd form is recognised by its
  // first bytes and decompressed.
  static Result<Input> open(const std::string& path);
  // REQUIRES: `bytes` outlives the input.
  static Result<Input> memory(std::string_view bytes, std::string_view name);

  // For messages: the path, or "standard input".
  [[nodiscard]] const std::string& name() const { return name_; }

  // The first bytes of the content, at most 64 KiB. read() returns them, too.
  [[nodiscard]] std::string_view head() const { return head_; }

  // Leaves out a UTF-8 byte order mark if one comes first. REQUIRES: nothing was read yet.
  void skip_byte_order_mark();

  Result<std::size_t> read(char* buffer, std::size_t size);
  // Everything that is left. The capacity of the result exceeds its size by kPadding at least, so
  // that parsers may load a few bytes beyond the end; what these are is unspecified.
  Result<std::string> read_all();
  static constexpr std::size_t kPadding = 64;
  // The whole content, for binary formats. A file that is not compressed is read by `threads`
  // threads (zero: one per core). REQUIRES: nothing was read yet.
  Result<Column<char>> read_binary(unsigned threads);

 private:
  Input(std::string name, std::unique_ptr<ByteSource> source)
      : name_(std::move(name)), source_(std::move(source)) {}
  // Recognises compression and reads the head.
  static Result<Input> start(std::string name, std::unique_ptr<ByteSource> raw);
  Result<Column<char>> read_file(unsigned threads);

  std::string name_;
  std::unique_ptr<ByteSource> source_;
  std::string head_;
  std::size_t head_read_ = 0;  // How many bytes of head_ were returned by read().
  bool compressed_ = false;
  // The descriptor, if read_binary() can read the file by several threads; otherwise negative. The
  // source closes it.
  int plain_file_ = -1;
  std::size_t file_bytes_ = 0;  // The size of plain_file_.
};

// An error about `name` at `line`.
Error error_at_line(std::string_view name, std::uint64_t line, std::string what);
// An error about `name` at byte `offset`.
Error error_at_byte(std::string_view name, std::uint64_t offset, std::string what);
// An error about `name` as a whole.
Error error_in(std::string_view name, std::string what);

}  // namespace ouro
