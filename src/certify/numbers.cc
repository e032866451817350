#include "certify/numbers.h"

#include <algorithm>
#include <cstdio>

namespace ouro::recheck {

Exact::Exact(std::string_view digits) {
  bool behind = false;
  for (const char c : digits) {
    if (c == '-') {
      negative_ = true;
    } else if (c == '.') {
      behind = true;
    } else {
      digits_.push_back(static_cast<signed char>(c - '0'));
      places_ += behind ? 1 : 0;
    }
  }
  std::reverse(digits_.begin(), digits_.end());
  tidy();
}

// No number of 64 bits has more than 309 digits before the point, nor more than 1074 behind it, and
// printf() prints all of them.
Exact Exact::of_double(double number) {
  char buffer[1500];
  const int length = std::snprintf(buffer, sizeof(buffer), "%.1074f", number);
  return Exact(std::string_view(buffer, static_cast<std::size_t>(length)));
}

void Exact::tidy() {
  while (!digits_.empty() && digits_.back() == 0) digits_.pop_back();
  std::size_t zeros = 0;
  while (zeros < digits_.size() && zeros < places_ && digits_[zeros] == 0) ++zeros;
  digits_.erase(digits_.begin(), digits_.begin() + static_cast<std::ptrdiff_t>(zeros));
  places_ -= zeros;
  if (!digits_.empty()) return;
  negative_ = false;
  places_ = 0;
}

int Exact::digit(std::ptrdiff_t place) const {
  const std::ptrdiff_t at = place + static_cast<std::ptrdiff_t>(places_);
  const bool there = at >= 0 && at < static_cast<std::ptrdiff_t>(digits_.size());
  return there ? digits_[static_cast<std::size_t>(at)] : 0;
}

int Exact::compare_sizes(const Exact& a, const Exact& b) {
  const auto last = -static_cast<std::ptrdiff_t>(std::max(a.places_, b.places_));
  for (std::ptrdiff_t place = std::max(a.end(), b.end()) - 1; place >= last; --place) {
    if (const int difference = a.digit(place) - b.digit(place); difference != 0) return difference;
  }
  return 0;
}

int Exact::compare(const Exact& a, const Exact& b) {
  if (a.negative_ && b.negative_) return compare_sizes(b, a);
  if (a.negative_ || b.negative_) return a.negative_ ? -1 : 1;
  return compare_sizes(a, b);
}

// Digit by digit, each with its sign; at last the digits get the sign of the sum.
Exact Exact::sum(const Exact& a, const Exact& b) {
  const bool a_larger = compare_sizes(a, b) >= 0;
  Exact out;
  out.negative_ = a_larger ? a.negative_ : b.negative_;
  out.places_ = std::max(a.places_, b.places_);
  int carry = 0;
  const std::ptrdiff_t end = std::max(a.end(), b.end()) + 1;
  for (auto place = -static_cast<std::ptrdiff_t>(out.places_); place < end; ++place) {
    const int one = a.negative_ == out.negative_ ? a.digit(place) : -a.digit(place);
    const int two = b.negative_ == out.negative_ ? b.digit(place) : -b.digit(place);
    const int all = one + two + carry + 20;
    out.digits_.push_back(static_cast<signed char>(all % 10));
    carry = all / 10 - 2;
  }
  out.tidy();
  return out;
}

Exact Exact::product(const Exact& a, const Exact& b) {
  std::vector<long long> columns(a.digits_.size() + b.digits_.size() + 1);
  for (std::size_t i = 0; i < a.digits_.size(); ++i) {
    for (std::size_t j = 0; j < b.digits_.size(); ++j)
      columns[i + j] += a.digits_[i] * b.digits_[j];
  }
  Exact out;
  out.negative_ = a.negative_ != b.negative_;
  out.places_ = a.places_ + b.places_;
  long long carry = 0;
  for (const long long column : columns) {
    carry += column;
    out.digits_.push_back(static_cast<signed char>(carry % 10));
    carry /= 10;
  }
  out.tidy();
  return out;
}

Exact Exact::negated() const {
  Exact out = *this;
  out.negative_ = !negative_ && !digits_.empty();
  return out;
}

Exact Exact::size() const { return negative_ ? negated() : *this; }

std::string Exact::text() const {
  std::string out;
  for (auto place = -static_cast<std::ptrdiff_t>(places_);
       place < std::max<std::ptrdiff_t>(end(), 1); ++place) {
    if (place == 0 && places_ > 0) out += '.';
    out += static_cast<char>('0' + digit(place));
  }
  if (negative_) out += '-';
  std::reverse(out.begin(), out.end());
  return out;
}

}  // namespace ouro::recheck
