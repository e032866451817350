#include "history/decimal.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "history/number.h"
#include "history/value_order.h"
#include "ouro/history_builder.h"

namespace ouro {
namespace {

TEST(DecimalTest, SpellsNumbersOneWay) {
  EXPECT_EQ(plain_decimal("1.10"), "1.10");
  EXPECT_EQ(plain_decimal("-0.0"), "0.0");
  EXPECT_EQ(plain_decimal("1.5e3"), "1500");
  EXPECT_EQ(plain_decimal("1.5E+1"), "15");
  EXPECT_EQ(plain_decimal("-25e-4"), "-0.0025");
  EXPECT_EQ(plain_decimal("0e99999999999999999999"), "0");
  EXPECT_EQ(plain_decimal("1e1001"), std::nullopt);
  EXPECT_EQ(plain_decimal("1e-99999999999999999999"), std::nullopt);
  EXPECT_EQ(plain_decimal("1e999")->size(), 1000u);
  EXPECT_EQ(without_trailing_zeros("1.10"), "1.1");
  EXPECT_EQ(without_trailing_zeros("1.00"), "1");
  EXPECT_EQ(without_trailing_zeros("100"), "100");
  EXPECT_TRUE(is_plain_decimal("-12.50"));
  for (const char* odd : {"", "-", "01", "1.", ".5", "1e3", "+1", "-0", "NaN", "1.5.2"}) {
    EXPECT_FALSE(is_plain_decimal(odd)) << odd;
  }
}

TEST(DecimalTest, CalculatesExactly) {
  const auto sum = [](std::string_view a, std::string_view b) {
    return (Decimal::of(a) + Decimal::of(b)).text();
  };
  const auto product = [](std::string_view a, std::string_view b) {
    return (Decimal::of(a) * Decimal::of(b)).text();
  };
  EXPECT_EQ(sum("0.1", "0.2"), "0.3");
  EXPECT_EQ(sum("999999999.999999999", "0.000000001"), "1000000000");
  EXPECT_EQ(sum("-1", "0.000000000000000000001"), "-0.999999999999999999999");
  EXPECT_EQ(sum("5", "-5"), "0");
  EXPECT_EQ(product("-1.5", "0.02"), "-0.03");
  EXPECT_EQ(product("123456789012345678901234567890", "10"), "1234567890123456789012345678900");
  EXPECT_EQ(product("0", "-3"), "0");
  EXPECT_EQ(Decimal(std::numeric_limits<std::int64_t>::min()).text(), "-9223372036854775808");
  EXPECT_EQ(Decimal::of(0.1).text(), "0.1000000000000000055511151231257827021181583404541015625");
  EXPECT_EQ(Decimal::of(std::ldexp(1.0, 70)).text(), "1180591620717411303424");
  EXPECT_EQ(Decimal::of(-std::ldexp(1.0, -3)).text(), "-0.125");
  EXPECT_EQ(Decimal::of("-1.5").floor(), -2);
  EXPECT_EQ(Decimal::of("1.5").floor(), 1);
  EXPECT_EQ(Decimal::of("99999999999999999999").floor(), INT64_MAX);
}

// Small numbers of quarters, against integers.
TEST(DecimalTest, AgreesWithIntegers) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 2'000; ++i) {
    const auto a = static_cast<std::int64_t>(random() % 4'000'000'000'000) - 2'000'000'000'000;
    const auto b = static_cast<std::int64_t>(random() % 4'000'000) - 2'000'000;
    const Decimal quarter = Decimal::of("0.25");
    const Decimal one = Decimal(a) * quarter;
    const Decimal two = Decimal(b) * quarter;
    ASSERT_EQ((one + two).text(), (Decimal(a + b) * quarter).text());
    ASSERT_EQ((one * two).text(), (Decimal(a * b) * Decimal::of("0.0625")).text());
    ASSERT_EQ(Decimal::compare(one, two) < 0, a < b);
    ASSERT_EQ(Decimal::of(one.text()).text(), one.text());
    ASSERT_EQ(Decimal::compare(Decimal::of(static_cast<double>(a) / 4), one), 0);
    ASSERT_EQ(one.nearest(), static_cast<double>(a) / 4);
  }
}

TEST(DecimalTest, FloatsHaveOneSpelling) {
  EXPECT_EQ(float_digits(0.1), "0.1");
  EXPECT_EQ(float_digits(-0.0), "0");
  EXPECT_EQ(float_digits(1e22), "1e+22");
  EXPECT_EQ(float_digits(std::numeric_limits<double>::quiet_NaN()), "NaN");
  EXPECT_EQ(float_of("-Infinity"), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(parse_float("0.10"), 0.1);
  EXPECT_EQ(parse_float("1e999"), std::nullopt);
  EXPECT_EQ(parse_float("inf"), std::nullopt);
}

TEST(DecimalTest, EqualNumbersAreOneValue) {
  HistoryBuilder b;
  EXPECT_EQ(b.decimal("1.10"), b.decimal("11e-1"));
  EXPECT_EQ(b.decimal("1.0"), Value::small(1));
  EXPECT_EQ(b.decimal("-0.00"), Value::small(0));
  EXPECT_EQ(b.decimal("18446744073709551615"), b.unsigned_integer(UINT64_MAX));
  EXPECT_EQ(b.decimal("9223372036854775807.0"), b.integer(INT64_MAX));
  EXPECT_NE(b.floating(1.5), b.decimal("1.5"));
  EXPECT_NE(b.text("1.5"), b.decimal("1.5"));
  EXPECT_EQ(b.floating(0.0), b.floating(-0.0));
  EXPECT_EQ(b.floating(std::nan("1")), b.floating(std::nan("2")));
  EXPECT_TRUE(b.decimal("1e5000").is_null());
}

TEST(DecimalTest, NumbersOfAllKindsCompareBySize) {
  HistoryBuilder b;
  const std::vector<Value> ascending = {Value::null(),
                                        Value::boolean(false),
                                        Value::boolean(true),
                                        b.floating(-INFINITY),
                                        b.decimal("-1e30"),
                                        b.decimal("-0.5"),
                                        Value::small(0),
                                        b.decimal("0.1"),
                                        b.floating(0.1),
                                        b.decimal("0.5"),
                                        b.floating(0.5),
                                        Value::small(1),
                                        b.unsigned_integer(UINT64_MAX),
                                        b.decimal("18446744073709551615.5"),
                                        b.floating(1e300),
                                        b.floating(INFINITY),
                                        b.floating(NAN),
                                        b.text("")};
  const History history = *std::move(b).freeze();
  for (std::size_t i = 0; i < ascending.size(); ++i) {
    for (std::size_t j = 0; j < ascending.size(); ++j) {
      const int order = compare_values(history, ascending[i], ascending[j]);
      EXPECT_EQ(order < 0, i < j) << history.text(ascending[i]) << history.text(ascending[j]);
      EXPECT_EQ(order == 0, i == j);
    }
  }
}

}  // namespace
}  // namespace ouro
