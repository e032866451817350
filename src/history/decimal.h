// Exact decimal numbers of any size, and the spelling of numbers in histories.
//
// Exact numbers are never rounded: 0.1 + 0.2 is 0.3. A floating-point number is exactly a decimal
// number, too (0.1 is 0.1000000000000000055511151231257827…), so both kinds compare by size.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ouro {

class Decimal {
 public:
  Decimal() = default;           // Zero.
  Decimal(std::int64_t number);  // NOLINT(google-explicit-constructor): integers are decimals.
  // REQUIRES: `digits` are like those of plain_decimal().
  static Decimal of(std::string_view digits);
  // REQUIRES: `number` is finite.
  static Decimal of(double number);
  // 10^-places.
  static Decimal unit(std::uint32_t places);

  // Less than zero, zero, or greater than zero: the order of both.
  [[nodiscard]] static int compare(const Decimal& a, const Decimal& b);
  [[nodiscard]] bool is_negative() const { return negative_; }
  [[nodiscard]] bool is_zero() const { return limbs_.empty(); }
  [[nodiscard]] Decimal magnitude() const;
  [[nodiscard]] Decimal operator-() const;
  friend Decimal operator+(const Decimal& a, const Decimal& b);
  friend Decimal operator-(const Decimal& a, const Decimal& b) { return a + -b; }
  friend Decimal operator*(const Decimal& a, const Decimal& b);

  // Plain digits without zeros at the end: -12.5, 7, 0.
  [[nodiscard]] std::string text() const;
  // The largest integer that is not greater; the ends of 64 bits for what is beyond them.
  [[nodiscard]] std::int64_t floor() const;
  // The nearest floating-point number; infinite if there is none.
  [[nodiscard]] double nearest() const;

 private:
  static int compare_magnitudes(const Decimal& a, const Decimal& b);
  [[nodiscard]] std::uint32_t limb(std::int64_t place) const;
  [[nodiscard]] std::int64_t top() const {  // The place above the highest limb.
    return static_cast<std::int64_t>(limbs_.size()) - behind_;
  }
  void trim();

  // The sum of limbs_[i] · 10^(9 · (i - behind_)): the lowest first, each below 10^9. The highest
  // is not zero. Zero has no limbs and is not negative.
  bool negative_ = false;
  std::int64_t behind_ = 0;  // How many limbs stand behind the point.
  std::vector<std::uint32_t> limbs_;
};

// A number as JSON writes it, without exponent and needless zeros before the point: "0.50"
// for 5.0e-1 and "0" for -0. Nothing if it has more than HistoryBuilder::kMostDigits digits on a
// side of the point. REQUIRES: `number` is written as JSON writes numbers.
[[nodiscard]] std::optional<std::string> plain_decimal(std::string_view number);
// "1.5" for "1.50", "1" for "1.0". REQUIRES: `digits` come from plain_decimal().
[[nodiscard]] std::string without_trailing_zeros(std::string_view digits);
// Whether `digits` are what plain_decimal() gives.
[[nodiscard]] bool is_plain_decimal(std::string_view digits);

// Whether an integer takes at most 64 bits, with or without a sign. REQUIRES: `digits` are those of
// an integer.
[[nodiscard]] bool fits_64_bits(std::string_view digits);

// Whether `text` is a number as JSON writes them.
[[nodiscard]] bool is_json_number(std::string_view text);

// The shortest digits that mean this number, NaN, Infinity or -Infinity; and the way back. Negative
// zero is zero. float_of() gives NaN for what float_digits() never gives.
[[nodiscard]] std::string float_digits(double number);
[[nodiscard]] double float_of(std::string_view digits);
// The floating-point number nearest to a JSON number, or the one that is called NaN, Infinity or
// -Infinity. Nothing for other texts, and for numbers beyond the range of 64 bits.
[[nodiscard]] std::optional<double> parse_float(std::string_view text);

}  // namespace ouro
