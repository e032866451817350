// The text of every anomaly at every level it violates: tests/stories.txt.
//
// OURO_UPDATE_DOCS=1 writes the file anew; read the difference before you believe it.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "history/columns.h"
#include "ouro/format.h"
#include "ouro/forms.h"
#include "ouro/report.h"
#include "report/narrator.h"
#include "tests/case_file.h"
#include "tests/files.h"
#include "tests/small_histories.h"
#include "tests/this_build.h"

namespace ouro::oracle {
namespace {

namespace fs = std::filesystem;

struct Named {
  std::string name;
  History history;
};

// What case files cannot say.
constexpr const char* kPhantom = R"({"ouro":1}
{"session":"a","ops":[["scan","a","z",[]],["w","b",1]]}
{"session":"b","ops":[["scan","a","z",[]],["w","c",2]]}
)";
constexpr const char* kStaleIndex = R"({"ouro":1}
{"session":"w","ops":[["w","k1",{"price":4}],["w","k2",{"price":15}]]}
{"session":"r","ops":[["aggregate","count",null,{"gt":["price",3]},1,{"versions":[["k1",{"price":4}],["k2",{"price":15}]]}]]}
)";

constexpr const char* kLostVersion = R"({"session":"a","ops":[["w","x",1]]}
{"session":"b","ops":[["w","x",2]]}
{"key":"x","versions":[2],"complete":true}
)";

// By versions, predicate reads depend on rows that they did not return. The clerk and cid's shift
// have nothing to do with what is wrong, though both doctors saw them.
constexpr const char* kOnCall = R"({"session":"clerk","ops":[["w","cid",{"on_call":0,"v":1}]]}
{"session":"cid","ops":[["r","cid",{"on_call":0,"v":1}],["w","cid",{"on_call":0,"v":2}]]}
{"session":"ann","ops":[["aggregate","count",null,{"eq":["on_call",1]},2,{"versions":[["ann",{"on_call":1,"v":1}],["bob",{"on_call":1,"v":1}],["cid",{"on_call":0,"v":2}]]}],["w","ann",{"on_call":0,"v":2}]]}
{"session":"bob","ops":[["aggregate","count",null,{"eq":["on_call",1]},2,{"versions":[["ann",{"on_call":1,"v":1}],["bob",{"on_call":1,"v":1}],["cid",{"on_call":0,"v":2}]]}],["w","bob",{"on_call":0,"v":2}]]}
{"key":"ann","initial":{"on_call":1,"v":1},"versions":[{"on_call":0,"v":2}],"complete":true}
{"key":"bob","initial":{"on_call":1,"v":1},"versions":[{"on_call":0,"v":2}],"complete":true}
{"key":"cid","versions":[{"on_call":0,"v":1},{"on_call":0,"v":2}],"complete":true}
)";
constexpr const char* kHalfAnOrder =
    R"({"session":"shop","ops":[["w","line1",{"order":7}],["w","line2",{"order":7}]]}
{"session":"store","ops":[["select",{"eq":["order",7]},[["line1",{"order":7}]],{"versions":[["line1",{"order":7}]]}]]}
{"key":"line1","versions":[{"order":7}],"complete":true}
{"key":"line2","versions":[{"order":7}],"complete":true}
)";
constexpr const char* kHalfACount =
    R"({"session":"shop","ops":[["w","line1",{"order":7}],["w","line2",{"order":7}]]}
{"session":"store","ops":[["aggregate","count",null,{"eq":["order",7]},1,{"versions":[["line1",{"order":7}]]}]]}
{"key":"line1","versions":[{"order":7}],"complete":true}
{"key":"line2","versions":[{"order":7}],"complete":true}
)";
constexpr const char* kHalfAScan = R"({"session":"a","ops":[["w","k0",1],["w","k1",2]]}
{"session":"b","ops":[["scan","k0","k1",[["k1",2]]]]}
)";
constexpr const char* kMissedRow =
    R"({"session":"a","start_ts":1,"commit_ts":2,"ops":[["w","k1",{"price":4}],["w","k2",{"price":15}]]}
{"session":"b","start_ts":3,"commit_ts":4,"ops":[["w","k3",{"price":7}]]}
{"session":"c","start_ts":5,"commit_ts":6,"ops":[["select",{"lt":["price",10]},[["k1",{"price":4}]]]]}
{"key":"k1","versions":[{"price":4}],"complete":true}
{"key":"k2","versions":[{"price":15}],"complete":true}
{"key":"k3","versions":[{"price":7}],"complete":true}
)";

std::vector<Named> histories() {
  std::vector<Named> out;
  for (const auto& entry : fs::directory_iterator(kRoot / "tests" / "cases")) {
    if (entry.path().extension() != ".case") continue;
    auto parsed = parse_case(slurp(entry.path()), entry.path().string());
    EXPECT_TRUE(parsed.ok()) << entry.path();
    if (parsed.ok()) out.push_back({entry.path().stem().string(), parsed->history});
  }
  out.push_back({"phantom", *parse_history(kPhantom)});
  out.push_back({"stale_index", *parse_history(kStaleIndex)});
  out.push_back({"lost_version", *parse_history(kLostVersion)});
  out.push_back({"on_call", *parse_history(kOnCall)});
  out.push_back({"half_an_order", *parse_history(kHalfAnOrder)});
  out.push_back({"half_a_count", *parse_history(kHalfACount)});
  out.push_back({"half_a_scan", *parse_history(kHalfAScan)});
  out.push_back({"missed_row", *parse_history(kMissedRow)});
  std::sort(out.begin(), out.end(), [](const Named& a, const Named& b) { return a.name < b.name; });
  return out;
}

