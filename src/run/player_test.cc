// Tests above all that a transaction with a failed statement is never recorded as committed.
#include "run/player.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "ouro/format.h"
#include "run/faulty_database.h"

namespace ouro::running {
namespace {

using db::Reply;
using testing::ElementsAre;

const workload::Program kProgram{workload::read_step(1), workload::write_step(1),
                                 workload::read_step(2), workload::write_step(2)};

struct Performance {
  Played played;
  std::string line;
  std::vector<Call> calls;
  std::set<db::Number> kept;
  bool announced = false;
};

// Plays kProgram; call number `at`, from 0, answers `reply`.
Performance play_failing(std::size_t at, Reply reply) {
  std::size_t count = 0;
  FaultyDatabase database(
      [&](Call) { return count++ == at ? std::optional(reply) : std::nullopt; });
  auto connection = *database.connect(0);
  Player player(db::Model::Registers, false, Numbers(0, 1, false, 1));
  Transcript transcript;
  Performance result;
  result.played = player.play(
      *connection, {.steps = kProgram}, transcript, [&] { result.announced = true; }, nullptr);
  transcript.format({.status = result.played.status}, result.line);
  result.calls = database.calls;
  result.kept = database.kept;
  return result;
}

constexpr std::size_t kCommit = 5;  // The number of the call: begin and four steps come before.

TEST(PlayerTest, WithoutFailuresItCommits) {
  const Performance result = play_failing(100, Reply::Failed);
  EXPECT_EQ(result.played.status, TxnStatus::Committed);
  EXPECT_TRUE(result.played.connection_usable);
  EXPECT_TRUE(result.announced);
  EXPECT_EQ(result.line,
            "{\"session\":0,\"ops\":[[\"r\",1,null],[\"w\",1,1],[\"r\",2,null],[\"w\",2,2]]}\n");
  EXPECT_THAT(result.calls, ElementsAre(Call::Begin, Call::Read, Call::Write, Call::Read,
                                        Call::Write, Call::Commit));
}

TEST(PlayerTest, NoFailureAnywhereIsRecordedAsCommitted) {
  for (const Reply reply : {Reply::Aborted, Reply::Failed, Reply::Lost}) {
    for (std::size_t at = 0; at < kCommit; ++at) {
      SCOPED_TRACE(testing::Message() << "call " << at << ", reply " << static_cast<int>(reply));
      const Performance result = play_failing(at, reply);
      EXPECT_EQ(result.played.status, TxnStatus::Aborted);
      EXPECT_EQ(std::count(result.calls.begin(), result.calls.end(), Call::Commit), 0);
      EXPECT_EQ(result.calls.back(), Call::Rollback);
      EXPECT_EQ(result.calls.size(), at + 2) << "nothing after the failure but the rollback";
      EXPECT_TRUE(result.kept.empty());
      EXPECT_FALSE(result.announced);
      EXPECT_EQ(result.played.connection_usable, reply != Reply::Lost);
      EXPECT_EQ(result.played.failed, reply == Reply::Failed);
    }
    const Performance commit = play_failing(kCommit, reply);
    EXPECT_EQ(commit.played.status,
              reply == Reply::Aborted ? TxnStatus::Aborted : TxnStatus::Unknown);
    EXPECT_TRUE(commit.announced);
  }
}

TEST(PlayerTest, AWriteIsRecordedBeforeItIsTriedAndAReadWhenItWasAnswered) {
  EXPECT_EQ(play_failing(1, Reply::Lost).line,
            "{\"session\":0,\"status\":\"aborted\",\"ops\":[]}\n");
  EXPECT_EQ(play_failing(2, Reply::Lost).line,
            "{\"session\":0,\"status\":\"aborted\",\"ops\":[[\"r\",1,null],[\"w\",1,1]]}\n");
}

TEST(PlayerTest, AFailedRollbackCostsTheConnectionButStaysAborted) {
  for (const Reply reply : {Reply::Aborted, Reply::Failed, Reply::Lost}) {
    FaultyDatabase database([&](Call call) {
      return call == Call::Write || call == Call::Rollback ? std::optional(reply) : std::nullopt;
    });
    auto connection = *database.connect(0);
    Player player(db::Model::Registers, false, Numbers(0, 1, false, 1));
    Transcript transcript;
    const Played played = player.play(
        *connection, {.steps = kProgram}, transcript, [] {}, nullptr);
    EXPECT_EQ(played.status, TxnStatus::Aborted);
    EXPECT_FALSE(played.connection_usable);
  }
}

TEST(PlayerTest, ATransactionThatIsToAbortNeverCommits) {
  FaultyDatabase database([](Call) { return std::nullopt; });
  auto connection = *database.connect(0);
  Player player(db::Model::Registers, false, Numbers(0, 1, false, 1));
  Transcript transcript;
  const Played played = player.play(
      *connection, {.steps = kProgram, .abort = true}, transcript, [] { FAIL(); }, nullptr);
  EXPECT_EQ(played.status, TxnStatus::Aborted);
  EXPECT_TRUE(played.by_choice);
  EXPECT_TRUE(database.kept.empty());
}

TEST(NumbersTest, ClientsNeverShareANumberUnlessTold) {
  std::set<db::Number> seen;
  for (std::uint32_t client = 0; client < 5; ++client) {
    Numbers numbers(client, 5, false, 1);
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(seen.insert(numbers.next()).second);
  }
  std::set<db::Number> few;
  Numbers numbers(0, 5, true, 1);
  for (int i = 0; i < 1000; ++i) few.insert(numbers.next());
  EXPECT_EQ(few.size(), 10u);
}

}  // namespace
}  // namespace ouro::running
