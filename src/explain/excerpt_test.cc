#include "explain/excerpt.h"

#include <gtest/gtest.h>

#include "ouro/explain.h"
#include "ouro/history_builder.h"
#include "tests/case_file.h"

namespace ouro {
namespace {

using oracle::history_of;
using oracle::to_string;

// What is left without the transactions given by number from 1.
std::string without(const History& history, std::initializer_list<std::size_t> removed) {
  std::vector<TxnId> txns;
  for (std::size_t t = 0; t < history.txn_count(); ++t) {
    if (std::find(removed.begin(), removed.end(), t + 1) == removed.end()) txns.emplace_back(t);
  }
  return to_string(excerpt(history, txns));
}

TEST(ExcerptTest, ReadsOfWhatIsGoneGoToo) {
  const History history = history_of(
      "initial 0\n"
      "T1 @s1: w x 1, w y 1\n"
      "T2 @s2: r x 1, r y 0, w x 2\n"
      "T3 @s1: r x 2, r y 1, r z 7\n");
  EXPECT_EQ(without(history, {}), to_string(history));
  EXPECT_EQ(without(history, {1}), "initial 0\nT2 @s2: r y 0, w x 2\nT3 @s1: r x 2, r z 7\n");
  EXPECT_EQ(without(history, {2}), "initial 0\nT1 @s1: w x 1, w y 1\nT3 @s1: r y 1, r z 7\n");
}

TEST(ExcerptTest, AnAbortedAttemptDoesNotMatterIfARetryCommitted) {
  const History history = history_of(
      "T1 @s1 aborted: w x 1\n"
      "T2 @s1: w x 1\n"
      "T3 @s2: r x 1\n"
      "T4 @s3 aborted: w y 5\n"
      "T5 @s2: r y 5, r x ?\n");
  EXPECT_EQ(without(history, {1}),
            "T2 @s1: w x 1\nT3 @s2: r x 1\nT4 @s3 aborted: w y 5\nT5 @s2: r y 5\n");
  EXPECT_EQ(without(history, {2, 4}), "T1 @s1 aborted: w x 1\nT3 @s2:\nT5 @s2:\n");
}

TEST(ExcerptTest, ListsLoseElementsButNotTheirVersion) {
  const History history = history_of(
      "T1: append l 1\n"
      "T2: append l 2\n"
      "T3: append l 3\n"
      "T4: append l 4, r l [1 2 3 4]\n"
      "T5: r l [1 2], r l [], r l [9 3]\n");
  EXPECT_EQ(without(history, {1, 4}),
            "T2 @T2: append l 2\nT3 @T3: append l 3\nT5 @T5: r l [2], r l [], r l [9 3]\n");
  EXPECT_EQ(without(history, {2}),
            "T1 @T1: append l 1\nT3 @T3: append l 3\nT4 @T4: append l 4, r l [1 3 4]\n"
            "T5 @T5: r l [], r l [9 3]\n");
  EXPECT_EQ(without(history, {3}),
            "T1 @T1: append l 1\nT2 @T2: append l 2\nT4 @T4: append l 4\nT5 @T5: r l [1 2], r l "
            "[]\n");
}

TEST(ExcerptTest, RowsOfWhatIsGoneAreNotObserved) {
  HistoryBuilder b;
  const KeyId x = b.key("x"), y = b.key("y");
  b.begin_txn(b.session("a"));
  b.write(x, b.integer(1));
  b.begin_txn(b.session("b"));
  b.write(y, b.integer(2));
  b.begin_txn(b.session("c"));
  const KeyVersion rows[] = {{x, b.integer(1)}, {y, b.integer(2)}};
  b.scan(b.text("a"), b.text("z"), {.rows = rows});
  b.scan(b.text("a"), b.text("z"), {.rows = rows, .has_version_set = true, .version_set = rows});
  const History history = *std::move(b).freeze();
  const TxnId kept[] = {TxnId{1}, TxnId{2}};
  const History part = excerpt(history, kept);
  ASSERT_EQ(part.op_count(), 2u);  // The scan with a version set is gone.
  const auto left = part.rows(part.predicate_read(OpId{1}));
  ASSERT_EQ(left.size(), 2u);
  EXPECT_EQ(part.key_label(left[0].key), "x");
  EXPECT_TRUE(left[0].value.is_unobserved());
  EXPECT_EQ(left[1].value, Value::small(2));
}

TEST(ExcerptTest, VersionOrdersLoseWhatIsGone) {
  HistoryBuilder b;
  const KeyId x = b.key("x"), y = b.key("y");
  for (int i = 1; i <= 3; ++i) {
    b.begin_txn(b.session(i));
    b.write(x, b.integer(i));
  }
  b.begin_txn(b.session("y"));
  b.write(y, b.integer(9));
  const Value order[] = {b.integer(2), b.integer(1), b.integer(3)};
  b.version_order(x, order, true);
  const History history = *std::move(b).freeze();
  const TxnId kept[] = {TxnId{0}, TxnId{2}};
  const History part = excerpt(history, kept);
  ASSERT_EQ(part.version_orders().size(), 1u);
  EXPECT_TRUE(part.version_orders()[0].complete);
  const auto versions = part.versions(part.version_orders()[0]);
  EXPECT_EQ(std::vector(versions.begin(), versions.end()),
            (std::vector{Value::small(1), Value::small(3)}));
  const TxnId other[] = {TxnId{3}};
  ASSERT_EQ(excerpt(history, other).version_orders().size(), 1u);
  EXPECT_EQ(excerpt(history, other).version_orders()[0].count, 0u);
}

TEST(ExcerptTest, PartsKnowWhatTheyAreInTheWhole) {
  const History history = history_of("T1: w x 1\nT2: w y 2\nT3: r y 2, r x 1");
  const Excerpter excerpter(history);
  const TxnId kept[] = {TxnId{1}, TxnId{2}};
  const Excerpt part = excerpter.make(kept, {false, true, true, true});
  EXPECT_EQ(part.txns, (std::vector{TxnId{1}, TxnId{2}}));
  EXPECT_EQ(part.ops, (std::vector{OpId{1}, OpId{2}}));
  EXPECT_EQ(part.keys, (std::vector{KeyId{1}}));
}

}  // namespace
}  // namespace ouro
