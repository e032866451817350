#include "format/dbcop_text.h"

#include <gtest/gtest.h>

#include "format/format_testing.h"

namespace ouro {
namespace {

constexpr auto kDbcopText = Format::DbcopText;

TEST(DbcopTextTest, ReadsTheExampleOfItsManual) {
  EXPECT_EQ(read_as(kDbcopText, "[x:=1 y:=2] [y==2 x:=3]\n---\n[x==1 y:=4]\n"),
            R"({"session":0,"ops":[["w","x",1],["w","y",2]]}
{"session":0,"ops":[["r","y",2],["w","x",3]]}
{"session":1,"ops":[["r","x",1],["w","y",4]]}
)");
}

TEST(DbcopTextTest, KnowsCommentsAbortedTransactionsAndUninitialisedReads) {
  EXPECT_EQ(
      read_as(kDbcopText, R"(// first
--
[x_1==? // in between
 X:=18446744073709551615]! []
----- // next
-----
[a==0])"),
      R"({"session":0,"status":"aborted","ops":[["r","x_1",null],["w","X",18446744073709551615]]}
{"session":0,"ops":[]}
{"session":1,"ops":[["r","a",0]]}
)");
}

TEST(DbcopTextTest, OperationsKnowTheirLine) {
  const auto history = parse_history("\n[x:=1\ny:=2]", {.format = kDbcopText}, "h.hist");
  ASSERT_TRUE(history.ok());
  EXPECT_EQ(history->place(TxnId{0}).to_string(), "h.hist:2");
  EXPECT_EQ(history->place(OpId{1}).to_string(), "h.hist:3");
}

TEST(DbcopTextTest, ErrorsNameLineAndRemedy) {
  EXPECT_EQ(error_as(kDbcopText, "[x:=1]\nx"),
            "h:2: expected '[' to begin a transaction, or a line of dashes, found 'x'");
  EXPECT_EQ(error_as(kDbcopText, "[x:=1 "),
            "h:1: expected an event like x:=1, x==1 or x==?, or ']', found the end of the file");
  EXPECT_EQ(error_as(kDbcopText, "[x=1]"), "h:1: expected ':=' or '==' behind a name, found '='");
  EXPECT_EQ(error_as(kDbcopText, "[x:=?]"), "h:1: expected a number, found '?'");
  EXPECT_EQ(error_as(kDbcopText, "[x==]"), "h:1: expected a number or '?', found ']'");
  EXPECT_EQ(error_as(kDbcopText, "[x:=1y:=2]"),
            "h:1: expected a space or ']' behind an event, found 'y'");
  EXPECT_EQ(error_as(kDbcopText, "[x:=1]\n--- [y:=1]"),
            "h:2: expected the end of the line behind the dashes, found '['");
  EXPECT_EQ(error_as(kDbcopText, "// none"), "h:1: no transactions; the file is empty");
}

TEST(DbcopTextTest, ATruncatedTransactionIsAnError) {
  const std::string text = "[x:=10 y==?]";
  for (std::size_t length = 1; length < text.size(); ++length) {
    EXPECT_NE(error_as(kDbcopText, "[z:=1]\n" + text.substr(0, length)), "no error") << length;
  }
}

TEST(DbcopTextTest, IsDetected) {
  EXPECT_EQ(claimants("// a comment\n---\n[]! [ x:=1]"), "dbcop-text");
  EXPECT_EQ(claimants("[x==?]"), "dbcop-text");
  EXPECT_EQ(claimants("[x 1]"), "");
  EXPECT_EQ(claimants("[]"), "");
}

}  // namespace
}  // namespace ouro
