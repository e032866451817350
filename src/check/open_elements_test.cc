// Who is guessed to have appended elements that several transactions appended.

#include "check/open_elements.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/tiny.h"

namespace ouro {
namespace {

// "1:T1 3:T2": by position from 1, who is guessed; transactions commit in the order of numbers.
struct GuessedList {
  explicit GuessedList(std::string_view text) : t(text) {
    for (std::uint32_t i = 0; i < t.history().txn_count(); ++i) places.begin.push_back(i + 1);
    places.commit = places.begin;
    guess = guess_elements(t.observed(), places);
  }
  [[nodiscard]] std::string said() const {
    std::string out;
    for (const ReadSource& one : guess) {
      out += (out.empty() ? "" : " ") + std::to_string(one.element) + ":" + Tiny::name(one.writer);
    }
    return out;
  }

  Tiny t;
  Positions places;
  std::vector<ReadSource> guess;
};

TEST(OpenElementsTest, AppendsAreGuessedInTheOrderOfCommits) {
  EXPECT_EQ(GuessedList("T1: append x 1\nT2: append x 1\nT3: r x [1 1]").said(), "1:T1 2:T2");
  EXPECT_EQ(GuessedList("T1: append x 1\nT2: append x 2\nT3: r x [1 2]").said(), "")
      << "nothing is open";
}

TEST(OpenElementsTest, ElementsOfOneTransactionStandTogether) {
  EXPECT_EQ(GuessedList("T1: append x 1\nT2: append x 2, append x 1\nT3: r x [2 1 1]").said(),
            "2:T2 3:T1");
}

TEST(OpenElementsTest, WhoReadAListAndAppendedToItCameNext) {
  EXPECT_EQ(GuessedList("T1: append x 1\nT2: append x 5\nT3: r x [5], append x 1\n"
                        "T4: r x [5 1 1]")
                .said(),
            "2:T3 3:T1");
}

TEST(OpenElementsTest, CandidatesAreInTheOrderOfCommits) {
  GuessedList list("T1: append x 1\nT2: append x 1\nT3: r x [1 1]");
  ASSERT_EQ(list.t.observed().open_elements().size(), 2u);
  std::swap(list.places.commit[0], list.places.commit[1]);
  const auto txns =
      by_preference(list.t.observed(), list.places, list.t.observed().open_elements()[0]);
  ASSERT_EQ(txns.size(), 2u);
  EXPECT_EQ(Tiny::name(txns[0]), "T2");
}

TEST(OpenElementsTest, TheElementThatAViolationRestsOnIsSuspected) {
  GuessedList list("T1: append x 1\nT2: append x 1\nT3: r x [1 1]");
  Observed& o = list.t.observed();
  const Anomaly about_t2{.kind = AnomalyKind::ForbiddenCycle,
                         .txns = {},
                         .ops = {},
                         .edges = {{.from = Tiny::txn(2),
                                    .to = Tiny::txn(3),
                                    .kind = EdgeKind::WriteRead,
                                    .key = list.t.key("x"),
                                    .from_op = OpId{1},
                                    .to_op = OpId{2}}}};
  const OpenElement* const suspected = suspected_element(o, list.guess, {about_t2});
  ASSERT_NE(suspected, nullptr);
  EXPECT_EQ(suspected->position, 1u);
  EXPECT_EQ(suspected_element(o, list.guess, {})->position, 0u) << "the first, if nothing tells";
  GuessedList plain("T1: append x 1\nT2: r x [1]");
  EXPECT_EQ(suspected_element(plain.t.observed(), {}, {about_t2}), nullptr);
}

}  // namespace
}  // namespace ouro
