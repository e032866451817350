#include "format/awdit_text.h"

#include <gtest/gtest.h>

#include "format/format_testing.h"

namespace ouro {
namespace {

constexpr auto kAwditText = Format::AwditText;

TEST(AwditTextTest, DashesEndTransactionsAndEqualsSignsSessions) {
  EXPECT_EQ(
      read_as(kAwditText, "w 0 0\nw 1 0\n=====\nw 0 1\n-----\nr 0 1\r\n\n  r\t1 0\n==\n=\nr 1 0"),
      R"({"session":0,"ops":[["w",0,0],["w",1,0]]}
{"session":1,"ops":[["w",0,1]]}
{"session":1,"ops":[["r",0,1],["r",1,0]]}
{"session":2,"ops":[["r",1,0]]}
)");
}

TEST(AwditTextTest, EmptyPiecesAreNoTransactions) {
  EXPECT_EQ(read_as(kAwditText, "==--==\nw 1 1---==--\n=w 1 2"), R"({"session":0,"ops":[["w",1,1]]}
{"session":1,"ops":[["w",1,2]]}
)");
}

TEST(AwditTextTest, NothingIsWrittenInitially) {
  const auto history = parse_history("r 1 0\n", {.format = kAwditText});
  ASSERT_TRUE(history.ok());
  EXPECT_TRUE(history->initial(KeyId{0}).is_null());
}

TEST(AwditTextTest, OperationsKnowTheirLine) {
  const auto history =
      parse_history("\nw 1 1\n---\n\nr 1 1\nr 1 1", {.format = kAwditText}, "a.txt");
  ASSERT_TRUE(history.ok());
  EXPECT_EQ(history->place(TxnId{1}).to_string(), "a.txt:5");
  EXPECT_EQ(history->place(OpId{2}).to_string(), "a.txt:6");
}

TEST(AwditTextTest, ErrorsNameLineAndRemedy) {
  const std::string expected =
      ": expected a line 'r key value' or 'w key value', or a line of - or =, found ";
  EXPECT_EQ(error_as(kAwditText, "w 0 0\nx 0 0"), "h:2" + expected + "'x'");
  EXPECT_EQ(error_as(kAwditText, "w 0"), "h:1" + expected + "the end of the file");
  EXPECT_EQ(error_as(kAwditText, "w 0 \n1"), "h:1" + expected + "the end of the line");
  EXPECT_EQ(error_as(kAwditText, "w 0 1 2"), "h:1" + expected + "'2'");
  EXPECT_EQ(error_as(kAwditText, "w0 1"), "h:1" + expected + "'0'");
  EXPECT_EQ(error_as(kAwditText, "w 0 18446744073709551616"),
            "h:1" + expected + "a number of more than 64 bits");
  EXPECT_EQ(error_as(kAwditText, "---\n"), "h:2: no transactions; the file is empty");
}

TEST(AwditTextTest, IsDetected) {
  EXPECT_EQ(claimants("w 0 0\n"), "awdit");
  EXPECT_EQ(claimants("\n\n====\nr 12 7\n---\n"), "awdit");
  EXPECT_EQ(claimants("w 0"), "");
  EXPECT_EQ(claimants("write the docs\n"), "");
}

}  // namespace
}  // namespace ouro
