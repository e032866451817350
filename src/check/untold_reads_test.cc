// Keys that predicate reads do not tell of become reads where they do not fit.

#include "check/untold_reads.h"

#include <gtest/gtest.h>

#include <string>

#include "check/polygraph/polygraph.h"
#include "tests/tiny.h"

namespace ouro {
namespace {

// Decides serializability, and counts how often it is asked, and with how many untold keys as
// reads.
class UntoldDecision {
 public:
  Verdict decided(const std::string& text) {
    Tiny t(text);
    return decide_untold(t.observed(), Level::SessionSerializable,
                         [&](Observed& observed, Level level, bool, const Budget& budget) {
                           ++asked;
                           with_untold += observed.has_untold() ? 1 : 0;
                           return check_polygraph(observed, level, budget, {});
                         },
                         Budget(), {});
  }

  int asked = 0;
  int with_untold = 0;
};

// T1 inserts k, T2 deletes it. T3 scans all keys.
std::string scan_by(const std::string& session, const std::string& rows) {
  return R"({"session":"a","ops":[["w","k",1]]})"
         "\n"
         R"({"session":"a","ops":[["d","k"]]})"
         "\n"
         R"({"session":")" +
         session + R"(","ops":[["scan",null,null,[)" + rows +
         R"(]],["w","y",3]]})"
         "\n";
}

TEST(UntoldReadsTest, IfTheOrderThatIsFoundFitsOneDecisionIsEnough) {
  UntoldDecision decision;
  EXPECT_EQ(decision.decided(scan_by("b", "")).outcome, Outcome::Holds);
  EXPECT_EQ(decision.with_untold, 0);
}

// The reader of y is ahead of T2's delete in its session, so the scan saw k.
TEST(UntoldReadsTest, AMissedRowBecomesARead) {
  const std::string between = R"({"session":"a","ops":[["w","k",1],["w","z",1]]})"
                              "\n"
                              R"({"session":"b","ops":[["r","z",1],["scan","k","k",[]]]})"
                              "\n";
  UntoldDecision decision;
  const Verdict verdict = decision.decided(between);
  EXPECT_EQ(verdict.outcome, Outcome::Violated) << "k was there when z was";
  EXPECT_GT(decision.with_untold, 0);
  EXPECT_EQ(verdict.untold.size(), 1u) << "the proof is about that key";
}

TEST(UntoldReadsTest, AnotherOrderMayFit) {
  UntoldDecision decision;
  const Verdict verdict = decision.decided(R"({"session":"a","ops":[["w","k",1]]})"
                                           "\n"
                                           R"({"session":"b","ops":[["scan","k","k",[]]]})"
                                           "\n");
  EXPECT_EQ(verdict.outcome, Outcome::Holds);
  ASSERT_EQ(verdict.order.size(), 2u);
  EXPECT_EQ(verdict.order[0], Tiny::txn(2));
}

TEST(UntoldReadsTest, OutcomesAreGuessedOnlyIfSomeAreOpen) {
  const auto guess = [](const char* text) {
    Tiny t(text);
    return decide_by_outcomes(t.observed(), Level::Serializable,
                              [](Observed& observed, Level level, bool, const Budget& budget) {
                                return check_polygraph(observed, level, budget, {});
                              },
                              Budget(), {});
  };
  EXPECT_FALSE(guess("T1: w x 1\nT2: r x 1").has_value());
  EXPECT_FALSE(guess("T1 unknown: w x 1\nT2: r x 1").has_value()) << "only T1 wrote it";
}

}  // namespace
}  // namespace ouro
