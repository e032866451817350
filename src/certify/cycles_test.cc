// Cycles by hand: edges that follow from the history, and edges that do not.

#include "certify/cycles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/case_file.h"

namespace ouro::recheck {
namespace {

using ::testing::HasSubstr;

std::string cycle_complaint(const History& history, Level level, const std::vector<Edge>& cycle,
                            std::int64_t drift = 0) {
  const auto reading = Reading::of(history);
  EXPECT_TRUE(reading.ok());
  const PredicateReads predicates(*reading, PredicateReads::Seeing::Start);
  return Cycles(*reading, predicates, level, drift).complaint(cycle, {}, {});
}

// Both read what the other overwrote. Operations: 0 and 1 are of T1, 2 and 3 of T2.
class WriteSkewCycleTest : public testing::Test {
 protected:
  const History history_ = oracle::history_of("T1 @a: r x nil, w y 1\nT2 @b: r y nil, w x 1\n");
  const KeyId x_ = history_.op(OpId{0}).key;
  const KeyId y_ = history_.op(OpId{1}).key;
  Edge first_{.from = TxnId{0},
              .to = TxnId{1},
              .kind = EdgeKind::ReadWrite,
              .key = x_,
              .from_op = OpId{0},
              .to_op = OpId{3}};
  Edge second_{.from = TxnId{1},
               .to = TxnId{0},
               .kind = EdgeKind::ReadWrite,
               .key = y_,
               .from_op = OpId{2},
               .to_op = OpId{1}};
};

TEST_F(WriteSkewCycleTest, IsOneWhereTransactionsAreSingleMoments) {
  EXPECT_EQ(cycle_complaint(history_, Level::Serializable, {first_, second_}), "");
  EXPECT_THAT(cycle_complaint(history_, Level::Si, {first_, second_}),
              HasSubstr("does not lead to the next one"));
  EXPECT_THAT(cycle_complaint(history_, Level::ParallelSi, {first_, second_}),
              HasSubstr("more than one rw edge"));
  EXPECT_THAT(cycle_complaint(history_, Level::Causal, {first_, second_}),
              HasSubstr("does not follow from the history"));
}

TEST_F(WriteSkewCycleTest, AnyOtherEdgeIsRefused) {
  const auto with = [&](auto change) {
    Edge edge = first_;
    change(edge);
    return cycle_complaint(history_, Level::Serializable, {edge, second_});
  };
  EXPECT_NE(with([&](Edge& e) { e.key = y_; }), "");
  EXPECT_NE(with([](Edge& e) { e.from_op = OpId{1}; }), "");
  EXPECT_NE(with([](Edge& e) { e.to_op = OpId{2}; }), "");
  EXPECT_NE(with([](Edge& e) { e.to_op = OpId{99}; }), "");
  EXPECT_NE(with([](Edge& e) { e.kind = EdgeKind::WriteRead; }), "");
  EXPECT_NE(with([](Edge& e) { e.kind = EdgeKind::Session; }), "");
  EXPECT_NE(with([](Edge& e) { e.to = TxnId{7}; }), "");
  EXPECT_NE(with([](Edge& e) { e.to = TxnId{0}; }), "");
  EXPECT_NE(with([](Edge& e) { e.choice = 0; }), "");
  EXPECT_NE(cycle_complaint(history_, Level::Serializable, {first_}), "");
  EXPECT_NE(cycle_complaint(history_, Level::Serializable, {}), "");
}

TEST(CyclesTest, SessionsAndClocksCountWhereTheLevelHasThem) {
  // T2 did not see what T1 had done, in its session and before it was invoked.
  const History history = oracle::history_of("T1 @a [1,2]: w x 1\nT2 @a [9,9]: r x nil\n");
  const Edge overwritten{.from = TxnId{1},
                         .to = TxnId{0},
                         .kind = EdgeKind::ReadWrite,
                         .key = KeyId{0},
                         .from_op = OpId{1},
                         .to_op = OpId{0}};
  const Edge session{.from = TxnId{0}, .to = TxnId{1}, .kind = EdgeKind::Session};
  const Edge time{.from = TxnId{0}, .to = TxnId{1}, .kind = EdgeKind::RealTime};
  for (const Level level : {Level::SessionSerializable, Level::SessionSi, Level::StrongSi}) {
    EXPECT_EQ(cycle_complaint(history, level, {overwritten, session}), "") << info(level).name;
  }
  EXPECT_NE(cycle_complaint(history, Level::Serializable, {overwritten, session}), "");
  EXPECT_NE(cycle_complaint(history, Level::Gsi, {overwritten, session}), "");
  EXPECT_EQ(cycle_complaint(history, Level::StrictSerializable, {overwritten, time}, 6), "");
  EXPECT_NE(cycle_complaint(history, Level::StrictSerializable, {overwritten, time}, 7), "");
  EXPECT_NE(cycle_complaint(history, Level::SessionSerializable, {overwritten, time}), "");
  const Edge back{.from = TxnId{1}, .to = TxnId{0}, .kind = EdgeKind::RealTime};
  EXPECT_NE(cycle_complaint(history, Level::StrictSerializable, {back, session}), "");
}

TEST(CyclesTest, ChoicesAreBetweenTwoWritersOfAKey) {
  const History history =
      oracle::history_of("T1: w x 1\nT2: w x 2\nT3: r y nil\nT4 aborted: w x 4\n");
  const auto reading = Reading::of(history);
  const PredicateReads predicates(*reading, PredicateReads::Seeing::Start);
  const Cycles cycles(*reading, predicates, Level::Serializable, 0);
  const KeyId x = history.op(OpId{0}).key;
  EXPECT_EQ(cycles.complaint(Choice{x, TxnId{0}, TxnId{1}}), "");
  EXPECT_NE(cycles.complaint(Choice{x, TxnId{0}, TxnId{0}}), "");
  EXPECT_NE(cycles.complaint(Choice{x, TxnId{0}, TxnId{2}}), "");
  EXPECT_NE(cycles.complaint(Choice{x, TxnId{0}, TxnId{3}}), "");
  EXPECT_NE(cycles.complaint(Choice{x, kInitialTxn, TxnId{1}}), "");
}

}  // namespace
}  // namespace ouro::recheck
