// Sums and averages, by the rules of docs/predicates.md. The engines have sums of their own.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "certify/numbers.h"
#include "ouro/history.h"

namespace ouro::recheck {

// Values to be added up. Short integers are added as numbers, all others digit by digit.
class Sums {
 public:
  void add(const History& history, Value value);
  // Adds what was set aside. All that follows needs it.
  void settle() {
    sum_ = Exact::sum(sum_, Exact(std::to_string(short_sum_)));
    sizes_ = Exact::sum(sizes_, Exact(std::to_string(short_sizes_)));
    short_sum_ = 0;
    short_sizes_ = 0;
  }
  // Whether a database may return `json` as the sum, or as the average.
  [[nodiscard]] bool allow(std::string_view json, bool average) const;
  // The same for all sums of which the same will be said, whatever is added.
  [[nodiscard]] std::string summary() const;

 private:
  static constexpr int kNoNumber = 2;  // See Scalar::beyond.
  void add(const Exact& number) {
    sum_ = Exact::sum(sum_, number);
    sizes_ = Exact::sum(sizes_, number.size());
  }
  [[nodiscard]] bool allow_float(double number, bool average) const;
  [[nodiscard]] bool are_close(const Exact& given, const Exact& unit, bool floats,
                               bool average) const;

  bool numbers_ = true;
  bool floats_ = false;
  int beyond_ = 0;
  long long count_ = 0;
  Exact sum_;
  Exact sizes_;  // The sum of all sizes, without their signs.
  // The same of short integers that are not in there yet.
  std::int64_t short_sum_ = 0;
  std::int64_t short_sizes_ = 0;
};

}  // namespace ouro::recheck
