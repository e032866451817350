// Results in the form of Elle's, and what elle-cli's users expect of the command line.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "format/edn.h"
#include "format/jepsen_model.h"
#include "ouro/elle.h"
#include "ouro/ouro.h"
#include "report/edn_ops.h"
#include "tests/files.h"
#include "tests/run_program.h"

namespace ouro {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

const std::string kSkew =
    "{:type :invoke, :process 0, :f :txn, :value [[:append :x 1] [:r :y nil]], :index 7}\n"
    "{:type :invoke, :process 1, :f :txn, :value [[:append :y 1] [:r :x nil]], :index 8}\n"
    "{:type :ok, :process 0, :f :txn, :value [[:append :x 1] [:r :y []]], :index 9, :node n1}\n"
    "{:type :ok, :process 1, :f :txn, :value [[:append :y 1] [:r :x []]], :index 10}\n";

// What Elle's checker would return about a history.
std::string elle(const std::string& text, Level level, Format format = Format::JepsenEdn) {
  RecordedLines lines;
  const auto history = parse_history(text, {.format = format}, "h", lines);
  if (!history.ok()) return history.error().to_string();
  const auto examined = examine(*history, {.levels = {level}});
  if (!examined.ok()) return examined.error().to_string();
  const std::string out = to_edn(*history, {.verdicts = examined->verdicts,
                                            .explanations = examined->explanations,
                                            .others = examined->others,
                                            .lines = &lines});
  EdnTokens tokens(out, "elle");
  Token token;
  do {
    EXPECT_TRUE(tokens.next(token)) << tokens.error().to_string() << '\n' << out;
    if (testing::Test::HasFailure()) break;
  } while (token.kind != TokenKind::End);
  return out;
}

TEST(ElleResultTest, AHistoryThatKeepsTheLevelIsValidAndNoMore) {
  EXPECT_EQ(elle("{:type :ok, :process 0, :value [[:append 1 1]]}", Level::Serializable),
            "{:valid? true}\n");
}

TEST(ElleResultTest, OperationsAreAsTheyWereRecorded) {
  const std::string out = elle(kSkew, Level::Serializable);
  const std::string one =
      "{:type :ok, :process 0, :f :txn, :value [[:append :x 1] [:r :y []]], :index 9, :node n1}";
  const std::string two =
      "{:type :ok, :process 1, :f :txn, :value [[:append :y 1] [:r :x []]], :index 10}";
  EXPECT_THAT(out, StartsWith("{:valid? false, :anomaly-types (:G2-item), :anomalies {:G2-item "
                              "[{:cycle [" +
                              one + ' ' + two + ' ' + one + "], :steps [{:type :rw, :key :y, "
                              ":value :elle.list-append/init, :value' 1, :a-mop-index 1, "
                              ":b-mop-index 0} {:type :rw, :key :x, "));
  EXPECT_THAT(out, HasSubstr("], :type :G2-item, :ouro/story [\"write skew\" \"T1 < T2"));
  EXPECT_THAT(out, HasSubstr("]}]}, :not #{:repeatable-read}, :also-not #{:serializable "
                             ":strong-serializable :strong-session-serializable}}\n"));
}

TEST(ElleResultTest, OperationsWithoutAnIndexAreNumberedAsInTheWholeHistory) {
  const std::string out =
      elle("{:type :info, :process :nemesis, :f :cut}\n"
           "#jepsen.history.Op{:type :ok, :process 0, :value [[:append x 1] [:r x [2]]]}"
           "{:type :ok, :process 1, :value [[:append x 2]]}",
           Level::Serializable);
  EXPECT_THAT(out, HasSubstr(":internal [{:op {:index 1, :type :ok, :process 0, :value "
                             "[[:append x 1] [:r x [2]]]}, :mop [:r \"x\" [2]], :expected [... "
                             "1]"));
}

TEST(ElleResultTest, JsonIsShownAsWhatItMeans) {
  const std::string out = elle(
      R"([{"type":"ok","process":0,"f":"txn","value":[["append",1,1],["r",1,[2]]],"index":4},
          {"type":"ok","process":1,"f":"txn","value":[["append",1,2]],"index":6}])",
      Level::Serializable, Format::JepsenJson);
  EXPECT_THAT(out, HasSubstr("{:op {:index 4, :process 0, :type :ok, :f :txn, :value "
                             "[[:append 1 1] [:r 1 [2]]]}, :mop [:r 1 [2]]"));
}