// The page has the story, too.
void expect_page(const Named& named, const Verdict& verdict, const Explanation& explanation) {
  HtmlReport report;
  report.add({.name = named.name,
              .history = &named.history,
              .verdicts = {&verdict, 1},
              .explanations = {&explanation, 1}});
  const std::string page = report.finish();
  for (const Story& story : explanation.stories) {
    EXPECT_NE(page.find(name(story)), std::string::npos) << named.name << ' ' << name(story);
  }
}

// Nobody is in the cast without a sentence: every label of it occurs elsewhere in the text, too.
void expect_sentences(const Named& named, const Verdict& verdict, const Story& story) {
  const Explanation alone{.level = verdict.level, .stories = {story}, .complete = true};
  const std::string text = describe(named.history, verdict, {.explanations = {&alone, 1}});
  const Narrator narrator(named.history, story);
  std::string rest;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto is_of_cast = [&](const std::string& of_cast) { return line == "  " + of_cast; };
    const std::vector<std::string> cast = narrator.cast();
    if (std::none_of(cast.begin(), cast.end(), is_of_cast)) rest += line + '\n';
  }
  for (const TxnId txn : narrator.txns()) {
    const std::regex label(narrator.label(txn) + "\\b");
    EXPECT_TRUE(std::regex_search(rest, label)) << named.name << '\n' << text;
  }
}

// The same of histories that nobody wrote; and their sentences are whole.
TEST(StoriesTest, EverybodyHasASentenceInRandomHistories) {
  std::size_t told = 0;
  for (std::uint64_t seed = 1; seed <= 400 / kSlowdown; ++seed) {
    RandomShape shape = seed % 4 == 0 ? repeating_shape(seed) : mixed_shape(seed);
    shape.max_txns = 9;
    const Named named{"seed " + std::to_string(seed), random_history(seed, shape)};
    for (const Level level : {Level::ReadAtomic, Level::Prefix, Level::SessionSi,
                              Level::Serializable, Level::StrictSerializable}) {
      const auto verdict = check(named.history, level);
      if (!verdict.ok() || verdict->outcome != Outcome::Violated) continue;
      for (const Story& story : explain(named.history, *verdict, {.examples = 2}).stories) {
        expect_sentences(named, *verdict, story);
        const std::string summary = Narrator(named.history, story).in_short();
        EXPECT_TRUE(summary.ends_with('.')) << summary;
        EXPECT_EQ(summary.find("  "), std::string::npos) << summary;
        EXPECT_EQ(summary.find("No order explains"), std::string::npos) << named.name << summary;
        ++told;
      }
    }
  }
  EXPECT_GT(told, 200u / kSlowdown);
}

// Headings and stories of one history; levels with the same stories share them.
void append(std::string& out, const Named& named, Evidence evidence, std::set<Pattern>& seen) {
  std::string levels_so_far;
  std::string last;
  const auto flush = [&] {
    if (!levels_so_far.empty()) out += "--- " + levels_so_far + '\n' + last;
  };
  for (const LevelInfo& level : levels()) {
    if (!decidable(level.level, evidence)) continue;
    CheckOptions options;
    options.evidence = evidence;
    const auto verdict = check(named.history, level.level, options);
    if (!verdict.ok() || verdict->outcome != Outcome::Violated) continue;
    const Explanation explanation =
        explain(named.history, *verdict, {.examples = 2, .work_limit = 0});
    for (const Story& story : explanation.stories) {
      seen.insert(story.pattern);
      expect_sentences(named, *verdict, story);
    }
    std::string text =
        describe(named.history, *verdict, {.name = named.name, .explanations = {&explanation, 1}});
    expect_page(named, *verdict, explanation);
    const std::size_t name_end = text.find(" (");
    text = text.substr(name_end + 1, text.rfind("\n\n") - name_end);
    if (text != last) {
      flush();
      levels_so_far.clear();
      last = text;
    }
    levels_so_far += (levels_so_far.empty() ? "" : " ") + std::string(level.name);
    if (evidence != Evidence::Observed) levels_so_far += " by " + std::string(name(evidence));
  }
  flush();
}

TEST(StoriesTest, EveryAnomalyIsToldAtEveryLevelItViolates) {
  std::string out;
  std::set<Pattern> seen;
  for (const Named& named : histories()) {
    std::string stories;
    append(stories, named, Evidence::Observed, seen);
    const HistoryColumns& c = columns_of(named.history);
    if (!c.start_ts.empty() || !c.commit_ts.empty()) {
      append(stories, named, Evidence::Timestamps, seen);
    }
    if (!c.version_orders.empty()) append(stories, named, Evidence::Versions, seen);
    if (!stories.empty()) out += "=== " + named.name + '\n' + stories + '\n';
  }
  for (std::size_t pattern = 0; pattern < kPatternCount; ++pattern) {
    EXPECT_TRUE(seen.contains(static_cast<Pattern>(pattern)))
        << info(static_cast<Pattern>(pattern)).name;
  }
  const fs::path golden = kRoot / "tests" / "stories.txt";
  if (std::getenv("OURO_UPDATE_DOCS") != nullptr) std::ofstream(golden, std::ios::binary) << out;
  // Line by line: a difference in a file of thousands of lines is hard to read otherwise.
  std::istringstream expected(slurp(golden));
  std::istringstream found(out);
  std::string line, wanted;
  for (std::size_t number = 1; std::getline(found, line); ++number) {
    ASSERT_TRUE(std::getline(expected, wanted)) << "stories.txt ends before\n" << line;
    ASSERT_EQ(line, wanted) << "stories.txt:" << number;
  }
  EXPECT_FALSE(std::getline(expected, wanted)) << wanted;
}

}  // namespace
}  // namespace ouro::oracle
