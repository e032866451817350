// The timeline engine against the definitions, on everything small and on random histories.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "format/format_testing.h"
#include "history/columns.h"
#include "ouro/certificate.h"
#include "ouro/check.h"
#include "ouro/format.h"
#include "ouro/generate.h"
#include "ouro/history_builder.h"
#include "ouro/report.h"
#include "tests/case_file.h"
#include "tests/engine_levels.h"
#include "tests/random_timeline.h"
#include "tests/small_histories.h"
#include "tests/this_build.h"
#include "tests/timeline_oracle.h"

namespace ouro::oracle {
namespace {

CheckOptions by_timestamps(std::int64_t clock_drift = 0) {
  CheckOptions options;
  options.evidence = Evidence::Timestamps;
  options.clock_drift = clock_drift;
  return options;
}

Verdict verdict_of(const History& history, Level level) {
  const auto verdict = check(history, level, by_timestamps());
  EXPECT_TRUE(verdict.ok()) << verdict.error().to_string();
  return verdict.ok() ? *verdict : Verdict{};
}

std::map<AnomalyKind, std::uint64_t> counts_of(const Verdict& verdict) {
  std::map<AnomalyKind, std::uint64_t> counts;
  for (std::size_t i = 0; i < kAnomalyKindCount; ++i) {
    if (verdict.counts[i] != 0) counts[static_cast<AnomalyKind>(i)] = verdict.counts[i];
  }
  return counts;
}

std::string text_of(const std::map<AnomalyKind, std::uint64_t>& counts) {
  std::string out;
  for (const auto& [kind, count] : counts) {
    out += std::string(info(kind).name) + ' ' + std::to_string(count) + "; ";
  }
  return out;
}

// What is wrong with the engine's verdict; "" if nothing.
std::string complaint(const History& history, Level level, std::int64_t clock_drift = 0) {
  const auto verdict = check(history, level, by_timestamps(clock_drift));
  if (!verdict.ok()) return verdict.error().to_string();
  const auto wanted = TimestampOracle(history, level, clock_drift).counts();
  const auto found = counts_of(*verdict);
  if (found != wanted) return "found " + text_of(found) + "but there are " + text_of(wanted);
  if ((verdict->outcome == Outcome::Holds) != wanted.empty()) return "wrong outcome";
  if (verdict->evidence != Evidence::Timestamps || verdict->level != level) return "wrong label";
  std::map<AnomalyKind, std::uint64_t> examples;
  for (const Anomaly& anomaly : verdict->anomalies) {
    ++examples[anomaly.kind];
    if (anomaly.txns.empty()) return "an anomaly of nobody";
  }
  for (const auto& [kind, count] : wanted) {
    if (examples[kind] != std::min<std::uint64_t>(count, 3)) return "wrong number of examples";
  }
  return "";
}

// ---- against the oracle ----

TEST(TimelineTest, CountsOnRandomHistoriesAreThoseOfTheDefinition) {
  std::map<AnomalyKind, std::size_t> seen;
  std::size_t holding = 0;
  for (std::uint64_t seed = 1; seed <= 20'000 / kSlowdown; ++seed) {
    const History history = random_timeline(seed, mixed_timeline(seed));
    for (const Level level : kSnapshotAndSerialLevels) {
      ASSERT_EQ(complaint(history, level, seed % 3 == 0 ? 15 : 0), "")
          << "seed " << seed << " at " << info(level).name << "\n"
          << native(history);
      const auto counts = TimestampOracle(history, level).counts();
      for (const auto& [kind, count] : counts) ++seen[kind];
      holding += counts.empty() ? 1 : 0;
    }
  }
  // The histories are worth looking at: many hold, and every anomaly occurs.
  EXPECT_GT(holding, 10'000 / kSlowdown);
  for (const AnomalyKind kind :
       {AnomalyKind::Internal, AnomalyKind::NonRepeatableRead, AnomalyKind::SnapshotMismatch,
        AnomalyKind::WriteConflict, AnomalyKind::SessionInversion, AnomalyKind::RealTimeInversion,
        AnomalyKind::MissingTimestamp, AnomalyKind::InvertedTimestamps,
        AnomalyKind::DuplicateTimestamp, AnomalyKind::ResultSetMismatch}) {
    EXPECT_GT(seen[kind], 200 / kSlowdown) << info(kind).name;
  }
}

// Timestamps give one order, and gsi and session-si both ask something of that order.
TEST(TimelineTest, PrefixConsistentSiIsGsiAndSessionSi) {
  std::size_t apart = 0;
  for (std::uint64_t seed = 1; seed <= 3'000 / kSlowdown; ++seed) {
    const History history = random_timeline(seed, mixed_timeline(seed));
    const auto holds = [&](Level level) {
      return check(history, level, {.evidence = Evidence::Timestamps})->outcome == Outcome::Holds;
    };
    const bool both = holds(Level::Gsi) && holds(Level::SessionSi);
    ASSERT_EQ(holds(Level::PrefixConsistentSi), both) << "seed " << seed << native(history);
    apart += both && !holds(Level::StrongSi) ? 1 : 0;
  }
  EXPECT_GT(apart, 10 / kSlowdown) << "strong-si asks for more";
}

// Two transactions of one or two operations on one key, in one session or two, with every choice of
// timestamps from 1 to 3 or none.
TEST(TimelineTest, CountsOnEveryTinyHistoryAreThoseOfTheDefinition) {
  const std::vector<std::string> kOps = {"r x 0", "r x 1", "r x 2", "w x 1", "w x 2"};
  std::vector<std::string> bodies;
  for (const std::string& first : kOps) {
    bodies.push_back(first);
    for (const std::string& second : kOps) bodies.push_back(first + ", " + second);
  }
  std::vector<std::string> stamps;
  for (const char* start : {"", "1", "2", "3"}) {
    for (const char* commit : {"", "1", "2", "3"}) {
      stamps.push_back(std::string("{") + start + ',' + commit + '}');
    }
  }
  std::size_t count = 0;
  std::size_t number = 0;
  const auto expect_right = [&](const std::string& text) {
    if (++number % kSlowdown != 0) return;
    const History history = history_of(text);
    if (columns_of(history).start_ts.empty() && columns_of(history).commit_ts.empty()) return;
    ++count;
    for (const Level level : kSnapshotAndSerialLevels) {
      ASSERT_EQ(complaint(history, level), "") << info(level).name << "\n" << text;
    }
  };
  for (const std::string& a : bodies) {
    for (const std::string& b : bodies) {
      for (const std::string& at : stamps) {
        for (const std::string& bt : stamps) {
          for (const char* session : {"s", "t"}) {
            expect_right("initial 0\nT1 @s " + at + ": " + a + "\nT2 @" + session + " " + bt +
                         ": " + b + "\n");
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
  EXPECT_GT(count, 450'000 / kSlowdown);
}

// ---- against the search over all orders ----

TEST(TimelineTest, WhatHoldsByTimestampsHoldsByObservation) {
  std::size_t holding = 0;
  std::size_t only_observed = 0;
  for (std::uint64_t seed = 1; seed <= 20'000 / kSlowdown; ++seed) {
    TimelineShape shape = mixed_timeline(seed);
    if (shape.kind == TimelineKind::Rows) shape.kind = TimelineKind::Lists;
    shape.unique_values = true;
    shape.last_stamp = 100;
    const History history = random_timeline(seed, shape);
    for (const Level level : kSnapshotAndSerialLevels) {
      const Verdict verdict = verdict_of(history, level);
      const auto observed = check(history, level);
      ASSERT_TRUE(observed.ok()) << observed.error().to_string();
      if (verdict.outcome == Outcome::Holds) {
        ++holding;
        ASSERT_EQ(observed->outcome, Outcome::Holds)
            << "seed " << seed << " at " << info(level).name << "\n"
            << to_string(history);
      } else {
        only_observed += observed->outcome == Outcome::Holds ? 1 : 0;
      }
    }
  }
  EXPECT_GT(holding, 5'000 / kSlowdown);
  EXPECT_GT(only_observed, 1'000 / kSlowdown);
}

std::string in_native_text(const History& history) {
  std::string text;
  return print_history(history, Format::Native, text).ok() ? text : "cannot be written";
}

// With predicates, and where many things happen at the same time, too.
TEST(TimelineTest, WhatHoldsByTimestampsHoldsByVersions) {
  std::size_t holding = 0;
  std::size_t violated = 0;
  std::size_t undecided = 0;  // Rows may come twice, so that open reads meet open moments.
  CheckOptions by_versions;
  by_versions.evidence = Evidence::Versions;
  for (std::uint64_t seed = 1; seed <= 20'000 / kSlowdown; ++seed) {
    TimelineShape shape = mixed_timeline(seed);
    shape.unique_values = true;
    const History history = random_timeline(seed, shape);
    for (const Level level : kSnapshotAndSerialLevels) {
      const auto verdict = check(history, level, by_versions);
      if (!verdict.ok()) continue;  // It is ambiguous why a scan missed a key.
      const bool holds = verdict_of(history, level).outcome == Outcome::Holds;
      ASSERT_TRUE(!holds || verdict->outcome == Outcome::Holds)
          << "seed " << seed << " at " << info(level).name << "\n"
          << in_native_text(history);
      if (verdict->outcome == Outcome::Undecided) {
        ++undecided;
        continue;
      }
      const auto certification = certify(history, make_certificate(history, *verdict, 0));
      ASSERT_TRUE(certification.ok() && certification->accepted)
          << (certification.ok() ? certification->reason : certification.error().to_string())
          << "\nseed " << seed << " at " << info(level).name << "\n"
          << in_native_text(history);
      if (shape.kind != TimelineKind::Rows) continue;
      holding += holds ? 1 : 0;
      violated += verdict->outcome == Outcome::Violated ? 1 : 0;
    }
  }
  EXPECT_GT(holding, 1'000 / kSlowdown);
  EXPECT_GT(violated, 1'000 / kSlowdown);
  EXPECT_LT(undecided, violated / 10);
}

TEST(TimelineTest, GeneratedHistoriesHoldAtTheLevelOfTheirStore) {
  const struct {
    Level store;
    std::vector<Level> holds;
  } kStores[] = {
      {Level::Si, {Level::Si}},
      {Level::SessionSi, {Level::Si, Level::SessionSi}},
      {Level::StrongSi, {Level::Si, Level::SessionSi, Level::Gsi, Level::StrongSi}},
      {Level::StrictSerializable,
       {Level::Serializable, Level::SessionSerializable, Level::StrictSerializable}},
  };
  for (const auto& [store, holds] : kStores) {
    for (const WorkloadKind workload : {WorkloadKind::General, WorkloadKind::ListAppend}) {
      GenerateOptions options;
      options.workload = workload;
      options.store = store;
      options.txns = 20'000 / kSlowdown;
      options.keys = 50;
      options.abort_share = 0.05;
      options.unknown_share = 0.05;
      options.clocks = options.timestamps = true;
      const History history = *generate(options);
      for (const Level level : holds) {
        EXPECT_EQ(headline(history, verdict_of(history, level), {.name = "h"}),
                  "h: holds " + std::string(info(level).name) + " by timestamps\n")
            << "store " << info(store).name;
      }
    }
  }
}

TEST(TimelineTest, ThreadsDoNotChangeTheVerdict) {
  GenerateOptions options;
  options.store = Level::SessionSi;
  options.txns = 20'000 / kSlowdown;
  options.keys = 60;
  options.timestamps = true;
  options.faults = {{Fault::LostUpdate, 0.01}, {Fault::Internal, 0.01}, {Fault::StaleRead, 0.01}};
  const History history = *generate(options);
  for (const Level level : kSnapshotAndSerialLevels) {
    std::vector<std::string> told;
    for (const unsigned threads : {1u, 2u, 5u}) {
      CheckOptions check_options = by_timestamps();
      check_options.threads = threads;
      const auto verdict = check(history, level, check_options);
      ASSERT_TRUE(verdict.ok());
      EXPECT_EQ(verdict->outcome, Outcome::Violated);
      const Explanation story = explain(history, *verdict, {.threads = threads});
      told.push_back(to_json(history, *verdict, {.explanations = {&story, 1}}));
    }
    EXPECT_EQ(told[0], told[1]);
    EXPECT_EQ(told[0], told[2]);
  }
}

// ---- single facts ----

TEST(TimelineTest, AHistoryWithoutTimestampsIsAnError) {
  const auto verdict = check(history_of("T1: w x 1"), Level::Si, by_timestamps());
  ASSERT_FALSE(verdict.ok());
  EXPECT_NE(verdict.error().what.find("no timestamps"), std::string::npos);
}

TEST(TimelineTest, AnEmptyHistoryIsRefused) {
  EXPECT_FALSE(check(history_of(""), Level::Si, by_timestamps()).ok());
}

TEST(TimelineTest, WeakLevelsAreRefused) {
  const auto verdict = check(history_of("T1 {1,2}: w x 1"), Level::Causal, by_timestamps());
  ASSERT_FALSE(verdict.ok());
  EXPECT_EQ(verdict.error().what,
            "level 'causal' cannot be decided by evidence 'timestamps'; it needs 'observed'");
}

TEST(TimelineTest, AKeyIsARegisterOrAList) {
  const auto verdict =
      check(history_of("T1 {1,2}: w x 1\nT2 {3,4}: append x 2"), Level::Si, by_timestamps());
  ASSERT_FALSE(verdict.ok());
  EXPECT_NE(verdict.error().what.find("either a register or a list"), std::string::npos);
}

TEST(TimelineTest, EveryOverlappingPairOfWritersIsOneConflict) {
  const History history = history_of(
      "T1 {1,10}: w x 1, w x 2, w y 1\nT2 {2,11}: w x 3\nT3 {3,12}: w x 4, w y 2\n"
      "T4 {12,13}: w x 5");
  EXPECT_EQ(counts_of(verdict_of(history, Level::Si)),
            (std::map<AnomalyKind, std::uint64_t>{{AnomalyKind::WriteConflict, 4}}));
  EXPECT_EQ(verdict_of(history, Level::Serializable).outcome, Outcome::Holds);
}

TEST(TimelineTest, TimestampsOfAnySizeAreOrdered) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  HistoryBuilder builder;
  const KeyId x = builder.key("x");
  const Timestamp stamps[] = {{-kMost, kMost}, {-kMost, kMost - 1}, {kMost, -kMost}, {0, 0}};
  // In the order of time: 1, 0, 3, 2.
  const std::size_t before[] = {1, 4, 3, 0};
  for (std::size_t i = 0; i < 4; ++i) {
    builder.begin_txn(builder.session("s"));
    builder.timestamps(kNoTimestamp, stamps[i]);
    builder.read(x, before[i] == 4 ? Value::null() : Value::small(std::int64_t(before[i])));
    builder.write(x, Value::small(std::int64_t(i)));
  }
  const History history = *std::move(builder).freeze();
  EXPECT_EQ(verdict_of(history, Level::Serializable).outcome, Outcome::Holds);
  EXPECT_EQ(verdict_of(history, Level::SessionSerializable).outcome, Outcome::Violated);
}

TEST(TimelineTest, ExpectedAndActualValuesAreTold) {
  const History history = history_of(
      "initial 0\nT1 @a {1,2}: w x 1\nT2 @b {3,4}: r x 0\nT3 @c {5,6}: append l 7\n"
      "T4 @d {7,8}: append l 8, r l [8]\n");
  const Verdict verdict = verdict_of(history, Level::Si);
  ASSERT_EQ(verdict.anomalies.size(), 2u);
  EXPECT_EQ(verdict.anomalies[0].expected, "1");
  EXPECT_EQ(verdict.anomalies[0].txns, (std::vector<TxnId>{TxnId{1}, TxnId{0}}));
  EXPECT_EQ(verdict.anomalies[1].expected, "[7,8]");
  EXPECT_EQ(verdict.anomalies[1].txns, (std::vector<TxnId>{TxnId{3}, TxnId{2}}));
}

}  // namespace
}  // namespace ouro::oracle
