#include "base/utf8.h"

#include <gtest/gtest.h>
#include <simdjson.h>

#include <random>
#include <string>

namespace ouro {
namespace {

bool expected(const std::string& text) { return simdjson::validate_utf8(text.data(), text.size()); }

TEST(Utf8Test, AgreesWithAnotherReaderOnAllShortTexts) {
  // The first and last bytes of each range in Unicode's table, and their neighbours.
  const std::string bytes(
      "\x00\x41\x7f\x80\x8f\x90\x9f\xa0\xbf\xc0\xc1\xc2\xdf\xe0\xe1\xec\xed"
      "\xee\xef\xf0\xf1\xf3\xf4\xf5\xff",
      25);
  for (const char a : bytes) {
    for (const char b : bytes) {
      for (const char c : bytes) {
        for (const char d : bytes) {
          const std::string text = {a, b, c, d};
          ASSERT_EQ(is_utf8(text), expected(text)) << ::testing::PrintToString(text);
        }
      }
    }
  }
  EXPECT_TRUE(is_utf8(""));
}

TEST(Utf8Test, FindsTheFirstByteThatIsWrongWhereverItIs) {
  for (std::size_t length = 0; length < 40; ++length) {
    for (std::size_t at = 0; at < length; ++at) {
      std::string text(length, 'x');
      text[at] = '\xff';
      EXPECT_EQ(utf8_prefix(text), at);
      text[at] = '\xc3';
      if (at + 1 < length) text[at + 1] = '\xa9';
      EXPECT_EQ(utf8_prefix(text), at + 1 < length ? length : at);
    }
  }
}

TEST(Utf8Test, AgreesOnLongTexts) {
  constexpr unsigned kSeed = 16;
  std::mt19937 random(kSeed);
  const std::string_view parts[] = {"abcdefgh", "x",          "\u00e9",
                                    "\u20ac",   "\U0001F40D", "\xed\xa0\x80"};
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    const std::size_t count = random() % 12;
    for (std::size_t k = 0; k < count; ++k) text += parts[random() % (random() % 4 == 0 ? 6 : 5)];
    ASSERT_EQ(is_utf8(text), expected(text)) << "seed " << kSeed << ", text " << i;
  }
}

}  // namespace
}  // namespace ouro
