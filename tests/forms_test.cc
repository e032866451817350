// Every form of output, read by a program that reads that form: jsonschema, dot, xmllint, and the
// EDN tokens of the Jepsen reader.

#include "ouro/forms.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "format/edn.h"
#include "ouro/elle.h"
#include "ouro/examine.h"
#include "ouro/format.h"
#include "ouro/history_builder.h"
#include "ouro/report.h"
#include "ouro/version.h"
#include "tests/case_file.h"
#include "tests/files.h"
#include "tests/run_program.h"
#include "tests/this_build.h"

namespace ouro {
namespace {

namespace fs = std::filesystem;

const fs::path kPublished = kRoot / "tests" / "data" / "schemas";

// A history with bytes that no form may be broken by, and a lost update.
History nasty() {
  HistoryBuilder b;
  b.file("bad \xff<&\">.jsonl", PlaceUnit::Line);
  const KeyId key = b.key("k\"\\\n\x01{|}<>&\xc3");
  for (int i = 1; i <= 2; ++i) {
    b.begin_txn(b.session("s\xed\xa0\x80]]>"), static_cast<std::uint64_t>(i));
    b.name(b.text("\xf0\x9f\x90\x8d;\"}"));
    b.read(key, Value::null());
    b.write(key, b.text("v\"\\\x02<" + std::to_string(i)));
  }
  return *std::move(b).freeze();
}

struct Told {
  std::string name;
  History history;
  std::vector<Verdict> verdicts;
  std::vector<Explanation> explanations;

