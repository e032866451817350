// The HTML report in a real browser: what it shows, what it answers, and what it must never do.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "ouro/ouro.h"
#include "tests/browser.h"
#include "tests/case_file.h"
#include "tests/files.h"
#include "tests/html_page.h"
#include "tests/page_rules.h"
#include "tests/run_program.h"

namespace ouro {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

History parse(const std::string& text) {
  auto history = parse_history(text);
  EXPECT_TRUE(history.ok()) << history.error().to_string();
  return history.ok() ? *std::move(history) : History();
}

// A lost update, with clocks and what happened to the database meanwhile.
const char* const kLostUpdate =
    R"({"ouro":1,"initial":10,"info":{"clock":"nanoseconds","nemesis":"1000000 pause node 1; 9000000 resume node 1"}}
{"session":"ann","invoked":2000000,"completed":5000000,"ops":[["r","stock",10],["r","price",10],["w","stock",9]]}
{"session":"bob","invoked":3000000,"completed":6000000,"ops":[["r","stock",10],["w","stock",8]]}
{"session":"eve","invoked":12000000,"completed":14000000,"status":"aborted","ops":[["w","price",3]]}
{"session":"eve","invoked":15000000,"status":"unknown","ops":[["w","price",4]]}
)";

// A cycle of `count` transactions, each of which read what the next one overwrites.
History ring(int count) {
  HistoryBuilder b;
  b.default_initial(b.integer(0));
  for (int i = 0; i < count; ++i) {
    b.begin_txn(b.session(fmt::format("client {}", i % 6)));
    b.clocks(i * 10, i * 10 + 25);
    b.read(b.key(fmt::format("key{}", i)), b.integer(0));
    b.write(b.key(fmt::format("key{}", (i + 1) % count)), b.integer(i + 1));
  }
  return *std::move(b).freeze();
}

class HtmlReportTest : public HtmlPageTest {};

TEST_F(HtmlReportTest, TellsWhatTheTextTells) {
  const History history = parse(kLostUpdate);
  open(history, {Level::Si});
  EXPECT_THAT(browser_.complaints(), IsEmpty());
  EXPECT_THAT(browser_.requests(), ElementsAre("file://" + (folder_ / "report.html").string()));
  EXPECT_EQ(browser_.evaluate("document.title"), "\"shop.jsonl: violated – Ouro\"");
  EXPECT_EQ(browser_.text("h2"), "✗ violated shop.jsonl");
  EXPECT_THAT(browser_.text(".story h3"), HasSubstr("ost update"));
  EXPECT_THAT(
      texts(".sentence"),
      ElementsAre(
          "T1 < T2, because T2 overwrote T1's stock=9 with 8.",
          "But T2 < T1, because T2 read stock=10, which T1 overwrote with 9: a contradiction.",
          "T2 < T1, because T1 overwrote T2's stock=8 with 9.",
          "But T1 < T2, because T1 read stock=10, which T2 overwrote with 8: a contradiction."));
  EXPECT_THAT(texts(".premise"),
              ElementsAre("If T1 wrote stock first:", "If T2 wrote stock first:"));
  // Without scripts there is the text, word for word.
  const auto verdict = check(history, Level::Si);
  ReportOptions options;
  options.name = "shop.jsonl";
  options.check_seconds = 0.25;
  const Explanation story = explain(history, *verdict);
  options.explanations = {&story, 1};
  EXPECT_EQ(browser_.evaluate("document.querySelector('#text pre').textContent"),
            browser_.evaluate("`" + describe(history, *verdict, options) + "`"));
}

TEST_F(HtmlReportTest, DrawsAGraphInWhichNothingClashes) {
  open(parse(kLostUpdate), {Level::Si});
  EXPECT_EQ(browser_.count(".graph .node"), 2u);
  EXPECT_EQ(browser_.count(".graph .edge"), 4u);
  EXPECT_EQ(browser_.count(".graph .edge.assumed"), 2u);
  EXPECT_EQ(browser_.count(".graph .edge.faint"), 2u) << "those of the other case";
  EXPECT_THAT(
      texts(".story .legend li"),
      ElementsAre("ww the second overwrites the first",
                  "rw the first reads what the second overwrites", "thick: closes the cycle",
                  "dashed: only in that order of the writes", "grey: of another case"));
  EXPECT_EQ(browser_.count(".graph .edge.closing"), 1u);
  EXPECT_EQ(clashes(), "[]");
  EXPECT_TRUE(browser_.is_true("document.querySelector('.picture').clientWidth > 300"));
}

