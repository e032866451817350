// Values and transactions that outlive the history they are of.

#include "certify/segments.h"

#include <gtest/gtest.h>

#include <string>

#include "format/format_testing.h"
#include "tests/case_file.h"

namespace ouro::recheck {
namespace {

// The value of the only operation of a history that is gone by now.
Stored stored(const std::string& json) {
  const History history = oracle::history_of(R"({"session":"a","ops":[["w","x",)" + json + "]]}");
  return {history, history.op(OpId{0}).value};
}

// All transactions of a history, copied; "refused" if one is.
std::string copied(std::string_view text) {
  const History history = oracle::history_of(text);
  HistoryBuilder builder;
  for (std::size_t t = 0; t < history.txn_count(); ++t) {
    if (!copy_txn(history, TxnId{t}, builder)) return "refused";
  }
  return native(*std::move(builder).freeze());
}

TEST(StoredTest, AValueIsTheSameInAnotherHistory) {
  const std::string kValues[] = {"7",
                                 "-9223372036854775808",
                                 "18446744073709551616",
                                 "0.50",
                                 "true",
                                 R"("")",
                                 R"("a \"b\"")",
                                 R"({"@float":0.1})",
                                 R"({"@float":"NaN"})",
                                 R"({"@float":"-Infinity"})",
                                 R"({"b":"text","a":null,"c":1.5})",
                                 "null"};
  for (const std::string& one : kValues) {
    HistoryBuilder builder;
    (void)builder.text("another pool");
    builder.begin_txn(builder.session("s"));
    builder.write(builder.key("x"), stored(one).in(builder));
    const History history = *std::move(builder).freeze();
    EXPECT_TRUE(stored(one) == Stored(history, history.op(OpId{0}).value)) << one;
    for (const std::string& other : kValues) {
      EXPECT_EQ(stored(one) == stored(other), one == other) << one << " " << other;
    }
  }
}

TEST(StoredTest, ColumnsHaveNoOrder) {
  EXPECT_TRUE(stored(R"({"a":1,"b":2})") == stored(R"({"b":2,"a":1})"));
  EXPECT_FALSE(stored(R"({"a":1,"b":2})") == stored(R"({"a":2,"b":1})"));
  EXPECT_TRUE(Stored() == stored("null"));
}

TEST(CopyTxnTest, EverythingThatIsSaidOfATransactionIsCopied) {
  for (
      const std::string text :
      {R"({"session":"a","invoked":-9,"began":1,"committing":2,"completed":9,"ops":[["r","x",null],)"
       R"(["w","x",1],["d","y"],["cas","z",1,2,true],["cas","z",1,2,false]]})",
       R"({"session":"a","start_ts":3,"commit_ts":[4,1],"ops":[["w","x",1]]})",
       R"({"session":"a","status":"unknown","start_ts":5,"ops":[["w","x",2]]})",
       R"({"session":7,"status":"aborted","level":"si","ops":[["w",5,{"c":"v"}],["r","5",null]]})",
       R"({"session":"a","ops":[["rolled-back",[["w","x",1],["r","x",1]]],["r","x",null]]})"}) {
    EXPECT_EQ(copied(text), text + "\n");
    EXPECT_EQ(native(oracle::history_of(text)), text + "\n");
  }
}

TEST(CopyTxnTest, OnlyRegistersAreCopied) {
  EXPECT_EQ(copied("T1: append l 1\n"), "refused");
  EXPECT_EQ(copied("T1: r l [1]\n"), "refused");
  EXPECT_EQ(copied("T1: savepoint, append l 1, rollback\n"), "refused");
  EXPECT_EQ(copied(R"({"session":"a","ops":[["scan",null,null,[]]]})"), "refused");
  EXPECT_EQ(copied(R"({"session":"a","ops":[["inc","c",1]]})"), "refused");
  EXPECT_EQ(copied(R"({"session":"a","ops":[["add","s",1]]})"), "refused");
}

TEST(CopyTxnTest, SessionsAndWritesAreTold) {
  const History history =
      oracle::history_of("T1 @a: r x nil\nT2 @b: d x\nT3 @7: savepoint, w x 1, rollback\n");
  EXPECT_EQ(session_of(history, TxnId{0}), R"("a")");
  EXPECT_EQ(session_of(history, TxnId{2}), "7");
  EXPECT_FALSE(has_writes(history, TxnId{0}));
  EXPECT_TRUE(has_writes(history, TxnId{1}));
  EXPECT_FALSE(has_writes(history, TxnId{2})) << "nobody may see it";
  HistoryBuilder builder;
  builder.begin_txn(builder.unknown_session());
  EXPECT_EQ(session_of(*std::move(builder).freeze(), TxnId{0}), "");
}

}  // namespace
}  // namespace ouro::recheck
