#include "format/chronos.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "ouro/history_builder.h"

namespace ouro {
namespace {

const std::string kSharedData = std::string(OURO_SOURCE_DIR) + "/../shared/data/";

std::string with_header(const History& history) {
  std::string out;
  EXPECT_TRUE(print_history(history, Format::Native, out).ok());
  return out;
}

std::string read(std::string_view text) {
  const auto history = parse_history(text, {.format = Format::Chronos}, "h.json");
  return history.ok() ? with_header(*history) : history.error().to_string();
}

// The text of a transaction with these operations.
std::string txn(std::string_view ops) {
  return R"({"tid":1,"sid":2,"sts":{"p":3,"l":4},"cts":{"p":5,"l":0},"ops":[)" + std::string(ops) +
         "]}";
}

// The operations of a history of one transaction, after reading, as native text; or the error.
std::string read_ops(std::string_view ops) {
  const std::string out = read("[" + txn(ops) + "]");
  constexpr std::string_view kStart =
      R"({"session":2,"id":1,"start_ts":[3,4],"commit_ts":5,"ops":)";
  const std::size_t at = out.find(kStart);
  return at == std::string::npos ? out : out.substr(at + kStart.size());
}

TEST(ChronosTest, WhiteSpaceAndOrderInAnOperationChangeNothing) {
  for (const std::string_view value :
       {"0", "7", "1234567", "12345678", "123456789", "1234567890123456", "12345678901234567",
        "1234567890123456789", "18446744073709551615", "-5", "null"}) {
    for (const std::string_view kind : {"r", "w"}) {
      const std::string key = value == "null" ? "1" : std::string(value);
      const std::string tight =
          fmt::format(R"({{"t":"{}","k":{},"v":{}}},{{"t":"r","k":1,"v":2}})", kind, key, value);
      const std::string loose = fmt::format(
          R"( {{ "t" :"{}","k": {},"v":{} }} ,{{"t":"r","k":1 ,"v":2}} )", kind, key, value);
      const std::string turned =
          fmt::format(R"({{"v":{},"k":{},"t":"{}"}},{{"k":1,"t":"r","v":2}})", value, key, kind);
      const std::string wanted = read("[" + txn(tight) + "]");
      EXPECT_NE(wanted.find(key), std::string::npos) << wanted;
      EXPECT_EQ(read("[" + txn(loose) + "]"), wanted);
      EXPECT_EQ(read("[" + txn(turned) + "]"), wanted);
    }
  }
  for (const std::string_view append :
       {R"({"t":"a","k":1,"v":null})", R"({"t":"a","k":1 ,"v":null})"}) {
    EXPECT_EQ(read("[" + txn(append) + "]"),
              "h.json:1: column 66: the append has no \"v\", its element");
  }
  for (const std::string_view number : {"01", "1.5", "1e2", "12345678.5", "-", "1_0"}) {
    const std::string text =
        read("[" + txn(fmt::format(R"({{"t":"w","k":1,"v":{}}})", number)) + "]");
    EXPECT_TRUE(text.starts_with("h.json:1: column 8")) << text;
  }
}

TEST(ChronosTest, ReadsEveryField) {
  EXPECT_EQ(read(R"( [ {"tid":"a","sid":"7","sts":{"p":"17","l":"2"},"cts":{"l":0,"p":18,"x":[]},
                        "rtts":123,"more":{"a":[1.5,true,null]},
                        "ops":[{"t":"w","k":7,"v":2},{"v":3,"k":"k","t":"READ","z":{}}]},
                       {"ops":[],"cts":{"p":3},"sts":{"p":-1},"sid":7} ] )"),
            "{\"ouro\":1,\"initial\":null}\n"
            "{\"session\":7,\"id\":\"a\",\"start_ts\":[17,2],\"commit_ts\":18,"
            "\"ops\":[[\"w\",7,2],[\"r\",\"k\",3]]}\n"
            "{\"session\":7,\"start_ts\":-1,\"commit_ts\":3,\"ops\":[]}\n");
  EXPECT_EQ(read("[]"), "{\"ouro\":1,\"initial\":null}\n");
}

TEST(ChronosTest, IntegersMayBeStringsAndLarge) {
  EXPECT_EQ(
      read_ops(
          R"({"t":"w","k":"-12","v":"18446744073709551615"},{"t":"w","k":18446744073709551615,"v":"007"})"),
      "[[\"w\",-12,18446744073709551615],[\"w\",18446744073709551615,\"007\"]]}\n");
}

