// Encodes what goes to disk as plain bytes, and decodes it: numbers as they are in memory, and
// arrays as their length and their elements.
//
// Files are read on the machine that wrote them and by the same program, so byte order and padding
// do not matter.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "ouro/history.h"

namespace ouro::stream {

class Encoder {
 public:
  virtual ~Encoder() = default;
  // Any plain struct counts as a number.
  template <class T>
  void number(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    buffer_.append(reinterpret_cast<const char*>(&value), sizeof(T));
    if (buffer_.size() >= kFull) full();
  }
  template <class T>
  void array(std::span<const T> values) {
    static_assert(std::is_trivially_copyable_v<T>);
    number<std::uint64_t>(values.size());
    if (!values.empty()) {
      buffer_.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
    }
    if (buffer_.size() >= kFull) full();
  }
  void text(std::string_view text) { array(std::span<const char>(text.data(), text.size())); }
  // What was encoded since the last clear().
  [[nodiscard]] std::string_view view() const { return buffer_; }
  void clear() { buffer_.clear(); }

 protected:
  static constexpr std::size_t kFull = std::size_t{1} << 20;
  virtual void full() {}  // Called when the buffer has kFull bytes; may write and empty it.
  std::string buffer_;
};

// Reads what an Encoder wrote. If bytes are missing, ok() becomes false, and all that is read from
// then on is zero or empty.
class Decoder {
 public:
  explicit Decoder(std::string_view bytes) : left_(bytes) {}
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool at_end() const { return ok_ && left_.empty(); }
  // Skips an array whose elements have `size` bytes each.
  void skip(std::size_t size) {
    const auto count = number<std::uint64_t>();
    if (count > left_.size() / size) ok_ = false;
    static_cast<void>(take(ok_ ? count * size : 0));
  }

  template <class T>
  T number() {
    T value{};
    const std::string_view bytes = take(sizeof(T));
    if (ok_) std::memcpy(static_cast<void*>(&value), bytes.data(), sizeof(T));
    return value;
  }
  template <class T>
  std::vector<T> array() {
    const auto count = number<std::uint64_t>();
    if (count > left_.size() / sizeof(T)) ok_ = false;
    const std::string_view bytes = take(ok_ ? count * sizeof(T) : 0);
    std::vector<T> values(bytes.size() / sizeof(T));
    if (!bytes.empty()) std::memcpy(static_cast<void*>(values.data()), bytes.data(), bytes.size());
    return values;
  }
  [[nodiscard]] std::string text() {
    const auto count = number<std::uint64_t>();
    if (count > left_.size()) ok_ = false;
    return std::string(take(ok_ ? count : 0));
  }

 private:
  std::string_view take(std::size_t count) {
    if (count > left_.size()) ok_ = false;
    if (!ok_) return {};
    const std::string_view taken = left_.substr(0, count);
    left_.remove_prefix(count);
    return taken;
  }

  std::string_view left_;
  bool ok_ = true;
};

// A history, without its version orders, the initial values of single keys, and its remarks.
void encode(const History& history, Encoder& out);
[[nodiscard]] std::shared_ptr<const History> decode_history(Decoder& in);

// A checksum, to tell whether a file is whole. It does not depend on how the bytes are cut into
// calls of add().
class Checksum {
 public:
  void add(std::string_view bytes);
  [[nodiscard]] std::uint64_t value() const { return mixed(state_, pending_ + count_); }

 private:
  static std::uint64_t mixed(std::uint64_t state, std::uint64_t word) {
    state = (state ^ word) * 0x9e3779b97f4a7c15;
    return state ^ state >> 32;
  }

  std::uint64_t state_ = 0x2545f4914f6cdd1d;
  std::uint64_t pending_ = 0;  // The bytes of a word that is not complete yet.
  std::uint64_t count_ = 0;    // Bytes in all.
};

}  // namespace ouro::stream