TEST_F(HtmlReportTest, PointingAtATransactionShowsAllItsOperations) {
  open(parse(kLostUpdate), {Level::Si});
  EXPECT_THAT(browser_.text(".inspector"), HasSubstr("Point at a transaction"));
  browser_.hover(".node[data-txn=T1]");
  EXPECT_THAT(browser_.text(".inspector h4"), HasSubstr("T1 session ann, line 2"));
  EXPECT_THAT(texts(".inspector .ops li"), ElementsAre("r stock=10", "r price=10", "w stock=9"));
  EXPECT_THAT(texts(".inspector .ops li.matters"), ElementsAre("r stock=10", "w stock=9"));
  EXPECT_THAT(browser_.text(".inspector"),
              HasSubstr("invoked at 2,000,000, completed at 5,000,000"));
  browser_.hover("h1");
  EXPECT_THAT(browser_.text(".inspector"), HasSubstr("Point at a transaction"));
  browser_.click(".node[data-txn=T2]");
  browser_.hover("h1");
  EXPECT_THAT(texts(".inspector .ops li"), ElementsAre("r stock=10", "w stock=8")) << "it stays";
  EXPECT_THAT(browser_.complaints(), IsEmpty());
}

TEST_F(HtmlReportTest, ClickingAnArrowTellsWhyAndWhatTheOtherOrderWouldImply) {
  open(parse(kLostUpdate), {Level::Si});
  browser_.click(".edge-label.k-ww:not(.faint)");
  EXPECT_EQ(browser_.text(".inspector .why"), "T1 < T2, because T2 overwrote T1's stock=9 with 8.");
  EXPECT_THAT(browser_.text(".inspector"), HasSubstr("This holds only if T1 wrote stock first."));
  EXPECT_THAT(texts(".inspector .other li"),
              ElementsAre("T2 < T1, because T1 overwrote T2's stock=8 with 9.",
                          "But T1 < T2, because T1 read stock=10, which T2 overwrote with 8: a "
                          "contradiction."));
  EXPECT_EQ(browser_.text(".sentence.selected"),
            "T1 < T2, because T2 overwrote T1's stock=9 with 8.");
  EXPECT_EQ(browser_.count(".node .op.lit"), 2u) << "the operations that prove it";
  browser_.press("Escape");
  EXPECT_EQ(browser_.count(".sentence.selected"), 0u);
  // An edge that needs no assumption says what would follow if it ran the other way.
  open(parse(R"({"ouro":1,"initial":0}
{"session":"a","ops":[["r","x",0],["w","y",1]]}
{"session":"b","ops":[["r","y",0],["w","x",2]]}
)"),
       {Level::Serializable});
  browser_.click(".edge-label.closing");
  EXPECT_EQ(browser_.text(".inspector .why"),
            "But T2 < T1, because T2 read y=0, which T1 overwrote with 1: a contradiction.");
  EXPECT_EQ(browser_.text(".inspector .other"),
            "If it were the other way round, T2 would have read T1's y=1, or what came after it.");
  EXPECT_THAT(browser_.complaints(), IsEmpty());
}

