// Fingerprints: names and values in a fixed number of bytes, the same in every batch.
//
// Ids of texts, rows and lists have a meaning within their batch only, and a stream must not
// remember every text it ever saw. Integers (below 2^60), booleans and null are their own. A key
// with a text as its name becomes 128 bits: with a billion keys, the odds that any two are taken
// for each other are 10^-21. Any other value becomes a hash of 59 bits or more and its kind: a
// wrong read of such a value is missed with probability 2·10^-18.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "ouro/history.h"

namespace ouro::stream {

// The fingerprint of the name of a key or session. Never all zero.
struct Name {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  constexpr auto operator<=>(const Name&) const = default;
  // A hash for tables. All bits depend on all bits of the name.
  [[nodiscard]] std::uint64_t hash() const;

  template <class H>
  friend H AbslHashValue(H h, const Name& name) {
    return H::combine(std::move(h), name.low, name.high);
  }
};
[[nodiscard]] Name name_of(const History& history, Value name);

// The hash of a list: a polynomial over a prime field, so that the hash of two lists one after the
// other can be computed from their hashes.
class ListHash {
 public:
  void append(std::uint64_t element);  // A fingerprint.
  // Appends a list with hash `other` and length `length`. Cost: O(log length).
  void append(std::uint64_t other, std::uint64_t length);
  [[nodiscard]] std::uint64_t hash() const { return hash_; }
  [[nodiscard]] std::uint64_t length() const { return length_; }
  // The fingerprint of the list. The empty list is null, because some databases return null for it.
  [[nodiscard]] std::uint64_t value() const;

  ListHash() = default;
  ListHash(std::uint64_t hash, std::uint64_t length) : hash_(hash), length_(length) {}

 private:
  std::uint64_t hash_ = 0;
  std::uint64_t length_ = 0;
};

// Computes the fingerprints of one batch's values. Each text, row and list is hashed once.
class Fingerprints {
 public:
  // Turns to `batch`, which must live as long as its values are asked for.
  void enter(const History& batch);
  [[nodiscard]] std::uint64_t of(Value value) {
    const ValueKind kind = value.kind();
    const bool own = kind == ValueKind::Integer || kind == ValueKind::Null;
    if (own || kind == ValueKind::Boolean) return value.bits();
    return of_pooled(value);
  }
  // The hash of the first `length` elements of a list. REQUIRES: it is at least that long.
  [[nodiscard]] ListHash prefix(Value list, std::size_t length);

 private:
  std::uint64_t of_pooled(Value value);
  std::uint64_t of_row(Value value);

  const History* batch_ = nullptr;
  // What was computed so far: fingerprints of texts and rows (zero: not yet), and for each trunk,
  // the array that lists are prefixes of, the hashes of its prefixes of length one and up.
  std::vector<std::uint64_t> texts_;
  std::vector<std::uint64_t> rows_;
  std::vector<std::vector<std::uint64_t>> trunks_;
};

}  // namespace ouro::stream
