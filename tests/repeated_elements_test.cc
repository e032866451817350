// Lists in which elements repeat: which append an element is may be open. Random small histories
// against the oracle (tests/list_oracle.h), certificates of all verdicts, versions named by
// transactions, and the simulated store.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "ouro/certificate.h"
#include "ouro/check.h"
#include "ouro/explain.h"
#include "ouro/format.h"
#include "ouro/generate.h"
#include "ouro/history_builder.h"
#include "ouro/report.h"
#include "tests/list_oracle.h"
#include "tests/this_build.h"

namespace ouro {
namespace {

using ::testing::HasSubstr;

History parsed(const std::string& text) {
  auto history = parse_history(text, {.format = Format::Native});
  EXPECT_TRUE(history.ok()) << history.error().to_string() << '\n' << text;
  return *std::move(history);
}

// What is wrong with the certificate of a verdict, or "".
std::string certified(const History& history, const Verdict& verdict) {
  const auto answer = certify(history, make_certificate(history, verdict));
  if (!answer.ok()) return answer.error().to_string();
  return answer->accepted ? "" : answer->reason;
}

std::string judged(const std::string& text, Level level, Evidence evidence = Evidence::Observed) {
  const History history = parsed(text);
  CheckOptions options;
  options.evidence = evidence;
  const auto verdict = check(history, level, options);
  if (!verdict.ok()) return verdict.error().to_string();
  EXPECT_EQ(certified(history, *verdict), "") << text;
  return std::string(name(verdict->outcome));
}

// ---- by hand ----

// Both T1 and T2 append 1; T3 reads one of them.
constexpr char kTwoOnes[] = R"({"session":1,"ops":[["append","l",1]]}
{"session":2,"ops":[["append","l",1],["w","y",1]]}
)";

TEST(RepeatedElementsTest, AnElementMayBeAnyOfItsAppends) {
  const std::string missed = R"({"session":3,"ops":[["r","l",[1]],["r","y",null]]})";
  const std::string seen = R"({"session":3,"ops":[["r","l",[1]],["r","y",1]]})";
  const std::string both = R"({"session":3,"ops":[["r","l",[1,1]],["r","y",1]]})";
  const std::string torn = R"({"session":3,"ops":[["r","l",[1,1]],["r","y",null]]})";
  for (const Level level : {Level::ReadAtomic, Level::ParallelSi, Level::SessionSerializable}) {
    EXPECT_EQ(judged(kTwoOnes + missed, level), "holds");
    EXPECT_EQ(judged(kTwoOnes + seen, level), "holds");
    EXPECT_EQ(judged(kTwoOnes + both, level), "holds");
    // At read-atomic only who appended last was seen, and that may be T1.
    EXPECT_EQ(judged(kTwoOnes + torn, level), level == Level::ReadAtomic ? "holds" : "violated");
  }
}

// Jepsen's clients retry appends, and so append an element twice.
TEST(RepeatedElementsTest, JepsensHistoriesMayHaveThem) {
  const auto outcome = [](const std::string& read) {
    const auto history = parse_history(
        "{:type :ok :process 0 :value [[:append :l 1]]}\n"
        "{:type :info :process 1 :value [[:append :l 1]]}\n"
        "{:type :ok :process 2 :value [[:r :l " +
            read + "]]}\n",
        {.format = Format::JepsenEdn});
    EXPECT_TRUE(history.ok()) << history.error().to_string();
    const auto verdict = check(*history, Level::Serializable);
    EXPECT_TRUE(verdict.ok()) << verdict.error().to_string();
    EXPECT_EQ(certified(*history, *verdict), "");
    return verdict->outcome;
  };
  EXPECT_EQ(outcome("[1]"), Outcome::Holds);
  EXPECT_EQ(outcome("[1 1]"), Outcome::Holds);
  EXPECT_EQ(outcome("[1 1 1]"), Outcome::Violated);
}

TEST(RepeatedElementsTest, AnElementThatWasAppendedOnceIsNoTwo) {
  const std::string text = std::string(kTwoOnes) + R"({"session":3,"ops":[["r","l",[1,1,1]]]})";
  const History history = parsed(text);
  const auto verdict = check(history, Level::ReadCommitted);
  ASSERT_TRUE(verdict.ok());
  EXPECT_EQ(verdict->outcome, Outcome::Violated);
  EXPECT_EQ(verdict->anomalies.at(0).kind, AnomalyKind::DuplicateElements);
  EXPECT_EQ(certified(history, *verdict), "");
}

// The list shows the element three times more often than anybody appended it.
TEST(RepeatedElementsTest, ShowingAnElementFarTooOftenIsJustWrong) {
  const History history = parsed(R"({"session":0,"ops":[["r","l",[1,2,1,1]],["append","l",1]]}
{"session":1,"ops":[["append","l",1],["append","l",2]]}
{"session":2,"ops":[["append","l",1],["append","l",1],["r","l",[1,2,1,1,1,1,1]]]}
{"session":2,"ops":[["r","l",[1,2,1,1,1,1,1,1,1,1]]]}
)");
  const auto verdict = check(history, Level::ReadCommitted);
  ASSERT_TRUE(verdict.ok());
  EXPECT_EQ(verdict->outcome, Outcome::Violated);
  EXPECT_EQ(certified(history, *verdict), "");
}

TEST(RepeatedElementsTest, ATransactionMayAppendAnElementTwice) {
  const std::string append = R"({"session":1,"ops":[["append","l",1],["append","l",1]]}
)";
  EXPECT_EQ(judged(append + R"({"session":2,"ops":[["r","l",[1,1]]]})", Level::Serializable),
            "holds");
  EXPECT_EQ(judged(append + R"({"session":2,"ops":[["r","l",[1]]]})", Level::ReadCommitted),
            "violated");  // It is an intermediate read.
}

