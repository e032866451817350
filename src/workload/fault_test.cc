// Each fault plants the anomaly it is named after, and nothing worse.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>

#include "ouro/check.h"
#include "ouro/generate.h"
#include "workload/fault_script.h"
#include "workload/level_conditions.h"

namespace ouro::workload {
namespace {

GenerateOptions with_fault(Fault fault, std::uint64_t seed, WorkloadKind workload) {
  GenerateOptions options;
  options.workload = workload;
  options.seed = seed;
  options.txns = 100;
  options.keys = 5;
  options.ops_per_txn = 4;
  options.sessions = 6;
  options.clocks = options.timestamps = options.version_orders = true;
  options.faults = {{.fault = fault, .rate = 0.1}};
  return options;
}

bool is_wrong(const Facts& facts, const char* what) {
  return std::find(facts.wrong.begin(), facts.wrong.end(), what) != facts.wrong.end();
}

// Faults that show in a single read, and their names in Facts::wrong.
struct PlainFault {
  Fault fault;
  const char* wrong;
};
constexpr PlainFault kPlain[] = {
    {Fault::AbortedRead, "aborted"},         {Fault::IntermediateRead, "intermediate"},
    {Fault::ThinAirRead, "thin-air"},        {Fault::FutureRead, "future"},
    {Fault::Internal, "internal"},           {Fault::NonRepeatableRead, "non-repeatable"},
    {Fault::DuplicateElements, "duplicate"}, {Fault::IncompatibleOrder, "incompatible"},
};

// Faults that take several transactions: a level that each violates, and levels that still hold.
struct CycleFault {
  Fault fault;
  Level broken;
  std::vector<Level> intact;
};
const std::vector<CycleFault>& cycle_faults() {
  static const std::vector<CycleFault> all{
      {Fault::NonRepeatableRead, Level::ReadAtomic, {Level::ReadCommitted}},
      {Fault::NonMonotonicRead, Level::ReadCommitted, {}},
      {Fault::FracturedRead, Level::ReadAtomic, {Level::ReadCommitted}},
      {Fault::ReadSkew, Level::ReadAtomic, {Level::ReadCommitted}},
      {Fault::CausalityViolation, Level::Causal, {Level::ReadAtomic}},
      {Fault::LongFork, Level::Prefix, {Level::ParallelSi}},
      {Fault::LostUpdate, Level::ParallelSi, {Level::Prefix}},
      {Fault::LostUpdate, Level::Si, {Level::Prefix}},
      {Fault::GSib, Level::Si, {Level::Prefix}},
      {Fault::GSib, Level::ParallelSi, {Level::Prefix}},
      {Fault::CircularFlow, Level::ReadCommitted, {}},
      {Fault::WriteSkew, Level::Serializable, {Level::StrongSi}},
      {Fault::StaleRead, Level::ReadAtomic, {Level::Gsi, Level::Serializable}},
      {Fault::RealTimeViolation, Level::StrictSerializable, {Level::SessionSerializable}},
      {Fault::RealTimeViolation, Level::StrongSi, {Level::SessionSi, Level::Gsi}},
  };
  return all;
}

TEST(FaultTest, ThereIsATestForEveryFault) {
  std::set<Fault> tested;
  for (const PlainFault& plain : kPlain) tested.insert(plain.fault);
  for (const CycleFault& cycle : cycle_faults()) tested.insert(cycle.fault);
  tested.insert(Fault::Phantom);  // PhantomsAreWriteSkewOfScans
  EXPECT_EQ(tested.size(), faults().size());
}

TEST(FaultTest, FaultsOfOneReadShowAndNothingElseDoes) {
  for (const PlainFault& plain : kPlain) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      for (const WorkloadKind workload : {WorkloadKind::General, WorkloadKind::ListAppend}) {
        const GenerateOptions options = with_fault(plain.fault, seed, workload);
        if (script_of(plain.fault).lists_only && workload == WorkloadKind::General) continue;
        const auto history = generate(options);
        ASSERT_TRUE(history.ok()) << history.error().what;
        const Facts facts(*history);
        ASSERT_TRUE(is_wrong(facts, plain.wrong)) << plain.wrong << ", seed " << seed;
        for (const std::string& what : facts.wrong) ASSERT_EQ(what, plain.wrong);
      }
    }
  }
}

TEST(FaultTest, FaultsOfSeveralTransactionsBreakTheirLevelAndNoWeakerOne) {
  for (const CycleFault& cycle : cycle_faults()) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      for (const WorkloadKind workload : {WorkloadKind::General, WorkloadKind::ListAppend}) {
        const auto history = generate(with_fault(cycle.fault, seed, workload));
        ASSERT_TRUE(history.ok()) << history.error().what;
        const Facts facts(*history);
        const auto where = testing::Message()
                           << name(cycle.fault) << ", seed " << seed << ", "
                           << (workload == WorkloadKind::General ? "registers" : "lists");
        ASSERT_FALSE(holds(facts, cycle.broken)) << where;
        for (const Level level : cycle.intact) {
          ASSERT_TRUE(holds(facts, level)) << info(level).name << ", " << where;
        }
      }
    }
  }
}

