// Statements as people write them, against the oracles: at all levels, by every evidence, each with
// its certificate, in both native formats and as a stream.

#include "tests/statements.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "ouro/certificate.h"
#include "ouro/check.h"
#include "ouro/explain.h"
#include "ouro/format.h"
#include "tests/certifying.h"
#include "tests/observed.h"
#include "tests/oracle.h"
#include "tests/stream_trial.h"
#include "tests/this_build.h"
#include "tests/timeline_oracle.h"

namespace ouro::oracle {
namespace {

History history_of_statements(const std::string& text) {
  auto history = parse_history(text, {.format = Format::Native});
  EXPECT_TRUE(history.ok()) << history.error().to_string() << '\n' << text;
  return *std::move(history);
}

std::string restated(const History& history, Format format) {
  std::string out;
  EXPECT_TRUE(print_history(history, format, out).ok());
  return out;
}

// Both native formats say the same, whatever they are read from.
void expect_same_in_all_formats(const History& history) {
  const std::string text = restated(history, Format::Native);
  for (const Format format : {Format::Native, Format::NativeBinary}) {
    const auto again = parse_history(restated(history, format), {.format = format});
    ASSERT_TRUE(again.ok()) << again.error().to_string() << text;
    ASSERT_EQ(restated(*again, Format::Native), text);
    ASSERT_EQ(fingerprint(*again), fingerprint(history)) << text;
  }
}

// Counts what was said, so that tests can see that both sides of everything occurred.
struct Tallies {
  std::map<Outcome, std::size_t> outcomes;
  std::size_t histories = 0;
};

void expect_verdict(const History& history, Level level, Evidence evidence, bool allowed,
                    Tallies& tallies) {
  CheckOptions options;
  options.evidence = evidence;
  const auto verdict = check(history, level, options);
  ASSERT_TRUE(verdict.ok()) << verdict.error().to_string();
  ++tallies.outcomes[verdict->outcome];
  if (verdict->outcome == Outcome::Undecided) return;
  ASSERT_EQ(verdict->outcome == Outcome::Holds, allowed) << info(level).name;
  ASSERT_EQ(complaint_about_proof(history, *verdict), "");
  ASSERT_NE(describe(history, *verdict), "");
}

bool few_ways(const History& history, std::size_t most) {
  std::size_t count = 0;
  any_sources(history, Evidence::Observed, [&](const Sources&) { return ++count > most; });
  return count <= most;
}

TEST(StatementsTest, AreJudgedAsTheOraclesDoByObservation) {
  Tallies tallies;
  std::map<Statement::Kind, std::size_t> judged;
  for (std::uint64_t seed = 1; seed <= 2'500 / kSlowdown; ++seed) {
    const RandomStatements made(seed, {.noise = seed % 2 == 0 ? 0.08 : 0.0});
    const std::string text = made.text();
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text);
    const History history = history_of_statements(text);
    if (seed % 10 == 0) {
      ASSERT_NO_FATAL_FAILURE(expect_same_in_all_formats(history));
    }
    if (!few_ways(history, 200)) continue;
    ++tallies.histories;
    for (int kind = 0; kind <= static_cast<int>(Statement::Kind::RolledBack); ++kind) {
      const auto which = static_cast<Statement::Kind>(kind);
      judged[which] += made.count(which);
    }
    const LevelSet allowed = allowed_levels(history);
    ASSERT_EQ(allowed.has(Level::Serializable), made.serializable());
    for (const Level level : all_levels()) {
      ASSERT_NO_FATAL_FAILURE(
          expect_verdict(history, level, Evidence::Observed, allowed.has(level), tallies));
    }
  }
  EXPECT_GT(tallies.histories, 1'200 / kSlowdown);
  EXPECT_GT(tallies.outcomes[Outcome::Holds], 2'000 / kSlowdown);
  EXPECT_GT(tallies.outcomes[Outcome::Violated], 1'000 / kSlowdown);
  EXPECT_EQ(tallies.outcomes[Outcome::Undecided], 0u);
  for (const auto& [kind, count] : judged)
    EXPECT_GT(count, 100 / kSlowdown) << static_cast<int>(kind);
}

TEST(StatementsTest, AreJudgedAsTheOraclesDoByTimestamps) {
  Tallies tallies;
  for (std::uint64_t seed = 1; seed <= 2'000 / kSlowdown; ++seed) {
    const RandomStatements made(
        seed, {.txns = 4, .noise = seed % 3 == 0 ? 0.05 : 0.0, .rolled_back = 0.3});
    const std::string text = made.text();
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text);
    const History history = history_of_statements(text);
    for (const Level level : kSnapshotAndSerialLevels) {
      const auto counts = TimestampOracle(history, level).counts();
      ASSERT_NO_FATAL_FAILURE(
          expect_verdict(history, level, Evidence::Timestamps, counts.empty(), tallies));
      const Verdict verdict = timeline_verdict(history, level);
      for (const auto& [kind, count] : counts) {
        ASSERT_EQ(verdict.counts[static_cast<std::size_t>(kind)], count) << info(kind).name;
      }
    }
  }
  EXPECT_GT(tallies.outcomes[Outcome::Holds], 1'500 / kSlowdown);
  EXPECT_GT(tallies.outcomes[Outcome::Violated], 1'500 / kSlowdown);
}

TEST(StatementsTest, AreJudgedAsTheOracleDoesByVersionOrders) {
  Tallies tallies;
  for (std::uint64_t seed = 1; seed <= 1'000 / kSlowdown; ++seed) {
    const RandomStatements made(seed, {.noise = seed % 3 == 0 ? 0.05 : 0.0, .unique = true});
    const std::string text = made.text();
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text);
    const History history = history_of_statements(text);
    const LevelSet allowed = allowed_levels(history, {.evidence = Evidence::Versions});
    for (const Level level : all_levels()) {
      ASSERT_NO_FATAL_FAILURE(
          expect_verdict(history, level, Evidence::Versions, allowed.has(level), tallies));
    }
  }
  EXPECT_GT(tallies.outcomes[Outcome::Holds], 500 / kSlowdown);
  if (kSlowdown > 1) return;  // Violations are rare, and there were few histories.
  EXPECT_GT(tallies.outcomes[Outcome::Violated], 400u);
}

TEST(StatementsTest, AreJudgedInAStreamAsByCheck) {
  for (std::uint64_t seed = 1; seed <= 800 / kSlowdown; ++seed) {
    const RandomStatements made(
        seed, {.txns = 5, .noise = seed % 3 == 0 ? 0.1 : 0.0, .rolled_back = 0.3});
    const History history = history_of_statements(made.text());
    const Trial trial = random_trial(history, seed, {.reach = 1 + seed % 6});
    for (const Level level : {Level::SessionSi, Level::Serializable}) {
      StreamOptions options;
      options.level = level;
      options.timeout = seed % 3 == 0 ? std::chrono::hours(1) : std::chrono::milliseconds(seed % 8);
      ASSERT_EQ(complaint(trial, options), "") << "seed " << seed << "\n" << made.text();
    }
  }
}

}  // namespace
}  // namespace ouro::oracle
