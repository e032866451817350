// Runs tests/cases/*.case against the oracle and the engines.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/case_file.h"
#include "tests/certifying.h"
#include "tests/oracle.h"
#include "tests/small_histories.h"
#include "tests/timeline_oracle.h"
#include "tests/verdict_checks.h"

namespace ouro::oracle {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> case_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(fs::path(OURO_SOURCE_DIR) / "tests" / "cases")) {
    if (entry.path().extension() == ".case") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<Case> load(const std::string& name) {
  const fs::path path = fs::path(OURO_SOURCE_DIR) / "tests" / "cases" / (name + ".case");
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return parse_case(text.str(), path.string());
}

void expect_complete(const Case& c) {
  EXPECT_FALSE(c.story.empty());
  EXPECT_FALSE(c.verdicts.empty());
  if (c.history.has_predicate_reads()) return;
  const std::string text = to_string(c.history);
  EXPECT_EQ(to_string(history_of(text)), text);
}

// The oracle gives the stated verdicts, and those that follow from them.
void expect_oracle_agrees(const Case& c) {
  const LevelSet allowed = allowed_levels(c.history);
  for (const LevelInfo& level : levels()) {
    const auto outcome = follows(c.verdicts, level.level);
    if (!outcome) continue;
    EXPECT_EQ(allowed.has(level.level), outcome == Outcome::Holds) << "oracle at " << level.name;
  }
  if (c.history.has_predicate_reads()) return;  // What is plain depends on what they saw.
  std::set<AnomalyKind> plain;
  for (const AnomalyKind kind : c.shows) {
    if (info(kind).sign == AnomalySign::Operations) plain.insert(kind);
  }
  EXPECT_EQ(plain_anomalies(c.history), plain);
}

// The engines give the verdicts of the oracle at every level that they decide, and find each
// anomaly that the case says it shows.
void expect_engines_agree(const Case& c) {
  const LevelSet allowed = allowed_levels(c.history);
  std::set<AnomalyKind> shown;
  for (const LevelInfo& level : levels()) {
    if (!decidable(level.level)) continue;
    const auto verdict = check(c.history, level.level);
    ASSERT_TRUE(verdict.ok()) << verdict.error().to_string();
    EXPECT_EQ(verdict->outcome == Outcome::Holds, allowed.has(level.level)) << level.name;
    EXPECT_EQ(complaint_about_proof(c.history, *verdict), "") << level.name;
    if (!c.history.has_predicate_reads()) {
      EXPECT_EQ(complaint(c.history, allowed, *verdict), "") << level.name;
    }
    for (std::size_t kind = 0; kind < kAnomalyKindCount; ++kind) {
      if (verdict->counts[kind] > 0) shown.insert(static_cast<AnomalyKind>(kind));
    }
  }
  if (!decidable(Level::ReadCommitted) || !decidable(Level::Causal)) return;
  for (const AnomalyKind kind : c.shows) EXPECT_TRUE(shown.contains(kind)) << word(kind);
}

// If the case states verdicts by timestamps, the engine gives them at every level that timestamps
// decide.
void expect_timestamps_agree(const Case& c) {
  if (c.by_timestamps.empty()) return;
  std::set<AnomalyKind> shown;
  CheckOptions options;
  options.evidence = Evidence::Timestamps;
  for (const LevelInfo& level : levels()) {
    if (!decidable(level.level, Evidence::Timestamps)) continue;
    const auto counts = TimestampOracle(c.history, level.level).counts();
    const Outcome told = counts.empty() ? Outcome::Holds : Outcome::Violated;
    const auto stated = follows(c.by_timestamps, level.level, Evidence::Timestamps);
    EXPECT_EQ(stated.value_or(told), told) << "oracle at " << level.name;
    const auto verdict = check(c.history, level.level, options);
    ASSERT_TRUE(verdict.ok()) << verdict.error().to_string();
    EXPECT_EQ(verdict->outcome, told) << level.name;
    for (const auto& [kind, count] : counts) {
      EXPECT_EQ(verdict->counts[static_cast<std::size_t>(kind)], count) << word(kind);
      shown.insert(kind);
    }
  }
  EXPECT_EQ(shown, c.shows_by_timestamps);
}

class CaseTest : public ::testing::TestWithParam<std::string> {};

TEST_P(CaseTest, OracleAndEnginesGiveItsVerdicts) {
  const auto loaded = load(GetParam());
  ASSERT_TRUE(loaded.ok()) << loaded.error().to_string();
  expect_complete(*loaded);
  expect_oracle_agrees(*loaded);
  expect_engines_agree(*loaded);
  expect_timestamps_agree(*loaded);
}

INSTANTIATE_TEST_SUITE_P(Cases, CaseTest, ::testing::ValuesIn(case_names()),
                         [](const auto& file) { return file.param; });

TEST(CaseFilesTest, AreAllFound) { EXPECT_GE(case_names().size(), 80u); }

TEST(CaseFilesTest, ReadEveryPartOfTheNotation) {
  const std::string text =
      "initial 0\n"
      "initial y red\n"
      "T1 @s1 [100,180] {5,9}: r x 0, w x 1, r y red\n"
      "T2 @s2 aborted [,7]: w x 7\n"
      "T3 @3 unknown {4,}: append l 3, r l [1 2 3], r l [], r y nil, d z nil, d z gone, r x ?\n"
      "T4 @s1:\n"
      "T5 @s1: savepoint, w y 1.5, r y 1.5, rollback, savepoint, append l 4, savepoint, append l 5,"
      " r l [1 2 3 4 5], rollback, r l [1 2 3 4], rollback, w y true, w z -0.25f\n";
  const History history = history_of(text);
  EXPECT_EQ(to_string(history), text);
  ASSERT_EQ(history.txn_count(), 5u);
  EXPECT_EQ(history.op_count(), 19u);
  EXPECT_EQ(history.session_count(), 3u);
  EXPECT_EQ(history.session(TxnId{3}), history.session(TxnId{0}));
  EXPECT_EQ(history.status(TxnId{1}), TxnStatus::Aborted);
  EXPECT_EQ(history.status(TxnId{2}), TxnStatus::Unknown);
  EXPECT_EQ(history.invoked(TxnId{0}), 100);
  EXPECT_EQ(history.completed(TxnId{1}), 7);
  EXPECT_FALSE(history.invoked(TxnId{1}).has_value());
  EXPECT_EQ(history.start_ts(TxnId{2}), (Timestamp{4, 0}));
  EXPECT_EQ(history.op(OpId{9}).kind, OpKind::Delete);
  EXPECT_TRUE(history.op(OpId{10}).value.is_unobserved());
}

TEST(CaseFilesTest, WithoutASessionATransactionIsItsOwn) {
  const History history = history_of("T1: w x 1\nT2: w x 2");
  EXPECT_NE(history.session(TxnId{0}), history.session(TxnId{1}));
}

TEST(CaseFilesTest, MistakesAreReportedWithTheirLine) {
  const struct {
    const char* text;
    const char* message;
  } kMistakes[] = {
      {"T1 @s1: r x", "c.case:1: expected one value in 'r x'"},
      {"\n\nT1 @s1: q x 1", "c.case:3: unknown operation 'q'; there are r, w, d, append and cas"},
      {"T1: w x 1\nT1: w x 2", "c.case:2: a second transaction 'T1'; names are unique"},
      {"T1 @s1 lost: w x 1",
       "c.case:1: expected a status, [invoked,completed] or {start,commit}, found 'lost'"},
      {"T1 [1;2]: w x 1",
       "c.case:1: expected two numbers as in '[100,180]' or '{5,9}', without blanks, found "
       "'[1;2]'"},
      {"T1: w x [1 2]", "c.case:1: expected one value in 'w x [1 2]'"},
      {"T1: w x 1,", "c.case:1: expected an operation such as 'r x 1', found ''"},
      {"initial", "c.case:1: expected 'T1 @s1: …', 'initial …', '{…}' or '----', found 'initial'"},
      {"----\nserialisable holds", "c.case:2: unknown level 'serialisable'"},
      {"----\nser holds\nser violated", "c.case:3: a second verdict for 'ser'"},
      {"----\nser maybe",
       "c.case:2: expected 'LEVEL… holds', 'LEVEL… violated' or 'shows ANOMALY…', found 'ser "
       "maybe'"},
      {"T1: w x 1\n----\nsi violated\nser holds",
       "c.case:4: 'serializable' holds, so 'si' cannot be violated"},
      {"----\ntimestamps session-si holds\ntimestamps si violated",
       "c.case:3: 'session-si' holds, so 'si' cannot be violated"},
      {"----\nshows nothing", "c.case:2: unknown anomaly 'nothing'"},
      {"----\n----", "c.case:2: a second '----'; there is one, before the verdicts"},
  };
  for (const auto& mistake : kMistakes) {
    const auto parsed = parse_case(mistake.text, "c.case");
    ASSERT_FALSE(parsed.ok()) << mistake.text;
    EXPECT_EQ(parsed.error().to_string(), mistake.message);
  }
}

TEST(CaseFilesTest, WhatIsNotStatedFollowsFromTheLattice) {
  const Verdicts stated{{Level::Prefix, Outcome::Holds}, {Level::Si, Outcome::Violated}};
  EXPECT_EQ(follows(stated, Level::Prefix), Outcome::Holds);
  EXPECT_EQ(follows(stated, Level::ReadCommitted), Outcome::Holds);
  EXPECT_EQ(follows(stated, Level::Serializable), Outcome::Violated);
  EXPECT_EQ(follows(stated, Level::ParallelSi), std::nullopt);
  EXPECT_EQ(follows(stated, Level::Serializable, Evidence::Timestamps), std::nullopt);
}

TEST(CaseFilesTest, RandomHistoriesReadBackAsWritten) {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    const History history = random_history(seed, mixed_shape(seed));
    const std::string text = to_string(history);
    const History again = history_of(text);
    ASSERT_EQ(to_string(again), text) << "seed " << seed;
    ASSERT_EQ(allowed_levels(again), allowed_levels(history)) << "seed " << seed << "\n" << text;
  }
}

}  // namespace
}  // namespace ouro::oracle
