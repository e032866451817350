// The stories on the page: every one is told as the text tells it, and its picture says the same.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "report/html_data.h"
#include "report/json_writer.h"
#include "report/narrator.h"
#include "tests/case_file.h"
#include "tests/files.h"
#include "tests/html_page.h"
#include "tests/page_rules.h"
#include "tests/random_predicates.h"

namespace ouro {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class HtmlStoryTest : public HtmlPageTest {
 protected:
  // Adds the history, and notes what the text says of its stories.
  void add_told(HtmlReport& report, const std::string& name, const History& history,
                Evidence evidence) {
    CheckOptions options;
    options.evidence = evidence;
    const auto verdicts = check(history, levels_by(evidence), options);
    if (evidence == Evidence::Versions && !verdicts.ok()) return;  // It states no orders.
    ASSERT_TRUE(verdicts.ok()) << name << ": " << verdicts.error().to_string();
    const std::vector<Explanation> explanations = explain_all(history, *verdicts);
    report.add({.name = name,
                .history = &history,
                .verdicts = *verdicts,
                .explanations = explanations,
                .seconds = 0});
    std::size_t total = 0;
    std::vector<std::string> said;
    std::vector<std::string> opened;
    for (const SharedStory& shared : shared_stories(explanations, total)) {
      const Story& story = *shared.story;
      add_words(history, story, said);
      const Narrator narrator(history, story);
      if (story.cases.empty() || narrator.is_certain()) continue;
      opened.push_back(narrator.premise(story.cases[story.named_by]));
      if (story.named_by != narrator.told_cases(2).numbers.front()) ++named_by_later_;
    }
    said_.begin_object();
    for (const auto& [what, lines] : {std::pair("words", said), std::pair("opened", opened)}) {
      said_.key(what).begin_array();
      for (const std::string& line : lines) said_.value(line);
      said_.end_array();
    }
    said_.end_object();
  }

  static void add_words(const History& history, const Story& story,
                        std::vector<std::string>& said) {
    const Narrator narrator(history, story);
    said.push_back(narrator.in_short());
    if (!narrator.has_proof()) return;
    for (const std::string& line : narrator.proof()) {
      // Of many cases, and of a long cycle, the page tells more.
      if (line.find("… and") == std::string::npos) said.push_back(line);
    }
  }

  // Opens a page with all that was added, and unfolds it.
  void open_all(const HtmlReport& report) {
    open(report);
    browser_.evaluate(
        "for (const each of document.querySelectorAll('details.history')) each.open = true; 0");
    browser_.wait_for(
        "document.querySelectorAll('.story').length > 0 && "
        "!document.querySelector('.graph:empty') && "
        "[...document.querySelectorAll('details.history')].every(e => e.querySelector('.lattice, "
        ".plain'))");
    EXPECT_THAT(browser_.complaints(), IsEmpty());
  }

  // Every sentence of the text is on the page, and the case that names a story is open.
  void expect_the_words_of_the_text() {
    EXPECT_EQ(browser_.evaluate(R"((said => said.flatMap(({words, opened}, i) => {
      const bare = text => text.replace(/\s/g, '');
      const stories = [...document.querySelectorAll(`#history-${i + 1} .story`)];
      const page = bare(stories.map(e => e.textContent).join('|'));
      const active = stories.map(e => e.querySelector('.case.active .premise')).filter(Boolean);
      return [...words.filter(line => !page.includes(bare(line))).map(line => [i + 1, line]),
              ...opened.filter((line, n) => active[n]?.textContent !== line).map(line => [i + 1, 'not open', line])];
    })))" + ("(" + std::move(said_.end_array()).finish() + ")")),
              "[]");
  }

  std::size_t named_by_later_ = 0;  // The stories that are named by another case than the first.
  JsonWriter said_ = [] {
    JsonWriter json;
    json.begin_array();
    return json;
  }();
};

