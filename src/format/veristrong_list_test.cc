#include "format/veristrong_list.h"

#include <gtest/gtest.h>

#include "format/format_testing.h"

namespace ouro {
namespace {

constexpr auto kVeriStrongList = Format::VeriStrongList;

TEST(VeriStrongListTest, ReadsAppendsAndListsOfInterleavedTransactions) {
  EXPECT_EQ(read_as(kVeriStrongList,
                    "5\n0 1 A 7 10\n1 1 R 7 1 10\n0 1 A 7 11 0 1 R 7 2\n10 11\n1 2 R 8 0\n"),
            R"({"session":0,"id":1,"ops":[["append",7,10],["append",7,11],["r",7,[10,11]]]}
{"session":1,"id":1,"ops":[["r",7,[10]]]}
{"session":1,"id":2,"ops":[["r",8,[]]]}
)");
  EXPECT_EQ(read_as(kVeriStrongList, "0"), "");
}

TEST(VeriStrongListTest, OperationsKnowTheirLine) {
  const auto history =
      parse_history("2\n0 1 A 7 10\n0 1 A 7 11", {.format = kVeriStrongList}, "v.txt");
  ASSERT_TRUE(history.ok());
  EXPECT_EQ(history->place(OpId{1}).to_string(), "v.txt:3");
}

TEST(VeriStrongListTest, ErrorsNameLineAndRemedy) {
  EXPECT_EQ(error_as(kVeriStrongList, "x"),
            "h:1: expected the number of operations, an unsigned integer, found 'x'");
  EXPECT_EQ(error_as(kVeriStrongList, "2\n0 1 A 7 10\n"),
            "h:3: the file says 2 operations but has 1; it is truncated");
  EXPECT_EQ(error_as(kVeriStrongList, "1\n0 1 A 7 10\n0 2"),
            "h:3: expected the end of the file after 1 operations, as its first number says, found "
            "'0'");
  EXPECT_EQ(error_as(kVeriStrongList, "1\n0 1 W 7 10"),
            "h:2: expected 'R' (read) or 'A' (append), found 'W'");
  EXPECT_EQ(error_as(kVeriStrongList, "1\n0 1 A 7 10x"),
            "h:2: expected a space behind an element, found 'x'");
  EXPECT_EQ(error_as(kVeriStrongList, "1\n0 1 R 7 18446744073709551615 1"),
            "h:2: expected an element, an unsigned integer, found the end of the file");
}

TEST(VeriStrongListTest, ATruncatedFileIsAnErrorUnlessANumberIsCut) {
  const std::string text = "2\n0 1 A 7 1\n1 1 R 7 1 1";
  for (std::size_t length = 0; length < text.size(); ++length) {
    EXPECT_NE(error_as(kVeriStrongList, text.substr(0, length)), "no error") << length;
  }
}

TEST(VeriStrongListTest, IsDetected) {
  EXPECT_EQ(claimants("5\n0 1 A 7 10\n"), "veristrong-list");
  EXPECT_EQ(claimants("5\n"), "");
}

}  // namespace
}  // namespace ouro
