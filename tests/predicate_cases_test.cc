// Predicate reads whose verdict is plain: each by every evidence that says something about it, with
// its certificate and with how it is told.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ouro/certificate.h"
#include "ouro/check.h"
#include "ouro/explain.h"
#include "ouro/format.h"
#include "tests/this_build.h"

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

// What a predicate read missed must not be what its transaction knew of, as the level means it.
TEST(PredicateCasesTest, WeakLevelsForbidToMissWhatIsKnown) {
  const std::string_view orders = R"({"key":"k1","versions":[{"a":1},{"a":2}],"complete":true}
{"key":"y","versions":[1,2],"complete":true}
)";
  const auto outcomes = [&](std::string_view text) {
    std::string out;
    for (const Level level : {Level::ReadCommitted, Level::ReadAtomic, Level::Causal}) {
      const std::string said =
          judged(std::string(text) + std::string(orders), Evidence::Versions, level);
      out += (out.empty() ? "" : ", ") + said;
    }
    return out;
  };
  // T2 overwrote the row so that it no longer matches; T3 reads from T2.
  const std::string writers = R"({"session":"s","ops":[["w","k1",{"a":1}],["w","y",1]]}
{"session":"t","ops":[["w","k1",{"a":2}],["w","y",2]]}
)";
  const std::string count =
      R"(["aggregate","count",null,{"eq":["a",1]},1,{"versions":[["k1",{"a":1}]]}])";
  const auto reader = [](const std::string& session, const std::string& ops) {
    return R"({"session":")" + session + R"(","ops":[)" + ops + "]}\n";
  };
  EXPECT_EQ(outcomes(writers + reader("u", count + R"(,["r","y",1])")), "holds, holds, holds");
  EXPECT_EQ(outcomes(writers + reader("u", R"(["r","y",2],)" + count)),
            "non-monotonic read, fractured read, causality violation");
  EXPECT_EQ(outcomes(writers + reader("u", count + R"(,["r","y",2])")),
            "holds, fractured read, causality violation");
  EXPECT_EQ(outcomes(writers + reader("t", count)), "holds, fractured read, causality violation");
  // T3 knows of T2 through T4 only.
  EXPECT_EQ(outcomes(writers + reader("v", R"(["r","y",2],["w","z",1])") +
                     reader("u", R"(["r","z",1],)" + count) +
                     R"({"key":"z","versions":[1],"complete":true})" + "\n"),
            "holds, holds, causality violation");
  EXPECT_EQ(outcomes(writers + reader("v", R"(["r","y",2])") + reader("v", R"(["r","z",null])") +
                     reader("v", count)),
            "holds, holds, causality violation");
  // What changes nothing for the condition is not missed.
  EXPECT_EQ(outcomes(writers + reader("u", R"(["r","y",2],)" +
                                               std::string(R"(["select",{"ge":["a",3]},[],)"
                                                           R"({"versions":[["k1",{"a":1}]]}])"))),
            "holds, holds, holds");
  // By its start timestamp T3 saw nothing yet, but it read from T2.
  EXPECT_EQ(
      outcomes(R"({"session":"s","start_ts":1,"commit_ts":2,"ops":[["w","k1",{"a":1}],["w","y",1]]}
{"session":"t","start_ts":5,"commit_ts":6,"ops":[["w","k1",{"a":2}],["w","y",2]]}
{"session":"u","start_ts":3,"commit_ts":4,"ops":[["r","y",2],["aggregate","count",null,{"eq":["a",1]},1]]}
)"),
      "non-monotonic read, fractured read, causality violation");
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

// ---- aggregates ----

// Two accounts of 5 each; somebody moves 1 from x to y, or two clients take all of one account.
std::string accounts(const std::string& txns) {
  return R"({"key":"x","initial":{"b":5,"n":0},"versions":[{"b":4,"n":1}],"complete":true}
{"key":"y","initial":{"b":5,"n":0},"versions":[{"b":6,"n":1}],"complete":true}
)" + txns;
}

