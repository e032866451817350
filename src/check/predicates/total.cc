#include "check/predicates/total.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "history/number.h"

namespace ouro {
namespace {

// A recorded result that is a number.
struct RecordedNumber {
  Number number;
  std::uint32_t places = 0;  // How many digits behind the point were recorded.
  bool text = false;         // It is a string of digits.
};

std::optional<RecordedNumber> recorded_number(std::string_view json) {
  RecordedNumber out;
  constexpr std::string_view kFloat = "{\"@float\":";
  if (json.starts_with(kFloat)) {
    json = json.substr(kFloat.size(), json.size() - kFloat.size() - 1);
    if (json.starts_with('"')) json = json.substr(1, json.size() - 2);
    out.number = Number::of(float_of(json));
    return out;
  }
  out.text = json.starts_with('"');
  if (out.text) json = json.substr(1, json.size() - 2);
  if (!is_plain_decimal(json)) return std::nullopt;
  const std::size_t point = json.find('.');
  if (point != std::string_view::npos) {
    out.places = static_cast<std::uint32_t>(json.size() - point - 1);
  }
  out.number.exact = Decimal::of(json);
  return out;
}

// Whether an integer takes more than 64 bits. Older histories have such sums as strings.
bool is_wide_sum(const std::string& digits) {
  return digits.find('.') == std::string::npos && !fits_64_bits(digits);
}

}  // namespace

void Total::add(const History& history, Value value) {
  if (!is_number(value.kind())) {
    numbers_ = false;
    return;
  }
  ++count_;
  if (value.kind() == ValueKind::Integer) {
    small_ += value.number();
    small_parts_ += value.number() < 0 ? -value.number() : value.number();
    return;
  }
  const Number number = Number::of(history, value);
  floats_ |= number.floating;
  if (!number.is_finite()) {
    beyond_ += number.number;
    return;
  }
  exact_ = exact_ + number.exact;
  parts_ = parts_ + number.exact.magnitude();
}

std::string Total::summary() const {
  return fmt::format("{} {} {} {} {} {}", sum().text(), parts().text(), count_, beyond_, floats_,
                     numbers_);
}

std::string Total::small_text() const { return fmt::format("{}", small_); }
Decimal Total::sum_of_small_parts() const { return Decimal::of(fmt::format("{}", small_parts_)); }

std::string Total::text() const {
  if (is_null()) return "null";
  if (!floats_ && !average_) return sum().text();
  if (!floats_) return quotient();
  double result = beyond_;
  if (beyond_ == 0) {
    result = sum().nearest() / (average_ ? static_cast<double>(count_) : 1.0);
  }
  const std::string digits = float_digits(result);
  const bool finite = std::isfinite(result);
  return finite ? fmt::format("{{\"@float\":{}}}", digits)
                : fmt::format("{{\"@float\":\"{}\"}}", digits);
}

// The sum divided by the count, by hand: at most kPlaces digits behind the point.
std::string Total::quotient() const {
  constexpr std::size_t kPlaces = 16;
  std::string digits = sum().magnitude().text();
  const std::size_t point = std::min(digits.find('.'), digits.size());
  std::string fraction = point == digits.size() ? "" : digits.substr(point + 1);
  fraction.resize(std::max(kPlaces, fraction.size()), '0');
  std::string out = sum().is_negative() ? "-" : "";
  Small rest = 0;
  const auto divide = [&](std::string_view part) {
    for (const char digit : part) {
      rest = rest * 10 + (digit - '0');
      out += static_cast<char>('0' + static_cast<int>(rest / count_));
      rest %= count_;
    }
  };
  divide(std::string_view(digits).substr(0, point));
  out += '.';
  divide(fraction);
  return *plain_decimal(without_trailing_zeros(out));
}

bool Total::fits(std::string_view recorded) const {
  if (is_null()) return recorded == "null";
  const auto number = recorded_number(recorded);
  if (!number) return false;
  if (number->text) {
    const std::string digits = sum().text();
    return !floats_ && !average_ && is_wide_sum(digits) && '"' + digits + '"' == recorded;
  }
  if (number->number.floating) return fits_float(number->number.number);
  if (beyond_ != 0) return false;
  Decimal rounding;
  const bool rounded = average_ || (floats_ && number->places > 0);
  if (rounded) rounding = Decimal::unit(number->places) * Decimal::of("0.5");
  return is_near(number->number.exact, rounding, floats_);
}

bool Total::fits_float(double recorded) const {
  if (beyond_ != 0) return float_digits(beyond_) == float_digits(recorded);
  if (std::isfinite(recorded)) return is_near(Decimal::of(recorded), {}, true);
  // A sum on the way may have been too large, if all parts together are.
  return std::isinf(parts().nearest());
}

// Whether `recorded` differs from the true result by no more than `rounding` and, if floating-point
// numbers were used, what adding count_ of them, dividing and storing may make.
bool Total::is_near(const Decimal& recorded, const Decimal& rounding, bool floats) const {
  const Decimal divisor = average_ ? Decimal(static_cast<std::int64_t>(count_)) : Decimal(1);
  Decimal allowed = rounding * divisor;
  if (floats) {
    static const Decimal kStep = Decimal::of(std::numeric_limits<double>::epsilon());
    static const Decimal kLeast = Decimal::of(std::numeric_limits<double>::denorm_min());
    const Decimal steps(static_cast<std::int64_t>(count_) + 1);
    allowed = allowed + steps * (kStep * parts() + kLeast * divisor);
  }
  return Decimal::compare((sum() - recorded * divisor).magnitude(), allowed) <= 0;
}

}  // namespace ouro