// The maps of anomalies that are no cycles, and the models that they rule out, are Elle's.
TEST(ElleResultTest, AnomaliesThatAreNoCyclesHaveTheirMaps) {
  const auto txn = [](int process, const std::string& type, const std::string& value) {
    return fmt::format("{{:process {}, :type :{}, :value {}}}\n", process, type, value);
  };
  const Level level = Level::ReadCommitted;
  const std::string aborted =
      elle(txn(0, "fail", "[[:append 1 1]]") + txn(1, "ok", "[[:r 1 [1]]]"), level);
  EXPECT_THAT(aborted,
              HasSubstr(":G1a [{:op {:index 1, :process 1, :type :ok, :value [[:r 1 [1]]]}, :mop "
                        "[:r 1 [1]], :writer {:index 0, :process 0, :type :fail, :value "
                        "[[:append 1 1]]}, :element 1, :ouro/story"));
  EXPECT_THAT(aborted, HasSubstr(":not #{:read-committed}, :also-not #{:causal-cerone :consist"));

  const std::string dirty =
      elle(txn(0, "fail", "[[:append 1 1]]") + txn(1, "ok", "[[:append 1 2]]") +
               txn(2, "ok", "[[:r 1 [1 2]]]"),
           level);
  EXPECT_THAT(dirty, HasSubstr(":anomaly-types (:G1a :dirty-update)"));
  EXPECT_THAT(dirty, HasSubstr(":dirty-update [{:key 1, :values [1 2], :txns [{:index 0, "));

  const std::string rows =
      elle(txn(0, "ok", "[[:append 1 1]]") + txn(0, "fail", "[[:append 1 2]]") +
               txn(0, "info", "[[:append 1 3]]") + txn(0, "fail", "[[:append 1 4]]") +
               txn(0, "ok", "[[:append 1 5]]") + txn(0, "ok", "[[:append 1 6]]") +
               txn(0, "fail", "[[:append 1 7]]") + txn(1, "ok", "[[:r 1 [1 2 3 4 5 6 7]]]"),
           Level::StrictSerializable);
  for (const int element : {2, 4, 7}) {
    EXPECT_THAT(rows, HasSubstr(fmt::format(":value [[:append 1 {0}]]}}, :element {0},", element)));
  }
  EXPECT_THAT(rows, HasSubstr(":dirty-update [{:key 1, :values [2 3 4 5], :txns [{:index 1, "));
  EXPECT_THAT(rows, HasSubstr(" ... {:index 4, "));
  EXPECT_THAT(rows, Not(HasSubstr(":values [7")));

  const std::string between =
      elle(txn(0, "ok", "[[:append 1 1] [:append 1 2]]") + txn(1, "ok", "[[:r 1 [1]]]"), level);
  EXPECT_THAT(between, HasSubstr(":G1b [{:op {:index 1, "));
  EXPECT_THAT(between, HasSubstr(":mop [:r 1 [1]], :writer {:index 0, "));

  const std::string future = elle(txn(0, "ok", "[[:r 1 [1]] [:append 1 1]]"), level);
  EXPECT_THAT(future, HasSubstr(":future-read [{:op {:index 0, "));
  EXPECT_THAT(future, HasSubstr(":mop [:r 1 [1]], :element 1"));

  const std::string twice =
      elle(txn(0, "ok", "[[:append 1 1]]") + txn(1, "ok", "[[:r 1 [1 1]]]"), level);
  EXPECT_THAT(twice, HasSubstr(":mop [:r 1 [1 1]], :duplicates {1 2}"));
  EXPECT_THAT(twice, HasSubstr(":not #{:read-uncommitted}"));

  const std::string orders =
      elle(txn(0, "ok", "[[:append 1 1]]") + txn(1, "ok", "[[:append 1 2]]") +
               txn(2, "ok", "[[:r 1 [1 2]]]") + txn(3, "ok", "[[:r 1 [2]]]"),
           level);
  EXPECT_THAT(orders, HasSubstr(":incompatible-order [{:key 1, :values [[2] [1 2]], :ouro/story"));

  const std::string lost =
      elle(txn(0, "ok", "[[:append 1 0]]") + txn(1, "ok", "[[:r 1 [0]] [:append 1 1]]") +
               txn(2, "ok", "[[:r 1 [0]] [:append 1 2]]"),
           Level::Si);
  EXPECT_THAT(lost, HasSubstr(":lost-update [{:key 1, :value [0], :txns [{:index 1, "));
  EXPECT_THAT(lost, HasSubstr(":not #{:cursor-stability :update-atomic}"));
}

