// Orders by hand of two writers of a row and a reader of what it was at 3, by timestamps.
// row_index_test.cc compares random orders with all links of large histories.

#include <gtest/gtest.h>

#include <string>

#include "certify/predicate_reads.h"
#include "tests/case_file.h"

namespace ouro::recheck {
namespace {

// What an order does not keep of the read of what is at least `least`: "" if it keeps all, or
// "T2 too early", "misses T1". "b1 c1 b2 c2 b3 c3" is an order.
std::string broken_link(int least, std::string_view order, PredicateReads::Unseen unseen) {
  const History history =
      oracle::history_of(R"({"session":1,"start_ts":1,"commit_ts":2,"ops":[["w","k",{"n":1}]]})"
                         "\n"
                         R"({"session":2,"start_ts":4,"commit_ts":5,"ops":[["w","k",{"n":2}]]})"
                         "\n"
                         R"({"session":3,"start_ts":3,"commit_ts":6,"ops":[["select",{"ge":["n",)" +
                         std::to_string(least) + "]},[]]]}\n");
  const auto reading = Reading::of(history, Evidence::Versions);
  EXPECT_TRUE(reading.ok());
  const PredicateReads predicates(*reading, PredicateReads::Seeing::Start);
  PredicateReads::Moments moments;
  moments.begun.resize(3);
  moments.committed.resize(3);
  for (std::size_t i = 0; i + 1 < order.size(); i += 3) {
    const auto txn = static_cast<std::size_t>(order[i + 1] - '1');
    (order[i] == 'c' ? moments.committed : moments.begun)[txn] = i;
  }
  const auto broken = predicates.first_broken(moments, unseen);
  if (!broken) return "";
  const std::string writer =
      "T" + std::to_string(reading->access(broken->link.write).txn.index() + 1);
  return broken->link.seen ? "misses " + writer : writer + " too early";
}

constexpr auto kMatter = PredicateReads::Unseen::Matter;
constexpr auto kDoNotMatter = PredicateReads::Unseen::DoNotMatter;

TEST(PredicateOrderTest, AReadIsBehindTheChangesThatItSawAndBeforeTheOthers) {
  EXPECT_EQ(broken_link(1, "b1 c1 b3 c3 b2 c2", kMatter), "");
  EXPECT_EQ(broken_link(1, "b3 c3 b1 c1 b2 c2", kMatter), "misses T1");
  EXPECT_EQ(broken_link(1, "b1 b3 c1 c3 b2 c2", kMatter), "misses T1") << "it commits too late";
  EXPECT_EQ(broken_link(2, "b1 c1 b2 c2 b3 c3", kMatter), "T2 too early");
  EXPECT_EQ(broken_link(2, "b1 c1 b2 c2 b3 c3", kDoNotMatter), "");
}

TEST(PredicateOrderTest, VersionsThatChangeNothingMayStandAnywhere) {
  EXPECT_EQ(broken_link(1, "b1 c1 b2 c2 b3 c3", kMatter), "") << "T2's row matches, too";
  EXPECT_EQ(broken_link(2, "b3 c3 b1 c1 b2 c2", kMatter), "") << "T1's matches no more than none";
  EXPECT_EQ(broken_link(9, "b3 c3 b1 c1 b2 c2", kMatter), "");
}

}  // namespace
}  // namespace ouro::recheck