TEST(RepeatedElementsTest, ARetryOfAnUnknownAppendIsJudged) {
  const std::string text = R"({"session":1,"status":"unknown","ops":[["append","l",1]]}
{"session":1,"ops":[["append","l",1]]}
)";
  EXPECT_EQ(judged(text + R"({"session":2,"ops":[["r","l",[1]]]})", Level::StrictSerializable),
            "holds");
  EXPECT_EQ(judged(text + R"({"session":2,"ops":[["r","l",[1,1]]]})", Level::StrictSerializable),
            "holds");
}

TEST(RepeatedElementsTest, OwnAppendsAreAtTheEnd) {
  const std::string text = R"({"session":1,"ops":[["append","l",1]]}
{"session":2,"ops":[["r","l",[1]],["append","l",1],["r","l",[1,1]],["append","l",2]]}
{"session":3,"ops":[["r","l",[1,1,2]]]}
)";
  const History history = parsed(text);
  const auto verdict = check(history, Level::SessionSerializable);
  ASSERT_TRUE(verdict.ok());
  EXPECT_EQ(verdict->outcome, Outcome::Holds);
  EXPECT_TRUE(verdict->sources.empty());  // Nothing is open.
  EXPECT_EQ(certified(history, *verdict), "");
}

TEST(RepeatedElementsTest, AStoryNamesThoseWhoMayHaveAppended) {
  // From either, T3 missed what came with it.
  const std::string text = R"({"session":1,"ops":[["append","l",1],["w","x",1]]}
{"session":2,"ops":[["append","l",1],["w","y",1]]}
{"session":3,"ops":[["r","l",[1]],["r","x",null],["r","y",null]]}
)";
  const History history = parsed(text);
  const auto verdict = check(history, Level::Serializable);
  ASSERT_TRUE(verdict.ok());
  EXPECT_EQ(verdict->outcome, Outcome::Violated);
  EXPECT_EQ(certified(history, *verdict), "");
  const std::string story = describe(history, *verdict);
  EXPECT_THAT(story,
              HasSubstr("T3 read l=[1], of which element 1 of l, 1, may be that of T1 or T2"));
  EXPECT_THAT(story, HasSubstr("If element 1 of l, 1, is T1's:"));
}

// ---- against the oracle ----

// A random history of a store that is mostly right: each transaction reads some state of the past,
// and what it appends comes behind the newest.
class RandomLists {
 public:
  RandomLists(std::uint64_t seed, bool orders, bool scans)
      : random_(seed), orders_(orders), scans_(scans) {
    const std::size_t txns = 2 + below(3);
    for (std::size_t t = 0; t < txns; ++t) add_txn(t);
    if (orders_) add_orders();
  }

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  using State = std::map<std::size_t, std::vector<std::size_t>>;  // Lists by key.
  static constexpr std::size_t kRegister = 7;                     // A key that is none.