TEST(ElleResultTest, CyclesHaveElleSNamesAndSteps) {
  const std::string single = elle(
      "{:type :ok, :process 0, :value [[:append 1 1] [:append 2 1]]}"
      "{:type :ok, :process 1, :value [[:append 1 2] [:r 2 []]]}"
      "{:type :ok, :process 2, :value [[:r 1 [1 2]]]}",
      Level::Serializable);
  EXPECT_THAT(single, HasSubstr(":anomaly-types (:G-single-item)"));
  EXPECT_THAT(single, HasSubstr("{:type :ww, :key 1, :value 1, :value' 2, :a-mop-index 0, "
                                ":b-mop-index 0}"));
  EXPECT_THAT(single, HasSubstr("{:type :rw, :key 2, :value :elle.list-append/init, :value' 1, "
                                ":a-mop-index 1, :b-mop-index 1}"));
  const std::string circle = elle(
      "{:type :ok, :process 0, :value [[:w :x 1] [:r :y 1]]}"
      "{:type :ok, :process 1, :value [[:w :y 1] [:r :x 1]]}",
      Level::ReadCommitted);
  EXPECT_THAT(circle, HasSubstr(":anomaly-types (:G1c)"));
  EXPECT_THAT(circle, HasSubstr("{:type :wr, :key :x, :value 1, :a-mop-index 0, :b-mop-index 1}"));
  EXPECT_THAT(circle, HasSubstr(":not #{:read-committed}"));
}

// A stale read: by process or by clock, as the level asks.
TEST(ElleResultTest, CyclesThroughSessionsAndClocksSayHow) {
  const std::string process = elle(
      "{:type :ok, :process 0, :value [[:append 1 1]]}"
      "{:type :ok, :process 0, :value [[:r 1 []]]}",
      Level::SessionSi);
  EXPECT_THAT(process, HasSubstr(":G-single-item-process [{:cycle ["));
  EXPECT_THAT(process, HasSubstr("{:type :process, :process 0}"));
  EXPECT_THAT(process, HasSubstr(":not #{:strong-session-snapshot-isolation}"));
  const std::string late = elle(
      "{:index 0, :type :invoke, :process 0, :value [[:append 1 1]]}"
      "{:index 1, :type :ok, :process 0, :value [[:append 1 1]]}"
      "{:index 2, :type :invoke, :process 1, :value [[:r 1 nil]]}"
      "{:index 3, :type :ok, :process 1, :value [[:r 1 []]]}",
      Level::StrictSerializable);
  EXPECT_THAT(late, HasSubstr(":G-single-item-realtime [{:cycle ["));
  EXPECT_THAT(late, HasSubstr("{:type :realtime, :a' {:index 1, :type :ok, :process 0, :value "
                              "[[:append 1 1]]}, :b {:index 2, :type :invoke, "));
  EXPECT_THAT(late, HasSubstr(":not #{:strong-snapshot-isolation}, :also-not "
                              "#{:strong-serializable}"));
}

// At the levels below si an edge may be forced by a rule about reads; Elle knows a cycle with rw.
TEST(ElleResultTest, FracturedReadsAreCyclesOfElle) {
  const std::string out = elle(
      "{:type :ok, :process 0, :value [[:w :x 1] [:w :y 1]]}"
      "{:type :ok, :process 1, :value [[:r :x 1] [:w :x 2] [:r :y 1] [:w :y 2]]}"
      "{:type :ok, :process 2, :value [[:r :y 1] [:r :x 2]]}",
      Level::ReadAtomic);
  EXPECT_THAT(out, HasSubstr(":anomaly-types (:G-single-item)"));
  EXPECT_THAT(out,
              AllOf(HasSubstr("{:type :wr, :key :x, :value 2, :a-mop-index 1, :b-mop-index 1}"),
                    HasSubstr("{:type :rw, :key :y, :value 1, :value' 2, :a-mop-index 0, "
                              ":b-mop-index 3}"),
                    Not(HasSubstr(":forced"))));
  EXPECT_THAT(out, HasSubstr(":not #{:consistent-view :read-atomic :repeatable-read}"));
}

