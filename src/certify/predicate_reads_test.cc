// Predicate reads of one row k, which T1 writes with n = 1 and T2 with n = 2, and of which the
// history says what they saw. row_index_test.cc compares links with a walk through all versions of
// large histories.

#include "certify/predicate_reads.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/case_file.h"

namespace ouro::recheck {
namespace {

class PlacedReads {
 public:
  // `ops` are those of T3; the first predicate read among them is looked at.
  explicit PlacedReads(const std::string& ops, const std::string& more = "",
                       const std::string& stamps = "")
      : history_(oracle::history_of(
            std::string(R"({"session":1,)") +
            (stamps.empty() ? "" : R"("start_ts":1,"commit_ts":2,)") +
            R"("ops":[["w","k",{"n":1}]]})"
            "\n"
            R"({"session":2,)" +
            (stamps.empty() ? "" : R"("start_ts":3,"commit_ts":4,)") +
            R"("ops":[["w","k",{"n":2}]]})"
            "\n"
            R"({"session":3,)" +
            stamps + R"("ops":[)" + ops + "]}\n" + more +
            (stamps.empty()
                 ? std::string(R"({"key":"k","versions":[{"n":1},{"n":2}],"complete":true})")
                 : std::string()))),
        reading_(*Reading::of(history_, Evidence::Versions)) {}

  // "follows T1, precedes T2": what is so of the only read, by version.
  [[nodiscard]] std::string depends() const {
    std::string out;
    const auto add = [&](bool is, const char* how, std::size_t txn) {
      if (is) out += (out.empty() ? "" : ", ") + std::string(how) + " T" + std::to_string(txn + 1);
    };
    for (const std::size_t t : {0, 1}) {
      const AccessId write = reading_.first(TxnId{t});
      add(predicates_.follows(read(), write), "follows", t);
      add(predicates_.precedes(read(), write), "precedes", t);
    }
    return out;
  }
  // "T1 seen, T2": the links.
  [[nodiscard]] std::string links() const {
    std::string out;
    for (const PredicateReads::Link& link : predicates_.links(read())) {
      out += (out.empty() ? "T" : ", T") +
             std::to_string(reading_.access(link.write).txn.index() + 1) +
             (link.seen ? " seen" : "");
    }
    return out;
  }
  // The faults of its version set.
  [[nodiscard]] std::string faults() const {
    std::string out;
    for (const PredicateReads::Fault& fault : predicates_.faults(read())) {
      out += (out.empty() ? "" : ", ") + std::string(info(fault.kind).name);
    }
    return out;
  }
  [[nodiscard]] std::size_t wrong_results() const { return predicates_.wrong_results().size(); }
  [[nodiscard]] bool depends_on_time() const { return predicates_.depend_on_time(); }

 private:
  [[nodiscard]] OpId read() const { return predicates_.reads()[0]; }

  const History history_;
  const Reading reading_;
  const PredicateReads predicates_{reading_, PredicateReads::Seeing::Start};
};

// A select of what is at least `least`, which saw that version of k.
PlacedReads saw(const std::string& version, int least = 1) {
  const bool returned =
      version != "null" && version.find("\"n\":") != version.npos && version[5] - '0' >= least;
  return PlacedReads(R"(["select",{"ge":["n",)" + std::to_string(least) + "]},[" +
                     (returned ? R"(["k",)" + version + "]" : "") + R"(],{"versions":[["k",)" +
                     version + "]]}]");
}

TEST(PlacedReadsTest, AReadDependsOnTheChangesAroundTheVersionThatItSaw) {
  EXPECT_EQ(saw("null").depends(), "precedes T1, precedes T2");
  EXPECT_EQ(saw("null").links(), "T1");
  EXPECT_EQ(saw(R"({"n":1})").depends(), "follows T1") << "both match, so T2 changes nothing";
  EXPECT_EQ(saw(R"({"n":1})").links(), "T1 seen");
  EXPECT_EQ(saw(R"({"n":2})").depends(), "follows T1, follows T2") << "it returned T2's version";
  EXPECT_EQ(saw(R"({"n":1})", 2).depends(), "precedes T2");
  EXPECT_EQ(saw(R"({"n":1})", 2).links(), "T2");
  EXPECT_EQ(saw(R"({"n":2})", 3).depends(), "") << "nothing ever matched";
  EXPECT_EQ(saw(R"({"n":2})", 3).links(), "");
}

TEST(PlacedReadsTest, OfAColumnThatIsAddedUpEveryChangeCounts) {
  const PlacedReads sum(R"(["aggregate","sum","n",true,1,{"versions":[["k",{"n":1}]]}])");
  EXPECT_EQ(sum.depends(), "follows T1, precedes T2");
  const PlacedReads count(R"(["aggregate","count","n",true,1,{"versions":[["k",{"n":1}]]}])");
  EXPECT_EQ(count.depends(), "follows T1");
}

TEST(PlacedReadsTest, WhatItsTransactionWroteBeforeItDoesNotCount) {
  const PlacedReads own(
      R"(["w","k",{"n":0}],["select",{"ge":["n",1]},[],{"versions":[["k",{"n":1}]]}])", "", "");
  EXPECT_EQ(own.depends(), "");
  EXPECT_EQ(own.links(), "");
}

TEST(PlacedReadsTest, AKeyThatAVersionSetDoesNotListWasAbsent) {
  const PlacedReads absent(R"(["select",true,[],{"versions":[]}])");
  EXPECT_EQ(absent.links(), "T1");
  EXPECT_EQ(absent.faults(), "");
  EXPECT_FALSE(absent.depends_on_time());
}

TEST(PlacedReadsTest, AVersionSetHasVersionsThatItsTransactionMaySee) {
  EXPECT_EQ(saw(R"({"n":2})", 3).faults(), "");
  EXPECT_EQ(saw(R"({"n":7})", 9).faults(), "thin-air read");
  const auto faults = [](const std::string& more) {
    return PlacedReads(R"(["select",{"ge":["n",9]},[],{"versions":[["k",{"n":1}],["m",{"n":5}]]}])",
                       more)
        .faults();
  };
  EXPECT_EQ(faults(""), "thin-air read");
  EXPECT_EQ(faults(R"({"session":4,"status":"aborted","ops":[["w","m",{"n":5}]]})"
                   "\n"),
            "aborted read");
  EXPECT_EQ(faults(R"({"session":4,"ops":[["w","m",{"n":5}],["w","m",{"n":6}]]})"
                   "\n"
                   R"({"key":"m","versions":[{"n":6}],"complete":true})"
                   "\n"),
            "intermediate read");
}

TEST(PlacedReadsTest, WithoutAVersionSetItSeesWhatIsCommittedWhenItStarts) {
  const auto at = [](int start, const std::string& result) {
    const std::string time = std::to_string(start);
    return PlacedReads(R"(["select",{"ge":["n",2]},[)" + result + "]]", "",
                       R"("start_ts":)" + time + R"(,"commit_ts":9,)");
  };
  const std::string row = R"(["k",{"n":2}])";
  EXPECT_TRUE(at(3, "").depends_on_time());
  EXPECT_EQ(at(3, "").wrong_results(), 0u);
  EXPECT_EQ(at(3, "").links(), "T2");
  EXPECT_EQ(at(4, row).wrong_results(), 0u) << "T2 commits at 4";
  EXPECT_EQ(at(4, "").wrong_results(), 1u);
  EXPECT_EQ(at(4, row).links(), "T2 seen");
  EXPECT_EQ(at(-9, "").wrong_results(), 0u);
}

}  // namespace
}  // namespace ouro::recheck
