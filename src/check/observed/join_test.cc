// Registers and lists: which write a read returned, and what is wrong in plain sight.

#include "check/observed/join.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "ouro/generate.h"
#include "tests/repeated_values.h"
#include "tests/tiny.h"

namespace ouro {
namespace {

std::string source_of(std::string_view text, std::size_t txn, std::size_t item) {
  Tiny t(text);
  const ItemId read = t.item(txn, item);
  return t.observed().external(read) ? t.name(t.observed().write(read)) : "not external";
}
std::string wrong_in(std::string_view text) { return Tiny(text).wrong_reads(); }

TEST(JoinTest, AReadReturnsTheWriteOfItsValue) {
  EXPECT_EQ(source_of("T1: w x 1\nT2: w x 2\nT3: r x 1", 3, 1), "T1.1");
}

TEST(JoinTest, NilIsTheInitialVersionWhereNobodyDeletes) {
  EXPECT_EQ(source_of("T1: w x 1\nT2: r x nil", 2, 1), "-");
  EXPECT_EQ(source_of("initial 0\nT1: w x 1\nT2: r x 0", 2, 1), "-");
  EXPECT_EQ(source_of("initial 0\nT1: d x\nT2: r x nil", 2, 1), "T1.1");
}

TEST(JoinTest, AReadOfAnOwnWriteIsNotExternal) {
  EXPECT_EQ(source_of("T1: w x 1, r x 1", 1, 2), "not external");
}

TEST(JoinTest, TheLastWriteOfAKeyIsFinal) {
  Tiny t("T1: w x 1, w x 2, w y 3");
  EXPECT_FALSE(t.observed().final(t.item(1, 1)));
  EXPECT_TRUE(t.observed().final(t.item(1, 2)));
  EXPECT_TRUE(t.observed().final(t.item(1, 3)));
}

TEST(JoinTest, WrongReadsAreNamedWithTheWrite) {
  EXPECT_EQ(wrong_in("T1 aborted: w x 1\nT2: r x 1"), "aborted read T2.1 T1.1");
  EXPECT_EQ(wrong_in("T1: w x 1, w x 2\nT2: r x 1"), "intermediate read T2.1 T1.1");
  EXPECT_EQ(wrong_in("T1: r x 1"), "thin-air read T1.1 -");
  EXPECT_EQ(wrong_in("T1: r x 1, w x 1"), "future read T1.1 T1.2");
  EXPECT_EQ(wrong_in("T1: w x 1\nT2: w x 2, r x 1"), "internal inconsistency T2.2 T2.1");
  EXPECT_EQ(wrong_in("T1: w x 1\nT2: r x nil, r x 1"), "non-repeatable read T2.2 T2.1");
}

TEST(JoinTest, TransactionsThatDoNotTakePartShowNothing) {
  EXPECT_EQ(wrong_in("T1 aborted: r x 1"), "");
}

// How many reads of the history may have returned more than one version.
std::size_t open_reads_of(std::string_view text) {
  return Tiny(text).observed().open_reads().size();
}

TEST(JoinTest, AReadOfAValueThatTwoLeftIsOpen) {
  EXPECT_EQ(open_reads_of("T1: w x 1\nT2: w x 1\nT3: r x 1"), 1u);
  EXPECT_EQ(open_reads_of("T1: w x 1\nT2: w y 1\nT3: r x 1"), 0u);
  EXPECT_EQ(open_reads_of("T1: w x 1\nT2: w x 1, w x 2\nT3: r x 1"), 0u);
  EXPECT_EQ(open_reads_of("T1: w x 1\nT2 aborted: w x 1\nT3: r x 1"), 0u);
  EXPECT_EQ(open_reads_of("T1: w x 1\nT2: w x 1, r x 1"), 0u);
  EXPECT_EQ(open_reads_of("T1: d x\nT2: r x nil"), 1u);
  EXPECT_EQ(open_reads_of("initial 1\nT1: w x 1\nT2: r x 1, r x 1"), 2u);
}

TEST(JoinTest, AnElementThatTwoAppendedIsOpen) {
  const auto open_elements_of = [](std::string_view text) {
    return Tiny(text).observed().open_elements().size();
  };
  EXPECT_EQ(open_elements_of("T1: append x 1\nT2: append x 1\nT3: r x [1]"), 1u);
  EXPECT_EQ(open_elements_of("T1: append x 1\nT2: append x 1\nT3: r x [1 1]"), 2u);
  // The first is not T2's, which read it. Of the second, both may be it, as far as it tells itself.
  EXPECT_EQ(open_elements_of("T1: append x 1\nT2: r x [1], append x 1\nT3: r x [1 1]"), 1u);
  EXPECT_EQ(open_elements_of("T1: append x 1\nT2: append x 1, r x [1 1]"), 0u);
  EXPECT_EQ(open_elements_of("T1: append x 1\nT2 aborted: append x 1\nT3: r x [1]"), 0u);
}

TEST(ListJoinTest, AListReadReturnsTheLastAppendOfOthersThatItShows) {
  constexpr std::string_view kText = "T1: append x 1\nT2: append x 2\nT3: append x 3, r x [1 2 3]";
  EXPECT_EQ(source_of(kText, 3, 2), "T2.1");
  EXPECT_EQ(source_of("T1: append x 1\nT2: r x []", 2, 1), "-");
}

TEST(ListJoinTest, WrongListsAreNamed) {
  EXPECT_EQ(wrong_in("T1: append x 1\nT2: r x [1 1]"), "duplicate elements T2.1 T1.1");
  EXPECT_EQ(wrong_in("T1: r x [1]"), "thin-air read T1.1 -");
  EXPECT_EQ(wrong_in("T1 aborted: append x 1\nT2: r x [1]"), "aborted read T2.1 T1.1");
  EXPECT_EQ(wrong_in("T1: append x 1, append x 2\nT2: r x [1]"), "intermediate read T2.1 T1.1");
}

// Histories that are large enough for several threads: registers whose values repeat, lists, and
// scans.
std::vector<History> large_histories() {
  std::vector<History> out;
  for (const WorkloadKind workload :
       {WorkloadKind::General, WorkloadKind::ListAppend, WorkloadKind::RangeBalanced}) {
    GenerateOptions options;
    options.workload = workload;
    options.store = Level::ReadCommitted;
    options.txns = workload == WorkloadKind::RangeBalanced ? 700 : 9'000;
    options.keys = workload == WorkloadKind::RangeBalanced ? 30 : 3'000;
    options.abort_share = 0.05;
    options.unknown_share = workload == WorkloadKind::General ? 0.05 : 0;
    const History history = *generate(options);
    out.push_back(with_repeats(history, {.distinct = 3}));
    out.push_back(with_repeats(history, {.distinct = 1'000'000, .plain_deletes = false}));
  }
  return out;
}

// Two joins of the same history are the same.
void expect_equal(const Observed& a, const Observed& b) {
  ASSERT_EQ(a.items().size(), b.items().size());
  EXPECT_EQ(a.wrong_reads(), b.wrong_reads());
  EXPECT_TRUE(std::ranges::equal(a.open_reads(), b.open_reads()));
  EXPECT_TRUE(std::ranges::equal(a.searched_reads(), b.searched_reads()));
  EXPECT_TRUE(std::ranges::equal(a.version_steps(), b.version_steps()));
  std::size_t differ = 0;
  for (std::size_t i = 0; i < a.items().size(); ++i) {
    const ItemId item{i};
    const bool same = a.txn(item) == b.txn(item) && a.external(item) == b.external(item) &&
                      a.write(item) == b.write(item);
    differ += same ? 0 : 1;
  }
  for (std::size_t k = 0; k < a.history().key_count(); ++k) {
    const auto one = a.links_of(KeyId{k});
    const auto other = b.links_of(KeyId{k});
    ASSERT_TRUE(std::ranges::equal(a.items_of(KeyId{k}), b.items_of(KeyId{k})));
    for (std::size_t i = 0; i < one.size(); ++i) {
      differ += one[i].txn == other[i].txn && one[i].source == other[i].source ? 0 : 1;
    }
  }
  for (std::size_t t = 0; t < a.history().txn_count(); ++t) {
    differ += a.counted(TxnId{t}) == b.counted(TxnId{t}) ? 0 : 1;
  }
  EXPECT_EQ(differ, 0u);
}

TEST(JoinTest, SeveralThreadsFindWhatOneFinds) {
  std::size_t open = 0;
  std::size_t wrong = 0;
  for (const History& history : large_histories()) {
    const auto one = Observed::observe(history, Budget(), 1);
    const auto several = Observed::observe(history, Budget(), 5);
    ASSERT_TRUE(one.ok()) << one.error().to_string();
    ASSERT_TRUE(several.ok()) << several.error().to_string();
    ASSERT_GT(one->items().size(), 50'000u);
    expect_equal(*one, *several);
    open += one->open_reads().size();
    wrong += one->wrong_reads().size();
  }
  EXPECT_GT(open, 10'000u);
  EXPECT_GT(wrong, 100u);
}

TEST(ListJoinTest, AKeyIsARegisterOrAList) {
  EXPECT_NE(Tiny::error_of("T1: append x 1\nT2: w x 2"), "no error");
}

}  // namespace
}  // namespace ouro
