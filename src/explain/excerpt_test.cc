#include "explain/excerpt.h"

#include <gtest/gtest.h>

#include "ouro/explain.h"
#include "ouro/history_builder.h"
#include "tests/case_file.h"
#include "tests/small_histories.h"
#include "tests/this_build.h"

namespace ouro {
namespace {

using oracle::history_of;
using oracle::to_string;

// The part without the transactions `removed`, which are numbered from 1.
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

// A history that writes x=1, y=2 and x=3, each in a transaction of its own. Tests add predicate
// reads that return rows_, the first two.
class RowsExcerptTest : public testing::Test {
 protected:
  RowsExcerptTest() {
    for (const auto& [key, value] : {std::pair(x_, 1), {y_, 2}, {x_, 3}}) {
      b_.begin_txn(b_.session(value));
      b_.write(key, b_.integer(value));
    }
    b_.begin_txn(b_.session("reader"));
  }
  // The part without the transactions `dropped`, which are numbered from 0.
  History without(std::initializer_list<std::size_t> dropped,
                  Evidence evidence = Evidence::Observed) {
    whole_ = *std::move(b_).freeze();
    std::vector<TxnId> kept;
    for (std::size_t t = 0; t < whole_.txn_count(); ++t) {
      if (std::find(dropped.begin(), dropped.end(), t) == dropped.end()) kept.emplace_back(t);
    }
    return excerpt(whole_, kept, evidence);
  }
  static std::vector<KeyVersion> rows_of(const History& part, OpId read) {
    const auto rows = part.rows(part.predicate_read(read));
    return {rows.begin(), rows.end()};
  }

  HistoryBuilder b_;
  const KeyId x_ = b_.key("x");
  const KeyId y_ = b_.key("y");
  const KeyVersion rows_[2] = {{x_, Value::small(1)}, {y_, Value::small(2)}};
  History whole_;
};

TEST_F(RowsExcerptTest, AScanLosesRowsThatAreAbsentThen) {
  b_.scan(b_.text("a"), b_.text("z"), {.rows = rows_});
  b_.scan(b_.text("a"), b_.text("z"),
          {.rows = rows_, .has_version_set = true, .version_set = rows_});
  const History part = without({0, 2});
  ASSERT_EQ(part.op_count(), 3u);
  for (const OpId read : {OpId{1}, OpId{2}}) {
    const auto left = rows_of(part, read);
    ASSERT_EQ(left.size(), 1u);
    EXPECT_EQ(part.key_label(left[0].key), "y");
  }
  EXPECT_EQ(part.version_set(part.predicate_read(OpId{2})).size(), 1u);
}

TEST_F(RowsExcerptTest, AScanGoesIfARowIsThereInAnotherVersion) {
  b_.scan(b_.text("a"), b_.text("z"), {.rows = rows_});
  EXPECT_EQ(without({0}).op_count(), 2u);  // The writes.
}

TEST_F(RowsExcerptTest, AScanGoesIfWhatItFoundAbsentIsThereThen) {
  const KeyId z = b_.key("z");
  b_.initial(z, b_.integer(9));
  b_.scan(b_.text("z"), b_.text("z"), {});
  b_.begin_txn(b_.session("deleter"));
  b_.remove(z, Value::null());
  const History part = without({4});
  EXPECT_EQ(part.op_count(), 3u);
}

TEST_F(RowsExcerptTest, ASelectLosesRowsAndAnAggregateItsResult) {
  const PredicateId all = b_.always();
  b_.select(all, {.rows = rows_});
  b_.aggregate(AggregateKind::Count, {}, all, b_.integer(2),
               {.rows = {}, .has_version_set = true, .version_set = rows_});
  const History part = without({1});
  ASSERT_EQ(part.op_count(), 4u);
  EXPECT_EQ(rows_of(part, OpId{2}).size(), 1u);
  EXPECT_TRUE(part.predicate_read(OpId{3}).result.is_unobserved());
  EXPECT_EQ(part.version_set(part.predicate_read(OpId{3})).size(), 1u);
}

// With some of the versions of a row a select could have seen less than it could.
TEST_F(RowsExcerptTest, ASelectGoesIfItsRowsLoseSomeVersions) {
  b_.select(b_.always(), {.rows = rows_});
  EXPECT_EQ(without({0}).op_count(), 2u);  // The writes.
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
  const Excerpter excerpter(history, Evidence::Observed);
  const TxnId kept[] = {TxnId{1}, TxnId{2}};
  const Excerpt part = excerpter.make(kept, {false, true, true, true});
  EXPECT_EQ(part.txns, (std::vector{TxnId{1}, TxnId{2}}));
  EXPECT_EQ(part.ops, (std::vector{OpId{1}, OpId{2}}));
  EXPECT_EQ(part.keys, (std::vector{KeyId{1}}));
}

// Whoever knows which keys lose writes gets the same part sooner.
TEST(ExcerptTest, KeysThatLackNothingNeedNoLook) {
  for (std::uint64_t seed = 1; seed <= 2000 / kSlowdown; ++seed) {
    const History history = oracle::random_history(seed, oracle::mixed_shape(seed));
    std::vector<TxnId> txns;
    std::vector<bool> kept(history.op_count(), true);
    std::vector<bool> lacking(history.key_count(), false);
    for (std::size_t t = 0; t < history.txn_count(); ++t) {
      const bool goes = (seed * 7 + t * 5) % 3 == 0;
      if (!goes) txns.emplace_back(t);
      for (OpId id = history.first_op(TxnId{t}); goes && id < history.end_op(TxnId{t});) {
        kept[id.index()] = false;
        if (const KeyId key = history.op(id).key; key.valid()) lacking[key.index()] = true;
        ++id.value;
      }
    }
    for (const Evidence evidence : {Evidence::Observed, Evidence::Versions}) {
      const Excerpt slow = Excerpter(history, evidence).make(txns, kept);
      const Excerpt quick = Excerpter(history, evidence, {}, lacking).make(txns, kept);
      ASSERT_EQ(to_string(quick.history), to_string(slow.history)) << "seed " << seed;
      ASSERT_EQ(quick.ops, slow.ops) << "seed " << seed;
      ASSERT_EQ(quick.keys, slow.keys) << "seed " << seed;
      const History same = excerpt(history, txns, evidence);
      ASSERT_EQ(to_string(same), to_string(slow.history)) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace ouro