// What a level of ours asks of sessions is not asked by Elle's model of the same name.
TEST(ElleResultTest, SessionsDoNotRuleOutModelsWithoutThem) {
  const std::string out = elle(
      "{:type :ok, :process 0, :value [[:append 1 1]]}"
      "{:type :ok, :process 0, :value [[:r 1 []]]}",
      Level::Causal);
  EXPECT_THAT(out, StartsWith("{:valid? false"));
  EXPECT_THAT(out, HasSubstr(":not #{:strong-session-snapshot-isolation}"));
}

TEST(ElleResultTest, FormsStayOneLine) {
  EXPECT_EQ(edn_in_one_line("{:a 1 ; one \"\n :b \"x\ny;\\\"\" \\; :c\r\n \\\" 2}"),
            "{:a 1   :b \"x\\ny;\\\"\" \\; :c   \\\" 2}");
  EXPECT_EQ(edn_in_one_line("{:a 1 ; end"), "{:a 1  ");
  const std::string out = elle(
      "{:type :ok, ; done\n :process 0,\n :value [[:append 1 1] [:r 1 [2]]]}", Level::Serializable);
  EXPECT_THAT(out, HasSubstr(":garbage-read [{:op {:index 0, :type :ok,   :process 0,  :value "));
  EXPECT_EQ(out.find('\n'), out.size() - 1);
}

TEST(ElleResultTest, AnyHistoryHasAResult) {
  const auto history = parse_history(R"({"session":"a","ops":[["w","x",1],["r","x",2]]})");
  ASSERT_TRUE(history.ok());
  const auto examined = examine(*history, {.levels = {Level::Serializable}});
  ASSERT_TRUE(examined.ok());
  EXPECT_THAT(to_edn(*history, {.verdicts = examined->verdicts,
                                .explanations = examined->explanations}),
              HasSubstr("{:index 0, :process \"a\", :type :ok, :f :txn, :value [[:w \"x\" 1] [:r "
                        "\"x\" 2]]}"));
}

// What `name` is in a map of a result; fails if there is nothing.
const JepsenTree& at(const JepsenTree& map, std::string_view name) {
  static const JepsenTree kNothing;
  const JepsenTree* found = map.member(name);
  EXPECT_NE(found, nullptr) << name;
  return found == nullptr ? kNothing : *found;
}

// Each step of a cycle is about operations of the two transactions beside it, on its key, which is
// a number.
void expect_steps_fit(const JepsenTree& anomaly, const std::string& result) {
  const auto& cycle = at(anomaly, "cycle").parts;
  const auto& steps = at(anomaly, "steps").parts;
  ASSERT_EQ(cycle.size(), steps.size() + 1) << result;
  EXPECT_EQ(at(cycle.front(), "index").number, at(cycle.back(), "index").number) << result;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    EXPECT_NE(at(steps[i], "type").text, ":forced") << result;
    for (const auto& [name, txn] : {std::pair("a-mop-index", &cycle[i]),
                                    std::pair("b-mop-index", &cycle[i + 1])}) {
      const JepsenTree* index = steps[i].member(name);
      if (index == nullptr) continue;
      const auto& ops = at(*txn, "value").parts;
      ASSERT_LT(static_cast<std::size_t>(index->number), ops.size()) << result;
      const JepsenTree& key = ops[static_cast<std::size_t>(index->number)].parts[1];
      EXPECT_EQ(key.number, at(steps[i], "key").number) << name << ' ' << result;
    }
  }
}

