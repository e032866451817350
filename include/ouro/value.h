// Values that transactions read and write, as 8-byte handles.
//
// Small integers, booleans and null live in the handle; strings, other numbers, rows and
// lists live in a pool of the history that made the handle, which prints and opens
// them (History::text, History::row, History::list). Within one history, two handles
// of scalars or rows are equal exactly when the values are, so handles can be
// compared and hashed instead of values. Equal lists may have different handles.
// `<` on handles is some order, not that of the values.
//
// Numbers are exact (Integer, Wide, Decimal) or floating-point numbers (Float). An exact number has
// one kind and one spelling: 1.0 is the Integer 1, and 1.10 the Decimal 1.1. A Float is never the
// same value as an exact number; how they compare in predicates is in docs/predicates.md.
#pragma once

#include <compare>
#include <cstdint>
#include <utility>

namespace ouro {

enum class ValueKind : std::uint8_t {
  Integer,     // An integer that fits into the handle.
  Null,        // Absent. Writing it deletes.
  Unobserved,  // The result of a read that nobody recorded. Such reads are not checked.
  Text,        // A string in the pool.
  Wide,        // An integer that does not fit into the handle; in the pool, as decimal digits.
  Row,         // Columns and their values, in the pool.
  List,        // The result of a list read: the first elements of a trunk in the pool.
  // These share the lowest three bits; two more bits tell them apart.
  Boolean = 7,   // The payload is 0 or 1.
  Decimal = 15,  // An exact number with a fraction; in the pool, as decimal digits with a point.
  Float = 23,    // A binary floating-point number of 64 bits; in the pool, as its shortest digits.
};

// Whether values of this kind are exact numbers, and whether they are numbers.
[[nodiscard]] constexpr bool is_exact_number(ValueKind kind) {
  return kind == ValueKind::Integer || kind == ValueKind::Wide || kind == ValueKind::Decimal;
}
[[nodiscard]] constexpr bool is_number(ValueKind kind) {
  return is_exact_number(kind) || kind == ValueKind::Float;
}
// Whether values of this kind are in the pool of texts: History::string() gives what is there.
[[nodiscard]] constexpr bool is_pooled_text(ValueKind kind) {
  return kind == ValueKind::Text || kind == ValueKind::Wide || kind == ValueKind::Decimal ||
         kind == ValueKind::Float;
}

class Value {
 public:
  constexpr Value() : bits_(tag(ValueKind::Null)) {}

  static constexpr Value null() { return Value{}; }
  static constexpr Value unobserved() { return from(ValueKind::Unobserved, 0); }
  // Whether `number` is stored in the handle.
  static constexpr bool fits(std::int64_t number) {
    return number >= -(std::int64_t{1} << 60) && number < (std::int64_t{1} << 60);
  }
  // REQUIRES: fits(number). HistoryBuilder::integer takes any number.
  static constexpr Value small(std::int64_t number) {
    return Value{static_cast<std::uint64_t>(number) << 3 | tag(ValueKind::Integer)};
  }
  static constexpr Value boolean(bool truth) { return from(ValueKind::Boolean, truth ? 1 : 0); }
  // For the library itself: handles by what the pool calls them.
  static constexpr Value from(ValueKind kind, std::uint64_t payload) {
    return Value{payload << tag_bits(tag(kind)) | tag(kind)};
  }
  static constexpr Value from_bits(std::uint64_t bits) { return Value{bits}; }
  // The list of the first `length` elements of a trunk: a long list in the pool of which shorter
  // reads are beginnings. REQUIRES: trunk < 2^29.
  static constexpr Value list(std::uint32_t trunk, std::uint32_t length) {
    return from(ValueKind::List, std::uint64_t{trunk} << 32 | length);
  }

  // Not always one of the enumerators, if the bits are not those of a value of a history.
  [[nodiscard]] constexpr ValueKind kind() const {
    return static_cast<ValueKind>((bits_ & 7) == 7 ? bits_ & 31 : bits_ & 7);
  }
  [[nodiscard]] constexpr bool is_null() const { return kind() == ValueKind::Null; }
  [[nodiscard]] constexpr bool is_unobserved() const { return kind() == ValueKind::Unobserved; }
  [[nodiscard]] constexpr bool is_list() const { return kind() == ValueKind::List; }

  // The integer. REQUIRES: kind() == Integer.
  [[nodiscard]] constexpr std::int64_t number() const {
    return static_cast<std::int64_t>(bits_) >> 3;
  }
  // What the pool calls the value. REQUIRES: is_pooled_text(kind()), or kind() is Row or Boolean.
  [[nodiscard]] constexpr std::uint64_t payload() const { return bits_ >> tag_bits(bits_); }
  // Whether it is true. REQUIRES: kind() == Boolean.
  [[nodiscard]] constexpr bool truth() const { return payload() != 0; }
  // The trunk of a list and how many of its elements the list has. REQUIRES: kind() == List.
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
  // How many of the lowest bits tell the kind.
  static constexpr int tag_bits(std::uint64_t bits) { return (bits & 7) == 7 ? 5 : 3; }

  std::uint64_t bits_;
};

}  // namespace ouro
