#include "certify/sums.h"

#include <cmath>
#include <cstdlib>
#include <limits>

#include "certify/values.h"

namespace ouro::recheck {

void Sums::add(const History& history, Value value) {
  ++count_;
  const Scalar scalar = scalar_of(history, value);
  numbers_ = numbers_ && scalar.family == Scalar::Family::Number;
  if (!numbers_) return;
  floats_ = floats_ || value.kind() == ValueKind::Float;
  if (scalar.beyond != 0) {
    beyond_ = beyond_ == 0 || beyond_ == scalar.beyond ? scalar.beyond : kNoNumber;
    return;
  }
  if (scalar.other_number) return add(scalar.size);
  const auto number = static_cast<std::int64_t>(scalar.low);
  constexpr std::int64_t kSmall = std::int64_t{1} << 40;
  if (number <= -kSmall || number >= kSmall) return add(Exact(std::to_string(number)));
  short_sum_ += number;
  short_sizes_ += number < 0 ? -number : number;
  if (short_sizes_ >= kSmall) settle();
}

std::string Sums::summary() const {
  Sums settled = *this;
  settled.settle();
  std::string out = settled.sum_.text() + ' ' + settled.sizes_.text();
  for (const long long part : {count_, static_cast<long long>(beyond_)}) {
    out += ' ' + std::to_string(part);
  }
  return out + (floats_ ? " f" : "") + (numbers_ ? "" : " n");
}

bool Sums::allow(std::string_view json, bool average) const {
  if (count_ == 0 || !numbers_) return json == "null";
  constexpr std::string_view kFloat = "{\"@float\":";
  if (json.starts_with(kFloat)) {
    std::string number(json.substr(kFloat.size()));
    std::erase_if(number, [](char c) { return c == '"' || c == '}'; });
    return allow_float(std::strtod(number.c_str(), nullptr), average);
  }
  const bool text = json.starts_with('"');
  if (text) {  // Sums of more than 64 bits were strings once.
    json = json.substr(1, json.size() - 2);
    const bool whole = sum_.text().find('.') == std::string::npos;
    const bool long_sum = Exact::compare(Exact("18446744073709551615"), sum_) < 0 ||
                          Exact::compare(sum_, Exact("-9223372036854775808")) < 0;
    if (average || floats_ || !whole || !long_sum || json != sum_.text()) return false;
    return true;
  }
  if (json.empty() || json.find_first_not_of("-0123456789.") != std::string_view::npos)
    return false;
  if (beyond_ != 0) return false;
  const std::size_t point = json.find('.');
  const std::size_t places = point == std::string_view::npos ? 0 : json.size() - point - 1;
  Exact unit;
  const bool whole = places == 0;
  if (average || (floats_ && !whole)) unit = Exact("0." + std::string(places, '0') + '5');
  return are_close(Exact(json), unit, floats_, average);
}

bool Sums::allow_float(double number, bool average) const {
  if (beyond_ == kNoNumber) return std::isnan(number);
  if (beyond_ != 0) return std::isinf(number) && (number < 0) == (beyond_ < 0);
  if (std::isfinite(number)) return are_close(Exact::of_double(number), {}, true, average);
  // What is at least as near to 2^1024 as to the greatest number becomes infinite.
  const double greatest = std::numeric_limits<double>::max();
  const Exact half_a_step = Exact::of_double(std::ldexp(1.0, 1023 - 53));
  const Exact limit = Exact::sum(Exact::of_double(greatest), half_a_step);
  return Exact::compare(limit, sizes_) <= 0;
}

// Whether the sum is `given`, or `given` times the count, give or take `unit` and what rounding
// each sum of floating-point numbers and the result can make.
bool Sums::are_close(const Exact& given, const Exact& unit, bool floats, bool average) const {
  const Exact count(std::to_string(average ? count_ : 1));
  const Exact difference = Exact::sum(sum_, Exact::product(given, count).negated()).size();
  Exact allowed = Exact::product(unit, count);
  if (floats) {
    const Exact steps(std::to_string(count_ + 1));
    const Exact relative = Exact::product(Exact::of_double(std::ldexp(1.0, -52)), sizes_);
    const Exact least = Exact::product(Exact::of_double(std::ldexp(1.0, -1074)), count);
    allowed = Exact::sum(allowed, Exact::product(steps, Exact::sum(relative, least)));
  }
  return Exact::compare(difference, allowed) <= 0;
}

}  // namespace ouro::recheck
