// Sums and averages of values, exact where the values are.
//
// The sum of exact numbers is exact, and so is their average, a fraction; a recorded average is
// compared with it at the precision with which it was recorded. Databases add floating-point
// numbers in some order and round each time, so such a sum may differ from the true one by as much
// as that can make. docs/predicates.md has the rules.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "history/decimal.h"
#include "ouro/history.h"

namespace ouro {

class Total {
 public:
  // `average`: what is asked for is the average; otherwise it is the sum.
  explicit Total(bool average) : average_(average) {}

  void add(const History& history, Value value);
  // Sum or average as JSON. Null if there were no values, or some that are no numbers. An average
  // that has no end is cut off; a sum with floating-point numbers is the nearest one.
  [[nodiscard]] std::string text() const;
  // The same for all totals of which the same will be said, whatever is added.
  [[nodiscard]] std::string summary() const;
  // Whether a database may give `recorded`, a value as JSON, as the result.
  [[nodiscard]] bool fits(std::string_view recorded) const;

 private:
  // No values, or some that are no numbers.
  [[nodiscard]] bool is_null() const { return count_ == 0 || !numbers_; }
  [[nodiscard]] std::string quotient() const;
  [[nodiscard]] Decimal sum() const { return exact_ + Decimal::of(small_text()); }
  [[nodiscard]] std::string small_text() const;
  [[nodiscard]] Decimal parts() const { return parts_ + sum_of_small_parts(); }
  [[nodiscard]] Decimal sum_of_small_parts() const;
  [[nodiscard]] bool fits_float(double recorded) const;
  [[nodiscard]] bool is_near(const Decimal& recorded, const Decimal& rounding, bool floats) const;

  // Holds the sum of 2³² numbers of 64 bits, and more.
  __extension__ using Small = __int128;

  bool average_;
  bool numbers_ = true;  // All values were numbers.
  bool floats_ = false;  // One was a floating-point number.
  std::uint64_t count_ = 0;
  double beyond_ = 0;  // The sum of all that is infinite or not a number.
  Small small_ = 0;    // The sum of the integers that fit into handles, and of their sizes.
  Small small_parts_ = 0;
  Decimal exact_;  // The sum of all other numbers, and of their sizes.
  Decimal parts_;
};

}  // namespace ouro