  std::size_t below(std::size_t end) { return random_() % end; }

  static std::string list_text(const std::vector<std::size_t>& list) {
    std::string out = "[";
    for (const std::size_t element : list) {
      out += (out.size() == 1 ? "" : ",") + std::to_string(element);
    }
    return out + "]";
  }

  void add_txn(std::size_t number) {
    const std::size_t kind = below(8);
    const bool aborted = kind == 0;
    const bool unknown = kind == 1;
    const std::size_t snapshot = below(4) == 0 ? below(states_.size()) : states_.size() - 1;
    State seen = states_[snapshot];
    State own;
    std::string ops;
    const std::size_t count = 1 + below(3);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t key = below(4) == 0 ? 2 : 1;
      ops += ops.empty() ? "" : ",";
      if (below(2) == 0 && appended_[key] < 4) {
        const std::size_t element = 1 + below(2);
        ++appended_[key];
        own[key].push_back(element);
        ops += "[\"append\"," + std::to_string(key) + "," + std::to_string(element) + "]";
      } else if (scans_ && below(3) == 0) {
        ops += R"(["scan",1,9,[)" + std::string(row_ ? "[7,1]" : "") + "]]";
      } else {
        std::vector<std::size_t> list = seen[key];
        list.insert(list.end(), own[key].begin(), own[key].end());
        if (below(8) == 0 && !list.empty()) list.pop_back();
        if (below(16) == 0) list.push_back(1 + below(2));
        ops += "[\"r\"," + std::to_string(key) + "," + list_text(list) + "]";
      }
    }
    if (scans_ && below(3) == 0) {
      row_ = row_ || !aborted;
      ops += R"(,["w",7,1])";
    }
    text_ += "{\"session\":" + std::to_string(below(3)) + ",\"id\":" + std::to_string(number) +
             (aborted   ? ",\"status\":\"aborted\""
              : unknown ? ",\"status\":\"unknown\""
                        : "") +
             ",\"ops\":[" + ops + "]}\n";
    if (aborted || (unknown && below(2) == 0)) return;
    State next = states_.back();
    for (const auto& [key, list] : own) {
      if (list.empty()) continue;
      next[key].insert(next[key].end(), list.begin(), list.end());
      order_[key].push_back(number);
      lists_unknown_ |= unknown;
    }
    states_.push_back(std::move(next));
  }

  // Complete orders, and sometimes fragments.
  void add_orders() {
    for (auto& [key, txns] : order_) {
      const bool complete = below(3) != 0;
      if (!complete && txns.size() > 1) txns.erase(txns.begin() + 1);
      if (below(6) == 0) std::shuffle(txns.begin(), txns.end(), random_);
      text_ += "{\"key\":" + std::to_string(key) + ",\"versions\":[";
      for (std::size_t i = 0; i < txns.size(); ++i) {
        text_ += (i == 0 ? "[" : ",[") + std::to_string(txns[i]) + "]";
      }
      text_ += std::string("],\"complete\":") + (complete ? "true" : "false") + "}\n";
    }
  }

  std::mt19937_64 random_;
  const bool orders_;
  const bool scans_;
  std::string text_;
  std::vector<State> states_{1};
  std::map<std::size_t, std::size_t> appended_;
  std::map<std::size_t, std::vector<std::size_t>> order_;
  bool lists_unknown_ = false;
  bool row_ = false;
};

struct Tally {
  std::size_t holds = 0;
  std::size_t violated = 0;
  std::size_t with_sources = 0;
  std::size_t with_cases = 0;
};