  [[nodiscard]] Checked checked() const {
    return {.name = name,
            .history = &history,
            .verdicts = verdicts,
            .explanations = explanations,
            .seconds = 0.25};
  }
};

Told tell(std::string name, History history, Evidence evidence = Evidence::Observed) {
  Told told{std::move(name), std::move(history), {}, {}};
  std::vector<Level> asked;
  for (const LevelInfo& level : levels()) {
    if (decidable(level.level, evidence)) asked.push_back(level.level);
  }
  CheckOptions options;
  options.evidence = evidence;
  auto verdicts = check(told.history, asked, options);
  EXPECT_TRUE(verdicts.ok());
  told.verdicts = *std::move(verdicts);
  for (const Verdict& verdict : told.verdicts) {
    if (verdict.outcome == Outcome::Violated) {
      told.explanations.push_back(explain(told.history, verdict));
    }
  }
  return told;
}

// One picture of every kind is enough for Graphviz, which takes its time.
bool is_drawn(std::string_view name) {
  return name == "nasty" || name.find("lost_update") != name.npos || name == "cc_not_pc" ||
         name == "sessions_disagree_on_order";
}

// All cases (see below) and the nasty history, and those with timestamps also as judged by these.
const std::vector<Told>& everything() {
  static const std::vector<Told> all = [] {
    std::vector<fs::path> cases;
    for (const auto& entry : fs::directory_iterator(kRoot / "tests" / "cases")) {
      if (entry.path().extension() == ".case") cases.push_back(entry.path());
    }
    std::sort(cases.begin(), cases.end());
    std::vector<Told> out;
    std::size_t number = 0;
    for (const fs::path& path : cases) {
      const std::string name = path.stem().string();
      // Sanitizers take some of them: to tell all takes a minute in each test.
      const bool some = number++ % (kSlowdown > 1 ? 4 : 1) == 0;
      if (!some && !is_drawn(name) && name != "serial") continue;  // A test names that one.
      std::ifstream file(path);
      std::stringstream text;
      text << file.rdbuf();
      const auto parsed = oracle::parse_case(text.str(), path.string());
      out.push_back(tell(name, parsed->history));
      if (!parsed->by_timestamps.empty()) {
        out.push_back(tell(name + " by timestamps", parsed->history, Evidence::Timestamps));
      }
    }
    out.push_back(tell("nasty", nasty()));
    return out;
  }();
  return all;
}

class Scratch {
 public:
  Scratch() {
    std::string pattern = (fs::temp_directory_path() / "ouro_forms_XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~Scratch() { fs::remove_all(path_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  [[nodiscard]] std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
    return (path_ / name).string();
  }

 private:
  fs::path path_;
};

// What jsonschema says about documents, a line each; "" if all are valid.
std::string schema_complaint(const fs::path& schema, const std::string& documents) {
  const Scratch scratch;
  const std::string script =
      "import json, sys, jsonschema\n"
      "schema = json.load(open(sys.argv[1]))\n"
      "jsonschema.Draft7Validator.check_schema(schema)\n"
      "validator = jsonschema.Draft7Validator(schema)\n"
      "for line in open(sys.argv[2], encoding='utf-8'):\n"
      "    validator.validate(json.loads(line))\n";
  const Ran ran = run_program(
      {"/usr/bin/python3", "-c", script, schema.string(), scratch.write("documents", documents)});
  return ran.status == 0 ? std::string() : ran.err + "status " + std::to_string(ran.status);
}

// What xmllint says about a document; "" if it is valid.
std::string xmllint_complaint(const fs::path& schema, const std::string& document) {
  const Scratch scratch;
  const Ran ran = run_program({"/usr/bin/xmllint", "--noout", "--nonet", "--schema",
                               schema.string(), scratch.write("document.xml", document)});
  return ran.status == 0 ? std::string() : ran.err.substr(0, 2000);
}

TEST(FormsTest, JsonIsAsItsSchemaSays) {
  std::string documents;
  std::size_t violated = 0;
  for (const Told& told : everything()) {
    const ReportOptions options{.name = told.name, .explanations = told.explanations};
    documents += to_json(told.history, told.verdicts, options);
    for (const Verdict& verdict : told.verdicts) {
      documents += to_json(told.history, verdict, options);
      violated += verdict.outcome == Outcome::Violated ? 1 : 0;
    }
  }
  Error error;
  error.what = "no";
  documents += to_json("h", error);
  EXPECT_GT(violated, 300u / kSlowdown);
  const fs::path schema = kRoot / "docs" / "check.schema.json";
  EXPECT_EQ(schema_complaint(schema, documents), "");
  EXPECT_NE(schema_complaint(schema, "{\"history\":\"h\"}\n"), "") << "it must notice something";
}

// What `text` has between `"ouroStory/v2":"` and the next quote, each time.
std::vector<std::string> fingerprints(const std::string& text) {
  const std::string name = R"("ouroStory/v2":")";
  std::vector<std::string> out;
  for (std::size_t at = 0; (at = text.find(name, at)) != std::string::npos;) {
    at += name.size();
    out.push_back(text.substr(at, text.find('"', at) - at));
  }
  return out;
}

TEST(FormsTest, FingerprintsTellViolationsApart) {
  const auto lost_updates = [](const std::string& keys, const std::string& file) {
    std::string text = "{\"ouro\":1}\n";
    for (const char key : keys) {
      for (const int writer : {1, 2}) {
        text += fmt::format(R"({{"session":"{0}{1}","ops":[["r","{0}",null],["w","{0}",{1}]]}})"
                            "\n",
                            key, writer);
      }
    }
    const auto history = parse_history(text);
    EXPECT_TRUE(history.ok());
    const auto examined = examine(*history, {.levels = {Level::Si}, .examples = 5});
    EXPECT_TRUE(examined.ok());
    SarifReport report;
    report.add({.name = file,
                .history = &*history,
                .verdicts = examined->verdicts,
                .explanations = examined->explanations});
    return fingerprints(report.finish());
  };
  const auto three = lost_updates("xyz", "a.jsonl");
  ASSERT_EQ(three.size(), 3u);
  EXPECT_EQ(std::set<std::string>(three.begin(), three.end()).size(), 3u);
  EXPECT_EQ(lost_updates("xyz", "b.jsonl"), three) << "the name of the file says nothing";
  EXPECT_EQ(lost_updates("xy", "a.jsonl"), (std::vector{three[0], three[1]}));
  EXPECT_TRUE(three[0].starts_with("si/lost-update/")) << three[0];
}

// A place that is relative is no URI.
TEST(FormsTest, HelpIsSaidAndIsAnAddressWhereThereIsOne) {
  SarifReport report;
  for (const Told& told : everything()) report.add(told.checked());
  const std::string text = report.finish();
  const std::string place = document_address("anomalies.md", "lost-update");
  EXPECT_NE(text.find(fmt::format(R"("help":{{"text":"See {}."}})", place)), std::string::npos);
  const bool absolute = place.starts_with('/') || place.find("://") != std::string::npos;
  EXPECT_EQ(text.find("\"helpUri\"") != std::string::npos, absolute) << place;
}

TEST(FormsTest, SarifIsAsTheStandardSays) {
  SarifReport report;
  for (const Told& told : everything()) report.add(told.checked());
  Verdict undecided;
  undecided.reason = "time limit of 1 s reached";
  const History empty;
  report.add({.name = "slow.jsonl", .history = &empty, .verdicts = {&undecided, 1}});
  Error error;
  error.file = "bad.jsonl";
  error.line = 7;
  error.what = "expected ','";
  report.add("bad.jsonl", error);
  const std::string text = report.finish();
  const fs::path schema = kPublished / "sarif-schema-2.1.0.json";
  EXPECT_EQ(schema_complaint(schema, text), "");
  EXPECT_NE(schema_complaint(schema, R"({"version":"2.1.0","runs":[{}]})"), "")
      << "it must notice that a run names no tool";
  EXPECT_NE(text.find(R"("ruleId":"lost-update")"), std::string::npos);
  EXPECT_NE(text.find(R"("kind":"open")"), std::string::npos);
  EXPECT_NE(text.find(R"("uri":"bad%20%FF%3C%26%22%3E.jsonl"},"region":{"startLine":1})"),
            std::string::npos);
  EXPECT_NE(text.find(R"("executionSuccessful":false)"), std::string::npos);
}

TEST(FormsTest, JunitIsAsJenkinsReadsIt) {
  JunitReport report;
  for (const Told& told : everything()) report.add(told.checked());
  Verdict undecided;
  undecided.reason = "time limit of 1 s reached";
  const History empty;
  report.add({.name = "slow.jsonl", .history = &empty, .verdicts = {&undecided, 1}});
  Error error;
  error.what = "no \"such\" <file>";
  report.add("bad.jsonl", error);
  const std::string text = report.finish();
  EXPECT_EQ(xmllint_complaint(kPublished / "jenkins-junit.xsd", text), "");
  EXPECT_NE(xmllint_complaint(kPublished / "jenkins-junit.xsd", "<testsuites><oops/></testsuites>"),
            "")
      << "it must notice something";
  EXPECT_NE(text.find("<failure type=\"lost update\" message=\"VIOLATED serializable\">"),
            std::string::npos);
  EXPECT_NE(text.find("<error type=\"undecided\" message=\"time limit of 1 s reached\">"),
            std::string::npos);
  const double share = 0.25 / static_cast<double>(kLevelCount);
  const std::string one =
      fmt::format("<testcase classname=\"serial\" name=\"serializable\" time=\"{:.3f}\"/>", share);
  EXPECT_NE(text.find(one), std::string::npos) << one;
}

TEST(FormsTest, DotDrawsEveryGraph) {
  std::size_t drawn = 0;
  const Scratch scratch;
  for (const Told& told : everything()) {
    if (told.explanations.empty()) continue;
    const std::string text = to_dot(told.history, told.explanations);
    if (!is_drawn(told.name)) continue;
    const Ran ran = run_program({"/usr/bin/dot", "-Tsvg", scratch.write("graph.dot", text)});
    EXPECT_EQ(ran.status, 0) << told.name << ran.err << text;
    EXPECT_EQ(ran.err, "") << told.name << text;
    EXPECT_NE(ran.out.find("class=\"edge\""), std::string::npos) << told.name;
    ++drawn;
  }
  EXPECT_GE(drawn, 5u);
}

TEST(FormsTest, DotDashesWhatHoldsInSomeCasesOnly) {
  const Told told = tell("h", oracle::history_of("T1: r x nil, w x 1\nT2: r x nil, w x 2"));
  const auto at_si = std::find_if(told.explanations.begin(), told.explanations.end(),
                                  [](const Explanation& e) { return e.level == Level::Si; });
  ASSERT_NE(at_si, told.explanations.end());
  const std::string text = to_dot(told.history, {&*at_si, 1});
  EXPECT_NE(text.find("    subgraph cluster_s1c1 {\n"
                      "      label=\"If T1 wrote x first: a contradiction\";\n"
                      "    s1t0 [label=\"{T1: session T1, transaction 1, id T1|<o0> r x=null|<o1> "
                      "w x=1}\"];"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("s1t0:o1 -> s1t1:o3 [label=\"ww x\", color=\"#C02700\", "
                      "fontcolor=\"#C02700\", edgetooltip=\"T2 overwrote T1's x=1 with 2\", "
                      "style=dashed, tooltip=\"If T1 wrote x first:\"];"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("    subgraph cluster_s1c2 {\n"
                      "      label=\"If T2 wrote x first: the same, with T1 and T2 swapped\";\n"
                      "      style=dashed; color=\"#909090\";\n"
                      "    s1c2t0 [label="),
            std::string::npos)
      << text;
}

// T3 wrote what the others read, which is on no cycle.
TEST(FormsTest, GraphsHaveEverybodyWithTheirEdges) {
  const Told told = tell("h", oracle::history_of("T3: w x 5\nT1: r x 5, w x 1\nT2: r x 5, w x 2"));
  const auto at_si = std::find_if(told.explanations.begin(), told.explanations.end(),
                                  [](const Explanation& e) { return e.level == Level::Si; });
  ASSERT_NE(at_si, told.explanations.end());
  const std::string dot = to_dot(told.history, {&*at_si, 1});
  for (const char* edge :
       {"s1t0:o0 -> s1t1:o1 [label=\"wr x\"", "s1t0:o0 -> s1t2:o3 [label=\"wr x\""}) {
    EXPECT_NE(dot.find(edge), std::string::npos) << edge << '\n' << dot;
  }
  const std::string json = to_json(told.history, told.verdicts, {.explanations = {&*at_si, 1}});
  const std::size_t restored = json.find("\"restored\":[");
  ASSERT_NE(restored, std::string::npos) << json;
  for (const char* edge :
       {R"({"from":0,"to":1,"kind":"wr","key":"x")", R"({"from":0,"to":2,"kind":"wr","key":"x")"}) {
    EXPECT_NE(json.find(edge, restored), std::string::npos) << edge << '\n' << json;
  }
}

// Whether `text` is one well-formed EDN map with nothing behind it. The reader sees to brackets
// that match and maps of even length.
bool is_one_map(const std::string& text) {
  EdnTokens tokens(text, "elle");
  Token token;
  if (!tokens.next(token) || token.kind != TokenKind::OpenMap) return false;
  while (tokens.depth() > 0) {
    if (!tokens.next(token) || token.kind == TokenKind::End) return false;
  }
  return tokens.next(token) && token.kind == TokenKind::End;
}

TEST(FormsTest, EdnIsWellFormedAndInElleSShape) {
  for (const Told& told : everything()) {
    const std::string text =
        to_edn(told.history, {.verdicts = told.verdicts, .explanations = told.explanations});
    EXPECT_TRUE(is_one_map(text)) << told.name << '\n' << text;
  }
  const History history = oracle::history_of("T1: r x nil, w x 1\nT2: r x nil, w x 2");
  const auto verdict = check(history, Level::Si);
  ASSERT_TRUE(verdict.ok());
  const Explanation explanation = explain(history, *verdict);
  const std::string text =
      to_edn(history, {.verdicts = {&*verdict, 1}, .explanations = {&explanation, 1}});
  EXPECT_TRUE(text.starts_with(
      "{:valid? false, :anomaly-types (:lost-update), :anomalies {:lost-update [{:key \"x\", "
      ":value nil, :txns [{:index 0, :process \"T1\", :type :ok, :f :txn, :value [[:r \"x\" "
      "nil] [:w \"x\" 1]]} {:index 1"))
      << text;
  EXPECT_NE(text.find("], :ouro/story [\"lost update\" "), std::string::npos) << text;
  EXPECT_NE(text.find(":not #{:cursor-stability :update-atomic}, :also-not #{:consistent-view "),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace ouro
