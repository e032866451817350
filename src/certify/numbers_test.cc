// Arithmetic digit by digit, compared with that of integers and with known values.

#include "certify/numbers.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <string>

namespace ouro::recheck {
namespace {

std::string plain(std::string_view digits) { return Exact(digits).text(); }
std::string sum_of(std::string_view a, std::string_view b) {
  return Exact::sum(Exact(a), Exact(b)).text();
}
std::string product_of(std::string_view a, std::string_view b) {
  return Exact::product(Exact(a), Exact(b)).text();
}

// The number of tenths, as digits.
std::string tenths(int number) {
  const int size = std::abs(number);
  return (number < 0 ? "-" : "") + std::to_string(size / 10) + '.' + std::to_string(size % 10);
}

TEST(ExactTest, ANumberIsWrittenInOneWay) {
  EXPECT_EQ(plain("-12.50"), "-12.5");
  EXPECT_EQ(plain("007"), "7");
  EXPECT_EQ(plain("0.000"), "0");
  EXPECT_EQ(plain("-0"), "0");
  EXPECT_EQ(plain("-0.05"), "-0.05");
  EXPECT_EQ(plain("100"), "100");
  EXPECT_EQ(Exact().text(), "0");
  EXPECT_EQ(Exact("-0.0").negated().text(), "0");
}

TEST(ExactTest, SmallNumbersAreThoseOfTheMachine) {
  for (int a = -31; a <= 31; ++a) {
    for (int b = -31; b <= 31; ++b) {
      const Exact x(tenths(a));
      const Exact y(tenths(b));
      EXPECT_EQ(Exact::compare(x, y) < 0, a < b) << a << " " << b;
      EXPECT_EQ(Exact::compare(x, y) == 0, a == b) << a << " " << b;
      EXPECT_EQ(Exact::compare(Exact::sum(x, y), Exact(tenths(a + b))), 0) << a << " " << b;
      EXPECT_EQ(Exact::product(Exact::product(x, y), Exact("100")).text(), std::to_string(a * b));
    }
    EXPECT_EQ(Exact(tenths(a)).negated().text(), plain(tenths(-a)));
    EXPECT_EQ(Exact(tenths(a)).size().text(), plain(tenths(std::abs(a))));
  }
}

TEST(ExactTest, LargeNumbersLoseNothing) {
  EXPECT_EQ(sum_of("9223372036854775807", "1"), "9223372036854775808");
  EXPECT_EQ(sum_of("-9223372036854775808", "-9223372036854775808"), "-18446744073709551616");
  EXPECT_EQ(sum_of("999999999999999999999.9", "0.1"), "1000000000000000000000");
  EXPECT_EQ(sum_of("1000000000000000000000", "-0.000000000000000000001"),
            "999999999999999999999.999999999999999999999");
  EXPECT_EQ(product_of("9223372036854775807", "-9223372036854775807"),
            "-85070591730234615847396907784232501249");
  EXPECT_EQ(product_of("-0.001", "1000"), "-1");
}

TEST(ExactTest, AFloatingPointNumberHasAllItsDigits) {
  EXPECT_EQ(Exact::of_double(0.1).text(),
            "0.1000000000000000055511151231257827021181583404541015625");
  EXPECT_EQ(Exact::of_double(-0.0).text(), "0");
  EXPECT_EQ(Exact::of_double(-9007199254740993.0).text(), "-9007199254740992");
  const double least = std::numeric_limits<double>::denorm_min();
  EXPECT_EQ(Exact::compare(Exact::sum(Exact::of_double(least), Exact::of_double(least)),
                           Exact::of_double(2 * least)),
            0);
  const double greatest = std::numeric_limits<double>::max();
  EXPECT_EQ(Exact::of_double(greatest).text().size(), 309u);
}

}  // namespace
}  // namespace ouro::recheck