// No commit order explains the history, so the verdict does not depend on a version order that no
// client saw.
TEST(FaultTest, NoCommitOrderExplainsAWeakFault) {
  const std::pair<Fault, Level> weak[] = {{Fault::NonMonotonicRead, Level::ReadCommitted},
                                          {Fault::FracturedRead, Level::ReadAtomic},
                                          {Fault::ReadSkew, Level::ReadAtomic},
                                          {Fault::StaleRead, Level::ReadAtomic},
                                          {Fault::CausalityViolation, Level::Causal}};
  for (const auto& [fault, level] : weak) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      const Facts facts(*generate(with_fault(fault, seed, WorkloadKind::General)));
      ASSERT_TRUE(impossible(facts, level)) << name(fault) << ", seed " << seed;
    }
  }
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Facts facts(*generate(with_fault(Fault::LongFork, seed, WorkloadKind::General)));
    ASSERT_TRUE(prefix_impossible(facts)) << "seed " << seed;
  }
}

TEST(FaultTest, LostUpdateIsTwoUpdatesOfOneVersion) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Facts facts(*generate(with_fault(Fault::LostUpdate, seed, WorkloadKind::General)));
    bool found = false;
    for (const ExternalRead& a : facts.reads) {
      for (const ExternalRead& b : facts.reads) {
        found = found || (a.reader != b.reader && a.key == b.key && a.value == b.value &&
                          facts.writes(a.reader, a.key) && facts.writes(b.reader, b.key));
      }
    }
    ASSERT_TRUE(found) << "seed " << seed;
  }
}

// Nobody reads what they overwrite, so no order of the writers is observed; each has its cycle.
TEST(FaultTest, GSibOfBlindWritersIsSeenWhateverTheOrderOfVersions) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    GenerateOptions options = with_fault(Fault::GSib, seed, WorkloadKind::BlindWRw);
    options.version_orders = options.timestamps = false;
    const History history = *generate(options);
    for (const Level level : {Level::Si, Level::ParallelSi, Level::Serializable}) {
      ASSERT_EQ(check(history, level)->outcome, Outcome::Violated) << "seed " << seed;
    }
    ASSERT_EQ(check(history, Level::Prefix)->outcome, Outcome::Holds) << "seed " << seed;
  }
}

TEST(FaultTest, PhantomsAreWriteSkewOfScans) {
  for (const WorkloadKind workload : {WorkloadKind::RangeBalanced, WorkloadKind::Phantom}) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      GenerateOptions options = with_fault(Fault::Phantom, seed, workload);
      options.version_orders = options.timestamps = false;
      const History history = *generate(options);
      ASSERT_EQ(check(history, Level::Serializable)->outcome, Outcome::Violated) << "seed " << seed;
      for (const Level level : {Level::RepeatableRead, Level::StrongSi}) {
        ASSERT_EQ(check(history, level)->outcome, Outcome::Holds)
            << info(level).name << ", seed " << seed;
      }
    }
  }
}

TEST(FaultTest, EveryStoreTakesEveryFault) {
  for (const LevelInfo& level : levels()) {
    if (level.level == Level::RepeatableRead) continue;
    GenerateOptions options = with_fault(Fault::LostUpdate, 3, WorkloadKind::ListAppend);
    options.store = level.level;
    options.txns = 2000;
    options.faults.clear();
    for (const Fault fault : faults()) {
      if (script_of(fault).scans_only) continue;
      options.faults.push_back({.fault = fault, .rate = 0.02});
    }
    const auto history = generate(options);
    ASSERT_TRUE(history.ok()) << history.error().what;
    EXPECT_EQ(history->txn_count(), options.txns) << level.name;
  }
}

TEST(FaultTest, RateOneLeavesOnlyPlantedTransactions) {
  GenerateOptions options = with_fault(Fault::ThinAirRead, 1, WorkloadKind::General);
  options.faults[0].rate = 1;
  const History history = *generate(options);
  EXPECT_EQ(history.op_count(), history.txn_count());
}

TEST(FaultTest, RateZeroChangesNothing) {
  GenerateOptions options = with_fault(Fault::ThinAirRead, 1, WorkloadKind::General);
  options.faults[0].rate = 0;
  EXPECT_TRUE(Facts(*generate(options)).wrong.empty());
}

TEST(FaultTest, NamesAreDistinctAndInKebabCase) {
  std::set<std::string_view> names;
  for (const Fault fault : faults()) {
    names.insert(name(fault));
    for (const char c : name(fault)) EXPECT_TRUE(c == '-' || (c >= 'a' && c <= 'z')) << name(fault);
  }
  EXPECT_EQ(names.size(), faults().size());
  EXPECT_EQ(name(Fault::LostUpdate), "lost-update");
}

}  // namespace
}  // namespace ouro::workload