TEST(ElleResultTest, CyclesOfRandomHistoriesFitTheirOperations) {
  std::size_t cycles = 0;
  for (const WorkloadKind workload : {WorkloadKind::General, WorkloadKind::ListAppend}) {
    for (const Fault fault : faults()) {
      GenerateOptions options;
      options.workload = workload;
      options.txns = 300;
      options.sessions = 5;
      options.keys = 20;
      options.clocks = true;
      options.faults = {{.fault = fault, .rate = 0.05}};
      const auto history = generate(options);
      if (!history.ok()) continue;  // A fault of lists only.
      std::string edn;
      ASSERT_TRUE(print_history(*history, Format::JepsenEdn, edn).ok());
      for (const Level level : {Level::ReadAtomic, Level::Causal, Level::Prefix, Level::SessionSi,
                                Level::StrictSerializable}) {
        const std::string result = elle(edn, level);
        EdnTokens tokens(result, "elle");
        Token first;
        JepsenTree tree;
        ASSERT_TRUE(tokens.next(first) && read_tree(tokens, first, tree)) << result;
        const JepsenTree* anomalies = tree.member("anomalies");
        if (anomalies == nullptr) continue;
        for (std::size_t i = 1; i < anomalies->parts.size(); i += 2) {
          for (const JepsenTree& anomaly : anomalies->parts[i].parts) {
            if (anomaly.member("cycle") == nullptr) continue;
            expect_steps_fit(anomaly, result);
            ++cycles;
          }
        }
      }
    }
  }
  EXPECT_GT(cycles, 50u);
}

class ElleCliTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_);
    std::ofstream(skew_) << kSkew;
  }
  void TearDown() override { fs::remove_all(folder_); }

  static Ran ouro(std::vector<std::string> arguments, const std::string& input = "") {
    arguments.insert(arguments.begin(), {kOuroBinary, "check"});
    return run_program(arguments, input);
  }

  fs::path folder_ = fs::path(testing::TempDir()) / ("ouro-elle-" + std::to_string(::getpid()));
  std::string skew_ = (folder_ / "skew.edn").string();
};

TEST_F(ElleCliTest, TaggedOperationsAreDetectedBareInAVectorAndPiped) {
  std::string tagged, vector = "; a test\n#history [";
  std::istringstream lines(kSkew);
  for (std::string line; std::getline(lines, line);) {
    tagged += "#jepsen.history.Op" + line + '\n';
    vector += "#jepsen.history.Op" + line + '\n';
  }
  for (const std::string& text : {tagged, vector + ']'}) {
    std::ofstream(folder_ / "tagged") << text;
    EXPECT_EQ(ouro({"-q", (folder_ / "tagged").string()}).status, 1) << text;
    EXPECT_EQ(ouro({"-q", "-"}, text).status, 1) << text;
  }
}

TEST_F(ElleCliTest, TheDefaultLevelUnderOutputElleIsElleCliS) {
  std::ofstream(folder_ / "stale.edn")
      << "{:index 0, :type :invoke, :process 0, :value [[:append 1 1]]}"
         "{:index 1, :type :ok, :process 0, :value [[:append 1 1]]}"
         "{:index 2, :type :invoke, :process 1, :value [[:r 1 nil]]}"
         "{:index 3, :type :ok, :process 1, :value [[:r 1 []]]}";
  const std::string stale = (folder_ / "stale.edn").string();
  EXPECT_EQ(ouro({stale}).status, 0);
  EXPECT_EQ(ouro({"--output", "elle", stale}).out, stale + " \t false\n");
  EXPECT_EQ(ouro({"--output", "elle", "-c", "serializable", stale}).out, stale + " \t true\n");
  EXPECT_EQ(ouro({"--output", "elle", "-c", "strict-1SR", stale}).status, 1);
}

