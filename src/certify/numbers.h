// Exact arithmetic with decimal digits, by hand. The engines have arithmetic of their own.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ouro::recheck {

// A decimal number of any size.
class Exact {
 public:
  Exact() = default;  // Zero.
  // REQUIRES: `digits` are plain: -12.50, with or without sign and point.
  explicit Exact(std::string_view digits);
  // The exact size of a floating-point number. REQUIRES: it is finite.
  static Exact of_double(double number);

  // Below zero, zero or above, as a is less than, equal to or greater than b.
  static int compare(const Exact& a, const Exact& b);
  static Exact sum(const Exact& a, const Exact& b);
  static Exact product(const Exact& a, const Exact& b);
  [[nodiscard]] Exact negated() const;
  [[nodiscard]] Exact size() const;  // Without its sign.
  [[nodiscard]] std::string text() const;

 private:
  [[nodiscard]] int digit(std::ptrdiff_t place) const;
  [[nodiscard]] std::ptrdiff_t end() const {
    return static_cast<std::ptrdiff_t>(digits_.size()) - static_cast<std::ptrdiff_t>(places_);
  }
  static int compare_sizes(const Exact& a, const Exact& b);
  void tidy();

  bool negative_ = false;
  std::size_t places_ = 0;           // How many digits are behind the point.
  std::vector<signed char> digits_;  // The last one first. Zero has none.
};

}  // namespace ouro::recheck