TEST_F(HtmlReportTest, WorksFromTheKeyboard) {
  open(parse(kLostUpdate), {Level::Si});
  EXPECT_TRUE(browser_.is_true("!document.querySelectorAll('.sentence')[2].offsetParent"))
      << "the second case mirrors the first, so it is folded";
  browser_.evaluate("document.querySelectorAll('.premise')[1].focus(); 0");
  browser_.press("Enter");
  EXPECT_EQ(browser_.count(".graph .edge.faint"), 2u);
  browser_.evaluate("document.querySelectorAll('.sentence')[2].focus(); 0");
  browser_.press("Enter");
  EXPECT_EQ(browser_.text(".inspector .why"), "T2 < T1, because T1 overwrote T2's stock=8 with 9.");
  EXPECT_EQ(browser_.text(".case.active .premise"), "If T2 wrote stock first:");
  browser_.evaluate("document.querySelector('.node[data-txn=T2]').focus(); 0");
  EXPECT_THAT(browser_.text(".inspector h4"), HasSubstr("T2 session bob"));
  browser_.evaluate("document.querySelector('.edge:not(.faint)').focus(); 0");
  browser_.press(" ");
  EXPECT_THAT(browser_.text(".inspector .why"), HasSubstr("because"));
  // Everything that can be clicked can be reached by keyboard, and has a label.
  EXPECT_EQ(browser_.evaluate("[...document.querySelectorAll('.node, .edge')].filter("
                              "e => e.tabIndex < 0 || !e.getAttribute('aria-label')).length"),
            "0");
  EXPECT_THAT(browser_.complaints(), IsEmpty());
}

TEST_F(HtmlReportTest, IsLightOrDarkAsTheSystemOrTheReaderSays) {
  open(parse(kLostUpdate), {Level::Si});
  const std::string shade = "getComputedStyle(document.body).backgroundColor";
  const std::string light = browser_.evaluate(shade);
  browser_.prefer_dark(true);
  const std::string dark = browser_.evaluate(shade);
  EXPECT_NE(light, dark);
  browser_.click("#theme");
  EXPECT_EQ(browser_.evaluate(shade), light);
  browser_.prefer_dark(false);
  browser_.click("#theme");
  EXPECT_EQ(browser_.evaluate(shade), dark);
  browser_.click("#theme");
  EXPECT_EQ(browser_.evaluate(shade), light);
}

TEST_F(HtmlReportTest, FitsAPhone) {
  browser_.resize(360, 700);
  browser_.use_touch(true);
  open(parse(kLostUpdate), levels_by(Evidence::Observed));
  EXPECT_EQ(browser_.evaluate("document.documentElement.scrollWidth"), "360");
  browser_.click(".edge-label:not(.faint)");
  EXPECT_THAT(browser_.text(".inspector .why"), HasSubstr("because"));
  open(ring(30), {Level::Serializable});
  EXPECT_EQ(browser_.evaluate("document.documentElement.scrollWidth"), "360");
  EXPECT_EQ(browser_.count(".graph .node"), 30u);
  EXPECT_EQ(clashes(), "[]");
  EXPECT_THAT(browser_.complaints(), IsEmpty());
}

TEST_F(HtmlReportTest, ThirtyTransactionsStayReadable) {
  open(ring(30), {Level::Serializable});
  EXPECT_EQ(browser_.count(".graph .node"), 30u);
  EXPECT_EQ(browser_.count(".graph .edge"), 30u);
  EXPECT_EQ(browser_.count(".sentence"), 30u);
  EXPECT_EQ(clashes(), "[]");
  EXPECT_TRUE(browser_.is_true("document.querySelector('.picture').clientHeight < 1100"));
  EXPECT_TRUE(
      browser_.is_true("document.querySelector('.graph').scrollWidth <= "
                       "document.querySelector('.graph').clientWidth"));
  browser_.click(".edge-label.closing");
  EXPECT_THAT(browser_.text(".inspector .why"), HasSubstr("But T2 < T1"));
  EXPECT_THAT(browser_.complaints(), IsEmpty());
}

// `count` transactions of as many sessions; two of them, far apart, lose an update of a row with
// ten columns, in sessions and under a key with long names.
History crowd(int count) {
  const std::string row =
      R"({"c0":%,"c1":1,"c2":2,"c3":3,"c4":4,"c5":5,"c6":6,"c7":7,"c8":8,"c9":9})";
  std::string text = "{\"ouro\":1,\"info\":{\"clock\":\"nanoseconds\"}}\n";
  const auto value = [&](int n) {
    return std::string(row).replace(row.find('%'), 1, std::to_string(n));
  };
  const std::string key = "table/" + std::string(200, 'k');
  const int first = count / 3;
  const int second = count * 5 / 6;
  const int setup = first - 1;
  for (int i = 0; i < count; ++i) {
    const std::string session =
        i == first ? "WWWWWWWW" + std::string(200, 's') : fmt::format("client {}", i);
    const std::string ops = i == setup ? fmt::format(R"(["w","{}",{}])", key, value(0))
                            : i == first || i == second
                                ? fmt::format(R"(["r","{0}",{1}],["w","{0}",{2}])", key, value(0),
                                              value(i == first ? 1 : 2))
                                : fmt::format(R"(["w","other{}",1])", i);
    text += fmt::format(R"({{"session":"{}","invoked":{},"completed":{},"ops":[{}]}})", session,
                        i * 1'000'000, i * 1'000'000 + 2'500'000, ops) +
            "\n";
  }
  return parse(text);
}