void compare(const std::string& text, Evidence evidence, Tally& tally) {
  const History history = parsed(text);
  oracle::OracleOptions options;
  options.evidence = evidence;
  const oracle::LevelSet allowed = oracle::allowed_with_repeats(history, options);
  CheckOptions asked;
  asked.evidence = evidence;
  for (const LevelInfo& level : levels()) {
    if (!decidable(level.level, evidence)) continue;
    const auto verdict = check(history, level.level, asked);
    ASSERT_TRUE(verdict.ok()) << verdict.error().to_string() << '\n' << text;
    const bool holds = verdict->outcome == Outcome::Holds;
    ASSERT_NE(verdict->outcome, Outcome::Undecided) << verdict->reason << '\n' << text;
    ASSERT_EQ(holds, allowed.has(level.level)) << level.name << '\n' << text;
    ASSERT_EQ(certified(history, *verdict), "") << level.name << '\n' << text;
    tally.holds += holds ? 1 : 0;
    tally.violated += holds ? 0 : 1;
    tally.with_sources += verdict->sources.empty() ? 0 : 1;
    tally.with_cases += verdict->cases.empty() ? 0 : 1;
  }
}

TEST(RepeatedElementsTest, EnginesAgreeWithTheOracle) {
  Tally tally;
  for (std::uint64_t seed = 1; seed <= 600 / kSlowdown; ++seed) {
    ASSERT_NO_FATAL_FAILURE(
        compare(RandomLists(seed, false, false).text(), Evidence::Observed, tally))
        << "seed " << seed;
  }
  EXPECT_GT(tally.holds, 2000 / kSlowdown);
  EXPECT_GT(tally.violated, 1000 / kSlowdown);
  if (kSlowdown > 1) return;  // Too few histories for what is rare.
  EXPECT_GT(tally.with_sources, 500u);
  EXPECT_GT(tally.with_cases, 5u);
}

TEST(RepeatedElementsTest, EnginesAgreeWithTheOracleByVersionOrders) {
  Tally tally;
  for (std::uint64_t seed = 1; seed <= 300 / kSlowdown; ++seed) {
    ASSERT_NO_FATAL_FAILURE(
        compare(RandomLists(seed, true, false).text(), Evidence::Versions, tally))
        << "seed " << seed;
  }
  EXPECT_GT(tally.holds, 500 / kSlowdown);
  EXPECT_GT(tally.violated, 500 / kSlowdown);
}

TEST(RepeatedElementsTest, ScansBesideListsAgreeWithTheOracle) {
  Tally tally;
  for (std::uint64_t seed = 1; seed <= 200 / kSlowdown; ++seed) {
    ASSERT_NO_FATAL_FAILURE(
        compare(RandomLists(seed, false, true).text(), Evidence::Observed, tally))
        << "seed " << seed;
  }
  EXPECT_GT(tally.holds, 300 / kSlowdown);
  EXPECT_GT(tally.violated, 300 / kSlowdown);
}

// ---- versions named by transactions ----

TEST(NamedVersionsTest, TellValuesThatRepeatApart) {
  const std::string text = R"({"session":1,"id":"a","ops":[["w","x",50]]}
{"session":2,"id":"b","ops":[["r","x",50],["w","x",60]]}
{"session":3,"id":7,"ops":[["r","x",60],["w","x",50]]}
)";
  const auto by = [&](const std::string& order) {
    return judged(text + order, Level::Serializable, Evidence::Versions);
  };
  EXPECT_EQ(by(R"({"key":"x","versions":[["a"],["b"],[7]],"complete":true})"), "holds");
  EXPECT_EQ(by(R"({"key":"x","versions":[[7],["b"],["a"]],"complete":true})"), "violated");
  EXPECT_EQ(by(R"({"key":"x","versions":[["a"],60,[7]],"complete":true})"), "holds");
  EXPECT_EQ(by(R"({"key":"x","versions":[[7],["a"]]})"), "violated");
  EXPECT_EQ(by(R"({"key":"x","versions":[["a"],["b"]],"complete":true})"), "violated");
  EXPECT_THAT(by(R"({"key":"x","versions":[50,60]})"),
              HasSubstr("was written by several transactions (input:1, input:3); name the one "
                        "that is meant by its \"id\", like [\"a\"]"));
  EXPECT_THAT(by(R"({"key":"x","versions":[["a"],["a"]]})"), HasSubstr("is listed twice"));
}

std::string freeze_error(const std::string& text) {
  const auto history = parse_history(text, {.format = Format::Native}, "h.jsonl");
  return history.ok() ? "none" : history.error().to_string();
}

