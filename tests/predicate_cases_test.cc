// Predicate reads whose verdict is plain: each by every evidence that says something about it, with
// its certificate and with how it is told.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "ouro/certificate.h"
#include "ouro/check.h"
#include "ouro/explain.h"
#include "ouro/format.h"

namespace ouro {
namespace {

// "holds"; or what is violated, by the name of the first anomaly; or the error. A certificate that
// is not accepted, or a violation that nobody can tell, is a failure.
std::string judged(std::string_view text, Evidence evidence, Level level = Level::Serializable) {
  const auto history = parse_history(text, {}, "h.jsonl");
  if (!history.ok()) return history.error().to_string();
  CheckOptions options;
  options.evidence = evidence;
  const auto verdict = check(*history, level, options);
  if (!verdict.ok()) return verdict.error().to_string();
  const auto checked = certify(*history, make_certificate(*history, *verdict));
  EXPECT_TRUE(checked.ok()) << checked.error().to_string();
  EXPECT_TRUE(!checked.ok() || checked->accepted) << checked->reason << "\n" << text;
  EXPECT_NE(describe(*history, *verdict), "");
  if (verdict->outcome == Outcome::Holds) return "holds";
  return verdict->anomalies.empty() ? "nothing"
                                    : std::string(info(verdict->anomalies[0].kind).name);
}

// ---- weak levels ----

TEST(PredicateCasesTest, WeakLevelsFollowWhatPredicatesSaw) {
  const std::string_view each_other =
      R"({"session":"s","ops":[["aggregate","count",null,{"eq":["a",1]},1,{"versions":[["k1",{"a":1}]]}],["w","k2",{"a":1}]]}
{"session":"t","ops":[["aggregate","count",null,{"eq":["a",1]},1,{"versions":[["k2",{"a":1}]]}],["w","k1",{"a":1}]]}
{"key":"k1","versions":[{"a":1}],"complete":true}
{"key":"k2","versions":[{"a":1}],"complete":true}
)";
  const std::string_view own_future =
      R"({"session":"s","ops":[["aggregate","count",null,{"eq":["a",1]},1,{"versions":[["k1",{"a":1}]]}]]}
{"session":"s","ops":[["w","k1",{"a":1}]]}
{"key":"k1","versions":[{"a":1}],"complete":true}
)";
  for (const Level level : {Level::ReadCommitted, Level::ReadAtomic, Level::Causal}) {
    EXPECT_EQ(judged(each_other, Evidence::Versions, level), "dependency cycle");
    EXPECT_EQ(judged(own_future, Evidence::Versions, level), "dependency cycle");
  }
}

// ---- own writes ----

TEST(PredicateCasesTest, NobodySeesTheirOwnCommit) {
  const std::string_view before =
      R"({"session":"a","start_ts":4,"commit_ts":4,"ops":[["select",true,[]],["w","k1",{"a":3}]]})";
  const std::string_view behind =
      R"({"session":"a","start_ts":1,"commit_ts":1,"ops":[["w","k1",{"a":1}]]}
{"session":"a","start_ts":4,"commit_ts":4,"ops":[["w","k1",{"a":2}],["select",true,[["k1",{"a":2}]]],["w","k1",{"a":3}]]}
)";
  const std::string_view seen =
      R"({"session":"a","start_ts":4,"commit_ts":4,"ops":[["select",true,[["k1",{"a":3}]]],["w","k1",{"a":3}]]})";
  for (const Evidence evidence : {Evidence::Versions, Evidence::Timestamps}) {
    EXPECT_EQ(judged(before, evidence), "holds");
    EXPECT_EQ(judged(behind, evidence), "holds");
    EXPECT_NE(judged(seen, evidence), "holds");
  }
}