TEST_F(HtmlStoryTest, EveryCaseIsToldAsTheTextTellsIt) {
  HtmlReport report;
  for (const auto& entry : std::filesystem::directory_iterator(kRoot / "tests" / "cases")) {
    if (entry.path().extension() != ".case") continue;
    const auto parsed = oracle::parse_case(slurp(entry.path()), entry.path().string());
    ASSERT_TRUE(parsed.ok());
    const std::string name = entry.path().stem().string();
    add_told(report, name, parsed->history, Evidence::Observed);
    add_told(report, name + " by versions", parsed->history, Evidence::Versions);
    if (parsed->history.has_timestamps()) {
      add_told(report, name + " by timestamps", parsed->history, Evidence::Timestamps);
    }
  }
  open_all(report);
  EXPECT_GT(browser_.count(".story"), 120u);
  EXPECT_EQ(browser_.evaluate(kBadStories), "[]");
  expect_the_words_of_the_text();
}

// Writers of a few rows and of a register with values that repeat, and readers that count rows: who
// saw what is open, so that stories have cases.
History random_counts(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  std::string text = "{\"ouro\":1,\"initial\":null}\n";
  const std::uint64_t count = 4 + below(3);
  for (std::uint64_t i = 0; i < count; ++i) {
    std::string ops;
    for (std::uint64_t k = 0; k < 1 + below(3); ++k) {
      const std::uint64_t kind = below(6);
      ops += ops.empty() ? "" : ",";
      if (kind < 2) {
        ops += fmt::format(R"(["w","row{}",{{"v":{},"by":{}}}])", below(3), below(2), i);
      } else if (kind < 4) {
        ops += fmt::format(R"(["aggregate","count",null,{{"eq":["v",1]}},{}])", below(3));
      } else if (kind == 4) {
        ops += fmt::format(R"(["w","x",{}])", below(2));
      } else {
        ops += fmt::format(R"(["r","x",{}])", below(2));
      }
    }
    text += fmt::format("{{\"session\":{},\"ops\":[{}]}}\n", below(4), ops);
  }
  return oracle::history_of(text);
}

TEST_F(HtmlStoryTest, StoriesOfManyCasesToo) {
  HtmlReport report;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    const std::string name = "seed " + std::to_string(seed);
    add_told(report, name, random_counts(seed), Evidence::Observed);
  }
  open_all(report);
  EXPECT_GT(browser_.count(".case:nth-of-type(3)"), 10u);
  EXPECT_GT(browser_.count(".case .impossible"), 5u);
  EXPECT_EQ(browser_.evaluate(kBadStories), "[]");
  EXPECT_EQ(clashes(), "[]");
  EXPECT_GT(named_by_later_, 3u);
  expect_the_words_of_the_text();
  // Each case that is chosen is drawn, one after the other.
  for (int i = 0; i < 4; ++i) {
    browser_.evaluate(
        "for (const each of document.querySelectorAll('.story')) "
        "each.querySelectorAll('.premise')[" +
        std::to_string(i) + "]?.click(); 0");
    EXPECT_EQ(browser_.evaluate(kBadStories), "[]") << i;
    EXPECT_EQ(clashes(), "[]") << i;
  }
  EXPECT_THAT(browser_.complaints(), IsEmpty());
}

TEST_F(HtmlStoryTest, PredicatesByTimestampsToo) {
  HtmlReport report;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    oracle::PredicateShape shape = oracle::mixed_predicates(seed);
    shape.txns = 6;
    shape.lists = false;  // Where a key holds both, only timestamps decide.
    const History history = oracle::random_predicates(seed, shape);
    const std::string name = "seed " + std::to_string(seed);
    add_told(report, name, history, Evidence::Observed);
    add_told(report, name + " by timestamps", history, Evidence::Timestamps);
  }
  open_all(report);
  EXPECT_EQ(browser_.evaluate(kBadStories), "[]");
  expect_the_words_of_the_text();
}