// Whatever is shown, and wherever: nothing is in the way of anything else, nothing is cut, and all
// of it can be read.
TEST_F(HtmlReportTest, ManyShapesOnManyScreens) {
  HtmlReport report;
  std::vector<History> histories;
  for (const int count : {2, 3, 6, 30}) histories.push_back(ring(count));
  for (const int count : {8, 300}) histories.push_back(crowd(count));
  histories.push_back(parse(kLostUpdate));
  for (const History& history : histories)
    add(report, "shop.jsonl", history, {Level::Serializable});
  open(report);
  for (const int width : {360, 768, 1440}) {
    browser_.evaluate("window.drawn = [...document.querySelectorAll('.picture, .lattice')]; 0");
    browser_.resize(width, 900);
    browser_.evaluate(
        "for (const e of document.querySelectorAll('details.history')) e.open = true; 0");
    browser_.wait_for(
        "document.querySelectorAll('.picture').length === 7 && "
        "document.querySelectorAll('.lattice').length === 7 && "
        "!drawn.some(e => e.isConnected)");
    for (const bool dark : {false, true}) {
      browser_.prefer_dark(dark);
      EXPECT_EQ(clashes(), "[]") << width;
      EXPECT_EQ(browser_.evaluate(kUnreadable), "[]") << width << (dark ? " dark" : " light");
    }
    EXPECT_EQ(browser_.evaluate(kBadTicks), "[]") << width;
    EXPECT_EQ(browser_.evaluate(kBadBarLabels), "[]") << width;
    // What surrounds the violation is in view: rows of other sessions are not all empty.
    EXPECT_EQ(browser_.evaluate("[...document.querySelectorAll('.timeline')].map(e => "
                                "[e.querySelectorAll('.bar').length, "
                                "e.querySelectorAll('.bar:not(.involved)').length])"),
              "[[2,0],[3,0],[6,0],[30,0],[8,5],[40,37],[2,0]]")
        << width;
    EXPECT_EQ(browser_.evaluate("document.documentElement.scrollWidth"), std::to_string(width));
    // However long the key and the row, boxes show the column in which versions differ.
    EXPECT_EQ(browser_.evaluate("[...document.querySelectorAll('.op text')].map(e => e.textContent)"
                                ".filter(text => text.includes('kkk') && !/c0:[012]/.test(text))"),
              "[]")
        << width;
    EXPECT_EQ(browser_.evaluate("[...document.querySelectorAll('.op text')]"
                                ".filter(e => /c0:[012]/.test(e.textContent)).length"),
              "10");
  }
  EXPECT_THAT(browser_.complaints(), IsEmpty());
}

TEST_F(HtmlReportTest, WhoeverIsOnNoCycleIsConnectedToo) {
  open(parse(R"({"session":"a","ops":[["w","x",1]]}
{"session":"b","ops":[["r","x",1],["w","x",2]]}
{"session":"c","ops":[["r","x",1],["w","x",3]]}
)"),
       {Level::Si});
  EXPECT_EQ(browser_.count(".graph .node"), 3u);
  EXPECT_EQ(browser_.count(".graph .edge.support"), 2u);
  EXPECT_EQ(browser_.count(".graph .node.faint"), 0u);
  EXPECT_EQ(clashes(), "[]");
  // A story without a cycle is drawn with lines from writers to readers.
  open(parse(R"({"session":"a","ops":[["w","x",1]]}
{"session":"b","ops":[["w","x",2]]}
{"session":"c","ops":[["r","x",1],["r","x",2]]}
)"),
       {Level::ReadAtomic});
  EXPECT_THAT(browser_.text(".plain"), HasSubstr("T3 read x=1 and then read x=2"));
  EXPECT_EQ(browser_.count(".graph .edge.k-wr"), 2u);
  browser_.click(".edge-label.k-wr");
  EXPECT_EQ(browser_.text(".inspector .why"), "T3 read x=1, which T1 wrote.");
  EXPECT_EQ(clashes(), "[]");
  EXPECT_THAT(browser_.complaints(), IsEmpty());
}

