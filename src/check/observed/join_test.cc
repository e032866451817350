// Registers and lists: which write a read returned, and what is wrong in plain sight.

#include "check/observed/join.h"

#include <gtest/gtest.h>

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
  EXPECT_EQ(open_elements_of("T1: append x 1\nT2: r x [1], append x 1\nT3: r x [1 1]"), 0u);
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

TEST(ListJoinTest, AKeyIsARegisterOrAList) {
  EXPECT_NE(Tiny::error_of("T1: append x 1\nT2: w x 2"), "no error");
}

}  // namespace
}  // namespace ouro