TEST(NamedVersionsTest, ErrorsSayWhereAndWhatToDo) {
  const std::string text = R"({"session":1,"id":"a","ops":[["w","x",5]]}
{"session":1,"id":"b","ops":[["w","y",5]]}
{"session":1,"id":"b","ops":[["w","x",6]]}
)";
  EXPECT_EQ(freeze_error(text + R"({"key":"x","versions":[["c"]]})"),
            "h.jsonl:4: the version order of x names transaction c, but no transaction has that "
            "\"id\"; add it, or leave the version out");
  EXPECT_EQ(freeze_error(text + R"({"key":"x","versions":[["b"]]})"),
            "h.jsonl:4: the version order of x names transaction b, but several transactions have "
            "that \"id\"; give each its own");
  EXPECT_EQ(freeze_error(text + R"({"key":"y","versions":[["a"]]})"),
            "h.jsonl:4: the version order of y names transaction a, which did not write the key; "
            "leave the version out");
  EXPECT_THAT(freeze_error(text + R"({"key":"x","versions":[["a","b"]]})"),
              HasSubstr("expected one \"id\""));
  EXPECT_THAT(freeze_error(text + R"({"key":"x","versions":[[]]})"), HasSubstr("h.jsonl:4"));
}

TEST(NamedVersionsTest, OnlyTheLastWriteIsAVersionAndOrdersMayComeFirst) {
  const std::string order = R"({"key":"x","versions":[["a"],["b"]],"complete":true}
)";
  const std::string text = R"({"session":1,"id":"a","ops":[["w","x",5],["w","x",6]]}
{"session":2,"id":"b","ops":[["w","x",6]]}
{"session":3,"ops":[["r","x",6]]}
)";
  EXPECT_EQ(judged(order + text, Level::SessionSerializable, Evidence::Versions), "holds");
  const History history = parsed(order + text);
  const VersionOrder known = history.version_orders()[0];
  EXPECT_EQ(history.version_writers(known)[0], TxnId{0});
  EXPECT_EQ(history.text(history.versions(known)[0]), "6");
}

TEST(NamedVersionsTest, NativeFormatsKeepThem) {
  const std::string text = R"({"session":1,"id":"a","ops":[["w","x",5]]}
{"session":2,"id":2,"ops":[["w","x",5],["w","y",1]]}
{"key":"x","versions":[[2],["a"]],"complete":true}
{"key":"y","versions":[1],"complete":true}
)";
  const History history = parsed(text);
  const auto printed = [](const History& some, Format format) {
    std::string out;
    EXPECT_TRUE(print_history(some, format, out).ok());
    return out;
  };
  const std::string lines = printed(history, Format::Native);
  EXPECT_THAT(lines, HasSubstr(R"("versions":[[2],["a"]])"));
  EXPECT_THAT(lines, HasSubstr(R"("versions":[1])"));
  const auto again =
      parse_history(printed(history, Format::NativeBinary), {.format = Format::NativeBinary});
  ASSERT_TRUE(again.ok()) << again.error().to_string();
  EXPECT_EQ(printed(*again, Format::Native), lines);
}

// ---- the simulated store ----

TEST(RepeatedElementsTest, TheSimulatedStoreHoldsByEveryEvidence) {
  for (const WorkloadKind workload :
       {WorkloadKind::ListAppend, WorkloadKind::RangeInsertDeleteHeavy}) {
    for (const Level level : {Level::StrictSerializable, Level::SessionSi}) {
      GenerateOptions options;
      options.workload = workload;
      options.store = level;
      options.txns = 200;
      options.keys = 20;
      options.duplicates = true;
      options.timestamps = true;
      options.version_orders = true;
      options.seed = 5;
      const auto history = generate(options);
      ASSERT_TRUE(history.ok()) << history.error().to_string();
      for (const Evidence evidence :
           {Evidence::Observed, Evidence::Versions, Evidence::Timestamps}) {
        CheckOptions asked;
        asked.evidence = evidence;
        const auto verdict = check(*history, level, asked);
        ASSERT_TRUE(verdict.ok()) << verdict.error().to_string();
        EXPECT_EQ(verdict->outcome, Outcome::Holds)
            << info(workload).name << ' ' << name(evidence) << ' ' << verdict->reason;
        EXPECT_EQ(certified(*history, *verdict), "") << info(workload).name << name(evidence);
      }
    }
  }
}

}  // namespace
}  // namespace ouro