TEST(ChronosTest, NullIsTheEmptyListAmongLists) {
  EXPECT_EQ(read_ops(R"({"t":"r","k":1,"v":null},{"t":"r","k":1},{"t":"w","k":1,"v":null})"),
            "[[\"r\",1,null],[\"r\",1,null],[\"w\",1,null]]}\n");
  EXPECT_EQ(
      read_ops(
          R"({"t":"r","k":1,"v":null},{"t":"R","k":2},{"t":"A","k":1,"v":5},{"t":"append","k":1,"v":6},{"t":"Read","k":1,"v":[5,"6"]})"),
      "[[\"r\",1,[]],[\"r\",2,[]],[\"append\",1,5],[\"append\",1,6],[\"r\",1,[5,6]]]}\n");
  EXPECT_EQ(
      read("[" + txn(R"({"t":"w","k":1,"v":1})") + ",\n" + txn(R"({"t":"a","k":1,"v":1})") + "]"),
      "h.json:2: lists and registers in one history; Chronos checks either");
}

TEST(ChronosTest, KeysStartAsZeroOnlyIfReadsShowIt) {
  const auto initial = [](std::string_view ops) {
    const auto history = parse_history("[" + txn(ops) + "]", {.format = Format::Chronos});
    return history.ok() ? history->text(history->default_initial()) : "error";
  };
  EXPECT_EQ(initial(R"({"t":"r","k":1,"v":0},{"t":"w","k":1,"v":2})"), "0");
  EXPECT_EQ(initial(R"({"t":"w","k":1,"v":0},{"t":"r","k":1,"v":0})"), "null");
  EXPECT_EQ(initial(R"({"t":"w","k":1,"v":0},{"t":"r","k":2,"v":0})"), "0");
  EXPECT_EQ(initial(R"({"t":"r","k":1,"v":0},{"t":"r","k":2,"v":null})"), "null");
  EXPECT_EQ(initial(R"({"t":"w","k":1,"v":2},{"t":"r","k":2,"v":2})"), "null");
}

TEST(ChronosTest, ErrorsSayWhereAndWhatIsExpected) {
  EXPECT_EQ(read("{}"), "h.json:1: column 1: expected an array of transactions, found a map");
  EXPECT_EQ(read(""), "h.json:1: column 1: expected a value, found the end of the input");
  EXPECT_EQ(read(" "), "h.json:1: column 2: expected a value, found the end of the input");
  EXPECT_EQ(read("[" + txn("") + "\n" + txn("") + "]"),
            "h.json:2: column 1: expected ',' or ']', found '{'");
  EXPECT_EQ(read("[" + txn("") + ",]"), "h.json:1: column 69: expected a value, found ']'");
  EXPECT_EQ(read("[" + txn("") + "\n"),
            "h.json:2: column 1: expected ',' or ']', found the end of the input");
  EXPECT_EQ(read("[]\n[]"), "h.json:2: column 1: expected the end of the input, found '['");
  EXPECT_EQ(read("[7]").substr(0, 40), "h.json:1: column 2: expected a transacti");
  EXPECT_EQ(read(R"([{"tid":1,"sid":2,"sid":2}])"), "h.json:1: column 19: \"sid\" appears twice");
  EXPECT_EQ(read(R"([{"tid":1,"sts":{"p":1},"cts":{"p":1},"ops":[]}])").substr(0, 59),
            "h.json:1: column 2: the transaction has no \"sid\"; expected ");
  EXPECT_EQ(
      read(R"([{"sts":5}])"),
      "h.json:1: column 9: expected a timestamp like {\"p\":1691,\"l\":0}, found the number 5");
  EXPECT_EQ(read(R"([{"sts":{"l":5}}])"),
            "h.json:1: column 9: expected a timestamp like {\"p\":1691,\"l\":0}: \"p\" is missing");
  EXPECT_EQ(read(R"([{"sts":{"p":5.5}}])"),
            "h.json:1: column 14: expected a 64-bit integer in a timestamp like "
            "{\"p\":1691,\"l\":0}, found the number 5.5");
  EXPECT_EQ(
      read(R"([{"sid":null}])"),
      "h.json:1: column 9: expected \"sid\": an integer of at most 64 bits or a string, found "
      "nothing");
  EXPECT_EQ(read(R"([{"ops":7}])"),
            "h.json:1: column 9: expected \"ops\" to be an array, found the number 7");
}