// The timeline leaves room before and after a story. One that takes as long as the whole history
// has less room than that on both sides.
TEST_F(HtmlReportTest, TheTimelineShowsAllOfASmallStory) {
  open(parse(R"({"session":"a","invoked":0,"completed":60,"ops":[["r","x",null],["w","x",1]]}
{"session":"b","invoked":40,"completed":100,"ops":[["r","x",null],["w","x",2]]}
)"),
       {Level::Si});
  EXPECT_TRUE(browser_.is_true(R"((() => {
    const plot = document.querySelector('.timeline .plot').getBoundingClientRect();
    const bars = [...document.querySelectorAll('.bar.involved rect')]
        .map(bar => bar.getBoundingClientRect());
    return bars.length === 2 &&
           bars.every(bar => bar.left > plot.left + 5 && bar.right < plot.right - 5);
  })())"));
}

// In the same session as the violation, directly behind its first transaction and directly before
// and behind its second one, others ran, for a moment each.
TEST_F(HtmlReportTest, LabelsOfTheTimelineStandFree) {
  open(parse(R"({"session":"a","invoked":0,"completed":1,"ops":[["r","x",null],["w","x",1]]}
{"session":"a","invoked":1,"completed":400,"ops":[["r","y",null]]}
{"session":"b","invoked":0,"completed":1,"ops":[["r","z",null]]}
{"session":"b","invoked":3,"completed":4,"ops":[["r","x",null],["w","x",2]]}
{"session":"b","invoked":6,"completed":7,"ops":[["r","z",null]]}
{"session":"c","invoked":900,"completed":1000,"ops":[["r","z",null]]}
)"),
       {Level::Si});
  for (const int width : {360, 768, 1440}) {
    browser_.resize(width, 800);
    for (const char* button : {"5", "6"}) {  // The whole history, the violation.
      browser_.click(std::string(".controls button:nth-of-type(") + button + ")");
      EXPECT_EQ(browser_.evaluate(kBadBarLabels), "[]") << width << " " << button;
      EXPECT_EQ(browser_.count(".bar.involved"), 2u);
    }
  }
  browser_.click(".bar[data-txn=T2] rect");  // Has no room for a label beside it.
  EXPECT_THAT(browser_.text(".timeline .info"), HasSubstr("T2"));
}

TEST_F(HtmlReportTest, TheTimelineShowsSessionsViolationsAndTroubles) {
  open(parse(kLostUpdate), {Level::Si});
  EXPECT_THAT(texts(".timeline .names div"), ElementsAre("ann", "bob", "eve"));
  EXPECT_EQ(browser_.count(".bar.involved"), 2u);
  EXPECT_THAT(texts(".bar.involved text"), ElementsAre("T1", "T2"));
  browser_.click(".controls button:nth-of-type(5)");  // The whole history.
  EXPECT_EQ(browser_.count(".bar"), 4u);
  EXPECT_EQ(browser_.count(".bar.aborted"), 1u);
  EXPECT_EQ(browser_.count(".bar.unknown.open"), 1u);
  EXPECT_EQ(browser_.count(".trouble"), 1u);
  EXPECT_THAT(browser_.text(".trouble"), HasSubstr("pause node 1"));
  EXPECT_THAT(texts(".bars text.tick"), testing::Contains("10 ms"));
  // T1 began before T2, and eve came later.
  EXPECT_TRUE(browser_.is_true(R"((() => {
    const left = name => document.querySelector(name).getBoundingClientRect().left;
    return left('.bar[data-txn=T1]') < left('.bar[data-txn=T2]') &&
           left('.bar[data-txn=T2]') < left('.bar.aborted');
  })())"));
  browser_.hover(".bar.aborted rect");
  EXPECT_EQ(browser_.text(".timeline .info"),
            "session eve, transaction 3, aborted, from 12 ms to 14 ms, took 2 ms: w price=3");
  browser_.hover("h1");
  EXPECT_THAT(browser_.text(".timeline .info"), HasSubstr("Point at a bar"));
  browser_.click(".bar[data-txn=T2] rect");
  browser_.hover("h1");
  EXPECT_THAT(browser_.text(".timeline .info"), HasSubstr("from 3 ms to 6 ms, took 3 ms"));
  EXPECT_THAT(browser_.text(".timeline .legend"),
              AllOf(HasSubstr("of the violation"), HasSubstr("aborted"),
                    HasSubstr("outcome unknown"), HasSubstr("done to the database")));
  browser_.click(".controls button:nth-of-type(6)");  // The violation.
  const std::string span = "document.querySelector('.bar[data-txn=T1] rect').width.baseVal.value";
  browser_.evaluate("window.before = " + span);
  browser_.click(".controls button:nth-of-type(1)");
  EXPECT_TRUE(browser_.is_true("Math.abs(" + span + " - before / 2) < 1")) << "zoomed out";
  browser_.click(".plot");
  browser_.press("+");
  EXPECT_TRUE(browser_.is_true("Math.abs(" + span + " - before) < 1"));
  EXPECT_THAT(browser_.complaints(), IsEmpty());
}

