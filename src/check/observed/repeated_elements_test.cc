// Who may have appended the elements of lists that were appended twice.

#include "check/observed/repeated_elements.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/tiny.h"

namespace ouro {
namespace {

// The list x; elements are small numbers.
struct TwiceAppended {
  explicit TwiceAppended(std::string_view text) : t(text) {}

  // "T1 T2": the candidates; "T1!" if it is certain.
  [[nodiscard]] std::string at(std::uint32_t position, int element = 1) const {
    std::string out;
    for (const TxnId txn : elements.candidates(Value::small(element), position)) {
      out += (out.empty() ? "" : " ") + Tiny::name(txn);
    }
    const TxnId only = elements.only(Value::small(element), position);
    EXPECT_TRUE(!only.valid() || Tiny::name(only) == out);
    return out + (only.valid() ? "!" : "");
  }

  Tiny t;
  const RepeatedElements elements{t.observed(), t.key("x")};
};

TEST(RepeatedAppendsTest, OnlyAppendsThatDidNotAbortRepeat) {
  EXPECT_TRUE(TwiceAppended("T1: append x 1\nT2: append x 2").elements.empty());
  EXPECT_TRUE(TwiceAppended("T1: append x 1\nT2 aborted: append x 1").elements.empty());
  const TwiceAppended twice("T1: append x 1\nT2 unknown: append x 1, append x 2");
  EXPECT_TRUE(twice.elements.contains(Value::small(1)));
  EXPECT_FALSE(twice.elements.contains(Value::small(2)));
  EXPECT_EQ(twice.elements.appends(Value::small(1)).size(), 2u);
}

TEST(RepeatedAppendsTest, WhoReadAnElementOfOthersAppendedLater) {
  const TwiceAppended twice("T1: append x 1\nT2: r x [1], append x 1\nT3: r x [1 1]");
  EXPECT_EQ(twice.at(0), "T1!");
  EXPECT_EQ(twice.at(1), "T1 T2");
}

TEST(RepeatedAppendsTest, ACommittedTransactionThatShowsItsAppendOwnsIt) {
  const TwiceAppended twice("T1: append x 1\nT2: append x 1, r x [1]\nT3: append x 1");
  EXPECT_EQ(twice.at(0), "T2!");
  EXPECT_EQ(twice.at(1), "T1 T3");
  const TwiceAppended unknown("T1: append x 1\nT2 unknown: append x 1, r x [1]");
  EXPECT_EQ(unknown.at(0), "T1 T2");
}

TEST(RepeatedAppendsTest, AppendsOfOneTransactionAreNumbered) {
  const TwiceAppended twice("T1: append x 1, append x 2, append x 1\nT2: append x 1");
  const auto append = [&](std::size_t txn, std::uint32_t number) {
    return twice.t.name(twice.elements.append(Value::small(1), Tiny::txn(txn), number));
  };
  EXPECT_EQ(append(1, 0), "T1.1");
  EXPECT_EQ(append(1, 1), "T1.3");
  EXPECT_EQ(append(1, 2), "-");
  EXPECT_EQ(append(2, 0), "T2.1");
  EXPECT_EQ(twice.t.name(twice.elements.last_append(Value::small(1))), "T2.1");
  EXPECT_EQ(twice.at(5), "T1 T2") << "each transaction once";
}

}  // namespace
}  // namespace ouro
