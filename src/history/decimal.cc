#include "history/decimal.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/double_text.h"
#include "ouro/history_builder.h"

namespace ouro {
namespace {

constexpr std::uint32_t kLimb = 1'000'000'000;
constexpr std::size_t kLimbDigits = 9;

std::uint32_t limb_of(std::string_view digits) {
  std::uint32_t limb = 0;
  for (const char digit : digits) limb = limb * 10 + static_cast<std::uint32_t>(digit - '0');
  return limb;
}

bool all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

Decimal::Decimal(std::int64_t number) : negative_(number < 0) {
  auto rest = static_cast<std::uint64_t>(number);
  if (negative_) rest = 0 - rest;
  for (; rest != 0; rest /= kLimb) limbs_.push_back(static_cast<std::uint32_t>(rest % kLimb));
}

Decimal Decimal::of(std::string_view digits) {
  Decimal out;
  out.negative_ = digits.starts_with('-');
  if (out.negative_) digits.remove_prefix(1);
  const std::size_t point = std::min(digits.find('.'), digits.size());
  std::string_view whole = digits.substr(0, point);
  std::string fraction(point == digits.size() ? "" : digits.substr(point + 1));
  fraction.append((kLimbDigits - fraction.size() % kLimbDigits) % kLimbDigits, '0');
  out.behind_ = static_cast<std::int64_t>(fraction.size() / kLimbDigits);
  for (std::size_t at = fraction.size(); at > 0; at -= kLimbDigits) {
    out.limbs_.push_back(limb_of(std::string_view(fraction).substr(at - kLimbDigits, kLimbDigits)));
  }
  while (!whole.empty()) {
    const std::size_t count = std::min(whole.size(), kLimbDigits);
    out.limbs_.push_back(limb_of(whole.substr(whole.size() - count)));
    whole.remove_suffix(count);
  }
  out.trim();
  return out;
}

// A finite number is m · 2^e. If e is negative, that is m · 5^-e · 10^e.
Decimal Decimal::of(double number) {
  int exponent = 0;
  const double fraction = std::frexp(number, &exponent);
  constexpr int kBits = 53;
  Decimal out(static_cast<std::int64_t>(std::ldexp(fraction, kBits)));
  exponent -= kBits;
  while (exponent > 0) {
    const int step = std::min(exponent, 62);
    out = out * Decimal(std::int64_t{1} << step);
    exponent -= step;
  }
  if (exponent == 0) return out;
  static const Decimal kHalf = of("0.5");
  static const Decimal kSmall = [] {  // 2^-32
    Decimal small(1);
    for (int i = 0; i < 32; ++i) small = small * kHalf;
    return small;
  }();
  for (; exponent <= -32; exponent += 32) out = out * kSmall;
  for (; exponent < 0; ++exponent) out = out * kHalf;
  return out;
}

Decimal Decimal::unit(std::uint32_t places) {
  if (places == 0) return 1;
  return of("0." + std::string(places - 1, '0') + '1');
}

void Decimal::trim() {
  while (!limbs_.empty() && limbs_.back() == 0) limbs_.pop_back();
  std::size_t zeros = 0;
  while (zeros < limbs_.size() && limbs_[zeros] == 0) ++zeros;
  limbs_.erase(limbs_.begin(), limbs_.begin() + static_cast<std::ptrdiff_t>(zeros));
  behind_ -= static_cast<std::int64_t>(zeros);
  if (!limbs_.empty()) return;
  behind_ = 0;
  negative_ = false;
}

std::uint32_t Decimal::limb(std::int64_t place) const {
  const std::int64_t at = place + behind_;
  return at < 0 || at >= static_cast<std::int64_t>(limbs_.size())
             ? 0
             : limbs_[static_cast<std::size_t>(at)];
}

int Decimal::compare_magnitudes(const Decimal& a, const Decimal& b) {
  const std::int64_t lowest = std::min(-a.behind_, -b.behind_);
  for (std::int64_t place = std::max(a.top(), b.top()); place-- > lowest;) {
    if (a.limb(place) != b.limb(place)) return a.limb(place) < b.limb(place) ? -1 : 1;
  }
  return 0;
}

int Decimal::compare(const Decimal& a, const Decimal& b) {
  if (a.negative_ != b.negative_) return a.negative_ ? -1 : 1;
  return a.negative_ ? compare_magnitudes(b, a) : compare_magnitudes(a, b);
}

Decimal Decimal::magnitude() const { return negative_ ? -*this : *this; }

Decimal Decimal::operator-() const {
  Decimal out = *this;
  out.negative_ = !negative_ && !is_zero();
  return out;
}

Decimal operator+(const Decimal& a, const Decimal& b) {
  const bool same = a.negative_ == b.negative_;
  const bool swap = !same && Decimal::compare_magnitudes(a, b) < 0;
  const Decimal& large = swap ? b : a;
  const Decimal& small = swap ? a : b;
  Decimal out;
  out.negative_ = large.negative_;
  out.behind_ = std::max(a.behind_, b.behind_);
  std::int64_t carry = 0;
  for (std::int64_t place = -out.behind_; place < std::max(a.top(), b.top()) || carry > 0;
       ++place) {
    const std::int64_t other = small.limb(place);
    std::int64_t digit = large.limb(place) + (same ? other : -other) + carry;
    carry = digit < 0 ? -1 : digit >= kLimb ? 1 : 0;
    digit -= carry * kLimb;
    out.limbs_.push_back(static_cast<std::uint32_t>(digit));
  }
  out.trim();
  return out;
}

Decimal operator*(const Decimal& a, const Decimal& b) {
  Decimal out;
  out.negative_ = a.negative_ != b.negative_;
  out.behind_ = a.behind_ + b.behind_;
  out.limbs_.assign(a.limbs_.size() + b.limbs_.size(), 0);
  for (std::size_t i = 0; i < a.limbs_.size(); ++i) {
    std::uint64_t carry = 0;
    for (std::size_t j = 0; j < b.limbs_.size() || carry != 0; ++j) {
      const std::uint64_t factor = j < b.limbs_.size() ? b.limbs_[j] : 0;
      const std::uint64_t sum = out.limbs_[i + j] + a.limbs_[i] * factor + carry;
      out.limbs_[i + j] = static_cast<std::uint32_t>(sum % kLimb);
      carry = sum / kLimb;
    }
  }
  out.trim();
  return out;
}

std::string Decimal::text() const {
  const auto nine = [&](std::int64_t place) {
    const std::string digits = std::to_string(limb(place));
    return std::string(kLimbDigits - digits.size(), '0') + digits;
  };
  std::string whole;
  for (std::int64_t place = std::max<std::int64_t>(top(), 1); place-- > 0;) whole += nine(place);
  const std::size_t zeros = std::min(whole.find_first_not_of('0'), whole.size() - 1);
  std::string out = (negative_ ? "-" : "") + whole.substr(zeros);
  if (behind_ <= 0) return out;
  out += '.';
  for (std::int64_t place = -1; place >= -behind_; --place) out += nine(place);
  return without_trailing_zeros(out);
}

std::int64_t Decimal::floor() const {
  const std::string digits = text();
  const std::size_t point = std::min(digits.find('.'), digits.size());
  std::int64_t whole = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + point, whole);
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  if (parsed.ec != std::errc()) {
    return negative_ ? kLeast : std::numeric_limits<std::int64_t>::max();
  }
  const bool below = negative_ && point != digits.size() && whole != kLeast;
  return below ? whole - 1 : whole;
}

double Decimal::nearest() const {
  const std::string digits = text();
  double number = 0;
  if (parse_double(digits, number)) return number;
  if (compare_magnitudes(*this, 1) < 0) return 0;  // Too small for any floating-point number.
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return negative_ ? -kInfinity : kInfinity;
}

// ---- spelling ----

std::optional<std::string> plain_decimal(std::string_view number) {
  const bool negative = number.starts_with('-');
  if (negative) number.remove_prefix(1);
  const std::size_t mark = std::min(number.find_first_of("eE"), number.size());
  const std::size_t point = std::min(number.find('.'), mark);
  std::string digits(number.substr(0, point));
  auto whole = static_cast<std::int64_t>(digits.size());  // How many digits are before the point.
  if (point < mark) digits += number.substr(point + 1, mark - point - 1);
  if (mark < number.size()) {
    std::string_view written = number.substr(mark + 1);
    if (written.starts_with('+')) written.remove_prefix(1);
    std::int64_t exponent = 0;
    const auto parsed = std::from_chars(written.data(), written.data() + written.size(), exponent);
    constexpr std::int64_t kMost = 1'000'000'000;
    const bool huge = parsed.ec != std::errc() || exponent > kMost || exponent < -kMost;
    if (huge && digits.find_first_not_of('0') != std::string::npos) return std::nullopt;
    if (!huge) whole += exponent;
  }
  const std::size_t zeros = std::min(digits.find_first_not_of('0'), digits.size());
  digits.erase(0, zeros);
  whole -= static_cast<std::int64_t>(zeros);
  const auto count = static_cast<std::int64_t>(digits.size());
  constexpr std::int64_t kMostDigits = HistoryBuilder::kMostDigits;
  if (count != 0 && (whole > kMostDigits || count - whole > kMostDigits)) return std::nullopt;
  if (count == 0) whole = std::clamp<std::int64_t>(whole, -kMostDigits, 0);
  std::string fraction;
  if (whole < 0) fraction.assign(static_cast<std::size_t>(-whole), '0');
  if (whole < count)
    fraction += digits.substr(static_cast<std::size_t>(std::max<std::int64_t>(whole, 0)));
  digits.resize(static_cast<std::size_t>(std::max<std::int64_t>(whole, 0)), '0');
  std::string out = negative && count != 0 ? "-" : "";
  out += digits.empty() ? "0" : digits;
  return fraction.empty() ? out : out + '.' + fraction;
}

std::string without_trailing_zeros(std::string_view digits) {
  if (digits.find('.') == std::string_view::npos) return std::string(digits);
  digits = digits.substr(0, digits.find_last_not_of('0') + 1);
  if (digits.ends_with('.')) digits.remove_suffix(1);
  return std::string(digits);
}

bool is_plain_decimal(std::string_view digits) {
  return is_json_number(digits) && plain_decimal(digits) == digits;
}

bool fits_64_bits(std::string_view digits) {
  const char* const end = digits.data() + digits.size();
  std::int64_t number = 0;
  std::uint64_t large = 0;
  return std::from_chars(digits.data(), end, number).ec == std::errc() ||
         std::from_chars(digits.data(), end, large).ec == std::errc();
}

bool is_json_number(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  const std::size_t mark = std::min(text.find_first_of("eE"), text.size());
  const std::size_t point = std::min(text.find('.'), mark);
  const std::string_view whole = text.substr(0, point);
  if (!all_digits(whole) || (whole.size() > 1 && whole[0] == '0')) return false;
  if (point < mark && !all_digits(text.substr(point + 1, mark - point - 1))) return false;
  if (mark == text.size()) return true;
  std::string_view exponent = text.substr(mark + 1);
  if (exponent.starts_with('+') || exponent.starts_with('-')) exponent.remove_prefix(1);
  return all_digits(exponent);
}

std::string float_digits(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number < 0 ? "-Infinity" : "Infinity";
  return double_text(number == 0 ? 0.0 : number);
}

double float_of(std::string_view digits) {
  double number = 0;
  return parse_double(digits, number) ? number : std::numeric_limits<double>::quiet_NaN();
}

std::optional<double> parse_float(std::string_view text) {
  if (text == "NaN" || text == "Infinity" || text == "-Infinity") return float_of(text);
  if (!is_json_number(text)) return std::nullopt;
  double number = 0;
  if (!parse_double(text, number)) return std::nullopt;
  return number;
}

}  // namespace ouro