TEST(ChronosTest, OperationsAreChecked) {
  const auto error = [](std::string_view ops) {
    const std::string out = read_ops(ops);
    const std::size_t at = out.find(": ", out.find("column"));
    return at == std::string::npos ? out : out.substr(at + 2);
  };
  EXPECT_EQ(error("7"),
            "expected an operation like {\"t\":\"w\",\"k\":1,\"v\":1}, found the number 7");
  EXPECT_EQ(error(R"({"k":1,"v":1})"), "the operation has no \"t\"; expected w, r or a");
  EXPECT_EQ(error(R"({"t":"x","k":1})"), "expected \"t\" to be w, r or a, found the string \"x\"");
  EXPECT_EQ(error(R"({"t":"wr","k":1})"),
            "expected \"t\" to be w, r or a, found the string \"wr\"");
  EXPECT_EQ(error(R"({"t":"r","v":1})"), "the operation has no \"k\", its key");
  EXPECT_EQ(error(R"({"t":"w","k":1})"), "the write has no \"v\"; null deletes");
  EXPECT_EQ(error(R"({"t":"a","k":1,"v":null})"), "the append has no \"v\", its element");
  EXPECT_EQ(error(R"({"t":"w","k":1,"v":[]})"), "only a read may have a list");
  EXPECT_EQ(error(R"({"t":"r","k":1,"v":[[]]})"),
            "expected a value: an integer of at most 64 bits or a string, found a list");
  EXPECT_EQ(error(R"({"t":"r","k":1,"v":true})"),
            "expected a value: an integer of at most 64 bits or a string, found true");
}

// An array, without its closing bracket, that is larger than a few blocks. It has brackets and
// quotes in strings, where a block could be cut wrongly.
std::string large_history(std::string_view separator) {
  std::string text = "[";
  for (int i = 0; i < 40000; ++i) {
    if (i != 0) text += separator;
    text += R"({"tid":"},{\"]}[)" + std::to_string(i) + R"(\\","sid":)" + std::to_string(i % 50) +
            R"(,"sts":{"p":)" + std::to_string(2 * i) + R"(,"l":0},"cts":{"p":)" +
            std::to_string(2 * i + 1) + R"(,"l":1},"ops":[{"t":"w","k":)" +
            std::to_string(i % 977) + R"(,"v":)" + std::to_string(i) +
            R"(},{"t":"r","k":70000,"v":null}]})";
  }
  return text;
}

TEST(ChronosTest, ThreadsAndBlocksDoNotChangeALargeHistory) {
  const std::string text = large_history(",\n") + "\n]\n\n";
  ASSERT_GT(text.size(), 4u << 20);
  const auto one = parse_history(text, {.threads = 1});
  const auto three = parse_history(text, {.threads = 3});
  ASSERT_TRUE(one.ok() && three.ok());
  EXPECT_EQ(one->txn_count(), 40000u);
  EXPECT_EQ(with_header(*one), with_header(*three));
  EXPECT_EQ(three->place(TxnId{39999}).position, 40000u);
  EXPECT_EQ(three->label(three->txn_name(TxnId{39999})), R"("},{\"]}[39999\\")");
}

TEST(ChronosTest, FaultsBehindTheFirstBlockAreFoundAtTheirPlace) {
  const std::string text = large_history(",");
  const std::string column = std::to_string(text.size() + 1);
  EXPECT_EQ(read(text),
            "h.json:1: column " + column + ": expected ',' or ']', found the end of the input");
  EXPECT_EQ(read(text + "]x"), "h.json:1: column " + std::to_string(text.size() + 2) +
                                   ": expected the end of the input, found 'x'");
  EXPECT_EQ(read(text + txn("") + "]"),
            "h.json:1: column " + column + ": expected ',' or ']', found '{'");
  EXPECT_EQ(read(text + "]" + std::string(9 << 20, '\n') + "x"),
            "h.json:9437185: expected nothing behind the array");
}

TEST(ChronosTest, EveryPrefixIsRefused) {
  const std::string text = "[" +
                           txn(R"({"t":"r","k":1,"v":[1,"\u00e9"]},{"t":"a","k":"x\"","v":-2})") +
                           "," + txn("") + "]";
  ASSERT_TRUE(parse_history(text, {.format = Format::Chronos}).ok());
  for (std::size_t length = 0; length < text.size(); ++length) {
    EXPECT_FALSE(parse_history(text.substr(0, length), {.format = Format::Chronos}).ok())
        << text.substr(0, length);
  }
}

