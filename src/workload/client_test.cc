#include "workload/client.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "ouro/check.h"
#include "ouro/generate.h"

namespace ouro::workload {
namespace {

WorkloadOptions options_of(const WorkloadInfo& workload, std::uint64_t seed = 1) {
  WorkloadOptions options;
  options.workload = workload.kind;
  options.seed = seed;
  if (workload.keys != 0) options.keys = workload.keys;
  options.ops_per_txn = workload.ops_per_txn;
  return options;
}

std::string text(const Program& program) {
  std::string out;
  for (const Step& step : program) {
    for (const std::int64_t part :
         {static_cast<std::int64_t>(step.kind), std::int64_t{step.key}, std::int64_t{step.upper},
          std::int64_t{step.low}, std::int64_t{step.high}, std::int64_t{step.amount}}) {
      out += std::to_string(part) + ' ';
    }
  }
  return out;
}

TEST(ClientTest, PlansFollowFromTheSeedAndDifferBetweenSeats) {
  for (const WorkloadInfo& workload : workloads()) {
    const auto a = make_client(options_of(workload), {.number = 2, .clients = 5});
    const auto again = make_client(options_of(workload), {.number = 2, .clients = 5});
    const auto other_seat = make_client(options_of(workload), {.number = 3, .clients = 5});
    const auto other_seed = make_client(options_of(workload, 2), {.number = 2, .clients = 5});
    std::string plans[4];
    Program program;
    for (int i = 0; i < 50; ++i) {
      std::size_t at = 0;
      for (Client* client : {a.get(), again.get(), other_seat.get(), other_seed.get()}) {
        client->plan(program);
        plans[at++] += text(program);
      }
    }
    EXPECT_EQ(plans[0], plans[1]) << workload.name;
    EXPECT_NE(plans[0], plans[2]) << workload.name;
    EXPECT_NE(plans[0], plans[3]) << workload.name;
  }
}

TEST(ClientTest, KeysStayBelowTheEndAndStepsFitTheModel) {
  for (const WorkloadInfo& workload : workloads()) {
    for (const Seat seat : {Seat{}, Seat{.number = 3, .clients = 7}}) {
      const auto client = make_client(options_of(workload), seat);
      Program program;
      for (int i = 0; i < 2000; ++i) {
        client->plan(program);
        ASSERT_FALSE(program.empty()) << workload.name;
        for (const Step& step : program) {
          ASSERT_LT(step.key, client->key_end()) << workload.name;
          ASSERT_LT(step.upper, client->key_end()) << workload.name;
          EXPECT_EQ(step.kind == StepKind::Append, workload.lists && step.kind != StepKind::Read);
          if (step.kind == StepKind::Scan) {
            EXPECT_TRUE(workload.scans) << workload.name;
            EXPECT_LE(step.key, step.upper);
          }
          if (step.kind == StepKind::Select || step.kind == StepKind::Aggregate ||
              step.kind == StepKind::UpdateWhere || step.kind == StepKind::DeleteWhere) {
            EXPECT_TRUE(workload.rows) << workload.name;
          }
        }
      }
    }
  }
}

TEST(ClientTest, ClientsOfReadOnlyNodesOnlyRead) {
  for (const WorkloadInfo& workload : workloads()) {
    const auto client = make_client(options_of(workload));
    Program program;
    for (int i = 0; i < 500; ++i) {
      client->plan_reads(program);
      ASSERT_FALSE(program.empty()) << workload.name;
      for (const Step& step : program) EXPECT_TRUE(only_reads(step.kind)) << workload.name;
    }
  }
}

// The share of each kind of step in the plans of 20,000 transactions.
std::map<StepKind, double> shares(WorkloadKind kind) {
  const auto client = make_client(options_of(info(kind)));
  std::map<StepKind, double> found;
  double total = 0;
  Program program;
  for (int i = 0; i < 20'000; ++i) {
    client->plan(program);
    for (const Step& step : program) {
      ++found[step.kind];
      ++total;
    }
  }
  for (auto& [step, share] : found) share /= total;
  return found;
}

TEST(ClientTest, SharesAreThoseOfThePapers) {
  // Of King Cobra's 25 : 25 : 50, the last is a read and a write.
  EXPECT_NEAR(shares(WorkloadKind::ReadModifyWrite)[StepKind::Read], 0.5, 0.01);
  EXPECT_NEAR(shares(WorkloadKind::ReadWrite)[StepKind::Read], 0.5, 0.01);
  EXPECT_NEAR(shares(WorkloadKind::HeavyWrite)[StepKind::Read], 0.2 / 1.1, 0.01);
  // One of five types of transactions scans; inserts and deletes have two steps each.
  EXPECT_NEAR(shares(WorkloadKind::RangeBalanced)[StepKind::Scan], 1.0 / 7, 0.01);
  EXPECT_NEAR(shares(WorkloadKind::RangeQueryHeavy)[StepKind::Scan], 0.5 / 1.25, 0.01);
  EXPECT_NEAR(shares(WorkloadKind::RangeInsertDeleteHeavy)[StepKind::Delete], 0.35 / 1.7, 0.01);
  // Emme: 10 operations are 3 updates, 4 reads, 2 increments of two steps, 1 insert.
  auto emme = shares(WorkloadKind::Predicates);
  EXPECT_NEAR(emme[StepKind::Read], (2.0 + 2.0) / 12, 0.01);
  EXPECT_NEAR(emme[StepKind::UpdateWhere], 1.5 / 12, 0.01);
  EXPECT_NEAR(emme[StepKind::Select] + emme[StepKind::Aggregate], 2.0 / 12, 0.01);
}

TEST(ClientTest, LengthsAreMixedIfAsked) {
  WorkloadOptions options;
  options.ops_at_least = 2;
  options.ops_per_txn = 6;
  const auto client = make_client(options);
  std::map<std::size_t, int> lengths;
  Program program;
  for (int i = 0; i < 5000; ++i) {
    client->plan(program);
    ++lengths[program.size()];
  }
  ASSERT_EQ(lengths.size(), 5u);
  for (const auto& [length, times] : lengths) {
    EXPECT_GE(length, 2u);
    EXPECT_LE(length, 6u);
    EXPECT_NEAR(times, 1000, 150);
  }
}

// Clients stop using a list that grew long, and a range of the phantom hunt that is full.
TEST(ClientTest, ClientsLearnWhatToLeave) {
  const auto lists = make_client(options_of(info(WorkloadKind::ListAppend)));
  lists->saw({.kind = StepKind::Read, .key = 7}, Client::kListLimit);
  const auto phantom = make_client(options_of(info(WorkloadKind::Phantom)));
  phantom->saw({.kind = StepKind::Scan, .key = 0, .upper = 7}, 8);
  Program program;
  std::set<std::uint32_t> keys;
  for (int i = 0; i < 2000; ++i) {
    lists->plan(program);
    for (const Step& step : program) keys.insert(step.key);
    phantom->plan(program);
    EXPECT_GE(program.front().key, 8u);
  }
  EXPECT_FALSE(keys.contains(7));
  EXPECT_TRUE(keys.contains(100));
}

// The simulated store keeps its level with every workload.
TEST(ClientTest, SimulatedHistoriesOfEveryWorkloadKeepTheirLevel) {
  for (const WorkloadInfo& workload : workloads()) {
    GenerateOptions options;
    static_cast<WorkloadOptions&>(options) = options_of(workload, 7);
    options.txns = workload.scans ? 150 : 400;
    if (!workload.simulated) {
      EXPECT_FALSE(generate(options).ok()) << workload.name;
      continue;
    }
    for (const Level level : {Level::Si, Level::Causal, Level::StrictSerializable}) {
      options.store = level;
      options.clocks = true;
      const auto history = generate(options);
      ASSERT_TRUE(history.ok()) << workload.name;
      const auto verdict = check(*history, level);
      ASSERT_TRUE(verdict.ok()) << workload.name << ": " << verdict.error().to_string();
      EXPECT_EQ(verdict->outcome, Outcome::Holds) << workload.name << " " << info(level).name;
    }
  }
}

}  // namespace
}  // namespace ouro::workload