// An overwrite that still matches changes the sum.
TEST(PredicateCasesTest, OverwrittenRowsThatStillMatchChangeAggregates) {
  const std::string moves =
      R"({"session":"a","ops":[["w","x",{"b":4,"n":1}],["w","y",{"b":6,"n":1}]]})";
  const auto read = [](const std::string& what, const std::string& x, const std::string& y) {
    return "\n{\"session\":\"b\",\"ops\":[[\"aggregate\"," + what + R"(,{"versions":[["x",)" + x +
           "],[\"y\"," + y + "]]}]]}\n";
  };
  const std::string before = R"({"b":5,"n":0})";
  const std::string x = R"({"b":4,"n":1})";
  const std::string y = R"({"b":6,"n":1})";
  const auto says = [&](const std::string& reads, Level level) {
    return judged(accounts(moves + reads), Evidence::Versions, level);
  };
  for (const Level level : {Level::ParallelSi, Level::SessionSi, Level::Serializable}) {
    EXPECT_EQ(says(read(R"("sum","b",true,9)", x, before), level), "forbidden cycle");
    EXPECT_EQ(says(read(R"("min","b",true,4)", x, before), level), "forbidden cycle");
    EXPECT_EQ(says(read(R"("max","b",true,6)", before, y), level), "forbidden cycle");
    EXPECT_EQ(says(read(R"("sum","b",true,10)", x, y), level), "holds");
    EXPECT_EQ(says(read(R"("sum","b",true,10)", before, before), level), "holds");
    // These are no different before and after.
    EXPECT_EQ(says(read(R"("count",null,true,2)", x, before), level), "holds");
    EXPECT_EQ(says(read(R"("count","b",true,2)", x, before), level), "holds");
    EXPECT_EQ(says(read(R"("sum","c",true,null)", x, before), level), "holds");
  }
}

TEST(PredicateCasesTest, WriteSkewThroughSumsIsFound) {
  const std::string sum =
      R"(["aggregate","sum","b",true,10,{"versions":[["x",{"b":5,"n":0}],["y",{"b":5,"n":0}]]}])";
  const std::string skew = accounts(R"({"session":"a","ops":[)" + sum +
                                    R"(,["w","x",{"b":4,"n":1}]]}
{"session":"b","ops":[)" + sum + R"(,["w","y",{"b":6,"n":1}]]}
)");
  EXPECT_EQ(judged(skew, Evidence::Versions, Level::SessionSi), "holds");
  EXPECT_EQ(judged(skew, Evidence::Versions, Level::RepeatableRead), "holds");
  EXPECT_EQ(judged(skew, Evidence::Versions), "forbidden cycle");
}

// ---- reads that do not say what they saw ----

