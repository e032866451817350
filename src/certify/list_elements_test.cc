// Who may have appended elements that were appended twice, in lists of a few elements.

#include "certify/list_elements.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/case_file.h"

namespace ouro::recheck {
namespace {

// Lists, and the key and the element of the first append.
struct AppendedTwice {
  explicit AppendedTwice(std::string_view text) : history(oracle::history_of(text)) {
    std::size_t first = 0;
    while (history.op(OpId{first}).kind != OpKind::Append) ++first;
    key = history.op(OpId{first}).key;
    element = history.op(OpId{first}).value;
  }

  // "T1 T2": who may have appended the element at `position` of what reads show.
  [[nodiscard]] std::string at(std::size_t position) const {
    std::string out;
    for (const TxnId txn : elements.candidates(key, element, position)) {
      out += (out.empty() ? "T" : " T") + std::to_string(txn.index() + 1);
    }
    return out;
  }
  [[nodiscard]] bool repeats() const { return elements.repeats(key, element); }

  const History history;
  const ListElements elements{history};
  KeyId key;
  Value element;
};

TEST(ListElementsTest, OnlyWhatWasAppendedTwiceByOthersThanAbortedOnesRepeats) {
  EXPECT_TRUE(AppendedTwice("T1: append l 1\nT2: append l 1\n").repeats());
  EXPECT_TRUE(AppendedTwice("T1: append l 1, append l 1\n").repeats());
  EXPECT_TRUE(AppendedTwice("T1: append l 1\nT2 unknown: append l 1\n").repeats());
  EXPECT_FALSE(AppendedTwice("T1: append l 1\nT2 aborted: append l 1\n").repeats());
  EXPECT_FALSE(AppendedTwice("T1: append l 1\nT2: append m 1, append l 2\n").repeats());
}

TEST(ListElementsTest, WhoReadMoreOfTheListAppendedLater) {
  const AppendedTwice twice(
      "T1: append l 1\n"
      "T2: r l [1], append l 1\n"
      "T3: r l [1 1]\n");
  EXPECT_EQ(twice.at(0), "T1") << "T2 had read one element before";
  EXPECT_EQ(twice.at(1), "T1 T2");
}

TEST(ListElementsTest, WhoShowsItsOwnAppendOwnsIt) {
  const AppendedTwice twice(
      "T1: append l 1\n"
      "T2: append l 1, r l [1]\n"
      "T3: append l 1\n");
  EXPECT_EQ(twice.at(0), "T2");
  EXPECT_EQ(twice.at(1), "T1 T3");
}

TEST(ListElementsTest, AnUnknownTransactionOwnsNothingByItsOwnWord) {
  const AppendedTwice twice("T1: append l 1\nT2 unknown: append l 1, r l [1]\n");
  EXPECT_EQ(twice.at(0), "T1 T2");
}

TEST(ListElementsTest, IfNobodyMayHaveAppendedItThenWhoReadLeast) {
  const AppendedTwice twice(
      "T1: r l [7 8 9], append l 1\n"
      "T2: r l [7 8], append l 1\n");
  EXPECT_EQ(twice.at(0), "T2");
}

TEST(ListElementsTest, AppendsOfOneTransactionAreCounted) {
  const AppendedTwice twice("T1: append l 1, append l 2, append l 1\nT2: append l 1\n");
  const auto nth = [&](std::size_t txn, std::size_t number) {
    return twice.elements.append(twice.key, twice.element, TxnId{txn}, number);
  };
  EXPECT_EQ(nth(0, 0), OpId{0});
  EXPECT_EQ(nth(0, 1), OpId{2});
  EXPECT_FALSE(nth(0, 2).valid());
  EXPECT_EQ(nth(1, 0), OpId{3});
  EXPECT_EQ(twice.at(0), "T1 T2") << "each of them once";
}

}  // namespace
}  // namespace ouro::recheck
