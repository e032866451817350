// Binary relations on a handful of things, as bit matrices; for the oracle only.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

namespace ouro::oracle {

class Relation {
 public:
  static constexpr std::size_t kMaxSize = 32;

  explicit Relation(std::size_t size) : size_(size) {
    if (size > kMaxSize) throw std::length_error("too many transactions for the oracle");
  }

  void add(std::size_t from, std::size_t to) { rows_[from] |= std::uint32_t{1} << to; }
  [[nodiscard]] bool has(std::size_t from, std::size_t to) const {
    return (rows_[from] >> to & 1) != 0;
  }
  [[nodiscard]] std::size_t size() const { return size_; }

  // Union.
  friend Relation operator|(Relation a, const Relation& b) {
    for (std::size_t i = 0; i < a.size_; ++i) a.rows_[i] |= b.rows_[i];
    return a;
  }
  // Composition: first `a`, then `b`.
  friend Relation operator*(const Relation& a, const Relation& b) {
    Relation out(a.size_);
    for (std::size_t i = 0; i < a.size_; ++i) {
      for (std::uint32_t left = a.rows_[i]; left != 0; left &= left - 1) {
        out.rows_[i] |= b.rows_[static_cast<std::size_t>(std::countr_zero(left))];
      }
    }
    return out;
  }
  // R?: the relation or nothing.
  [[nodiscard]] Relation optional() const {
    Relation out = *this;
    for (std::size_t i = 0; i < size_; ++i) out.add(i, i);
    return out;
  }
  // R⁺.
  [[nodiscard]] Relation closure() const {
    Relation out = *this;
    for (std::size_t via = 0; via < size_; ++via) {
      for (std::size_t i = 0; i < size_; ++i) {
        if (out.has(i, via)) out.rows_[i] |= out.rows_[via];
      }
    }
    return out;
  }
  [[nodiscard]] bool irreflexive() const {
    for (std::size_t i = 0; i < size_; ++i) {
      if (has(i, i)) return false;
    }
    return true;
  }
  [[nodiscard]] bool acyclic() const { return closure().irreflexive(); }

 private:
  std::size_t size_;
  std::array<std::uint32_t, kMaxSize> rows_{};
};

}  // namespace ouro::oracle
