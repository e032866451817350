// Values that transactions read and write, as 8-byte handles.
//
// Small integers and null live in the handle; strings, large integers, rows and
// lists live in the history that made the handle, which prints and opens them
// (History::text, History::row, History::list). Within one history, two handles of
// scalars or rows are equal exactly when the values are; so engines compare and
// hash handles and never look inside.
#pragma once

#include <compare>
#include <cstdint>
#include <utility>

namespace ouro {

enum class ValueKind : std::uint8_t {
  Integer,     // Fits in the handle.
  Null,        // Absent. Writing it deletes.
  Unobserved,  // A read whose result nobody recorded; engines skip it.
  Text,        // A string in the pool.
  Wide,        // An integer that needs all 64 bits, in the pool.
  Row,         // Columns and their values, in the pool.
  List,        // The result of a list read: a prefix of a trunk in the pool.
};

class Value {
 public:
  constexpr Value() : bits_(tag(ValueKind::Null)) {}

  static constexpr Value null() { return Value{}; }
  static constexpr Value unobserved() { return from(ValueKind::Unobserved, 0); }
  static constexpr bool fits(std::int64_t number) {
    return number >= -(std::int64_t{1} << 60) && number < (std::int64_t{1} << 60);
  }
  // REQUIRES: fits(number). HistoryBuilder::integer takes any number.
  static constexpr Value small(std::int64_t number) {
    return Value{static_cast<std::uint64_t>(number) << 3 | tag(ValueKind::Integer)};
  }
  static constexpr Value from(ValueKind kind, std::uint64_t payload) {
    return Value{payload << 3 | tag(kind)};
  }
  static constexpr Value from_bits(std::uint64_t bits) { return Value{bits}; }
  // The first `length` elements of `trunk`. REQUIRES: trunk < 2^29.
  static constexpr Value list(std::uint32_t trunk, std::uint32_t length) {
    return from(ValueKind::List, std::uint64_t{trunk} << 32 | length);
  }

  [[nodiscard]] constexpr ValueKind kind() const { return static_cast<ValueKind>(bits_ & 7); }
  [[nodiscard]] constexpr bool is_null() const { return kind() == ValueKind::Null; }
  [[nodiscard]] constexpr bool is_unobserved() const { return kind() == ValueKind::Unobserved; }
  [[nodiscard]] constexpr bool is_list() const { return kind() == ValueKind::List; }

  // The number of a small integer. REQUIRES: kind() == Integer.
  [[nodiscard]] constexpr std::int64_t number() const {
    return static_cast<std::int64_t>(bits_) >> 3;
  }
  // What the pool calls it. REQUIRES: kind() is Text, Wide or Row.
  [[nodiscard]] constexpr std::uint64_t payload() const { return bits_ >> 3; }
  // REQUIRES: kind() == List.
  [[nodiscard]] constexpr std::uint32_t trunk() const {
    return static_cast<std::uint32_t>(payload() >> 32);
  }
  [[nodiscard]] constexpr std::uint32_t length() const {
    return static_cast<std::uint32_t>(payload());
  }
  [[nodiscard]] constexpr std::uint64_t bits() const { return bits_; }

  constexpr auto operator<=>(const Value&) const = default;

  template <class H>
  friend H AbslHashValue(H h, Value v) {
    return H::combine(std::move(h), v.bits_);
  }

 private:
  constexpr explicit Value(std::uint64_t bits) : bits_(bits) {}
  static constexpr std::uint64_t tag(ValueKind kind) { return static_cast<std::uint64_t>(kind); }

  std::uint64_t bits_;
};

}  // namespace ouro
