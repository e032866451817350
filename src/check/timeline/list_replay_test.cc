// One list, replayed: what reads of a transaction show of what is committed and of own appends.

#include "check/timeline/list_replay.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/case_file.h"

namespace ouro {
namespace {

// Judges the reads of T2, the last one, in order; T1's appends, if any, are committed before.
class ListReplayTest : public testing::Test {
 protected:
  using Finding = ListReplay::Finding;

  static std::string judged(std::string_view text) {
    const History history = oracle::history_of(text);
    TrunkAgreement agreement(history);
    ListReplay replay;
    std::string out;
    for (std::size_t i = 0; i < history.op_count(); ++i) {
      const Op op = history.op(OpId{i});
      const bool is_last = history.txn_of(op.id).index() + 1 == history.txn_count();
      if (is_last && OpId{i} == history.first_op(history.txn_of(op.id))) replay.enter();
      if (!is_last) {
        if (op.kind == OpKind::Append) replay.commit(op.value);
      } else if (op.kind == OpKind::Append) {
        replay.append(op.value);
      } else {
        out += (out.empty() ? "" : " ") + word(replay.judge(history, op.key, op.value, agreement)) +
               " " + replay.expected(history);
        replay.read(op.value);
      }
    }
    return out;
  }

 private:
  static std::string word(Finding finding) {
    switch (finding) {
      case Finding::Right:
        return "right";
      case Finding::Snapshot:
        return "snapshot";
      case Finding::OwnAppends:
        return "own";
      case Finding::Repeated:
        return "repeated";
    }
    return "";
  }
};

TEST_F(ListReplayTest, AReadShowsWhatIsCommittedAndThenOwnAppends) {
  EXPECT_EQ(judged("T1: append l 1, append l 2\nT2: r l [1 2]"), "right [1,2]");
  EXPECT_EQ(judged("T1: append l 1\nT2: append l 5, r l [1 5]"), "right [1,5]");
  EXPECT_EQ(judged("T1: append l 1\nT2: r l []"), "snapshot [1]");
  EXPECT_EQ(judged("T1: append l 1\nT2: r l [2]"), "snapshot [1]");
  EXPECT_EQ(judged("T1: append l 1\nT2: r l [1 2]"), "snapshot [1]");
  EXPECT_EQ(judged("T1: append m 1\nT2: append l 5, r l [1]"), "own [1,5]");
}

TEST_F(ListReplayTest, ALaterReadContinuesAnEarlierOneEvenIfThatWasWrong) {
  EXPECT_EQ(judged("T1: append l 1\nT2: r l [1], append l 5, r l [1 5]"), "right [1] right [1,5]");
  EXPECT_EQ(judged("T1: append l 1\nT2: r l [], r l []"), "snapshot [1] right []");
  EXPECT_EQ(judged("T1: append l 1\nT2: r l [], r l [1]"), "snapshot [1] repeated []");
}

TEST_F(ListReplayTest, ATrunkIsComparedAnewForAnotherKey) {
  const History history = oracle::history_of("T1: append l 1, append l 2\nT2: r l [1 2]\n");
  TrunkAgreement agreement(history);
  const Value read = history.op(OpId{2}).value;
  const std::vector<Value> same = {history.op(OpId{0}).value, history.op(OpId{1}).value};
  const std::vector<Value> other = {history.op(OpId{1}).value, history.op(OpId{0}).value};
  EXPECT_TRUE(agreement.agrees(KeyId{0}, read, 2, same));
  EXPECT_FALSE(agreement.agrees(KeyId{1}, read, 2, other));
  EXPECT_FALSE(agreement.agrees(KeyId{0}, read, 2, {same[0]})) << "one element is not committed";
  EXPECT_TRUE(agreement.agrees(KeyId{0}, read, 1, {same[0]}));
  EXPECT_TRUE(agreement.agrees(KeyId{0}, read, 0, {}));
}

}  // namespace
}  // namespace ouro
