// Open reads, with a decision in place of an engine: it holds or not by what the reads are said to
// have returned.

#include "check/open_reads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/tiny.h"

namespace ouro {
namespace {

using ::testing::HasSubstr;

// T3 and T4 each read a value that T1 and T2 wrote.
constexpr char kTwoReads[] = "T1: w x 1\nT2: w x 1\nT3: r x 1\nT4: r x 1";

// Decides that a level holds if `wanted` accepts what is said of the reads, and remembers what was
// asked: "T1 T2" for T3's and T4's read, "?" for one that is open.
class Decision {
 public:
  explicit Decision(std::function<bool(const std::string&)> wanted) : wanted_(std::move(wanted)) {}

  Verdict operator()(Observed& observed) {
    std::string said;
    for (const std::size_t reader : {3, 4}) {
      const ItemId read = observed.items().first(Tiny::txn(reader));
      const bool open = !observed.external(read);
      said += (said.empty() ? "" : " ") + (open ? "?" : Tiny::name(observed.writer(read)));
    }
    asked.push_back(said);
    Verdict verdict{.level = Level::Serializable};
    verdict.outcome = wanted_(said) ? Outcome::Holds : Outcome::Violated;
    for (std::size_t i = 1; i <= 4; ++i) verdict.order.push_back(Tiny::txn(i));
    return verdict;
  }

  std::vector<std::string> asked;

 private:
  std::function<bool(const std::string&)> wanted_;
};

Verdict decided(Decision& decision) {
  Tiny t(kTwoReads);
  return decide_open_reads(t.observed(), [&](Observed& observed) { return decision(observed); },
                           false, Budget(), {});
}

TEST(OpenReadsTest, ViolatedWithoutThemIsViolated) {
  Decision decision([](const std::string&) { return false; });
  EXPECT_EQ(decided(decision).outcome, Outcome::Violated);
  EXPECT_THAT(decision.asked, testing::ElementsAre("? ?"));
}

TEST(OpenReadsTest, TheLatestVersionInTheOrderThatWasFoundIsGuessedFirst) {
  Decision decision([](const std::string&) { return true; });
  const Verdict verdict = decided(decision);
  EXPECT_EQ(verdict.outcome, Outcome::Holds);
  EXPECT_THAT(decision.asked, testing::ElementsAre("? ?", "T2 T2"));
  ASSERT_EQ(verdict.sources.size(), 2u) << "the verdict says what they returned";
  EXPECT_EQ(verdict.sources[0].writer, Tiny::txn(2));
}

TEST(OpenReadsTest, AnyChoiceIsEnough) {
  for (const std::string only : {"T1 T1", "T1 T2", "T2 T1", "T2 T2"}) {
    // With a read open the level holds if some choice of it does.
    Decision decision([&](const std::string& said) {
      return (said[0] == '?' || said.substr(0, 2) == only.substr(0, 2)) &&
             (said.back() == '?' || said.substr(said.size() - 2) == only.substr(3));
    });
    EXPECT_EQ(decided(decision).outcome, Outcome::Holds) << only;
  }
}

TEST(OpenReadsTest, ViolatedIfEveryChoiceIs) {
  Decision decision([](const std::string& said) { return said.find('?') != said.npos; });
  EXPECT_EQ(decided(decision).outcome, Outcome::Violated);
}

TEST(OpenReadsTest, NothingIsConcludedFromAnUndecidedChoice) {
  Tiny t(kTwoReads);
  const Verdict verdict = decide_open_reads(
      t.observed(),
      [](Observed& observed) {
        Verdict out{.level = Level::Serializable};
        const bool open = !observed.external(observed.items().first(Tiny::txn(3)));
        out.outcome = open ? Outcome::Holds : Outcome::Undecided;
        for (std::size_t i = 1; i <= 4; ++i) out.order.push_back(Tiny::txn(i));
        return out;
      },
      false, Budget(), {});
  EXPECT_EQ(verdict.outcome, Outcome::Undecided);
}

TEST(OpenReadsTest, ThereIsAnEndOfTrying) {
  std::string text = "T1: w x 1\nT2: w x 1\n";
  for (int i = 3; i <= 40; ++i) text += "T" + std::to_string(i) + ": r x 1\n";
  Tiny t(text);
  std::size_t decisions = 0;
  // Only the last of many reads shows that it cannot be.
  const Verdict verdict =
      decide_open_reads(t.observed(),
                        [&](Observed& observed) {
                          ++decisions;
                          Verdict out{.level = Level::Serializable};
                          bool open = false;
                          for (std::size_t i = 3; i <= 40; ++i) {
                            open = open || !observed.external(observed.items().first(Tiny::txn(i)));
                          }
                          out.outcome = open ? Outcome::Holds : Outcome::Violated;
                          for (std::size_t i = 1; i <= 40; ++i) out.order.push_back(Tiny::txn(i));
                          return out;
                        },
                        false, Budget(), {});
  EXPECT_EQ(verdict.outcome, Outcome::Undecided);
  EXPECT_THAT(verdict.reason, HasSubstr("read"));
  EXPECT_LE(decisions, 10 * kMostDecisions);
}

}  // namespace
}  // namespace ouro