// Elle tells of anomalies without sessions and clocks first, and of what is wrong with reads in any
// case.
TEST_F(ElleCliTest, WhatNeedsNoTimeIsToldWithoutIt) {
  const auto told = [&](const std::string& level, const std::string& text) {
    std::ofstream(folder_ / "told.edn") << text;
    return ouro({"--output", "edn", "-c", level, (folder_ / "told.edn").string()}).out;
  };
  const std::string single =
      "{:type :ok, :process 0, :value [[:append 1 1] [:append 2 1]], :index 1}\n"
      "{:type :ok, :process 1, :value [[:append 1 2] [:r 2 []]], :index 3}\n"
      "{:type :ok, :process 2, :value [[:r 1 [1 2]]], :index 5}\n";
  const std::string timed =
      "{:type :invoke, :process 0, :value [[:append 1 1] [:append 2 1]], :index 0}\n"
      "{:type :ok, :process 0, :value [[:append 1 1] [:append 2 1]], :index 1}\n"
      "{:type :invoke, :process 1, :value [[:append 1 2] [:r 2 nil]], :index 2}\n"
      "{:type :ok, :process 1, :value [[:append 1 2] [:r 2 []]], :index 3}\n"
      "{:type :invoke, :process 2, :value [[:r 1 nil]], :index 4}\n"
      "{:type :ok, :process 2, :value [[:r 1 [1 2]]], :index 5}\n";
  for (const std::string& text : {single, timed}) {
    EXPECT_THAT(told("strict-serializable", text),
                StartsWith("{:valid? false, :anomaly-types (:G-single-item), "));
  }
  // By time alone.
  EXPECT_THAT(told("strict-serializable",
                   "{:type :invoke, :process 0, :value [[:append 1 1]], :index 0}\n"
                   "{:type :ok, :process 0, :value [[:append 1 1]], :index 1}\n"
                   "{:type :invoke, :process 1, :value [[:r 1 nil]], :index 2}\n"
                   "{:type :ok, :process 1, :value [[:r 1 []]], :index 3}\n"),
              StartsWith("{:valid? false, :anomaly-types (:G-single-item-realtime), "));

  const std::string orders =
      "{:type :ok, :process 0, :value [[:append 1 1]], :index 1}\n"
      "{:type :ok, :process 0, :value [[:append 1 3]], :index 3}\n"
      "{:type :ok, :process 1, :value [[:r 1 [1 3]]], :index 5}\n"
      "{:type :ok, :process 0, :value [[:append 1 2]], :index 7}\n"
      "{:type :ok, :process 1, :value [[:r 1 [1 2 3]]], :index 9}\n";
  for (const char* level : {"strict-serializable", "serializable", "read-committed"}) {
    const std::string out = told(level, orders);
    EXPECT_THAT(out, AllOf(HasSubstr(":incompatible-order [{:key 1, :values [[1 3] [1 2 3]], "),
                           HasSubstr(":not #{:read-committed")))
        << level;
  }
}

// Those of elle-cli's documentation. Of models that are none of our levels is answered what follows
// from the levels and anomalies, and no more.
TEST_F(ElleCliTest, AllModelsOfElleCliAreAnswered) {
  const auto answer = [&](const std::string& models, const std::string& path) {
    const Ran ran = ouro({"--output", "elle", "-c", models, path});
    EXPECT_EQ(ran.err, "");
    const std::string start = path + " \t ";
    EXPECT_THAT(ran.out, StartsWith(start));
    const std::string word = ran.out.substr(start.size(), ran.out.size() - start.size() - 1);
    EXPECT_EQ(ran.status, word == "true" ? 0 : word == "false" ? 1 : 2) << models;
    return word;
  };
  // Write skew.
  for (const char* model :
       {"consistent-view", "cursor-stability", "forward-consistent-view", "monotonic-snapshot-read",
        "monotonic-view", "read-committed", "read-uncommitted", "snapshot-isolation"}) {
    EXPECT_EQ(answer(model, skew_), "true") << model;
  }
  for (const char* model : {"conflict-serializable", "repeatable-read", "serializable",
                            "strict-serializable", "strong-serializable"}) {
    EXPECT_EQ(answer(model, skew_), "false") << model;
  }
  EXPECT_EQ(answer("update-serializable", skew_), "unknown");
  EXPECT_EQ(answer("PL-2+,monotonic_view", skew_), "true");
  EXPECT_EQ(answer("consistent-view,serializable", skew_), "false");
  EXPECT_EQ(answer("update-serializable,snapshot-isolation", skew_), "unknown");

  const std::string aborted = (folder_ / "aborted.edn").string();
  std::ofstream(aborted) << "{:type :fail, :process 0, :value [[:append 1 1]]}\n"
                            "{:type :ok, :process 1, :value [[:r 1 [1]]]}\n";
  for (const char* model : {"consistent-view", "cursor-stability", "forward-consistent-view",
                            "monotonic-snapshot-read", "monotonic-view", "update-serializable"}) {
    EXPECT_EQ(answer(model, aborted), "false") << model;
  }
  EXPECT_EQ(answer("read-uncommitted", aborted), "unknown");

  // A fractured read. Our read-committed is Elle's monotonic-view.
  const std::string half = (folder_ / "half.edn").string();
  std::ofstream(half) << "{:type :ok, :process 0, :value [[:w x 1] [:w y 1]]}\n"
                         "{:type :ok, :process 1, :value [[:r y nil] [:r x 1]]}\n";
  EXPECT_EQ(answer("monotonic-view", half), "true");
  EXPECT_EQ(answer("read-uncommitted", half), "true");
  EXPECT_EQ(answer("consistent-view", half), "false");
}

