#include "check/polygraph/insertion.h"

#include <gtest/gtest.h>

#include "ouro/certificate.h"
#include "ouro/check.h"
#include "ouro/generate.h"

namespace ouro {
namespace {

History made(std::size_t txns, std::uint64_t seed, Level store,
             WorkloadKind workload = WorkloadKind::General) {
  GenerateOptions options;
  options.workload = workload;
  options.store = store;
  options.seed = seed;
  options.txns = txns;
  if (workload == WorkloadKind::General) options.keys = 200;
  options.duplicates = true;
  auto history = generate(options);
  EXPECT_TRUE(history.ok()) << history.error().to_string();
  return *std::move(history);
}

void expect_holds(const History& history, Level level) {
  const auto verdict = check(history, level, {.work_limit = 500'000'000});
  ASSERT_TRUE(verdict.ok()) << verdict.error().to_string();
  EXPECT_EQ(verdict->outcome, Outcome::Holds) << info(level).name << ": " << verdict->reason;
  const auto answer = certify(history, make_certificate(history, *verdict));
  ASSERT_TRUE(answer.ok()) << answer.error().to_string();
  EXPECT_TRUE(answer->accepted) << answer->reason;
}

// This store commits one transaction in ten a little earlier than it is recorded, where nobody can
// tell. With seven values a key, nearly every read fits somewhere else, too.
TEST(InsertionTest, FindsWhereTransactionsCommittedThatWereRecordedLater) {
  for (const std::uint64_t seed : {1, 2, 6}) {
    const History history = made(2'000, seed, Level::SessionSerializable);
    for (const Level level :
         {Level::SessionSerializable, Level::Serializable, Level::SessionSi, Level::Si}) {
      expect_holds(history, level);
    }
  }
}

TEST(InsertionTest, FindsWhereTransactionsBegan) {
  for (const std::uint64_t seed : {1, 2}) {
    const History history = made(2'000, seed, Level::SessionSi);
    for (const Level level : {Level::SessionSi, Level::Si}) expect_holds(history, level);
  }
}

TEST(InsertionTest, DecidesApplicationsWhoseValuesRepeat) {
  for (const WorkloadKind workload : {WorkloadKind::Twitter, WorkloadKind::BlindWRw}) {
    const History history = made(2'000, 1, Level::StrictSerializable, workload);
    for (const Level level : {Level::SessionSerializable, Level::SessionSi}) {
      expect_holds(history, level);
    }
  }
}

}  // namespace
}  // namespace ouro
