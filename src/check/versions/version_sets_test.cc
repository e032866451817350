// What is wrong with version sets, and the edges of their reads, row by row.

#include "check/versions/version_sets.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/tiny.h"

namespace ouro {
namespace {

// T1 and T2 write n = 1 and n = 2 into k; T3 aborts with n = 3. T4 has the version set.
struct JudgedSet {
  explicit JudgedSet(const std::string& ops, const std::string& orders = R"([{"n":1},{"n":2}])")
      : t(R"({"session":1,"ops":[["w","k",{"n":1}]]})"
          "\n"
          R"({"session":2,"ops":[["w","k",{"n":2}]]})"
          "\n"
          R"({"session":3,"status":"aborted","ops":[["w","k",{"n":3}]]})"
          "\n"
          R"({"session":4,"ops":[)" +
              ops + "]}\n" + R"({"key":"k","versions":)" + orders + R"(,"complete":true})",
          Evidence::Versions) {
    RowVersions rows(t.observed());
    const History& h = t.history();
    OpId read = h.first_op(TxnId{3});
    while (!is_predicate_read(h.op(read).kind)) ++read.value;
    rows.prepare(h.predicate_read(read).predicate);
    const PredicateReads::Seen seen[] = {{TxnId{3}, read}};
    found = judge_version_sets(t.observed(), rows, SnapshotAt::Start, seen, Budget(), 1,
                               EdgesKept::OfRows);
  }
  // "T1 seen, T2": the links.
  [[nodiscard]] std::string links() {
    std::string out;
    for (const PredicateEdge& edge : found.links) {
      out += (out.empty() ? "" : ", ") + Tiny::name(t.observed().txn(edge.write)) +
             (edge.overwrites ? "" : " seen");
    }
    return out;
  }
  [[nodiscard]] std::string flaws() const {
    std::string out;
    for (const PredicateFlaw& flaw : found.flaws) {
      out += (out.empty() ? "" : ", ") + std::string(info(flaw.kind).name);
    }
    return out;
  }

  Tiny t;
  VersionSetFindings found;
};

JudgedSet selected(const std::string& least, const std::string& versions,
                   const std::string& rows = "") {
  return JudgedSet(R"(["select",{"ge":["n",)" + least + "]},[" + rows + R"(],{"versions":[)" +
                   versions + "]}]");
}

TEST(VersionSetsTest, AReadIsBetweenTheChangesAroundWhatItSaw) {
  EXPECT_EQ(selected("2", R"(["k",{"n":1}])").links(), "T2");
  EXPECT_EQ(selected("2", R"(["k",{"n":2}])", R"(["k",{"n":2}])").links(), "T2 seen");
  EXPECT_EQ(selected("1", R"(["k",{"n":2}])", R"(["k",{"n":2}])").links(), "T1 seen");
  EXPECT_EQ(selected("1", "").links(), "T1") << "it was absent";
  EXPECT_EQ(selected("9", R"(["k",{"n":1}])").links(), "");
}

TEST(VersionSetsTest, EveryChangeOfTheColumnCountsForASum) {
  EXPECT_EQ(JudgedSet(R"(["aggregate","sum","n",true,1,{"versions":[["k",{"n":1}]]}])").links(),
            "T1 seen, T2");
  EXPECT_EQ(JudgedSet(R"(["aggregate","count",null,true,1,{"versions":[["k",{"n":1}]]}])").links(),
            "T1 seen");
}

TEST(VersionSetsTest, VersionsThatNobodyMaySeeAreFlaws) {
  EXPECT_EQ(selected("9", R"(["k",{"n":2}])").flaws(), "");
  EXPECT_EQ(selected("9", R"(["k",{"n":3}])").flaws(), "aborted read");
  EXPECT_EQ(selected("9", R"(["k",{"n":7}])").flaws(), "thin-air read");
  EXPECT_EQ(JudgedSet(R"(["select",{"ge":["n",9]},[],{"versions":[["k",{"n":4}]]}],)"
                      R"(["w","k",{"n":4}])",
                      R"([{"n":1},{"n":2},{"n":4}])")
                .flaws(),
            "future read");
}

TEST(VersionSetsTest, OwnWritesAreNeitherFlawsNorLinks) {
  JudgedSet own(R"(["w","k",{"n":4}],["select",{"ge":["n",9]},[],{"versions":[]}])",
                R"([{"n":1},{"n":2},{"n":4}])");
  EXPECT_EQ(own.flaws(), "");
  EXPECT_EQ(own.links(), "");
}

}  // namespace
}  // namespace ouro
