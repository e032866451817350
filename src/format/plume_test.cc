#include "format/plume.h"

#include <gtest/gtest.h>

#include "format/format_testing.h"

namespace ouro {
namespace {

constexpr auto kPlume = Format::Plume;

TEST(PlumeTest, TransactionsStandInOrderOfTheirFirstLine) {
  EXPECT_EQ(read_as(kPlume, "w(1,1,7,3)\nr(2,0,8,9)\nr(1,1,7,3)\n\nw(2,5,7,4)\r\nr( 2, 5, 8, 9 )"),
            R"({"session":7,"id":3,"ops":[["w",1,1],["r",1,1]]}
{"session":8,"id":9,"ops":[["r",2,0],["r",2,5]]}
{"session":7,"id":4,"ops":[["w",2,5]]}
)");
}

TEST(PlumeTest, EveryLineOfTransactionMinusOneIsAnAbortedTransaction) {
  EXPECT_EQ(read_as(kPlume, "w(1,1,0,-1)\nr(1,0,0,-1)\nw(1,2,0,0)\n"),
            R"({"session":0,"status":"aborted","ops":[["w",1,1]]}
{"session":0,"status":"aborted","ops":[["r",1,0]]}
{"session":0,"id":0,"ops":[["w",1,2]]}
)");
}

TEST(PlumeTest, KeysStartAsZeroUnlessACommittedTransactionWritesZero) {
  const auto history =
      parse_history("w(1,0,0,0)\nr(1,0,1,1)\nr(2,0,1,1)\nw(3,0,1,-1)\n", {.format = kPlume});
  ASSERT_TRUE(history.ok()) << history.error().to_string();
  EXPECT_TRUE(history->initial(KeyId{0}).is_null());
  EXPECT_EQ(history->initial(KeyId{1}), Value::small(0));
  EXPECT_EQ(history->initial(KeyId{2}), Value::small(0));
}

TEST(PlumeTest, OperationsKnowTheirLine) {
  const auto history =
      parse_history("w(1,1,0,0)\nw(2,1,1,1)\nw(3,1,0,0)", {.format = kPlume}, "p.txt");
  ASSERT_TRUE(history.ok());
  EXPECT_EQ(history->place(TxnId{0}).to_string(), "p.txt:1");
  EXPECT_EQ(history->place(OpId{1}).to_string(), "p.txt:3");
}

TEST(PlumeTest, ErrorsNameLineAndRemedy) {
  const std::string expected =
      ": expected a line like r(key,value,session,transaction) or w(…), found ";
  EXPECT_EQ(error_as(kPlume, "w(1,1,0,0)\na(1,1,0,0)"), "h:2" + expected + "'a'");
  EXPECT_EQ(error_as(kPlume, "w(1,1,0,-2)"), "h:1" + expected + "'-'");
  EXPECT_EQ(error_as(kPlume, "w(1,-1,0,2)"), "h:1" + expected + "'-'");
  EXPECT_EQ(error_as(kPlume, "w(1,1,0,2)w(1,2,0,2)"), "h:1" + expected + "'w'");
  EXPECT_EQ(error_as(kPlume, "w(1,1,\n0,2)"), "h:1" + expected + "the end of the line");
  EXPECT_EQ(error_as(kPlume, "w(1,99999999999999999999,0,2)"),
            "h:1" + expected + "a number of more than 64 bits");
  EXPECT_EQ(error_as(kPlume, "w(1,1,0,2)\nw(2,1,1,2)"),
            "h:2: transaction 2 is of session 1 here but of session 0 in line 1; "
            "transaction numbers must be unique");
  EXPECT_EQ(error_as(kPlume, "\n"), "h:2: no operations; the file is empty");
}

TEST(PlumeTest, ATruncatedLineIsAnError) {
  const std::string text = "w(1,10,7,33)";
  for (std::size_t length = 1; length < text.size(); ++length) {
    EXPECT_NE(error_as(kPlume, "r(1,0,2,2)\n" + text.substr(0, length)), "no error") << length;
  }
}

TEST(PlumeTest, WritesWhatItReads) {
  const std::string text =
      "w(1,0,0,0)\nw(18446744073709551615,0,0,0)\nr(1,0,7,3)\nw(1,5,7,3)\nw(1,6,7,-1)\n"
      "r(9,0,8,18446744073709551615)\nw(9,1152921504606846976,8,18446744073709551615)\n";
  const auto history = parse_history(text, {.format = kPlume});
  ASSERT_TRUE(history.ok()) << history.error().to_string();
  std::string out;
  const auto report = print_history(*history, kPlume, out);
  ASSERT_TRUE(report.ok()) << report.error().to_string();
  EXPECT_TRUE(report->warnings.empty());
  EXPECT_EQ(out, text);
}

TEST(PlumeTest, KeysAreNumberedInTheOrderOfTheHistoryAlsoWhenLinesAlternate) {
  const auto history =
      parse_history("w(6,5,0,0)\nr(1,0,1,2)\nw(2,0,0,0)\nw(1,0,1,3)\n", {.format = kPlume});
  ASSERT_TRUE(history.ok()) << history.error().to_string();
  EXPECT_EQ(history->key_label(KeyId{1}), "2");
  EXPECT_EQ(history->key_label(KeyId{2}), "1");
}

TEST(PlumeTest, NamesThatAreNoNumbersAreReplaced) {
  const auto history = parse_history(R"({"ouro":1,"initial":0,"info":{"db":"x"}}
{"session":"a","id":"t","invoked":1,"start_ts":2,"ops":[["r",1,0],["w",1,5],["r",2]]}
{"session":"b","status":"aborted","ops":[["w",1,6],["w",1,7]]}
{"session":"b","ops":[]}
{"key":1,"versions":[5],"complete":true}
)");
  ASSERT_TRUE(history.ok()) << history.error().to_string();
  std::string out;
  const auto report = print_history(*history, kPlume, out);
  ASSERT_TRUE(report.ok()) << report.error().to_string();
  EXPECT_EQ(out, "r(1,0,0,0)\nw(1,5,0,0)\nw(1,6,1,-1)\nw(1,7,1,-1)\n");
  EXPECT_EQ(report->warnings,
            (std::vector<std::string>{
                "1 read(s) without a recorded result are left out", "client clocks are left out",
                "database timestamps are left out", "version orders are left out",
                "the remark 'db' is left out", "session names are replaced by numbers",
                "transaction names are replaced by numbers",
                "1 transaction(s) without operations are left out",
                "1 aborted transaction(s) lose their name, and which operations were theirs"}));
}

TEST(PlumeTest, RefusesWhatItCannotSay) {
  const auto refusal = [](std::string_view line) { return written_as(kPlume, line); };
  const std::string tail =
      ", which 'plume' cannot say; write 'native' instead, which can say everything";
  const auto with_op = [&](std::string_view op) {
    return refusal("{\"ouro\":1,\"initial\":0}\n{\"session\":1,\"ops\":[[\"r\",1,0]," +
                   std::string(op) + "]}");
  };
  const std::string start = "h.jsonl:2: transaction 0: operation 2";
  EXPECT_EQ(with_op(R"(["d",1])"), start + " on key 1 is a delete" + tail);
  EXPECT_EQ(with_op(R"(["w",1,null])"), start + " on key 1 writes null, a delete," + tail);
  EXPECT_EQ(with_op(R"(["append",1,2])"), start + " on key 1 appends to a list" + tail);
  EXPECT_EQ(with_op(R"(["r",1,[]])"), start + " on key 1 reads a list" + tail);
  EXPECT_EQ(with_op(R"(["scan",1,2,[]])"), start + " is a predicate read" + tail);
  EXPECT_EQ(with_op(R"(["w","x",2])"),
            start + " on key x has a key that is no unsigned 64-bit integer" + tail);
  EXPECT_EQ(with_op(R"(["w",-1,2])"),
            start + " on key -1 has a key that is no unsigned 64-bit integer" + tail);
  EXPECT_EQ(with_op(R"(["w",1,"y"])"),
            start + " on key 1 has a value that is no unsigned 64-bit integer" + tail);
  EXPECT_EQ(with_op(R"(["w",1,-9223372036854775808])"),
            start + " on key 1 has a value that is no unsigned 64-bit integer" + tail);
  EXPECT_EQ(with_op(R"(["r",1,null])"), start + " on key 1 reads null" + tail);
  EXPECT_EQ(with_op(R"(["w",1,0])"), start + " on key 1 writes the initial value 0 again" + tail);
  EXPECT_EQ(refusal(R"({"session":1,"id":"t","status":"unknown","ops":[["w",1,1]]})"),
            "h.jsonl:1: transaction t has an unknown outcome" + tail);
}

TEST(PlumeTest, TheInitialValueNullIsWrittenAsZeroWhereNothingElseIs) {
  EXPECT_EQ(written_as(kPlume, R"({"session":1,"ops":[["r",1,null],["w",1,2]]})"),
            "r(1,0,1,0)\nw(1,2,1,0)\n");
  EXPECT_EQ(written_as(kPlume, R"({"session":1,"ops":[["w",1,0],["r",1,0]]})"),
            "w(1,0,1,0)\nr(1,0,1,0)\n");
  const std::string tail =
      ", which 'plume' cannot say; write 'native' instead, which can say everything";
  EXPECT_EQ(
      written_as(kPlume, R"({"session":1,"ops":[["r",1,null],["r",1,0]]})"),
      "h.jsonl:1: transaction 0: operation 2 on key 1 has 0 on a key that starts as null" + tail);
  EXPECT_EQ(
      written_as(kPlume, R"({"session":1,"ops":[["r",1,null],["w",1,0]]})"),
      "h.jsonl:1: transaction 0: operation 1 on key 1 reads null where 0 is also written" + tail);
  EXPECT_EQ(
      written_as(kPlume, R"({"session":1,"status":"aborted","ops":[["w",1,0]]})"),
      "h.jsonl:1: transaction 0: operation 1 on key 1 has 0 on a key that starts as null" + tail);
  EXPECT_EQ(
      written_as(kPlume, "{\"ouro\":1,\"initial\":7}\n{\"session\":1,\"ops\":[[\"r\",1,7]]}"),
      "h.jsonl:2: transaction 0: operation 1 on key 1 is on a key that starts as 7, not 0" + tail);
}

TEST(PlumeTest, IsDetected) {
  EXPECT_EQ(claimants("\nr(1,0,2,-1)\nw(3"), "plume");
  EXPECT_EQ(claimants("r(1,0,2)\n"), "");
}

}  // namespace
}  // namespace ouro
