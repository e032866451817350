#include "check/polygraph/take_turns.h"

#include <gtest/gtest.h>

#include <string>

namespace ouro {
namespace {

// A way that answers after `needed` steps of work, or that finds then that it has no answer.
// Writes its name down whenever it is asked.
Way way(char name, std::uint64_t needed, bool answers, std::string& asked) {
  return [=, &asked](const Budget& budget) -> Turn {
    asked += name;
    budget.charge(needed);
    if (budget.exhausted()) return {};
    if (!answers) return {std::nullopt, true};
    return {Verdict{.level = Level::Si, .outcome = Outcome::Holds}};
  };
}

std::string turns(std::uint64_t first, bool first_answers, std::uint64_t last_needs,
                  std::uint64_t limit = 0) {
  std::string asked;
  const Budget budget(std::chrono::milliseconds(0), nullptr, 0, limit);
  const auto last = [&](const Budget& part) {
    asked += 'b';
    part.charge(last_needs);
    return Verdict{.outcome = part.exhausted() ? Outcome::Undecided : Outcome::Violated};
  };
  const Verdict verdict =
      take_turns(budget, Steps{100}, {way('a', first, first_answers, asked)}, last);
  return asked + ' ' + std::string(name(verdict.outcome));
}

TEST(TakeTurnsTest, TheFirstWayThatAnswersEndsIt) {
  EXPECT_EQ(turns(10, true, 10), "a holds");
  EXPECT_EQ(turns(1000, true, 10), "ab violated") << "it has a turn only";
  EXPECT_EQ(turns(1000, true, 10'000), "ababa holds") << "turns grow";
}

TEST(TakeTurnsTest, AWayWithoutAnswerIsNotAskedAgain) {
  EXPECT_EQ(turns(10, false, 10'000), "ab violated") << "the last one has all the rest";
  EXPECT_EQ(turns(300, false, 10'000), "abab violated");
}

TEST(TakeTurnsTest, NobodyGoesBeyondTheWholeBudget) {
  EXPECT_EQ(turns(1'000'000, true, 1'000'000, 150'000), "ab undecided");
}

}  // namespace
}  // namespace ouro
