#include "tests/z3_oracle.h"

#include <gtest/gtest.h>

#include "ouro/check.h"
#include "tests/case_file.h"
#include "tests/engine_levels.h"
#include "tests/oracle.h"
#include "tests/small_histories.h"

namespace ouro::oracle {
namespace {

// Calls f(encoding, level) for all that can be asked.
template <class F>
void for_each_question(const F& f) {
  for (const Z3Encoding encoding : {Z3Encoding::Snapshots, Z3Encoding::Graph}) {
    for (const Level level : kSnapshotAndSerialLevels) {
      if (can_encode(encoding, level)) f(encoding, level);
    }
  }
}

TEST(Z3OracleTest, AgreesWithTheOracleOnSmallHistories) {
  for (std::uint64_t seed = 1; seed <= 80 / kSlowdown; ++seed) {
    RandomShape shape = mixed_shape(seed);
    shape.lists = false;
    const History history = random_history(seed, shape);
    const LevelSet right = allowed_levels(history);
    for_each_question([&](Z3Encoding encoding, Level level) {
      EXPECT_EQ(z3_allows(history, level, encoding), right.has(level))
          << "seed " << seed << ", " << info(level).name << ", encoding "
          << static_cast<int>(encoding) << "\n"
          << to_string(history);
    });
    ASSERT_FALSE(HasFailure());
  }
}

// 20 to 60 transactions, which are too many for the oracle.
TEST(Z3OracleTest, TheEngineAgreesOnMediumHistories) {
  std::size_t held = 0;
  std::size_t violated = 0;
  const std::uint64_t seeds = kSlowdown == 1 ? 30 : 6;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    RandomShape shape;
    shape.min_txns = 20;
    shape.max_txns = 60;
    shape.keys = 4 + seed % 9;
    shape.sessions = 2 + seed % 12;
    shape.writers_per_key = 60;
    shape.rmw = static_cast<double>(seed % 4) * 0.2;
    // A rare fault somewhere, so that about half of the histories have none.
    shape.lag = static_cast<double>(seed % 5) * 0.02;
    shape.fork = static_cast<double>(seed % 3) * 0.01;
    shape.creep = shape.wrong = 0;
    shape.stray = static_cast<double>(seed % 2) * 0.005;
    const History history = random_history(seed, shape);
    for_each_question([&](Z3Encoding encoding, Level level) {
      const auto verdict = check(history, level);
      ASSERT_TRUE(verdict.ok()) << verdict.error().to_string();
      const bool holds = verdict->outcome == Outcome::Holds;
      EXPECT_EQ(z3_allows(history, level, encoding), holds)
          << "seed " << seed << ", " << info(level).name << ", encoding "
          << static_cast<int>(encoding);
      (holds ? held : violated) += 1;
    });
    ASSERT_FALSE(HasFailure()) << to_string(history);
  }
  EXPECT_GT(held, 2 * seeds);
  EXPECT_GT(violated, seeds);
}

}  // namespace
}  // namespace ouro::oracle