TEST(PredicateCasesTest, ResultsThatNoVersionsGiveAreWrongAtEveryLevel) {
  const auto says = [](const std::string& read, Level level) {
    return judged(R"({"key":"k1","initial":{"a":1},"versions":[{"a":2}],"complete":true}
{"session":"a","ops":[["w","k1",{"a":2}]]}
{"session":"b","ops":[)" +
                      read + "]}\n",
                  Evidence::Versions, level);
  };
  for (const LevelInfo& level : levels()) {
    const auto says_here = [&](const std::string& read) { return says(read, level.level); };
    EXPECT_EQ(says_here(R"(["select",{"gt":["a",0]},[]])"), "result-set mismatch");
    EXPECT_EQ(says_here(R"(["aggregate","count",null,true,2])"), "result-set mismatch");
    EXPECT_EQ(says_here(R"(["aggregate","sum","a",true,3])"), "result-set mismatch");
    EXPECT_EQ(says_here(R"(["aggregate","max","a",true,null])"), "result-set mismatch");
    EXPECT_EQ(says_here(R"(["w","k2",{"a":7}],["select",{"eq":["a",7]},[]])"),
              "result-set mismatch");
    EXPECT_EQ(says_here(R"(["select",{"eq":["a",1]},[]])"), "holds");
    EXPECT_EQ(says_here(R"(["select",{"eq":["a",2]},[]])"), "holds");
    EXPECT_EQ(says_here(R"(["aggregate","sum","a",true,2])"), "holds");
    EXPECT_EQ(says_here(R"(["aggregate","min","a",true,1])"), "holds");
  }
}

// k1 matches between T1 and T2. A select that returns nothing is before T1 or after T2.
TEST(PredicateCasesTest, SelectsThatDoNotSayWhatTheySawComeBeforeOrAfterTheRow) {
  const auto says = [](const std::string& reads, Level level = Level::Serializable) {
    return judged(R"({"session":"a","ops":[["w","k1",{"a":1}],["w","x",1]]}
{"session":"b","ops":[["w","k1",{"a":0}],["w","y",1]]}
{"session":"c","ops":[)" +
                      reads + R"(]}
{"key":"k1","versions":[{"a":1},{"a":0}],"complete":true}
{"key":"x","versions":[1],"complete":true}
{"key":"y","versions":[1],"complete":true}
)",
                  Evidence::Versions, level);
  };
  const std::string select = R"(["select",{"eq":["a",1]},[]])";
  const std::string count = R"(["aggregate","count",null,{"eq":["a",1]},0])";
  for (const std::string& read : {select, count}) {
    EXPECT_EQ(says(read), "holds");
    EXPECT_EQ(says(read + R"(,["r","x",1])"), "holds");
    EXPECT_EQ(says(read + R"(,["r","y",null])"), "holds");
    for (const Level level : {Level::Causal, Level::Prefix, Level::Si, Level::Serializable}) {
      EXPECT_EQ(says(read + R"(,["r","x",1],["r","y",null])", level), "contradictory order");
    }
    EXPECT_EQ(says(read + R"(,["r","x",1],["r","y",null])", Level::RepeatableRead), "holds");
    EXPECT_EQ(says(read + R"(,["r","x",1],["r","y",null])", Level::ReadCommitted), "holds");
  }
}

// A certificate has one case for each side of each choice, and what is wrong in it.
TEST(PredicateCasesTest, CasesOfPredicateReadsMustBeComplete) {
  const auto history = parse_history(
      R"({"session":"a","ops":[["w","k1",{"a":1}],["w","x",1]]}
{"session":"b","ops":[["w","k1",{"a":0}],["w","y",1]]}
{"session":"c","ops":[["select",{"eq":["a",1]},[]],["r","x",1],["r","y",null]]}
{"key":"k1","versions":[{"a":1},{"a":0}],"complete":true}
{"key":"x","versions":[1],"complete":true}
{"key":"y","versions":[1],"complete":true}
)",
      {}, "h.jsonl");
  ASSERT_TRUE(history.ok());
  CheckOptions options;
  options.evidence = Evidence::Versions;
  const auto verdict = check(*history, Level::Serializable, options);
  ASSERT_TRUE(verdict.ok() && verdict->cases.size() == 2);
  const Certificate whole = make_certificate(*history, *verdict);
  const auto accepted = [&](const Certificate& certificate) {
    const auto parsed = parse_certificate(print_certificate(certificate), "c.jsonl");
    EXPECT_TRUE(parsed.ok());
    const auto checked = certify(*history, *parsed);
    return checked.ok() && checked->accepted;
  };
  EXPECT_TRUE(accepted(whole));
  Certificate part = whole;
  part.verdict.cases.pop_back();
  EXPECT_FALSE(accepted(part));
  Certificate swapped = whole;
  std::swap(swapped.verdict.cases[0].sights, swapped.verdict.cases[1].sights);
  EXPECT_FALSE(accepted(swapped));
  Certificate twice = whole;
  twice.verdict.cases[1] = twice.verdict.cases[0];
  EXPECT_FALSE(accepted(twice));
  Certificate other = whole;
  for (SourceCase& each : other.verdict.cases) each.sights[0].writer = TxnId{2};
  EXPECT_FALSE(accepted(other));
}

