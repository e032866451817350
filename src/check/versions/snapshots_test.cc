// Predicate reads without version sets, by timestamps: their results, and orders that break them.

#include "check/versions/snapshots.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/tiny.h"

namespace ouro {
namespace {

// T1 writes n = 1 into k at 2, T2 n = 2 at 5. T3 starts at 3 and commits at 9.
struct SnapshotReads {
  explicit SnapshotReads(const std::string& ops)
      : t(R"({"session":1,"start_ts":1,"commit_ts":2,"ops":[["w","k",{"n":1}]]})"
          "\n"
          R"({"session":2,"start_ts":4,"commit_ts":5,"ops":[["w","k",{"n":2}]]})"
          "\n"
          R"({"session":3,"start_ts":3,"commit_ts":9,"ops":[)" +
              ops + "]}\n" + R"({"key":"k","versions":[{"n":1},{"n":2}],"complete":true})",
          Evidence::Versions) {
    const History& h = t.history();
    for (OpId op = h.first_op(TxnId{2}); op < h.end_op(TxnId{2}); ++op.value) {
      if (is_predicate_read(h.op(op).kind)) reads.push_back({TxnId{2}, op});
    }
  }
  // What the reads should have returned at a moment, where they did not.
  std::string wrong(SnapshotAt at) {
    std::string out;
    for (const PredicateFlaw& flaw : compare_results(t.observed(), rows, at, reads, Budget(), 1)) {
      out += (out.empty() ? "" : " ") + flaw.expected;
    }
    return out;
  }
  // "T3 T1": the edges that begins and commits at these positions break.
  std::string broken(std::vector<std::uint32_t> begin, std::vector<std::uint32_t> commit,
                     bool overwrites = true) {
    const Positions positions{std::move(begin), std::move(commit)};
    std::string out;
    for (const PredicateEdge& edge : broken_by_snapshots(t.observed(), rows, SnapshotAt::Start,
                                                         reads, positions, overwrites, Budget())) {
      out += (edge.overwrites ? "rw " : "wr ") + Tiny::name(t.observed().txn(edge.write)) + ' ';
    }
    return out;
  }

  Tiny t;
  RowVersions rows{t.observed()};
  std::vector<PredicateReads::Seen> reads;
};

TEST(SnapshotsTest, AResultIsThatOfTheMomentWithOwnWrites) {
  SnapshotReads start(R"(["aggregate","sum","n",true,1])");
  EXPECT_EQ(start.wrong(SnapshotAt::Start), "");
  EXPECT_EQ(start.wrong(SnapshotAt::Commit), "2");
  SnapshotReads own(R"(["w","j",{"n":5}],["aggregate","sum","n",true,6],["d","k"],)"
                    R"(["aggregate","count",null,true,2])");
  EXPECT_EQ(own.wrong(SnapshotAt::Start), "1");
  EXPECT_EQ(own.wrong(SnapshotAt::Commit), "7 1");
  EXPECT_EQ(SnapshotReads(R"(["select",{"gt":["n",5]},[]])").wrong(SnapshotAt::Start), "");
  EXPECT_EQ(SnapshotReads(R"(["aggregate","sum","n",true])").wrong(SnapshotAt::Start), "")
      << "nobody recorded it";
}

TEST(SnapshotsTest, AnOrderMustKeepWhatTheSnapshotSaw) {
  SnapshotReads reads(R"(["aggregate","sum","n",true,1])");
  EXPECT_EQ(reads.broken({0, 4, 2}, {1, 5, 3}), "");
  EXPECT_EQ(reads.broken({0, 2, 4}, {1, 3, 5}), "rw T2 ");
  EXPECT_EQ(reads.broken({0, 2, 4}, {1, 3, 5}, false), "");
  EXPECT_EQ(reads.broken({2, 4, 0}, {3, 5, 1}), "wr T1 ");
  // Whether T2 or T1 is there does not matter to a count.
  SnapshotReads count(R"(["aggregate","count",null,true,1])");
  EXPECT_EQ(count.broken({0, 2, 4}, {1, 3, 5}), "");
}

}  // namespace
}  // namespace ouro