TEST_F(HtmlReportTest, ATimelineByDatabaseTimestampsIfThatIsWhatThereIs) {
  HistoryBuilder b;
  b.default_initial(b.integer(0));
  b.begin_txn(b.session("w"));
  b.timestamps({1, 0}, {3, 0});
  b.write(b.key("x"), b.integer(1));
  b.begin_txn(b.session("r"));
  b.timestamps({4, 0}, {5, 0});
  b.read(b.key("x"), b.integer(0));
  open(*std::move(b).freeze(), {Level::Si}, Evidence::Timestamps);
  EXPECT_THAT(browser_.text(".timeline"), HasSubstr("By database timestamps, in their own unit."));
  EXPECT_EQ(browser_.count(".bar.involved"), 2u);
  EXPECT_THAT(browser_.text(".plain"), HasSubstr("it should have read x=1"));
  EXPECT_EQ(browser_.count(".graph .edge"), 1u);
  EXPECT_THAT(browser_.complaints(), IsEmpty());
}

TEST_F(HtmlReportTest, TheLatticeMarksEveryLevel) {
  std::size_t violated = 0;
  for (const LevelInfo& level : levels()) {
    const bool is = implies(level.level, Level::Si) || implies(level.level, Level::ParallelSi) ||
                    level.level == Level::RepeatableRead;
    violated += is ? 1 : 0;
  }
  open(parse(kLostUpdate), levels_by(Evidence::Observed));
  EXPECT_EQ(browser_.count(".lattice .level"), kLevelCount);
  EXPECT_EQ(browser_.count(".level.violated:not(.implied)"), violated);
  EXPECT_EQ(browser_.count(".level.holds:not(.implied)"), 4u);
  // Each verdict is said once; what a level promises is told when it is chosen.
  EXPECT_EQ(browser_.count(".level-view .badge"), 0u);
  EXPECT_EQ(clashes(), "[]");
  browser_.click(".level[data-level=prefix]");
  EXPECT_THAT(browser_.text(".level-view .inspector"),
              AllOf(HasSubstr("prefix pc"), HasSubstr("updates may be lost"), HasSubstr("Holds.")));
  browser_.evaluate("document.querySelector('.level[data-level=si]').focus(); 0");
  browser_.press("Enter");
  EXPECT_THAT(browser_.text(".level-view .inspector"), HasSubstr("Violated: lost update."));
  open(parse(kLostUpdate), {Level::Si});
  EXPECT_EQ(browser_.count(".level.violated:not(.implied)"), 3u) << "psi and rr are, by the story";
  EXPECT_EQ(browser_.count(".level.violated.implied"), violated - 3) << "all that is stronger";
  EXPECT_EQ(browser_.count(".level.holds"), 0u);
  EXPECT_EQ(browser_.count(".level.unasked"), kLevelCount - violated);
}