TEST(ChronosTest, RealHistoriesHaveTheirTransactions) {
  for (const char* name : {"format-kv", "format-list"}) {
    const std::string path = kSharedData + "timekiller/" + name + "/" + name + ".json.zst";
    if (!std::filesystem::exists(path)) continue;  // Not shipped with the source.
    const auto history = read_history(path);
    ASSERT_TRUE(history.ok()) << history.error().to_string();
    EXPECT_EQ(history->txn_count(), 1000u);
    EXPECT_EQ(history->session_count(), 50u);
    EXPECT_EQ(history->op_count(), 15000u);
    const bool lists = std::string(name) == "format-list";
    EXPECT_EQ(history->text(history->default_initial()), lists ? "null" : "0");
    std::string printed;
    const auto report = print_history(*history, Format::Chronos, printed);
    ASSERT_TRUE(report.ok() && report->warnings.empty());
    EXPECT_EQ(read(printed), with_header(*history));
  }
}

// ---- writing ----

std::string written(std::string_view native_text, std::vector<std::string>* warnings = nullptr) {
  const auto history = parse_history(native_text, {.format = Format::Native}, "h.jsonl");
  if (!history.ok()) return history.error().to_string();
  std::string out;
  const auto report = print_history(*history, Format::Chronos, out);
  if (!report.ok()) return report.error().to_string();
  if (warnings != nullptr) *warnings = report->warnings;
  return out;
}

TEST(ChronosWriterTest, WritesWhatItReads) {
  const std::string text =
      "[\n{\"tid\":1,\"sid\":\"a b\",\"sts\":{\"p\":3,\"l\":4},\"cts\":{\"p\":5,\"l\":0},\"ops\":["
      "{\"t\":\"w\",\"k\":1,\"v\":2},{\"t\":\"r\",\"k\":\"x\",\"v\":null},{\"t\":\"w\",\"k\":1,"
      "\"v\":null}]},\n"
      "{\"tid\":2,\"sid\":-1,\"sts\":{\"p\":3,\"l\":4},\"cts\":{\"p\":5,\"l\":0},\"ops\":[]}\n]\n";
  std::vector<std::string> warnings;
  EXPECT_EQ(written(read(text), &warnings), text);
  EXPECT_EQ(warnings,
            std::vector<std::string>{"strings stand where TimeKiller itself expects integers"});
}

TEST(ChronosWriterTest, WarnsOfWhatItLeavesOut) {
  std::vector<std::string> warnings;
  EXPECT_EQ(written(R"({"ouro":1,"initial":0,"info":{"a":"b"}}
{"session":1,"invoked":1,"completed":2,"start_ts":1,"commit_ts":2,"ops":[["r",1],["w",1,5]]}
{"key":1,"versions":[5]}
)",
                    &warnings),
            "[\n{\"tid\":1,\"sid\":1,\"sts\":{\"p\":1,\"l\":0},\"cts\":{\"p\":2,\"l\":0},\"ops\":["
            "{\"t\":\"w\",\"k\":1,\"v\":5}]}\n]\n");
  EXPECT_EQ(warnings.size(), 6u);
}

TEST(ChronosWriterTest, RefusesWhatChronosCannotSay) {
  for (const char* line :
       {R"("status":"aborted","ops":[])", R"("status":"unknown","ops":[])", R"("ops":[["d",1]])",
        R"("ops":[["scan",1,2,[]]])", R"("ops":[["w",1,{"c":1}]])", R"("ops":[["w","12",1]])",
        R"("ops":[["w",1,"-3"]])", R"("ops":[["w",1,1],["append",2,1]])", R"("id":"5","ops":[])",
        R"("ops":[["r",1,[null]]])", R"("ops":[["append",1,null]])", R"("ops":[["r",1,0]])"}) {
    const std::string out =
        written(std::string(R"({"session":1,"start_ts":1,"commit_ts":2,)") + line + "}\n");
    EXPECT_EQ(out.substr(0, 12), "cannot write") << line << ": " << out;
  }
  EXPECT_EQ(written(R"({"session":1,"commit_ts":2,"ops":[]})").substr(0, 12), "cannot write");
  HistoryBuilder nowhere;
  nowhere.begin_txn(nowhere.session("s"));
  const auto history = std::move(nowhere).freeze();
  ASSERT_TRUE(history.ok());
  std::string out;
  EXPECT_EQ(print_history(*history, Format::Chronos, out).error().to_string(),
            "cannot write the transaction number 1: it lacks the start or commit timestamp that "
            "Chronos needs");
  EXPECT_EQ(written("{\"ouro\":1,\"initial\":5}\n").substr(0, 12), "cannot write");
  EXPECT_EQ(written("{\"key\":1,\"initial\":5}\n").substr(0, 12), "cannot write");
}

}  // namespace
}  // namespace ouro