// A version set need not list what its transaction wrote itself; but it must not contradict it.
TEST(PredicateCasesTest, OwnWritesCountWhateverTheVersionSetSays) {
  const auto ops = [](const std::string& read) {
    return R"({"session":"b","ops":[["w","k1",{"a":1,"v":0}]]}
{"session":"a","ops":[["w","k1",{"a":1,"v":1}],)" +
           read + R"(]}
{"key":"k1","versions":[{"a":1,"v":0},{"a":1,"v":1}],"complete":true}
)";
  };
  for (const Evidence evidence : {Evidence::Observed, Evidence::Versions}) {
    const auto says = [&](const std::string& read) { return judged(ops(read), evidence); };
    EXPECT_EQ(says(R"(["select",{"eq":["a",1]},[],{"versions":[]}])"), "result-set mismatch");
    EXPECT_EQ(says(R"(["select",{"eq":["a",1]},[["k1",{"a":1,"v":1}]],{"versions":[]}])"), "holds");
    EXPECT_EQ(says(R"(["aggregate","count",null,{"eq":["a",1]},0,{"versions":[]}])"),
              "result-set mismatch");
    EXPECT_EQ(says(R"(["aggregate","count",null,{"eq":["a",1]},1,{"versions":[]}])"), "holds");
    EXPECT_EQ(says(R"(["aggregate","count",null,true,1,{"versions":[["k1",{"a":1,"v":1}]]}])"),
              "holds");
    EXPECT_EQ(says(R"(["aggregate","count",null,true,1,{"versions":[["k1",{"a":1,"v":0}]]}])"),
              "internal inconsistency");
  }
}

// ---- version sets ----

TEST(PredicateCasesTest, WhatWasNeverAbsentMustBeListed) {
  const auto says = [](const std::string& read, const std::string& more = "") {
    return judged(R"({"key":"k1","initial":{"a":1},"versions":[],"complete":true}
{"session":"b","ops":[)" +
                      read + "]}\n" + more,
                  Evidence::Versions);
  };
  const std::string none = R"(["aggregate","count",null,{"eq":["a",1]},0,{"versions":[]}])";
  EXPECT_EQ(says(none), "thin-air read");
  EXPECT_EQ(says(none, R"({"session":"c","status":"aborted","ops":[["d","k1"]]})"), "aborted read");
  EXPECT_EQ(says(R"(["select",{"eq":["a",1]},[],{"versions":[]}])"), "thin-air read");
  EXPECT_EQ(says(R"(["select",{"eq":["a",2]},[],{"versions":[]}])"), "holds");
  EXPECT_EQ(says(R"(["aggregate","count",null,true,1,{"versions":[["k1",{"a":1}]]}])"), "holds");
}

// ---- rows ----

TEST(PredicateCasesTest, RowsAreWhatTheReadAsksForEachOnce) {
  const auto says = [](const std::string& read, Evidence evidence) {
    return judged(R"({"session":"a","start_ts":1,"commit_ts":2,"ops":[["w","k1",{"a":2}]]}
{"session":"b","start_ts":3,"commit_ts":4,"ops":[)" +
                      read + R"(]}
{"key":"k1","versions":[{"a":2}],"complete":true}
)",
                  evidence);
  };
  for (const Evidence evidence : {Evidence::Observed, Evidence::Versions, Evidence::Timestamps}) {
    for (const std::string_view read : {
             R"(["select",{"eq":["a",1]},[["k1",{"a":2}]]])",
             R"(["select",{"eq":["a",2]},[["k1",{"a":2}],["k1",{"a":2}]]])",
             R"(["scan","a","c",[["k1",{"a":2}]]])",
             R"(["scan","a","z",[["k1",{"a":2}],["k1",{"a":2}]]])",
         }) {
      EXPECT_EQ(says(std::string(read), evidence), "result-set mismatch") << read;
    }
    EXPECT_EQ(says(R"(["select",{"eq":["a",2]},[["k1",{"a":2}]]])", evidence), "holds");
    EXPECT_EQ(says(R"(["scan","a","z",[["k1",{"a":2}]]])", evidence), "holds");
  }
}

// ---- tombstones ----

TEST(PredicateCasesTest, ScansNeedNotListTombstones) {
  const std::string_view own =
      R"({"session":"a","start_ts":1,"commit_ts":2,"ops":[["d","k1","tomb"],["scan","k1",null,[]]]})";
  const std::string row = R"({"key":"k1","initial":5})";
  const std::string_view other =
      R"({"session":"a","start_ts":3,"commit_ts":4,"ops":[["d","k1","tomb"],["w","y",1]]}
{"session":"a","start_ts":5,"commit_ts":6,"ops":[["r","y",1],["r","k1","tomb"],["scan","k1","k9",[]]]}
)";
  const std::string_view early =
      R"({"session":"a","start_ts":3,"commit_ts":4,"ops":[["d","k1","tomb"]]}
{"session":"b","start_ts":1,"commit_ts":6,"ops":[["r","k1",5],["scan","k1","k9",[]]]}
)";
  for (const Evidence evidence : {Evidence::Observed, Evidence::Versions, Evidence::Timestamps}) {
    EXPECT_EQ(judged(own, evidence), "holds");
    EXPECT_EQ(judged(row + "\n" + std::string(other), evidence), "holds");
    EXPECT_NE(judged(row + "\n" + std::string(early), evidence), "holds");
  }
}