TEST_F(ElleCliTest, OtherOutputsSayWhatIsKnownOfModels) {
  const Ran text = ouro({"-c", "consistent-view", skew_});
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr(": holds consistent-view\n"));
  EXPECT_THAT(ouro({"--output", "edn", "-c", "consistent-view", skew_}).out,
              StartsWith("{:valid? true"));
  EXPECT_THAT(ouro({"--output", "edn", "-c", "update-serializable", skew_}).out,
              StartsWith("{:valid? :unknown"));
  const std::string junit = (folder_ / "j.xml").string();
  EXPECT_EQ(
      ouro({"-q", "-c", "update-serializable", "--undecided", "fail", "--junit", junit, skew_})
          .status,
      1);
  EXPECT_THAT(slurp(junit), HasSubstr("update-serializable is undecided"));
}

// What elle-cli's flags for other tests say is not asked here, or known from the history.
TEST_F(ElleCliTest, FlagsForOtherTestsAreAccepted) {
  EXPECT_EQ(ouro({"-q", "-g", "3", "--max-transfer", "5", "-c", "si", skew_}).status, 0);
  const std::string bank = (folder_ / "bank.edn").string();
  std::ofstream(bank) << "{:type :ok, :process 0, :f :read, :value {0 10, 1 20}, :index 0}\n"
                         "{:type :invoke, :process 0, :f :transfer, :value {:from 0, :to 1, "
                         ":amount 15}, :index 1}\n"
                         "{:type :ok, :process 0, :f :transfer, :value {:from 0, :to 1, "
                         ":amount 15}, :index 2}\n"
                         "{:type :invoke, :process 0, :f :read, :index 3}\n"
                         "{:type :ok, :process 0, :f :read, :value {0 -5, 1 35}, :index 4}\n";
  const Ran reserved = ouro({"-m", "bank", bank});
  const Ran allowed = ouro({"-m", "bank", "-n", bank});
  EXPECT_THAT(reserved.out, HasSubstr("negative"));
  EXPECT_THAT(allowed.out, Not(HasSubstr("negative")));
  EXPECT_EQ(ouro({"--output", "elle", "-n", "-o", "30", bank}).out, bank + " \t true\n");
  const Ran other = ouro({"--output", "elle", "-n", "-o", "31", bank});
  EXPECT_EQ(other.out, bank + " \t false\n");
  EXPECT_EQ(other.status, 1);
  EXPECT_THAT(other.err, HasSubstr("the accounts hold 30 together, expected 31"));
  EXPECT_EQ(ouro({"-q", "-a", "GSIa,GSIb", "-c", "si", skew_}).status, 0);
  const std::string half = (folder_ / "half.edn").string();
  std::ofstream(half) << "{:type :ok, :process 0, :value [[:w x 1] [:w y 1]]}\n"
                         "{:type :ok, :process 1, :value [[:r y nil] [:r x 1]]}\n";
  EXPECT_EQ(ouro({"-q", "-c", "read-committed", "-a", "G0", half}).status, 0);
  EXPECT_EQ(ouro({"-q", "-c", "read-committed", "-a", "GSIb", half}).status, 1);
}