TEST(PredicateCasesTest, TornSumsAreFoundWithoutVersionSets) {
  const auto says = [](const std::string& sum, Level level = Level::Serializable) {
    return judged(
        accounts(R"({"session":"a","ops":[["w","x",{"b":4,"n":1}],["w","y",{"b":6,"n":1}]]}
{"session":"b","ops":[["aggregate","sum","b",true,)" +
                 sum + "]]}\n"),
        Evidence::Versions, level);
  };
  EXPECT_EQ(says("10"), "holds");
  EXPECT_EQ(says("9"), "forbidden cycle");
  EXPECT_EQ(says("11", Level::Si), "forbidden cycle");
  EXPECT_EQ(says("9", Level::ReadCommitted), "holds");
  EXPECT_EQ(says("12"), "result-set mismatch");
}

// ---- version orders that are not complete ----

TEST(PredicateCasesTest, PartialOrdersDoNotKeepPredicatesFromBeingDecided) {
  const auto says = [](const std::string& read) {
    return judged(R"({"session":"a","ops":[["w","k1",{"a":1}]]}
{"session":"b","ops":[["w","k1",{"a":0}]]}
{"session":"c","ops":[["w","k1",{"a":2}]]}
{"session":"d","ops":[)" +
                      read + R"(]}
{"key":"k1","versions":[{"a":1},{"a":0}]}
)",
                  Evidence::Versions);
  };
  EXPECT_EQ(says(R"(["select",{"eq":["a",1]},[],{"versions":[["k1",{"a":2}]]}])"), "holds");
  EXPECT_EQ(says(R"(["select",{"eq":["a",1]},[["k1",{"a":1}]],{"versions":[["k1",{"a":1}]]}])"),
            "holds");
  EXPECT_EQ(says(R"(["select",{"eq":["a",1]},[],{"versions":[["k1",{"a":9}]]}])"), "thin-air read");
  EXPECT_EQ(says(R"(["aggregate","sum","a",true,2])"), "holds");
  EXPECT_EQ(says(R"(["aggregate","sum","a",true,3])"), "result-set mismatch");
}

// ---- scans ----

// The version set says whether the scan met the tombstone or came before the row.
TEST(PredicateCasesTest, VersionSetsOfScansSayWhichAbsenceTheySaw) {
  const auto says = [](const std::string& y, const std::string& set, Evidence evidence,
                       Level level = Level::Serializable) {
    return judged(R"({"session":"a","ops":[["w","k1",5]]}
{"session":"a","ops":[["d","k1","tomb"],["w","y",1]]}
{"session":"b","ops":[["scan","k1","k9",[],{"versions":[)" +
                      set + R"(]}],["r","y",)" + y + R"(]]}
{"key":"k1","versions":[5,"tomb"],"complete":true}
{"key":"y","versions":[1],"complete":true}
)",
                  evidence, level);
  };
  const std::string tomb = R"(["k1","tomb"])";
  for (const Evidence evidence : {Evidence::Observed, Evidence::Versions}) {
    EXPECT_EQ(says("1", tomb, evidence), "holds");
    EXPECT_EQ(says("null", "", evidence), "holds");
    EXPECT_EQ(says("null", tomb, evidence), "forbidden cycle");
    EXPECT_EQ(says("1", "", evidence), "forbidden cycle");
    EXPECT_EQ(says("1", R"(["k1","other"])", evidence), "thin-air read");
    EXPECT_EQ(says("1", R"(["k1",5])", evidence), "result-set mismatch");
  }
  EXPECT_EQ(says("1", "", Evidence::Versions, Level::RepeatableRead), "holds");
}

// A list between the rows is none that the scan missed.
TEST(PredicateCasesTest, ListsAreNoRowsOfAScan) {
  const std::string_view serial =
      R"({"session":"a","start_ts":1,"commit_ts":2,"ops":[["append","l",1],["w","k",7]]}
{"session":"a","start_ts":3,"commit_ts":4,"ops":[["r","l",[1]],["scan","a","z",[["k",7]]],["select",true,[["k",7]]]]}
{"key":"k","versions":[7],"complete":true}
)";
  const std::string_view with_sets =
      R"({"session":"a","ops":[["append","l",1],["w","k",7]]}
{"session":"a","ops":[["r","l",[1]],["scan","a","z",[["k",7]],{"versions":[["k",7]]}],["select",true,[["k",7]],{"versions":[["k",7]]}]]}
{"key":"k","versions":[7],"complete":true}
)";
  for (const Evidence evidence : {Evidence::Observed, Evidence::Versions, Evidence::Timestamps}) {
    EXPECT_EQ(judged(serial, evidence), "holds");
    if (evidence == Evidence::Timestamps) continue;
    EXPECT_EQ(judged(with_sets, evidence), "holds");
  }
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

// ---- moments ----

// If start_ts > commit_ts, the transaction begins at its commit, so its select should have seen the
// row.
TEST(PredicateCasesTest, SelectsOfInvertedTimestampsAreJudged) {
  const std::string_view inverted =
      R"({"session":"a","start_ts":1,"commit_ts":2,"ops":[["w","x",{"c":1}]]}
{"session":"b","start_ts":9,"commit_ts":3,"ops":[["select",{"eq":["c",1]},[]]]}
)";
  EXPECT_EQ(judged(inverted, Evidence::Versions, Level::ReadCommitted), "result-set mismatch");
}

// The aggregate fits the state at its start and that at its commit. Only by the latter it follows
// line 5; but by both it missed line 3, so that is told.
TEST(PredicateCasesTest, WhatIsWrongAtEitherMomentIsTold) {
  const auto history = parse_history(
      R"({"key":"b","initial":{"v":1,"c":1}}
{"key":"c","initial":{"v":2,"c":1}}
{"session":"s","start_ts":5,"commit_ts":6,"ops":[["w","c",{"v":4,"c":0}]]}
{"session":"s","start_ts":2,"commit_ts":4,"ops":[["aggregate","max","v",{"eq":["c",1]},2]]}
{"session":"s","start_ts":3,"commit_ts":3,"ops":[["w","b",{"v":5}]]}
)",
      {}, "h.jsonl");
  ASSERT_TRUE(history.ok()) << history.error().to_string();
  CheckOptions options;
  options.evidence = Evidence::Versions;
  const auto verdict = check(*history, Level::Prefix, options);
  ASSERT_TRUE(verdict.ok() && verdict->outcome == Outcome::Violated);
  ASSERT_EQ(verdict->anomalies.size(), 1U);
  EXPECT_EQ(verdict->anomalies[0].txns, (std::vector<TxnId>{TxnId{1}, TxnId{0}}));
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

// A scan that lists nothing may have found a key absent from the start, or deleted with a
// tombstone; unless scans of the history list tombstones.
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
  EXPECT_EQ(outcome(writes + late), "holds");
  EXPECT_EQ(outcome(writes + late + lists), "violated");
}

// A random history of two keys, deletes with tombstones, and scans that list none.
class UnlistedTombstones {
 public:
  explicit UnlistedTombstones(std::uint64_t seed) : random_(seed) {
    for (std::size_t txn = 0; txn < 4; ++txn) add_txn(txn);
  }

  // The history, with scans, or with the reads of the `reading`th way to understand them.
  [[nodiscard]] std::string text(std::optional<std::size_t> reading) const {
    std::string out;
    for (const auto& [session, ops] : txns_) {
      out += "{\"session\":" + std::to_string(session) + ",\"ops\":[";
      for (std::size_t i = 0; i < ops.size(); ++i) out += (i == 0 ? "" : ",") + op(ops[i], reading);
      out += "]}\n";
    }
    return out;
  }
  // How many ways there are to understand all scans; zero: too many.
  [[nodiscard]] std::size_t readings() const {
    const bool many = tombstones_[0].size() >= kWays || tombstones_[1].size() >= kWays;
    return many || readings_ > 81 ? 0 : readings_;
  }

 private:
  static constexpr std::size_t kKeys = 2;
  struct Made {
    std::string text;                        // Of all but scans.
    std::array<std::string, kKeys> found;    // By a scan: a value, or empty.
    std::array<std::size_t, kKeys> digit{};  // Of the reading that says what the scan passed over.
  };

  std::size_t pick(std::size_t count) { return random_() % count; }

  void add_txn(std::size_t number) {
    auto& [session, ops] = txns_.emplace_back(pick(2), std::vector<Made>());
    std::array<bool, kKeys> own{};
    for (std::size_t i = 0, count = 1 + pick(3); i < count; ++i) {
      const std::size_t key = pick(kKeys);
      const std::string name = std::to_string(key);
      if (const std::size_t which = pick(4); which < 2 && !own[key]) {
        const std::string value = std::to_string(10 * number + i + 1);
        (which == 0 ? written_ : tombstones_)[key].push_back(value);
        ops.push_back(
            {std::string(which == 0 ? "[\"w\"," : "[\"d\",") + name + "," + value + "]", {}, {}});
        own[key] = true;
      } else if (!own[0] && !own[1]) {
        ops.push_back({});
        for (std::size_t k = 0; k < kKeys; ++k) {
          if (!written_[k].empty() && pick(2) == 0) {
            ops.back().found[k] = written_[k][pick(written_[k].size())];
            continue;
          }
          ops.back().digit[k] = readings_;
          readings_ *= kWays;
        }
      }
    }
  }

  // A scan that does not list a key saw one of its tombstones, of which there are at most two, or
  // found it absent.
  static constexpr std::size_t kWays = 3;
  [[nodiscard]] std::string op(const Made& made, std::optional<std::size_t> reading) const {
    if (!made.text.empty()) return made.text;
    std::string rows;
    std::string reads;
    for (std::size_t k = 0; k < kKeys; ++k) {
      const std::string name = std::to_string(k);
      std::string value = made.found[k];
      if (!value.empty()) rows += (rows.empty() ? "[" : ",[") + name + "," + value + "]";
      if (value.empty() && reading) {
        const std::size_t way = *reading / made.digit[k] % kWays;
        value = way == 0 || way > tombstones_[k].size() ? "null" : tombstones_[k][way - 1];
      }
      reads += (reads.empty() ? "[\"r\"," : ",[\"r\",") + name + "," + value + "]";
    }
    return reading ? reads : "[\"scan\",0,1,[" + rows + "]]";
  }

  std::mt19937_64 random_;
  std::vector<std::pair<std::size_t, std::vector<Made>>> txns_;
  std::array<std::vector<std::string>, kKeys> written_, tombstones_;
  std::size_t readings_ = 1;
};

TEST(PredicateCasesTest, WhatIsViolatedIsSoHoweverScansAreUnderstood) {
  std::size_t certain = 0;
  for (std::uint64_t seed = 1; seed <= 3000 / kSlowdown; ++seed) {
    const UnlistedTombstones made(seed);
    if (made.readings() == 0) continue;
    const auto history = parse_history(made.text(std::nullopt), {}, "h.jsonl");
    ASSERT_TRUE(history.ok()) << history.error().to_string();
    for (const Level level : {Level::Causal, Level::SessionSi, Level::Serializable}) {
      const auto verdict = check(*history, level);
      ASSERT_TRUE(verdict.ok()) << verdict.error().to_string();
      const auto certification = certify(*history, make_certificate(*history, *verdict, 0));
      ASSERT_TRUE(certification.ok() && certification->accepted) << made.text(std::nullopt);
      bool may_hold = false;
      for (std::size_t i = 0; i < made.readings() && !may_hold; ++i) {
        const auto one = parse_history(made.text(i), {}, "h.jsonl");
        const auto outcome = check(*one, level);
        may_hold = outcome.ok() && outcome->outcome == Outcome::Holds;
      }
      ASSERT_EQ(verdict->outcome == Outcome::Holds, may_hold)
          << "seed " << seed << " at " << info(level).name << "\n"
          << made.text(std::nullopt);
      // There are no version orders, so by them it is the same.
      CheckOptions by_orders;
      by_orders.evidence = Evidence::Versions;
      const auto same = check(*history, level, by_orders);
      ASSERT_TRUE(same.ok()) << same.error().to_string();
      ASSERT_EQ(same->outcome, verdict->outcome) << made.text(std::nullopt) << same->reason;
      const auto proof = certify(*history, make_certificate(*history, *same, 0));
      ASSERT_TRUE(proof.ok() && proof->accepted) << made.text(std::nullopt) << proof->reason;
      if (verdict->outcome != Outcome::Violated || made.readings() == 1) continue;
      ++certain;
      const Explanation explanation = explain(*history, *verdict);
      ASSERT_FALSE(explanation.stories.empty()) << made.text(std::nullopt);
      const auto again = check(counterexample(*history, explanation.stories[0]), level);
      EXPECT_TRUE(again.ok() && again->outcome == Outcome::Violated) << made.text(std::nullopt);
    }
  }
  EXPECT_GT(certain, 100 / kSlowdown);
}

// ---- version sets and values that repeat ----

// Two transactions left {"c":1} in k. The version set lists that value, or nothing, so it does not
// say which of two versions was seen.
TEST(PredicateCasesTest, VersionSetsMayListValuesThatSeveralTransactionsWrote) {
  const std::string written = R"({"session":"a","id":"t1","ops":[["w","k",{"c":1}]]}
{"session":"b","id":"t2","ops":[["w","k",{"c":2}]]}
{"session":"c","id":"t3","ops":[["w","k",{"c":1}],["w","z",1]]}
{"key":"k","versions":[["t1"],["t2"],["t3"]],"complete":true}
{"key":"z","versions":[["t3"]],"complete":true}
)";
  const std::string deleted = R"({"session":"a","id":"t1","ops":[["w","k",{"c":1}]]}
{"session":"b","id":"t2","ops":[["d","k"],["w","y",1]]}
{"session":"c","id":"t3","ops":[["w","k",{"c":1}]]}
{"session":"c","id":"t4","ops":[["d","k"],["w","z",1]]}
{"key":"k","versions":[["t1"],["t2"],["t3"],["t4"]],"complete":true}
{"key":"y","versions":[["t2"]],"complete":true}
{"key":"z","versions":[["t4"]],"complete":true}
)";
  const auto reads = [](const std::string& ops) {
    return R"({"session":"d","ops":[)" + ops + "]}\n";
  };
  const std::string counts =
      R"(["aggregate","count",null,{"eq":["c",1]},1,{"versions":[["k",{"c":1}]]}])";
  const std::string finds_no_two = R"(["select",{"eq":["c",2]},[],{"versions":[["k",{"c":1}]]}])";
  const std::string finds_none = R"(["select",{"eq":["c",1]},[],{"versions":[]}])";
  for (const Level level : {Level::ReadCommitted, Level::Causal, Level::Prefix, Level::ParallelSi,
                            Level::SessionSi, Level::RepeatableRead, Level::Serializable}) {
    const auto says = [&](const std::string& text) {
      return judged(text, Evidence::Versions, level);
    };
    for (const std::string& read : {counts, finds_no_two}) {
      EXPECT_EQ(says(written + reads(R"(["r","z",1],)" + read)), "holds") << info(level).name;
      EXPECT_EQ(says(written + reads(R"(["r","z",null],)" + read)), "holds") << info(level).name;
    }
    EXPECT_EQ(says(deleted + reads(R"(["r","z",1],)" + finds_none)), "holds");
    EXPECT_EQ(says(deleted + reads(R"(["r","y",1],["r","z",null],)" + finds_none)), "holds");
    EXPECT_EQ(says(deleted + reads(R"(["r","y",null],)" + finds_none)), "holds");
  }
  // Neither was there between the two.
  const std::string between = reads(R"(["r","k",{"c":2}],)" + counts);
  const std::string lively = reads(R"(["r","k",{"c":1}],["r","y",1],["r","z",null],)" + finds_none);
  for (const Level level : {Level::SessionSi, Level::Serializable}) {
    EXPECT_NE(judged(written + between, Evidence::Versions, level), "holds");
    EXPECT_NE(judged(deleted + lively, Evidence::Versions, level), "holds");
  }
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
