#include "base/printable.h"

#include <gtest/gtest.h>

namespace ouro {
namespace {

TEST(PrintableTest, OnlyWhatATerminalWouldObeyIsEscaped) {
  EXPECT_EQ(printable("two words, \xc3\xbc and \xe2\x82\xac"),
            "two words, \xc3\xbc and \xe2\x82\xac");
  EXPECT_EQ(printable("ev\x1b[31mil\nname\x7f"), "ev\\x1b[31mil\\x0aname\\x7f");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(printable(""), "");
}

TEST(PrintableTest, ControlsBeyondAsciiAndBrokenTextAreEscaped) {
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\xc2\\x9b31m");  // CSI
  EXPECT_EQ(printable("\xc2\xa0"), "\xc2\xa0");
  EXPECT_EQ(printable("a\xff\xc3"), "a\\xff\\xc3");
}

}  // namespace
}  // namespace ouro