TEST_F(HtmlReportTest, EveryCaseOpensWithoutComplaints) {
  HtmlReport report;
  std::size_t stories = 0;
  for (const auto& entry : fs::directory_iterator(kRoot / "tests" / "cases")) {
    if (entry.path().extension() != ".case") continue;
    const auto parsed = oracle::parse_case(slurp(entry.path()), entry.path().string());
    ASSERT_TRUE(parsed.ok());
    add(report, entry.path().stem().string(), parsed->history, levels_by(Evidence::Observed));
    ++stories;
  }
  Error error;
  error.file = "bad.jsonl";
  error.line = 7;
  error.what = "expected ','";
  report.add("bad.jsonl", error);
  open(report);
  EXPECT_EQ(browser_.count("details.history"), stories + 1);
  EXPECT_EQ(browser_.count("details.history[open]"), 1u) << "the first that is violated";
  browser_.evaluate(
      "for (const each of document.querySelectorAll('details.history')) each.open = true; 0");
  browser_.wait_for(
      "document.querySelectorAll('.story').length > 50 && !document.querySelector('.graph:empty')");
  EXPECT_EQ(browser_.evaluate("[...document.querySelectorAll('.story')].filter("
                              "e => !e.querySelector('.node')).length"),
            "0");
  EXPECT_EQ(clashes(), "[]");
  EXPECT_TRUE(browser_.is_true("document.body.innerText.includes(\"bad.jsonl:7: expected ','\")"));
  EXPECT_THAT(browser_.complaints(), IsEmpty());
  EXPECT_EQ(browser_.requests().size(), 1u);
}

TEST_F(HtmlReportTest, NothingInAHistoryIsMarkup) {
  const std::string evil = "</script><img src=x onerror=\"document.hacked=1\">";
  HistoryBuilder b;
  b.file(evil, PlaceUnit::Line);
  b.remark(evil, evil + "<!--<script>");
  const KeyId key = b.key(evil);
  for (int i = 1; i <= 2; ++i) {
    b.begin_txn(b.session(evil + "]]>\xff\xc3"), static_cast<std::uint64_t>(i));
    b.clocks(i, i + 5);
    b.name(b.text("<b>`${1}`\\u003c"));
    b.read(key, Value::null());
    b.write(key,
            b.text("<!--<script>alert(1)</script>" + std::to_string(i) + std::string("\0", 1)));
  }
  HtmlReport report;
  add(report, evil, *std::move(b).freeze(), {Level::Si});
  open(report);
  EXPECT_THAT(browser_.complaints(), IsEmpty());
  EXPECT_EQ(browser_.count("img"), 0u);
  EXPECT_EQ(browser_.count("script"), 2u);
  EXPECT_TRUE(browser_.is_true("document.hacked === undefined"));
  EXPECT_THAT(browser_.text("h2"), HasSubstr(evil));
  browser_.click(".node[data-txn=T1]");
  EXPECT_THAT(browser_.text(".inspector .ops"), HasSubstr("r \"</script><img src=x onerror"));
  EXPECT_EQ(browser_.count("img"), 0u);
  // And if markup got in after all, the policy would not let it run.
  browser_.evaluate(R"((() => {
    const script = document.createElement('script');
    script.append('document.hacked = 2');
    try { document.body.append(script); } catch (refused) {}
  })())");
  EXPECT_TRUE(browser_.is_true("document.hacked === undefined"));
}

