#include "format/jepsen.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <random>
#include <string>

#include "format/format_testing.h"
#include "ouro/history_builder.h"

namespace ouro {
namespace {

const std::string kSmallData = std::string(OURO_SOURCE_DIR) + "/tests/data/elle-cli/";
const std::string kSharedData = std::string(OURO_SOURCE_DIR) + "/../shared/data/";

// The history as native text without its header, or the error.
std::string read_edn(std::string_view text) {
  const auto history = parse_history(text, {.format = Format::JepsenEdn}, "h.edn");
  return history.ok() ? native(*history) : history.error().to_string();
}

std::string read_json(std::string_view text) {
  const auto history = parse_history(text, {.format = Format::JepsenJson}, "h.json");
  return history.ok() ? native(*history) : history.error().to_string();
}

std::map<TxnStatus, int> statuses(const History& history) {
  std::map<TxnStatus, int> count;
  for (std::size_t t = 0; t < history.txn_count(); ++t) ++count[history.status(TxnId{t})];
  return count;
}

TEST(JepsenTest, PairsInvocationsWithCompletionsByProcess) {
  EXPECT_EQ(read_edn("{:type :invoke, :process 0, :value [[:w x 1]]}\n"
                     "{:type :invoke, :process 1, :value [[:r x nil]]}\n"
                     "{:type :ok, :process 1, :value [[:r x 1]]}\n"
                     "{:type :ok, :process 0, :value [[:w x 1]]}\n"),
            "{\"session\":0,\"ops\":[[\"w\",\"x\",1]]}\n"
            "{\"session\":1,\"ops\":[[\"r\",\"x\",1]]}\n");
}

TEST(JepsenTest, StatusComesFromTheCompletion) {
  EXPECT_EQ(read_edn("{:type :invoke :process 0 :value [[:w 1 1] [:r 1 nil]]}"
                     "{:type :fail :process 0 :value [[:w 1 1] [:r 1 7]]}"
                     "{:type :invoke :process 1 :value [[:w 1 2] [:r 1 nil]]}"
                     "{:type :info :process 1 :error :timeout :value :timed-out}"
                     "{:type :invoke :process 2 :value [[:w 1 3] [:r 1 nil] [:r 2 nil]]}"
                     "{:type :info :process 2 :value [[:w 1 3] [:r 1 3] [:r 2 nil]]}"
                     "{:type :invoke :process 3 :value [[:w 1 4] [:r 1]]}"
                     "{:type :invoke :process 3 :value [[:w 1 5]]}"
                     "{:type :ok :process 3 :value [[:w 1 5] [:r 1]]}"),
            "{\"session\":0,\"status\":\"aborted\",\"ops\":[[\"w\",1,1],[\"r\",1]]}\n"
            "{\"session\":1,\"status\":\"unknown\",\"ops\":[[\"w\",1,2],[\"r\",1]]}\n"
            "{\"session\":2,\"status\":\"unknown\",\"ops\":[[\"w\",1,3],[\"r\",1,3],[\"r\",2]]}\n"
            "{\"session\":3,\"status\":\"unknown\",\"ops\":[[\"w\",1,4],[\"r\",1]]}\n"
            "{\"session\":3,\"ops\":[[\"w\",1,5],[\"r\",1]]}\n");
}

TEST(JepsenTest, CompletionsWithoutInvocationsAreTransactions) {
  EXPECT_EQ(read_edn("{:type :ok :process 0 :value [[:append 1 1]]}"
                     "{:type :fail :process 0 :value [[:append 1 2]]}"
                     "{:type :info :process 0 :value [[:append 1 3]]}"),
            "{\"session\":0,\"ops\":[[\"append\",1,1]]}\n"
            "{\"session\":0,\"status\":\"aborted\",\"ops\":[[\"append\",1,2]]}\n"
            "{\"session\":0,\"status\":\"unknown\",\"ops\":[[\"append\",1,3]]}\n");
}

TEST(JepsenTest, WithoutProcessesNoSessionIsKnown) {
  EXPECT_EQ(read_edn("{:type :invoke :value [[:w 1 1]]} {:type :ok :value [[:w 1 1]]}"
                     "{:type :ok :value [[:r 1 1]]} {:type :invoke :value [[:w 1 2]]}"),
            "{\"session\":null,\"ops\":[[\"w\",1,1]]}\n"
            "{\"session\":null,\"ops\":[[\"r\",1,1]]}\n"
            "{\"session\":null,\"status\":\"unknown\",\"ops\":[[\"w\",1,2]]}\n");
  EXPECT_EQ(
      read_edn("{:type :invoke :value []}\n{:type :invoke :value []}"),
      "h.edn:2: two invocations in a row; without :process it cannot be told which completion "
      "belongs to which");
  EXPECT_EQ(read_edn("{:type :ok :value []}\n{:type :ok :process 3 :value []}"),
            "h.edn:2: this operation has a :process, unlike the first, so sessions cannot be told; "
            "give all of them one, or none");
}

TEST(JepsenTest, NemesisAndUnknownKeysAreLeftOut) {
  EXPECT_EQ(read_edn("{:type :info :f :start :value [[:r]] :process :nemesis}"
                     "{:value {\"n1\" [1 2]} :process :nemesis :whatever #{1}}"
                     "{:type :ok :process 0 :txn-id \"t1\" [:odd key] {:a [b]} :value [[:w k 1]]}"),
            "{\"session\":0,\"ops\":[[\"w\",\"k\",1]]}\n");
  EXPECT_EQ(read_edn("{:type :info :process :nemesis}{:type :ok :process \"0\" :value []}"),
            "h.edn: none of the 2 operations is a client's; a client's :process is an integer");
}

TEST(JepsenTest, NilIsTheEmptyListWhereListsAre) {
  EXPECT_EQ(
      read_edn(
          "[{:type :ok :process 0 :value [[:r :x nil] [:append :x 1] [:r :y nil] [:r z []]]}]"),
      "{\"session\":0,\"ops\":[[\"r\",\":x\",[]],[\"append\",\":x\",1],[\"r\",\":y\",[]],"
      "[\"r\",\"z\",[]]]}\n");
  EXPECT_EQ(
      read_edn("({:type :ok :process 0 :value [[:r \"x\" nil] [:w x nil] [:r y \"s\"]]})"),
      "{\"session\":0,\"ops\":[[\"r\",\"x\",null],[\"w\",\"x\",null],[\"r\",\"y\",\"s\"]]}\n");
  EXPECT_EQ(read_edn("{:type :ok :value [[:w x 1]]}\n{:type :ok :value [[:append x 2]]}"),
            "h.edn:2: a key is used as a list here and as a register elsewhere; use other keys for "
            "the one or the other");
}

TEST(JepsenTest, ClocksAreTimesElseIndicesElseNone) {
  EXPECT_EQ(read_edn("{:type :invoke :process 0 :time 5 :index 1 :value []}"
                     "{:type :ok :process 0 :time 9 :index 2 :value []}"),
            "{\"session\":0,\"invoked\":5,\"completed\":9,\"ops\":[]}\n");
  EXPECT_EQ(read_edn("{:type :invoke :process 0 :time 5 :index 3 :value []}"
                     "{:type :ok :process 0 :index 7 :value []}"),
            "{\"session\":0,\"invoked\":3,\"completed\":7,\"ops\":[]}\n");
  EXPECT_EQ(read_edn("{:type :invoke :process 0 :time -1 :index 3 :value []}"
                     "{:type :ok :process 0 :time -1 :index 7 :value []}"),
            "{\"session\":0,\"invoked\":3,\"completed\":7,\"ops\":[]}\n");
  EXPECT_EQ(read_edn("{:type :invoke :process 0 :index 3 :value []}"
                     "{:type :ok :process 0 :index 3 :value []}"),
            "{\"session\":0,\"invoked\":0,\"completed\":1,\"ops\":[]}\n");
  EXPECT_EQ(
      read_edn("{:type :invoke :process 0 :index 3 :value []}{:type :ok :process 0 :value []}"),
      "{\"session\":0,\"ops\":[]}\n");
}

// An unknown transaction may take effect after the client gave up, so it must have no completion.
TEST(JepsenTest, UnknownTransactionsDoNotComplete) {
  EXPECT_EQ(read_edn("{:type :invoke :process 0 :time 1 :value [[:w 1 1]]}"
                     "{:type :info :process 0 :time 2 :value [[:w 1 1]]}"
                     "{:type :info :process 1 :time 3 :value [[:w 1 2]]}"
                     "{:type :invoke :process 2 :time 4 :value [[:w 1 3]]}"
                     "{:type :fail :process 2 :time 5 :value [[:w 1 3]]}"),
            "{\"session\":0,\"status\":\"unknown\",\"invoked\":1,\"ops\":[[\"w\",1,1]]}\n"
            "{\"session\":1,\"status\":\"unknown\",\"ops\":[[\"w\",1,2]]}\n"
            "{\"session\":2,\"status\":\"aborted\",\"invoked\":4,\"completed\":5,"
            "\"ops\":[[\"w\",1,3]]}\n");
}

TEST(JepsenTest, JsonSaysTheSameInStrings) {
  const std::string expected =
      "{\"session\":0,\"invoked\":1,\"completed\":2,\"ops\":[[\"w\",\"x\",2],[\"r\",7,null]]}\n";
  const std::string lines =
      R"({"type":"invoke","f":"txn","process":0,"index":1,"value":[["w","x",2],["r",7]]}
         {"type":"ok","f":"txn","process":0,"index":2,"value":[["w","x",2],["r",7,null]],"x":{"y":[{}]}})";
  EXPECT_EQ(read_json(lines), expected);
  std::string array = "[" + lines + "]";
  array.replace(array.find("}\n"), 1, "},");
  EXPECT_EQ(read_json(array), expected);
  EXPECT_EQ(read_json(R"({"type":":ok","process":"nemesis"})"),
            "h.json: none of the 1 operations is a client's; a client's :process is an integer");
}

// Names are integers of 64 bits or texts; numbers of other kinds become texts, as they are written.
TEST(JepsenTest, NumbersAreWhatClojureReads) {
  const auto history = parse_history(
      "{:type :ok, :value [[:w 123456789012345678901 1.50M] [:w 1.5 1.0] [:w true ##-Inf]]}\n"
      "{:type :ok, :value [[:r 123456789012345678901 1.5M] [:r 1.5 1e0] [:r true ##-Inf]]}\n",
      {.format = Format::JepsenEdn});
  ASSERT_TRUE(history.ok()) << history.error().to_string();
  EXPECT_EQ(history->key_count(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(history->key_name(KeyId{i}).kind(), ValueKind::Text);
    EXPECT_EQ(history->op(OpId{i}).value, history->op(OpId{i + 3}).value);
  }
  EXPECT_EQ(history->text(history->op(OpId{2}).value), R"({"@float":"-Infinity"})");
  std::string binary;
  ASSERT_TRUE(print_history(*history, Format::NativeBinary, binary).ok());
  const auto again = parse_history(binary, {.format = Format::NativeBinary});
  ASSERT_TRUE(again.ok()) << again.error().to_string();
}

TEST(JepsenTest, ErrorsSayWhatIsExpected) {
  EXPECT_EQ(read_edn("{:type :ok :process 0}"),
            "h.edn:1: column 1: the operation has no :value; an :ok needs [[:r k v] [:w k v] "
            "[:append k v] …]");
  EXPECT_EQ(read_edn("{:process 0 :value []}"),
            "h.edn:1: column 1: the operation has no :type; expected :invoke, :ok, :fail or :info");
  EXPECT_EQ(read_edn("{:process 0 :type :done :value []}"),
            "h.edn:1: column 1: unknown :type ':done'; expected :invoke, :ok, :fail or :info");
  EXPECT_EQ(read_edn("{:type :ok :type :fail}"), "h.edn:1: column 12: ':type' appears twice");
  EXPECT_EQ(read_edn("{:type :ok :value [[:swap 1 2]]}"),
            "h.edn:1: column 21: unknown operation ':swap'; expected :r, :w, :append or :cas");
  EXPECT_EQ(read_edn("{:type :ok :value [[:cas 1 2]]}"),
            "h.edn:1: column 28: expected [old new] behind :cas and a key");
  EXPECT_EQ(read_edn("{:type :ok :value [[:r]]}"), "h.edn:1: column 23: expected a key");
  EXPECT_EQ(read_edn("{:type :ok :value [[:r nil 1]]}"), "h.edn:1: column 24: nil cannot be a key");
  EXPECT_EQ(read_edn("{:type :ok :value [[:w 1]]}"),
            "h.edn:1: column 25: expected a value: only a read may lack one");
  EXPECT_EQ(read_edn("{:type :ok :value [[:w 1 [2]]]}"),
            "h.edn:1: column 26: only a read may have a list");
  EXPECT_EQ(read_edn("{:type :ok :value [[:w 1 2 3]]}"),
            "h.edn:1: column 28: expected ']', found the number 3");
  EXPECT_EQ(read_edn("{:type :ok :value [[:w 1 5/2]]}"),
            "h.edn:1: column 26: expected a number with at most 1000 digits, found the number 5/2");
  EXPECT_EQ(read_edn("{:type :ok :value [[:r 1 #{2}]]}"),
            "h.edn:1: column 26: expected an integer, a string or a keyword, found a set");
  EXPECT_EQ(read_edn("{:type :ok :value 7}"),
            "h.edn:1: column 19: expected :value [[:r k v] [:w k v] [:append k v] …], found the "
            "number 7");
  EXPECT_EQ(read_edn("[{:type :ok :value []}] 7"),
            "h.edn:1: column 25: expected the end of the input behind the list of operations");
  EXPECT_EQ(
      read_edn("7"),
      "h.edn:1: column 1: expected a map like {:type :ok, :process 0, :value [[:r k v] [:w k v] "
      "[:append k v] …]}, found the number 7");
}

TEST(JepsenTest, ModelsAreFoundOut) {
  const std::map<std::string, std::string> kModel = {
      {"bank-neg.edn", "bank"},
      {"set.edn", "set"},
      {"long-fork.edn", "long-fork"},
      {"rethink-fail-minimal.edn", "cas-register"},
  };
  for (const auto& [file, model] : kModel) {
    const auto history = read_history(kSmallData + file);
    ASSERT_TRUE(history.ok()) << history.error().to_string();
    ASSERT_EQ(history->remarks().size(), 1u) << file;
    EXPECT_EQ(history->remarks()[0].name, "model");
    EXPECT_EQ(history->remarks()[0].text, model);
  }
}

TEST(JepsenTest, CountersAreReadAndIncremented) {
  EXPECT_EQ(read_edn("{:type :invoke :f :add :value 2 :process 0}"
                     "{:type :ok :f :add :value 2 :process 0}"
                     "{:type :invoke :f :read :value nil :process 1}"
                     "{:type :ok :f :read :value 2 :process 1}"
                     "{:type :invoke :f :add :value 1 :process 2}"
                     "{:type :info :f :add :value 1 :process 2}"),
            "{\"session\":0,\"invoked\":0,\"completed\":1,\"ops\":[[\"inc\",\"counter\",2]]}\n"
            "{\"session\":1,\"invoked\":2,\"completed\":3,\"ops\":[[\"r\",\"counter\",2]]}\n"
            "{\"session\":2,\"status\":\"unknown\",\"invoked\":4,"
            "\"ops\":[[\"inc\",\"counter\",1]]}\n");
}

TEST(JepsenTest, SetsAreReadAndAddedTo) {
  EXPECT_EQ(read_edn("{:type :ok :f :add :value 2 :process 0}"
                     "{:type :ok :f :read :value #{2 3} :process 1}"
                     "{:type :ok :f :add :value [7 2] :process 0}"
                     "{:type :ok :f :read :value [7 [2]] :process 1}"),
            "{\"session\":0,\"completed\":0,\"ops\":[[\"add\",\"set\",2]]}\n"
            "{\"session\":1,\"completed\":1,\"ops\":[[\"r\",\"set\",{\"set\":[2,3]}]]}\n"
            "{\"session\":0,\"completed\":2,\"ops\":[[\"add\",7,2]]}\n"
            "{\"session\":1,\"completed\":3,\"ops\":[[\"r\",7,{\"set\":[2]}]]}\n");
}

TEST(JepsenTest, TransfersIncrementAccountsAndMutexesAreSwapped) {
  EXPECT_EQ(read_edn("{:type :ok :f :read :value {0 5, 1 0} :process 0}"
                     "{:type :ok :f :transfer :value {:from 0 :to 1 :amount 5} :process 0}"
                     "{:type :ok :f :read :value {0 0, 1 5} :process 0}"),
            "{\"key\":0,\"initial\":5}\n"
            "{\"key\":1,\"initial\":0}\n"
            "{\"session\":0,\"ops\":[[\"r\",0,5],[\"r\",1,0]]}\n"
            "{\"session\":0,\"ops\":[[\"inc\",0,-5],[\"inc\",1,5]]}\n"
            "{\"session\":0,\"ops\":[[\"r\",0,0],[\"r\",1,5]]}\n");
  EXPECT_EQ(read_edn("{:type :ok :f :acquire :value nil :process 0}"
                     "{:type :ok :f :release :value nil :process 0}"),
            "{\"key\":\"mutex\",\"initial\":\"free\"}\n"
            "{\"session\":0,\"completed\":0,"
            "\"ops\":[[\"cas\",\"mutex\",\"free\",\"held\",true]]}\n"
            "{\"session\":0,\"completed\":1,"
            "\"ops\":[[\"cas\",\"mutex\",\"held\",\"free\",true]]}\n");
}

TEST(JepsenTest, ModelsThatCannotBeToldAreAskedFor) {
  const std::string text = "{:type :ok :f :add :value 2 :process 0}";
  EXPECT_NE(read_edn(text).find("say --model counter or --model set"), std::string::npos);
  ReadOptions options{.format = Format::JepsenEdn, .threads = 0, .model = "set"};
  const auto set = parse_history(text, options);
  ASSERT_TRUE(set.ok()) << set.error().to_string();
  EXPECT_EQ(set->remarks()[0].text, "set");
  options.model = "bank";
  EXPECT_NE(parse_history(text, options).error().what.find("model bank"), std::string::npos);
  options.model = "queue";
  EXPECT_NE(parse_history(text, options).error().what.find("is not known"), std::string::npos);
}

TEST(JepsenTest, SequentialWritesSubkeysInOrder) {
  ReadOptions options{.format = Format::JepsenEdn, .threads = 0, .model = "sequential"};
  const auto history = parse_history(
      "{:type :ok :f :write :value 3 :process 0}"
      "{:type :ok :f :read :value [3 [nil \"3_0\"]] :process 1}",
      options);
  ASSERT_TRUE(history.ok()) << history.error().to_string();
  EXPECT_EQ(native(*history),
            "{\"session\":0,\"ops\":[[\"w\",\"3_0\",1]]}\n"
            "{\"session\":0,\"ops\":[[\"w\",\"3_1\",1]]}\n"
            "{\"session\":1,\"ops\":[[\"r\",\"3_1\",null]]}\n"
            "{\"session\":1,\"ops\":[[\"r\",\"3_0\",1]]}\n");
}

TEST(JepsenTest, CompareAndSetsSucceedOrFail) {
  EXPECT_EQ(read_edn("{:type :invoke :f :cas :value [1 2] :process 0}"
                     "{:type :ok :f :cas :value [1 2] :process 0}"
                     "{:type :invoke :f :cas :value [1 3] :process 1}"
                     "{:type :fail :f :cas :value [1 3] :process 1}"
                     "{:type :invoke :f :cas :value [1 4] :process 2}"
                     "{:type :fail :f :cas :value [1 4] :process 2 :error :refused}"
                     "{:type :invoke :f :cas :value [2 5] :process 3}"
                     "{:type :info :f :cas :value [2 5] :process 3}"
                     "{:type :invoke :f :write :value 1 :process 4}"
                     "{:type :ok :f :write :value 1 :process 4}"
                     "{:type :invoke :f :read :value nil :process 4}"
                     "{:type :ok :f :read :value 2 :process 4}"),
            "{\"session\":0,\"invoked\":0,\"completed\":1,"
            "\"ops\":[[\"cas\",\"register\",1,2,true]]}\n"
            "{\"session\":1,\"invoked\":2,\"completed\":3,"
            "\"ops\":[[\"cas\",\"register\",1,3,false]]}\n"
            "{\"session\":2,\"status\":\"aborted\",\"invoked\":4,\"completed\":5,"
            "\"ops\":[[\"cas\",\"register\",1,4,true]]}\n"
            "{\"session\":3,\"status\":\"unknown\",\"invoked\":6,"
            "\"ops\":[[\"cas\",\"register\",2,5,true]]}\n"
            "{\"session\":4,\"invoked\":8,\"completed\":9,\"ops\":[[\"w\",\"register\",1]]}\n"
            "{\"session\":4,\"invoked\":10,\"completed\":11,\"ops\":[[\"r\",\"register\",2]]}\n");
}

TEST(JepsenTest, IndependentKeysAndMicroOperationsHaveCompareAndSetsToo) {
  EXPECT_EQ(read_edn("{:type :ok :f :write :value [7 1] :process 0}"
                     "{:type :ok :f :cas :value [7 [1 2]] :process 0}"
                     "{:type :fail :f :cas :value [8 [nil 2]] :process 0}"
                     "{:type :ok :f :read :value [7 nil] :process 0}"
                     "{:type :ok :f :txn :value [[:cas 7 [2 3]] [:r 7 3]] :process 0}"),
            "{\"session\":0,\"completed\":0,\"ops\":[[\"w\",7,1]]}\n"
            "{\"session\":0,\"completed\":1,\"ops\":[[\"cas\",7,1,2,true]]}\n"
            "{\"session\":0,\"completed\":2,\"ops\":[[\"cas\",8,null,2,false]]}\n"
            "{\"session\":0,\"completed\":3,\"ops\":[[\"r\",7,null]]}\n"
            "{\"session\":0,\"completed\":4,\"ops\":[[\"cas\",7,2,3,true],[\"r\",7,3]]}\n");
  EXPECT_EQ(
      read_edn("{:type :ok :f :cas :value nil :process 0}").find("h.edn:1: column 1: ':f :cas'"),
      0u);
}

TEST(JepsenTest, RealHistoriesHaveTheirTransactions) {
  const std::map<std::string, std::size_t> kTxns = {
      {"elle-paper-example.edn", 4}, {"paper-example.edn", 4},
      {"paper-example.json", 4},     {"rw-register.edn", 3},
      {"rw-register.json", 3},       {"list-append-gh-30.edn", 5},
      {"long-fork.edn", 5},          {"list-ok.edn", 6},
      {"rwregister-ok.edn", 6},      {"rethink-fail-minimal.edn", 4},
  };
  for (const auto& [file, txns] : kTxns) {
    const auto history = read_history(kSmallData + file);
    ASSERT_TRUE(history.ok()) << history.error().to_string();
    EXPECT_EQ(history->txn_count(), txns) << file;
    EXPECT_EQ(statuses(*history)[TxnStatus::Committed], static_cast<int>(txns)) << file;
  }
  const auto edn = read_history(kSmallData + "paper-example.edn");
  const auto json = read_history(kSmallData + "paper-example.json");
  EXPECT_EQ(native(*edn), native(*json));
  EXPECT_EQ(edn->op_count(), 19u);
  EXPECT_EQ(edn->place(TxnId{1}).to_string(), kSmallData + "paper-example.edn:4");
}

TEST(JepsenTest, HugeSccHasItsStatuses) {
  const std::string path = kSharedData + "elle/huge-scc/huge-scc.edn.zst";
  if (!std::filesystem::exists(path)) return;  // Not shipped with the source.
  const auto history = read_history(path);
  ASSERT_TRUE(history.ok()) << history.error().to_string();
  const std::map<TxnStatus, int> expected = {
      {TxnStatus::Committed, 3036}, {TxnStatus::Aborted, 7070}, {TxnStatus::Unknown, 148}};
  EXPECT_EQ(statuses(*history), expected);  // The nemesis has 94 more :info lines.
  EXPECT_EQ(history->key_count(), 106u);
}

TEST(JepsenTest, EveryPrefixIsReadOrRefused) {
  for (const char* file :
       {"list-append-gh-30.edn", "rwregister-ok.edn", "rw-register.json", "long-fork.edn"}) {
    const auto whole = read_history(kSmallData + file);
    ASSERT_TRUE(whole.ok());
    std::string text;
    ASSERT_TRUE(print_history(*whole, Format::JepsenEdn, text).ok());
    for (std::size_t length = 0; length < text.size(); ++length) {
      const auto part = parse_history(text.substr(0, length), {.format = Format::JepsenEdn});
      // Only a prefix that ends between lines is a history.
      const bool between = length == 0 || text[length - 1] == '\n' || text[length] == '\n';
      EXPECT_EQ(part.ok(), between) << text.substr(0, length);
    }
  }
}

// ---- writing ----

std::string edn_of(const History& history, std::vector<std::string>* warnings = nullptr) {
  std::string out;
  const auto report = print_history(history, Format::JepsenEdn, out);
  if (!report.ok()) return report.error().to_string();
  if (warnings != nullptr) *warnings = report->warnings;
  return out;
}

History from_native(std::string_view text) {
  auto history = parse_history(text, {.format = Format::Native}, "h.jsonl");
  EXPECT_TRUE(history.ok()) << history.error().to_string();
  return *std::move(history);
}

TEST(JepsenWriterTest, LinesFollowTheClocks) {
  std::vector<std::string> warnings;
  const History history = from_native(
      R"({"session":0,"invoked":1,"completed":8,"ops":[["w",1,1]]}
{"session":1,"invoked":2,"completed":3,"status":"aborted","ops":[["w",1,2]]}
{"session":2,"invoked":3,"completed":9,"status":"unknown","ops":[["w",1,3],["r",":k"],["r","k k",5]]}
{"session":1,"invoked":4,"completed":5,"ops":[["r",1,null],["r",1]]}
)");
  EXPECT_EQ(edn_of(history, &warnings),
            "{:type :invoke, :f :txn, :value [[:w 1 1]], :process 0, :time 1}\n"
            "{:type :invoke, :f :txn, :value [[:w 1 2]], :process 1, :time 2}\n"
            "{:type :invoke, :f :txn, :value [[:w 1 3] [:r :k nil] [:r \"k k\" nil]], :process 2, "
            ":time 3}\n"
            "{:type :fail, :f :txn, :value [[:w 1 2]], :process 1, :time 3}\n"
            "{:type :invoke, :f :txn, :value [[:r 1 nil] [:r 1 nil]], :process 1, :time 4}\n"
            "{:type :ok, :f :txn, :value [[:r 1 nil] [:r 1]], :process 1, :time 5}\n"
            "{:type :ok, :f :txn, :value [[:w 1 1]], :process 0, :time 8}\n"
            "{:type :info, :f :txn, :value [[:w 1 3] [:r :k nil] [:r \"k k\" 5]], :process 2, "
            ":time 9}\n");
  EXPECT_EQ(warnings, std::vector<std::string>{
                          "unknown transactions do not complete in EDN: when theirs did is only "
                          "the time of a line"});
  std::string expected = native(history);
  const std::string lost = ",\"completed\":9";
  expected.erase(expected.find(lost), lost.size());
  EXPECT_EQ(read_edn(edn_of(history)), expected);
}

TEST(JepsenWriterTest, MissingClocksOfUnknownTransactionsAndLoneCompletionsSurvive) {
  const std::string text =
      "{\"session\":0,\"status\":\"unknown\",\"invoked\":1,\"ops\":[[\"append\",1,1],[\"r\",2,[7]]]"
      "}\n"
      "{\"session\":0,\"invoked\":2,\"completed\":3,\"ops\":[[\"r\",1,[]],[\"append\",1,2]]}\n"
      "{\"session\":1,\"completed\":4,\"ops\":[[\"r\",1,[2]]]}\n";
  EXPECT_EQ(read_edn(edn_of(from_native(text))), text);
}

TEST(JepsenWriterTest, WarnsOfWhatItLeavesOut) {
  std::vector<std::string> warnings;
  const History history = from_native(
      R"({"ouro":1,"info":{"a":"b"}}
{"session":"a","id":"t","start_ts":1,"commit_ts":2,"status":"aborted","ops":[["r","x",5]]}
{"session":7,"invoked":3,"ops":[["w","x",5]]}
{"session":"b","status":"unknown","ops":[["w","x",6]]}
{"session":"b","ops":[["w","x",7]]}
{"key":"x","versions":[5,6]}
)");
  EXPECT_EQ(edn_of(history, &warnings),
            "{:type :invoke, :f :txn, :value [[:r \"x\" nil]], :process 8}\n"
            "{:type :fail, :f :txn, :value [[:r \"x\" nil]], :process 8}\n"
            "{:type :invoke, :f :txn, :value [[:w \"x\" 5]], :process 7}\n"
            "{:type :ok, :f :txn, :value [[:w \"x\" 5]], :process 7}\n"
            "{:type :invoke, :f :txn, :value [[:w \"x\" 6]], :process 9}\n"
            "{:type :info, :f :txn, :value [[:w \"x\" 6]], :process 9}\n"
            "{:type :invoke, :f :txn, :value [[:w \"x\" 7]], :process 9}\n"
            "{:type :ok, :f :txn, :value [[:w \"x\" 7]], :process 9}\n");
  EXPECT_EQ(warnings.size(), 9u);
}

TEST(JepsenWriterTest, InitialValuesBecomeNil) {
  std::vector<std::string> warnings;
  EXPECT_EQ(edn_of(from_native("{\"ouro\":1,\"initial\":0}\n"
                               "{\"session\":0,\"ops\":[[\"r\",1,0],[\"w\",1,2]]}\n"),
                   &warnings),
            "{:type :invoke, :f :txn, :value [[:r 1 nil] [:w 1 2]], :process 0}\n"
            "{:type :ok, :f :txn, :value [[:r 1 nil] [:w 1 2]], :process 0}\n");
  EXPECT_EQ(warnings, std::vector<std::string>{"initial values are written as nil"});
}

TEST(JepsenWriterTest, RefusesWhatEdnCannotSay) {
  for (const char* ops :
       {R"(["d","x"])", R"(["scan",1,2,[]])", R"(["select",true,[]])", R"(["w","x",{"c":1}])",
        R"(["append","x",1],["w","y",1])", R"(["append","x",{"c":1}])", R"(["r","x",[{"c":1}]])",
        R"(["aggregate","count",null,true,1])"}) {
    const History history = from_native(std::string("{\"session\":0,\"ops\":[") + ops + "]}\n");
    EXPECT_NE(edn_of(history).find("cannot write"), std::string::npos) << ops;
  }
  for (const char* ops :
       {R"(["w",1,0])", R"(["w",1,null])", R"(["r",1,null])", R"(["append",1,1])"}) {
    const History history = from_native(
        std::string("{\"ouro\":1,\"initial\":0}\n{\"session\":0,\"ops\":[") + ops + "]}\n");
    EXPECT_NE(edn_of(history).find("initial value"), std::string::npos) << ops;
  }
}

// A random history, in native text, that EDN can express.
std::string random_native(std::mt19937_64& random, bool lists) {
  std::string out;
  const auto below = [&random](std::uint64_t n) { return random() % n; };
  std::int64_t time = 0;
  for (std::uint64_t t = 0, n = below(12); t < n; ++t) {
    const std::uint64_t status = below(4);
    const std::int64_t invoked = ++time;
    out += "{\"session\":" + std::to_string(below(3));
    if (status == 1) out += ",\"status\":\"aborted\"";
    if (status == 2) out += ",\"status\":\"unknown\"";
    out += ",\"invoked\":" + std::to_string(invoked);
    if (status != 2) out += ",\"completed\":" + std::to_string(++time);
    out += ",\"ops\":[";
    for (std::uint64_t i = 0, count = below(4); i < count; ++i) {
      if (i != 0) out += ',';
      const std::string key = below(2) == 0 ? "1" : "\"k\\\"\\u00e9\"";
      if (below(2) == 0) {
        out += std::string(lists ? "[\"append\"," : "[\"w\",") + key + "," +
               std::to_string(++time) + "]";
      } else if (status == 1 || below(4) == 0) {
        out += "[\"r\"," + key + "]";
      } else {
        out += "[\"r\"," + key + (lists ? ",[5,\"x\"]]" : ",\"x\"]");
      }
    }
    out += "]}\n";
  }
  return out;
}

TEST(JepsenWriterTest, RandomHistoriesSurviveTheRoundTrip) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int i = 0; i < 1000; ++i) {
    const History history = from_native(random_native(random, i % 2 == 0));
    ASSERT_EQ(read_edn(edn_of(history)), native(history));
  }
}

}  // namespace
}  // namespace ouro
