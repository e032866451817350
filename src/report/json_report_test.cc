#include <gtest/gtest.h>
#include <simdjson.h>

#include "ouro/history_builder.h"
#include "ouro/report.h"
#include "ouro/version.h"
#include "report/json_writer.h"

namespace ouro {
namespace {

using simdjson::dom::element;

// A JSON document; fails the test if the text is none, or not one line.
class Json {
 public:
  explicit Json(const std::string& text) : padded_(text) {
    auto result = parser_.parse(padded_);
    EXPECT_EQ(result.error(), simdjson::SUCCESS) << text;
    EXPECT_EQ(text.find('\n'), text.size() - 1) << "one line";
    if (result.error() == simdjson::SUCCESS) root_ = result.value();
  }
  // The value at a JSON pointer, as JSON.
  std::string at(const char* pointer) const {
    element found;
    if (root_.at_pointer(pointer).get(found) != simdjson::SUCCESS) return "(nothing)";
    return simdjson::minify(found);
  }

 private:
  simdjson::dom::parser parser_;
  simdjson::padded_string padded_;
  element root_;
};

History nasty_history() {
  HistoryBuilder b;
  b.file("bad\xff.jsonl", PlaceUnit::Line);
  const KeyId key = b.key("k\"\\\n\x01\xc3");
  b.begin_txn(b.session("s\xed\xa0\x80"), 1);
  b.name(b.text("\xf0\x9f\x90\x8d"));  // A snake, to be kept.
  b.read(key, b.text("\x80\xfe"));
  b.write(key, b.unsigned_integer(18446744073709551615u));
  return *std::move(b).freeze();
}

Verdict thin_air(const History& history) {
  Verdict verdict;
  verdict.level = Level::ReadAtomic;
  verdict.outcome = Outcome::Violated;
  verdict.counts[static_cast<std::size_t>(AnomalyKind::ThinAirRead)] = 5;
  verdict.anomalies.push_back({.kind = AnomalyKind::ThinAirRead,
                               .txns = {TxnId{0}},
                               .ops = {history.first_op(TxnId{0})},
                               .edges = {}});
  return verdict;
}

TEST(JsonReportTest, HasTheKeysOfTheDesign) {
  const History history = nasty_history();
  const Verdict verdict = thin_air(history);
  const Explanation story = explain(history, verdict);
  const Json json(to_json(
      history, verdict,
      {.name = "h", .explanations = {&story, 1}, .load_seconds = 0.5, .check_seconds = 0.25}));
  EXPECT_EQ(json.at("/history"), "\"h\"");
  EXPECT_EQ(json.at("/transactions"), "1");
  EXPECT_EQ(json.at("/operations"), "2");
  EXPECT_EQ(json.at("/level"), "\"read-atomic\"");
  EXPECT_EQ(json.at("/evidence"), "\"observed\"");
  EXPECT_EQ(json.at("/verdict"), "\"violated\"");
  EXPECT_EQ(json.at("/anomalies/0/name"), "\"thin-air read\"");
  EXPECT_EQ(json.at("/anomalies/0/count"), "5");
  EXPECT_EQ(json.at("/anomalies/0/transactions/0/index"), "0");
  EXPECT_EQ(json.at("/anomalies/0/transactions/0/line"), "1");
  EXPECT_EQ(json.at("/anomalies/0/transactions/0/id"), "\"\xf0\x9f\x90\x8d\"");
  EXPECT_EQ(json.at("/anomalies/0/kind"), "\"thin-air read\"");
  EXPECT_EQ(json.at("/anomalies/0/minimal"), "true");
  EXPECT_EQ(json.at("/anomalies/0/operations/0/value"), "\"\xef\xbf\xbd\xef\xbf\xbd\"");
  EXPECT_EQ(json.at("/anomalies/0/weakest_violated/0"), "\"read-committed\"");
  EXPECT_EQ(json.at("/strongest"), "[]");
  EXPECT_EQ(json.at("/weakest_violated"), R"(["read-committed","si","repeatable-read"])");
  EXPECT_EQ(json.at("/anomalies/0/cases"), "[]");
  EXPECT_EQ(json.at("/complete"), "true");
  EXPECT_EQ(json.at("/counts/thin-air read"), "5");
  EXPECT_EQ(json.at("/seconds/load"), "0.5");
  EXPECT_EQ(json.at("/seconds/check"), "0.25");
  EXPECT_EQ(json.at("/schema"), "1");
  EXPECT_EQ(json.at("/version"), '"' + std::string(version()) + '"');
}

TEST(JsonReportTest, CasesHaveTheirAssumptionsAndEdges) {
  HistoryBuilder b;
  const KeyId x = b.key("x");
  for (int i = 1; i <= 2; ++i) {
    b.begin_txn(b.session(i));
    b.read(x, Value::null());
    b.write(x, b.integer(i));
  }
  const History history = *std::move(b).freeze();
  const auto verdict = check(history, Level::Si);
  ASSERT_TRUE(verdict.ok());
  const Explanation story = explain(history, *verdict);
  const Json json(to_json(history, *verdict, {.explanations = {&story, 1}}));
  EXPECT_EQ(json.at("/anomalies/0/name"), "\"lost update\"");
  EXPECT_EQ(json.at("/anomalies/0/id"), "\"lost-update\"");
  EXPECT_EQ(json.at("/anomalies/0/cases/0/given"), R"([{"key":"x","first":0,"second":1}])");
  EXPECT_EQ(json.at("/anomalies/0/cases/0/edges/0/kind"), "\"ww\"");
  EXPECT_EQ(json.at("/anomalies/0/cases/0/edges/1/kind"), "\"rw\"");
  EXPECT_EQ(json.at("/anomalies/0/cases/1/given"), R"([{"key":"x","first":1,"second":0}])");
  EXPECT_EQ(json.at("/anomalies/0/cases/1/mirrors"), "0");
  EXPECT_EQ(json.at("/anomalies/0/edges"), json.at("/anomalies/0/cases/0/edges"));
}

TEST(JsonReportTest, OtherLevelsThatAreKnownCountForTheStrongest) {
  const History history = nasty_history();
  const Verdict causal{.level = Level::Causal, .outcome = Outcome::Holds};
  const Verdict others[] = {{.level = Level::Serializable, .outcome = Outcome::Violated},
                            {.level = Level::Si, .outcome = Outcome::Holds}};
  const Json json(to_json(history, causal, {.others = others}));
  EXPECT_EQ(json.at("/strongest"), R"(["causal","si"])");
  EXPECT_EQ(json.at("/weakest_violated"), R"(["serializable"])");
  const Verdict asked[] = {causal};
  const Json several(to_json(history, asked, {.others = others}));
  EXPECT_EQ(several.at("/strongest"), R"(["causal","si"])");
  EXPECT_EQ(several.at("/weakest_violated"), R"(["serializable"])");
  EXPECT_EQ(several.at("/levels"), R"({"causal":"holds"})");
}

TEST(JsonReportTest, AllLevelsMapToVerdictsAndNameTheStrongest) {
  const History history = nasty_history();
  Verdict holds;
  holds.level = Level::ReadCommitted;
  holds.outcome = Outcome::Holds;
  Verdict undecided;
  undecided.level = Level::Causal;
  undecided.reason = "time limit of 1 s reached";
  const std::vector<Verdict> verdicts{holds, thin_air(history), undecided};
  const Level unsupported[] = {Level::Si};
  const Explanation story = explain(history, verdicts[1]);
  const Json json(
      to_json(history, verdicts, {.explanations = {&story, 1}, .unsupported = unsupported}));
  EXPECT_EQ(json.at("/level"), "\"all\"");
  EXPECT_EQ(json.at("/verdict"), "\"violated\"");
  EXPECT_EQ(json.at("/levels"),
            R"({"read-committed":"holds","read-atomic":"violated","causal":"violated"})")
      << "undecided by its check, but the story shows it";
  EXPECT_EQ(json.at("/strongest"), R"(["read-committed"])");
  EXPECT_EQ(json.at("/weakest_violated"), R"(["read-atomic","si","repeatable-read"])");
  EXPECT_EQ(json.at("/unsupported"), R"(["si"])");
  EXPECT_EQ(json.at("/reasons"), "{}");
  const std::vector<Verdict> open{holds, undecided};
  EXPECT_EQ(Json(to_json(history, open, {})).at("/reasons/causal"),
            R"("time limit of 1 s reached")");
  EXPECT_EQ(json.at("/anomalies/0/level"), R"("read-atomic")");
}

TEST(JsonReportTest, StatsFindingsErrorsAndLevelsAreValidWhateverTheBytes) {
  const History history = nasty_history();
  const Json stats(to_json(history, count(history)));
  EXPECT_EQ(stats.at("/operations_by_kind/read"), "1");
  EXPECT_EQ(stats.at("/operations_per_transaction/max"), "2");
  const auto findings = lint(history);
  const Json lint_json(to_json(history, findings));
  EXPECT_EQ(lint_json.at("/errors"), "1");
  EXPECT_EQ(lint_json.at("/findings/0/id"), "\"read-nobody-wrote\"");
  Error error;
  error.file = "a\xff";
  error.line = 7;
  error.what = "bad \"thing\"";
  const Json error_json(to_json("a\xff", error));
  EXPECT_EQ(error_json.at("/error/line"), "7");
  const Json levels_json(levels_to_json());
  EXPECT_EQ(levels_json.at("/levels/1/directly_below"), R"(["read-committed"])");
}

TEST(JsonWriterTest, EveryByteStringBecomesValidUtf8) {
  for (unsigned a = 0; a < 256; ++a) {
    for (unsigned b = 0; b < 256; ++b) {
      const std::string text{static_cast<char>(a), static_cast<char>(b), 'x'};
      JsonWriter json;
      json.begin_array().value(std::string_view(text)).end_array();
      const std::string out = std::move(json).finish();
      EXPECT_TRUE(simdjson::validate_utf8(out)) << a << ' ' << b;
      simdjson::dom::parser parser;
      EXPECT_EQ(parser.parse(out).error(), simdjson::SUCCESS) << a << ' ' << b;
    }
  }
  EXPECT_EQ(valid_utf8("aü€\xf0\x9f\x90\x8d"), "aü€\xf0\x9f\x90\x8d");
  EXPECT_EQ(valid_utf8("a\xe2\x82"), "a\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(valid_utf8("\xf4\x90\x80\x80z"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz");
}

}  // namespace
}  // namespace ouro