// A count of one of two rows: cases in which it saw both or neither are impossible, and the text
// does not tell them.
TEST_F(HtmlStoryTest, TheCaseThatNamesTheStoryIsTheOneThatIsTold) {
  const auto parsed =
      oracle::parse_case(slurp(kRoot / "tests/cases/count_of_half_an_order.case"), "half");
  ASSERT_TRUE(parsed.ok());
  open(parsed->history, {Level::Serializable});
  EXPECT_EQ(browser_.count(".story .case"), 2u);
  EXPECT_EQ(browser_.count(".story .case.active"), 1u);
  EXPECT_THAT(browser_.text(".case.active .premise"),
              HasSubstr("If T2's count=1 saw T1's line1 and T2's count=1 saw no line2 yet:"));
  EXPECT_EQ(browser_.count(".case.active .sentence"), 2u);
  EXPECT_EQ(browser_.count(".graph .edge:not(.faint)"), 2u);
  EXPECT_EQ(browser_.count(".graph .edge.assumed"), 4u);
  EXPECT_THAT(browser_.text(".story .words"),
              HasSubstr("If they saw other versions, they would have returned something else."));
  browser_.click(".edge-label:not(.faint)");
  EXPECT_THAT(browser_.text(".inspector"),
              HasSubstr("This holds only if T2's count=1 saw T1's line1"));
}

// Whoever is only in what a case supposes is in its picture, too.
TEST_F(HtmlStoryTest, WhatACaseSupposesIsDrawn) {
  const auto history =
      parse_history(R"({"session":"a","ops":[["w","k1",{"v":0.50}],["w","k2",{"v":0.50}]]}
{"session":"b","ops":[["w","k1",{"v":0.2}],["w","k2",{"v":0.8}]]}
{"session":"c","ops":[["aggregate","avg","v",true,0.65]]}
)");
  ASSERT_TRUE(history.ok());
  open(*history, {Level::Serializable});
  EXPECT_EQ(browser_.count(".graph .node"), 3u);
  EXPECT_EQ(browser_.count(".graph .edge.supposed"), 2u);
  EXPECT_EQ(browser_.count(".graph .edge.closing"), 1u);
  EXPECT_EQ(browser_.count(".graph .node.faint"), 0u);
  EXPECT_EQ(clashes(), "[]");
  browser_.click(".edge-label.k-ww.supposed");
  EXPECT_EQ(browser_.text(".inspector .why"), "Supposed: T1 wrote k1 before T2.");
  browser_.click(".case:nth-of-type(2) .premise");
  EXPECT_THAT(browser_.text(".case.active .premise"), HasSubstr("T2 wrote k2 before T1"));
  EXPECT_EQ(browser_.count(".graph .edge.supposed"), 2u);
  EXPECT_THAT(browser_.complaints(), IsEmpty());
}

// By timestamps there is no cycle, but the picture has what DOT and JSON have.
TEST_F(HtmlStoryTest, ALostUpdateByTimestampsHasItsArrows) {
  open(oracle::history_of("T1 @shop {1,2}: w stock 10\n"
                          "T2 @ann {3,6}: r stock 10, w stock 9\n"
                          "T3 @bob {4,7}: r stock 10, w stock 8\n"),
       {Level::Si}, Evidence::Timestamps);
  EXPECT_THAT(browser_.text(".story h3"), HasSubstr("ost update"));
  EXPECT_EQ(browser_.count(".graph .edge.k-wr"), 2u);
  EXPECT_EQ(browser_.count(".graph .edge.k-rw"), 2u);
  EXPECT_EQ(browser_.count(".graph .edge"), 4u) << "and no line that says less";
  EXPECT_TRUE(browser_.is_true(R"((() => {
    const top = name => document.querySelector(`.node[data-txn=${name}]`).getBoundingClientRect().top;
    return top('T1') < top('T2') && top('T2') < top('T3');
  })())"))
      << "from top to bottom";
  browser_.click(".edge-label.k-rw");
  EXPECT_EQ(browser_.text(".inspector .why"), "T2 read stock=10, which T3 overwrote with 8.");
  EXPECT_EQ(browser_.evaluate(kBadStories), "[]");
  EXPECT_EQ(clashes(), "[]");
}

}  // namespace
}  // namespace ouro
