#include "tap/values.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ouro::tapping {
namespace {

constexpr Oid kBool = 16, kInt4 = 23, kText = 25, kNumeric = 1700, kUuid = 2950, kTimestamp = 1114;

TEST(ValuesTest, TextsBecomeJson) {
  EXPECT_EQ(value_of_text(kInt4, "-7"), "-7");
  EXPECT_EQ(value_of_text(kInt4, "seven"), std::nullopt);
  EXPECT_EQ(value_of_text(kBool, "t"), "true");
  EXPECT_EQ(value_of_text(kBool, "false"), "false");
  EXPECT_EQ(value_of_text(kNumeric, "-0.50"), "-0.50");
  EXPECT_EQ(value_of_text(kNumeric, "NaN"), R"({"@float":"NaN"})");
  EXPECT_EQ(value_of_text(kText, "a\"b\\\n"), "\"a\\\"b\\\\\\u000a\"");
  EXPECT_EQ(value_of_text(kTimestamp, "2026-11-18 00:00:00"), std::nullopt);
}

TEST(ValuesTest, ATextThatSaysNullIsNotNull) {
  EXPECT_EQ(null_value(), "\"NULL\"");
  EXPECT_EQ(value_of_text(kText, "NULL"), "\"\\\\NULL\"");
  EXPECT_EQ(value_of_text(kText, "\\NULL"), "\"\\\\\\\\NULL\"");
  EXPECT_EQ(value_of_text(kText, "NULLS"), "\"NULLS\"");
}

TEST(ValuesTest, BinaryFormsBecomeTexts) {
  EXPECT_EQ(text_of_binary(kInt4, std::string_view("\xFF\xFF\xFF\xF9", 4)), "-7");
  EXPECT_EQ(text_of_binary(kInt4, std::string_view("\0\0\0\0\0\0\1\0", 8)), "256");
  EXPECT_EQ(text_of_binary(kBool, std::string_view("\1", 1)), "t");
  EXPECT_EQ(text_of_binary(kNumeric, "12345678"), std::nullopt);
  EXPECT_EQ(text_of_binary(kUuid, "0123456789abcdef"), "30313233-3435-3637-3839-616263646566");
}

TEST(ValuesTest, KeysHaveOneForm) {
  EXPECT_EQ(key_part(kInt4, "07"), "7");
  EXPECT_EQ(key_part(kUuid, "{30313233343536373839616263646566}"),
            "30313233-3435-3637-3839-616263646566");
  EXPECT_EQ(key_part(kNumeric, "1.0"), std::nullopt);
}

TEST(ValuesTest, NamesOfKeysAreDifferentForDifferentRows) {
  const std::vector<std::string> one = {"a,b", "c"}, other = {"a", "b,c"};
  EXPECT_NE(row_name("public", "t", one), row_name("public", "t", other));
  EXPECT_EQ(row_name("public", "t", std::vector<std::string>{"7"}), "t/7");
  EXPECT_EQ(cell_name(row_name("shop", "t", std::vector<std::string>{"x.y"}), "v"), "shop.t/x.y.v");
  EXPECT_NE(cell_name("t/x", "y.v"), cell_name("t/x.y", "v"));
}

}  // namespace
}  // namespace ouro::tapping