TEST_F(ElleCliTest, AnomaliesCountBeyondTheLevel) {
  EXPECT_EQ(ouro({"--output", "elle", "-c", "si", skew_}).out, skew_ + " \t true\n");
  const Ran counted = ouro({"--output", "elle", "-c", "si", "-a", "G0,G2-item", skew_});
  EXPECT_EQ(counted.out, skew_ + " \t false\n");
  EXPECT_EQ(counted.status, 1);
  EXPECT_EQ(ouro({"-q", "-c", "si", "-a", "G0,G-single-item-process", skew_}).status, 0);
  EXPECT_THAT(ouro({"--output", "edn", "-c", "si", "-a", "G2", skew_}).out,
              StartsWith("{:valid? false, :anomaly-types (:G2-item)"));
  EXPECT_THAT(ouro({"-a", "G9", skew_}).err, HasSubstr("unknown anomaly 'G9'"));
  // Nobody stated an expectation.
  const Ran violated = ouro({"--output", "elle", "-a", "G2-item", skew_});
  EXPECT_EQ(violated.status, 1);
  EXPECT_EQ(violated.err, "");
  EXPECT_THAT(ouro({"-c", "si", "-a", "G2", "--lacks", "write-skew", skew_}).err,
              HasSubstr("expected no write-skew, but it shows"));
}

TEST_F(ElleCliTest, TheDirectoryHasFilesForEachType) {
  const std::string elle = (folder_ / "store" / "elle").string();
  const Ran ran = ouro({"-q", "-d", elle, "-p", "dot", "--plot-timeout", "9", "-s", "5", skew_});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, IsEmpty());
  EXPECT_THAT(slurp(elle + "/G2-item.txt"),
              AllOf(StartsWith("write skew (violates serializable)\n"),
                    HasSubstr("T1 read :y=[]")));
  EXPECT_THAT(slurp(elle + "/G2-item/0.dot"), StartsWith("digraph"));
  EXPECT_FALSE(fs::exists(elle + "/G2-item/0.svg"));
  // What cannot be drawn is told, and is no failure.
  const Ran large = ouro({"-q", "-d", elle, "--max-plot-bytes", "10", skew_});
  EXPECT_EQ(large.status, 1);
  EXPECT_THAT(large.err, AllOf(StartsWith("ouro: note: "), HasSubstr("--max-plot-bytes")));
  EXPECT_EQ(ouro({"-d", elle, skew_, skew_}).status, 254);
}

// With another program for Graphviz's.
TEST_F(ElleCliTest, WhatDrawsMayFailOrBeAbsent) {
  const auto draw = [&](const std::string& script) {
    const fs::path dot = folder_ / "bin" / "dot";
    fs::create_directories(dot.parent_path());
    fs::remove(dot);
    if (!script.empty()) {
      std::ofstream(dot) << "#!/bin/sh\n" << script << '\n';
      fs::permissions(dot, fs::perms::owner_all);
    }
    const Ran ran = run_program({"/usr/bin/env", "PATH=" + (folder_ / "bin").string(), kOuroBinary,
                                 "check", "-q", "-d", (folder_ / "drawn").string(),
                                 "--plot-timeout", "200", skew_});
    EXPECT_EQ(ran.status, 1);
    return ran.err;
  };
  EXPECT_THAT(draw(""), HasSubstr("0.dot is not drawn: 'dot' is not installed"));
  EXPECT_THAT(draw("exit 3"), HasSubstr("'dot' failed"));
  EXPECT_THAT(draw("exec /bin/sleep 600"), HasSubstr("'dot' took more than 200 ms"));
}

TEST_F(ElleCliTest, GraphsAreDrawnInTheFormatAskedFor) {
  std::ofstream(folder_ / "dot") << "#!/bin/sh\necho \"$1 $4\" > \"$3\"\n";
  fs::permissions(folder_ / "dot", fs::perms::owner_all);
  const std::string to = (folder_ / "drawn").string();
  for (const std::string format : {"svg", "png"}) {
    // No limit that a slow machine could reach.
    const Ran ran = run_program({"/usr/bin/env", "PATH=" + folder_.string(), kOuroBinary, "check",
                                 "-q", "-d", to, "-p", format, "--plot-timeout", "600000", skew_});
    EXPECT_EQ(ran.err, "");
    EXPECT_EQ(slurp(to + "/G2-item/0." + format), "-T" + format + ' ' + to + "/G2-item/0.dot\n");
  }
}

}  // namespace
}  // namespace ouro