// A key that starts absent, and is deleted with a tombstone, may be either for a scan that lists
// nothing; unless scans of the history do list tombstones.
TEST(PredicateCasesTest, AbsencesThatMayBeTwoThingsShowNoViolation) {
  const auto outcome = [](const std::string& text) {
    const auto history = parse_history(text, {}, "h.jsonl");
    EXPECT_TRUE(history.ok());
    const auto verdict = check(*history, Level::ReadCommitted);
    return verdict.ok() ? std::string(name(verdict->outcome)) : verdict.error().to_string();
  };
  const std::string writes = R"({"session":"a","ops":[["w","k1",5]]}
{"session":"a","ops":[["d","k1","tomb"],["w","y",1]]}
)";
  const std::string late = R"({"session":"b","ops":[["r","y",1],["scan","k1","k9",[]]]}
)";
  const std::string early = R"({"session":"c","ops":[["scan","k1","k9",[]],["r","y",1]]}
)";
  const std::string lists = R"({"session":"d","ops":[["scan","k1","k9",[["k1","tomb"]]]]}
)";
  EXPECT_EQ(outcome(writes + early), "holds");
  EXPECT_EQ(outcome(writes + early + lists), "holds");
  EXPECT_EQ(
      outcome(writes + late),
      "h.jsonl:3: the scan did not list k1, which may never have been there or be deleted; list "
      "the tombstones that scans meet, like [\"k\",17]");
  EXPECT_EQ(outcome(writes + late + lists), "violated");
}

// ---- sums ----

TEST(PredicateCasesTest, SumsAreExactAndNullOverWhatIsNoNumber) {
  const auto says = [](const std::string& cells, const std::string& sum) {
    std::string writes;
    for (std::size_t at = 0, key = 1; at < cells.size(); ++key) {
      const std::size_t end = std::min(cells.find(' ', at), cells.size());
      writes += (key == 1 ? R"(["w",)" : R"(,["w",)") + std::to_string(key) + R"(,{"a":)" +
                cells.substr(at, end - at) + "}]";
      at = end + 1;
    }
    return judged(R"({"session":"a","start_ts":1,"commit_ts":2,"ops":[)" + writes + R"(]}
{"session":"b","start_ts":3,"commit_ts":4,"ops":[["aggregate","sum","a",true,)" +
                      sum + "]]}\n",
                  Evidence::Timestamps);
  };
  const std::string most = "9223372036854775807";
  const std::string least = "-9223372036854775808";
  EXPECT_EQ(says(most + " " + least, "-1"), "holds");
  EXPECT_EQ(says(most + " " + most, "18446744073709551614"), "holds");
  EXPECT_EQ(says(most + " " + most, "1"), "result-set mismatch");
  EXPECT_EQ(says(most + " " + most + " 1", "18446744073709551615"), "holds");
  EXPECT_EQ(says(most + " " + most + " 2", R"("18446744073709551616")"), "holds");
  EXPECT_EQ(says(most + " " + most + " 2", R"("18446744073709551617")"), "result-set mismatch");
  EXPECT_EQ(says(least + " -1", R"("-9223372036854775809")"), "holds");
  EXPECT_EQ(says(least + " " + most + " " + most, "9223372036854775806"), "holds");
  EXPECT_EQ(says("1000000000000000000 -1", "999999999999999999"), "holds");
  EXPECT_EQ(says(R"("p")", "null"), "holds");
  EXPECT_EQ(says(R"("p" 1)", "1"), "result-set mismatch");
  EXPECT_EQ(says("null 3 4", "7"), "holds");
}

}  // namespace
}  // namespace ouro