TEST_F(HtmlReportTest, ALargeHistoryMakesASmallPageThatSaysSo) {
  HistoryBuilder b;
  b.default_initial(b.integer(0));
  for (int i = 0; i < 20'000; ++i) {
    b.begin_txn(b.session(i % 100));
    b.clocks(i * 100, i * 100 + 250);
    const KeyId key = b.key(i);
    b.read(key, b.integer(0));
    b.write(key, b.integer(i + 1));
    if (i != 10'000 && i != 10'007) continue;
    b.read(b.key("hot"), b.integer(0));
    b.write(b.key("hot"), b.integer(i));
  }
  const History history = *std::move(b).freeze();
  open(history, {Level::Serializable});
  EXPECT_LT(page_.size(), 600'000u);
  EXPECT_THAT(browser_.text(".timeline"), HasSubstr("of 20,000 transactions"));
  EXPECT_THAT(browser_.text(".timeline"), HasSubstr("60 sessions left out"));
  EXPECT_EQ(browser_.count(".timeline .names div"), 40u);
  EXPECT_EQ(browser_.text(".timeline .names div:nth-child(2)"), "7") << "those involved come first";
  EXPECT_THAT(texts(".bar.involved text"), ElementsAre("T1", "T2"));
  EXPECT_THAT(browser_.complaints(), IsEmpty());
}

TEST_F(HtmlReportTest, ManyHistoriesStayBelowTheLimit) {
  const History history = ring(40);
  HtmlReport report;
  CheckOptions options;
  const auto verdict = check(history, Level::Serializable, options);
  const Explanation explanation = explain(history, *verdict);
  const int kMany = 600;
  for (int i = 0; i < kMany; ++i) {
    report.add({.name = "ring",
                .history = &history,
                .verdicts = {&*verdict, 1},
                .explanations = {&explanation, 1},
                .seconds = 0});
  }
  open(report);
  EXPECT_LT(page_.size(), 9'000'000u);
  EXPECT_EQ(browser_.count("details.history"), static_cast<std::size_t>(kMany));
  browser_.evaluate("[...document.querySelectorAll('details.history')].at(-1).open = true; 0");
  browser_.wait_for("document.body.innerText.includes('Left out of this page')");
  EXPECT_THAT(browser_.complaints(), IsEmpty());
}

TEST_F(HtmlReportTest, TheCommandWritesItWholeOrNotAtAll) {
  std::ofstream(folder_ / "shop.jsonl") << kLostUpdate;
  const std::string out = (folder_ / "out.html").string();
  const Ran ran = run_program({kOuroBinary, "check", "-q", "--level", "all", "--html", out,
                               (folder_ / "shop.jsonl").string()});
  EXPECT_EQ(ran.status, 1) << ran.err;
  EXPECT_FALSE(fs::exists(out + ".part"));
  show(out);
  EXPECT_THAT(browser_.text("h2"), HasSubstr("shop.jsonl"));
  EXPECT_THAT(browser_.complaints(), IsEmpty());
  EXPECT_EQ(run_program({kOuroBinary, "check", "-q", "--level", "rc", "--html", out,
                         (folder_ / "shop.jsonl").string()})
                .status,
            0);
  show(out);
  EXPECT_EQ(browser_.text(".summary"), "read-committed holds; prefix holds.");
  EXPECT_EQ(browser_.count(".level:not(.implied):not(.unasked)"), kLevelCount)
      << "also those that nobody asked for";
  EXPECT_THAT(browser_.complaints(), IsEmpty());
  // A symbolic link is followed, not replaced; the old page stays if the new one cannot be written.
  fs::create_symlink(out, folder_ / "link.html");
  fs::remove(out);
  std::ofstream(out) << "old";
  run_program({kOuroBinary, "check", "-q", "--html", (folder_ / "link.html").string(),
               (folder_ / "shop.jsonl").string()});
  EXPECT_TRUE(fs::is_symlink(folder_ / "link.html"));
  EXPECT_THAT(slurp(out), HasSubstr("<!doctype html>"));
  const Ran refused = run_program({kOuroBinary, "check", "-q", "--html", "/nowhere/out.html",
                                   (folder_ / "shop.jsonl").string()});
  EXPECT_EQ(refused.status, 1) << "a violation is not hidden by a page that cannot be written";
  EXPECT_THAT(refused.err, HasSubstr("ouro: /nowhere/out.html: cannot create: No such file"));
}

TEST_F(HtmlReportTest, ARunLeavesOneToo) {
  const std::string out = (folder_ / "run.html").string();
  const Ran ran = run_program(
      {kOuroBinary, "run", "sim:rc", "-q", "-n", "3000", "--level", "si", "--html", out});
  EXPECT_EQ(ran.status, 1) << ran.err;
  show(out);
  EXPECT_GE(browser_.count(".story"), 1u);
  EXPECT_GE(browser_.count(".bar.involved"), 1u);
  EXPECT_THAT(browser_.text(".facts"), HasSubstr("nanoseconds"));
  EXPECT_THAT(browser_.complaints(), IsEmpty());
}

}  // namespace
}  // namespace ouro
