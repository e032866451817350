// Every store keeps its level, always, and does what the next stronger level forbids, sometimes.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "ouro/generate.h"
#include "workload/level_conditions.h"

namespace ouro::workload {
namespace {

// All levels but the one without a store.
std::vector<Level> stores() {
  std::vector<Level> out;
  for (const LevelInfo& level : levels()) {
    if (level.level != Level::RepeatableRead) out.push_back(level.level);
  }
  return out;
}

// Options for a small history with many conflicts; they differ from seed to seed.
GenerateOptions crowded(Level store, std::uint64_t seed) {
  GenerateOptions options;
  options.store = store;
  options.seed = seed;
  options.txns = 100;
  options.sessions = 2 + static_cast<std::uint32_t>(seed % 7);
  options.keys = 2 + seed % 11;
  options.ops_per_txn = 1 + static_cast<std::uint32_t>(seed % 5);
  options.rmw_share = static_cast<double>(seed % 3) / 2;
  options.read_share = 0.4 + static_cast<double>(seed % 4) / 10;
  options.abort_share = 0.05;
  options.unknown_share = 0.1;
  options.clocks = options.timestamps = options.version_orders = true;
  return options;
}

class StoreTest : public testing::TestWithParam<Level> {};

TEST_P(StoreTest, KeepsItsLevel) {
  constexpr WorkloadKind kWorkloads[] = {WorkloadKind::General, WorkloadKind::ListAppend,
                                         WorkloadKind::BlindWRw};
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    GenerateOptions options = crowded(GetParam(), seed);
    options.workload = kWorkloads[seed % 3];
    const auto history = generate(options);
    ASSERT_TRUE(history.ok()) << history.error().what;
    const Facts facts(*history);
    ASSERT_GT(facts.txns.size(), 20u) << "seed " << seed;
    ASSERT_TRUE(holds(facts, GetParam())) << "seed " << seed;
    for (const std::string& what : facts.wrong) {
      ASSERT_EQ(what, "non-repeatable") << "seed " << seed;
      ASSERT_EQ(GetParam(), Level::ReadCommitted) << "seed " << seed;
    }
  }
}

TEST_P(StoreTest, MostTransactionsCommitEvenWhereClientsFightForFewKeys) {
  GenerateOptions options;
  options.store = GetParam();
  options.txns = 5000;
  options.sessions = 50;
  options.keys = 50;
  const History history = *generate(options);
  std::size_t committed = 0;
  for (std::size_t t = 0; t < history.txn_count(); ++t) {
    if (history.status(TxnId{t}) == TxnStatus::Committed) ++committed;
  }
  EXPECT_GT(committed, history.txn_count() / 2);
}

std::string test_name(const testing::TestParamInfo<Level>& param) {
  std::string name(info(param.param).name);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(AllLevels, StoreTest, testing::ValuesIn(stores()), test_name);

struct Freedom {
  Level store;
  const char* breaks;
  std::function<bool(const Facts&)> broken;
};

auto fails(Level level) {
  return [level](const Facts& facts) { return !holds(facts, level); };
}
auto never(Level level) {
  return [level](const Facts& facts) { return impossible(facts, level); };
}

TEST(StoreFreedomTest, EveryStoreOftenBreaksTheNextStrongerLevels) {
  const Freedom freedoms[] = {
      {Level::ReadCommitted, "ra", never(Level::ReadAtomic)},
      {Level::ReadAtomic, "cc", never(Level::Causal)},
      {Level::Causal, "pc", prefix_impossible},
      {Level::Causal, "psi", fails(Level::ParallelSi)},
      {Level::Prefix, "psi", fails(Level::ParallelSi)},
      {Level::ParallelSi, "pc", prefix_impossible},
      {Level::ParallelSi, "session-si", fails(Level::SessionSi)},
      {Level::Si, "ser", fails(Level::Serializable)},
      {Level::Si, "session-si", fails(Level::SessionSi)},
      {Level::Gsi, "pcsi", fails(Level::PrefixConsistentSi)},
      {Level::PrefixConsistentSi, "strong-si", fails(Level::StrongSi)},
      {Level::SessionSi, "strong-si", fails(Level::StrongSi)},
      {Level::SessionSi, "session-ser", fails(Level::SessionSerializable)},
      {Level::StrongSi, "ser", fails(Level::Serializable)},
      {Level::Serializable, "session-ser", fails(Level::SessionSerializable)},
      {Level::SessionSerializable, "strict-ser", fails(Level::StrictSerializable)},
  };
  constexpr int kSeeds = 100;
  for (const Freedom& freedom : freedoms) {
    int broken = 0;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      GenerateOptions options = crowded(freedom.store, seed);
      options.sessions = 8;
      options.keys = 8;
      options.ops_per_txn = 4;
      if (freedom.broken(Facts(*generate(options)))) ++broken;
    }
    EXPECT_GT(broken, kSeeds / 5) << info(freedom.store).name << " against " << freedom.breaks;
    RecordProperty(std::string(info(freedom.store).name) + "-" + freedom.breaks, broken);
  }
}

}  // namespace
}  // namespace ouro::workload
