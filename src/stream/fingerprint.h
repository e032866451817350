// Names and values that outlive the batch they came in, in a fixed number of bytes.
//
// A handle of a batch means nothing in the next one, and a stream must not remember every text it
// ever saw. Integers (below 2^60) and null stay what they are. A text key becomes 128 bits: with a
// billion keys, the odds that any two are taken for each other are 10^-21. Any other value becomes
// 61 bits and its kind: a wrong read of such a value is missed with probability 4·10^-19.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "ouro/history.h"

namespace ouro::stream {

// A key, or a session. Never all zero.
struct Name {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  constexpr auto operator<=>(const Name&) const = default;
  // Of all its bits, for tables.
  [[nodiscard]] std::uint64_t hash() const;

  template <class H>
  friend H AbslHashValue(H h, const Name& name) {
    return H::combine(std::move(h), name.low, name.high);
  }
};
[[nodiscard]] Name name_of(const History& history, Value name);

// Lists are hashed so that appending to a hashed list is cheap: a polynomial over a prime field.
class ListHash {
 public:
  void append(std::uint64_t element);
  // Appends what has hash `other` and length `length`. O(log length).
  void append(std::uint64_t other, std::uint64_t length);
  [[nodiscard]] std::uint64_t hash() const { return hash_; }
  [[nodiscard]] std::uint64_t length() const { return length_; }
  // The list as a value. The empty list is null, because some databases return null for it.
  [[nodiscard]] std::uint64_t value() const;

  ListHash() = default;
  ListHash(std::uint64_t hash, std::uint64_t length) : hash_(hash), length_(length) {}

 private:
  std::uint64_t hash_ = 0;
  std::uint64_t length_ = 0;
};

// The values of one batch. Each text, row and list is hashed once.
class Fingerprints {
 public:
  void enter(const History& batch);
  [[nodiscard]] std::uint64_t of(Value value) {
    const ValueKind kind = value.kind();
    if (kind == ValueKind::Integer || kind == ValueKind::Null) return value.bits();
    return of_pooled(value);
  }
  // Of the first `length` elements of a list read. REQUIRES: it is a list at least that long.
  [[nodiscard]] ListHash prefix(Value list, std::size_t length);

 private:
  std::uint64_t of_pooled(Value value);
  std::uint64_t of_row(Value value);

  const History* batch_ = nullptr;
  std::vector<std::uint64_t> texts_;  // Zero: not computed yet.
  std::vector<std::uint64_t> rows_;
  std::vector<std::vector<std::uint64_t>> trunks_;  // Hashes of prefixes, from length one.
};

}  // namespace ouro::stream
