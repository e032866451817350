// What a predicate read depends on, row by row.

#include "check/versions/predicate_reads.h"

#include <gtest/gtest.h>

#include "check/versions/row_versions.h"
#include "tests/tiny.h"

namespace ouro {
namespace {

// T1 and T2 write row 1, which matches p = 5 at first and then no longer; T3 asks for p = 5.
std::string asked_for_5(std::string_view rows_and_set, std::string_view attributes = "") {
  return R"({"session":1,"commit_ts":1,"ops":[["w",1,{"p":5}]]}
{"session":2,"commit_ts":3,"ops":[["w",1,{"p":6}]]}
{"session":3,)" +
         std::string(attributes) + R"("ops":[["select",{"eq":["p",5]},)" +
         std::string(rows_and_set) + R"(]]}
{"key":1,"versions":[{"p":5},{"p":6}],"complete":true})";
}

// All edges: "T1 wr T3, T3 rw T2".
std::string edges_of(const std::string& text, SnapshotAt at = SnapshotAt::Start) {
  Tiny t(text, Evidence::Versions);
  const auto reads = PredicateReads::read(t.observed(), at, Budget(), 1);
  if (!reads.ok()) return reads.error().what;
  t.observed().set_predicate_edges(reads->all(t.observed(), Budget(), 1));
  std::vector<Edge> edges;
  for (const PredicateEdge& edge : t.observed().predicate_edges()) {
    const TxnId writer = t.observed().txn(edge.write);
    edges.emplace_back();
    EXPECT_TRUE(edge.overwrites
                    ? explain_predicate(t.observed(), edge.reader, writer, true, edges.back())
                    : explain_predicate(t.observed(), writer, edge.reader, false, edges.back()));
  }
  return Tiny::text(edges);
}

TEST(PredicateReadsTest, AReadFollowsTheLastChangeItSawAndPrecedesTheNext) {
  EXPECT_EQ(edges_of(asked_for_5(R"([[1,{"p":5}]],{"versions":[[1,{"p":5}]]})")),
            "T1 wr T3, T3 rw T2");
  EXPECT_EQ(edges_of(asked_for_5(R"([],{"versions":[]})")), "T3 rw T1");
  EXPECT_EQ(edges_of(asked_for_5(R"([],{"versions":[[1,{"p":6}]]})")), "T2 wr T3");
}

TEST(PredicateReadsTest, WithoutAVersionSetTimestampsSayWhatWasSeen) {
  const std::string text = asked_for_5(R"([[1,{"p":5}]])", R"("start_ts":2,"commit_ts":4,)");
  EXPECT_EQ(edges_of(text), "T1 wr T3, T3 rw T2");
  EXPECT_EQ(edges_of(text, SnapshotAt::Commit), "T2 wr T3");
}

TEST(PredicateReadsTest, ASnapshotMustGiveWhatWasReturned) {
  const auto fits = [](const char* rows, SnapshotAt at) {
    Tiny t(asked_for_5(rows, R"("start_ts":2,"commit_ts":4,)"), Evidence::Versions);
    const auto reads = PredicateReads::read(t.observed(), at, Budget(), 1);
    EXPECT_TRUE(reads->has_snapshots());
    EXPECT_EQ(reads->flaws().empty(), reads->snapshots_fit());
    return reads->snapshots_fit();
  };
  EXPECT_TRUE(fits(R"([[1,{"p":5}]])", SnapshotAt::Start));
  EXPECT_FALSE(fits(R"([[1,{"p":5}]])", SnapshotAt::Commit));
  EXPECT_FALSE(fits("[]", SnapshotAt::Start));
  EXPECT_TRUE(fits("[]", SnapshotAt::Commit));
}

TEST(PredicateReadsTest, OnlyEdgesThatAnOrderDoesNotKeepAreBroken) {
  Tiny t(asked_for_5(R"([[1,{"p":5}]],{"versions":[[1,{"p":5}]]})"), Evidence::Versions);
  const auto reads = PredicateReads::read(t.observed(), SnapshotAt::Start, Budget(), 1);
  const auto broken = [&](std::vector<std::uint32_t> places, bool overwrites) {
    return reads->broken(t.observed(), {places, places}, overwrites, Budget()).size();
  };
  EXPECT_EQ(broken({0, 2, 1}, true), 0u) << "T1 T3 T2";
  EXPECT_EQ(broken({0, 1, 2}, true), 1u) << "T2 before the read";
  EXPECT_EQ(broken({0, 1, 2}, false), 0u) << "not asked for";
  EXPECT_EQ(broken({2, 1, 0}, true), 1u) << "T1 behind the read";
}

TEST(PredicateReadsTest, RowsNeedCompleteOrders) {
  Tiny t(R"({"session":1,"ops":[["w",1,{"p":5}]]}
{"session":2,"ops":[["w",1,{"p":6}]]}
{"session":3,"ops":[["select",{"eq":["p",5]},[],{"versions":[[1,{"p":6}]]}]]}
{"key":1,"versions":[{"p":5},{"p":6}]})",
         Evidence::Versions);
  const auto reads = PredicateReads::read(t.observed(), SnapshotAt::Start, Budget(), 1);
  EXPECT_EQ(reads->partial(), t.key("1"));
  // Or an order of all transactions: T2 T1 T3.
  const Positions order{{1, 0, 2}, {1, 0, 2}};
  const auto placed = PredicateReads::read(t.observed(), SnapshotAt::Start, Budget(), 1, &order);
  EXPECT_FALSE(placed->partial().valid());
  EXPECT_EQ(placed->rows().position(t.key("1"), t.history().op(OpId{1}).value), 1u);
}

TEST(RowVersionsTest, VersionsStandInTheOrderTheyWereInstalled) {
  Tiny t(asked_for_5(R"([],{"versions":[]})"), Evidence::Versions);
  RowVersions rows(t.observed());
  const auto versions = rows.of(t.key("1"));
  ASSERT_EQ(versions.size(), 3u);
  EXPECT_FALSE(versions[0].alive) << "at first the row is absent";
  EXPECT_EQ(t.name(versions[1].write), "T1.1");
  EXPECT_EQ(t.name(versions[2].write), "T2.1");
  EXPECT_EQ(rows.position(t.item(2, 1)), 2u);
  EXPECT_EQ(rows.position(t.key("1"), versions[1].value), 1u);
}

TEST(RowVersionsTest, ASelectFindsTheVersionsThatMatch) {
  Tiny t(asked_for_5(R"([],{"versions":[]})"), Evidence::Versions);
  RowVersions rows(t.observed());
  const PredicateId predicate = t.history().predicate_read(OpId{2}).predicate;
  rows.prepare(predicate);
  std::vector<RowVersions::KeyPosition> places;
  rows.select(predicate, places);
  ASSERT_EQ(places.size(), 1u);
  EXPECT_EQ(places[0].position, 1u);
  EXPECT_TRUE(rows.matches(predicate, places[0]));
  EXPECT_FALSE(rows.matches(predicate, {t.key("1"), 0}));
}

}  // namespace
}  // namespace ouro
