// Numbers of a history to compare and to calculate with: exact ones, or floating-point numbers.
#pragma once

#include <cmath>

#include "history/decimal.h"
#include "ouro/history.h"

namespace ouro {

struct Number {
  bool floating = false;
  double number = 0;  // If floating.
  Decimal exact;      // Its exact size, unless it is not finite.

  // REQUIRES: is_number(value.kind()).
  [[nodiscard]] static Number of(const History& history, Value value) {
    if (value.kind() == ValueKind::Integer) return {.exact = Decimal(value.number())};
    if (value.kind() != ValueKind::Float) return {.exact = Decimal::of(history.string(value))};
    return of(history.floating(value));
  }
  [[nodiscard]] static Number of(double number) {
    Number out{.floating = true, .number = number, .exact = {}};
    if (out.is_finite()) out.exact = Decimal::of(number);
    return out;
  }
  // Exact numbers give an exact one. With a floating-point number the other one is rounded to one,
  // too, and so is the result.
  friend Number operator+(const Number& a, const Number& b) {
    if (a.floating || b.floating) return of(a.rounded() + b.rounded());
    return {.exact = a.exact + b.exact};
  }
  friend Number operator-(const Number& a, const Number& b) {
    if (a.floating || b.floating) return of(a.rounded() - b.rounded());
    return {.exact = a.exact - b.exact};
  }
  friend Number operator*(const Number& a, const Number& b) {
    if (a.floating || b.floating) return of(a.rounded() * b.rounded());
    return {.exact = a.exact * b.exact};
  }
  [[nodiscard]] double rounded() const { return floating ? number : exact.nearest(); }
  [[nodiscard]] bool is_finite() const { return !floating || std::isfinite(number); }

  // Less than zero, zero or greater than zero: the order by size. Not-a-number is equal to itself
  // and greater than all others.
  [[nodiscard]] static int compare(const Number& a, const Number& b) {
    if (a.is_finite() && b.is_finite()) return Decimal::compare(a.exact, b.exact);
    return a.place() < b.place() ? -1 : a.place() > b.place() ? 1 : 0;
  }

 private:
  // Orders numbers of which one is not finite.
  [[nodiscard]] int place() const {
    if (is_finite()) return 0;
    return std::isnan(number) ? 2 : number < 0 ? -1 : 1;
  }
};

}  // namespace ouro
