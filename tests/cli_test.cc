// The program as users see it: what it prints, where, and its exit status.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "ouro/ouro.h"
#include "tests/hard_history.h"
#include "tests/run_program.h"

namespace ouro {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr char kFine[] = R"({"session":"a","ops":[["r","x",null],["w","x",1]]}
{"session":"b","ops":[["r","x",1]]}
)";
constexpr char kFractured[] = R"({"session":"a","ops":[["w","x",1],["w","y",1]]}
{"session":"b","ops":[["r","x",1],["w","x",2],["w","y",2]]}
{"session":"c","ops":[["r","x",2],["r","y",1]]}
)";

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
}

class CliTest : public testing::Test {
 protected:
  CliTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "ouro_cli_XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    fine_ = file("fine.jsonl", kFine);
    fractured_ = file("fractured.jsonl", kFractured);
    broken_ = file("broken.jsonl", std::string(kFine) + "{\"session\":\n");
  }
  ~CliTest() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name, const std::string& content) const {
    const std::string path = folder_ + '/' + name;
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }

  static std::vector<std::string> command(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), kOuroBinary);
    return arguments;
  }
  static Ran ouro(std::vector<std::string> arguments, const std::string& input = "") {
    return run_program(command(std::move(arguments)), input);
  }
  static std::vector<std::string> command_names() {
    return {"check",   "explain",  "certify", "stats", "lint",       "levels", "formats",
            "convert", "generate", "bench",   "shard", "completion", "man",    "help"};
  }

  std::string folder_, fine_, fractured_, broken_;
};

// Each line of `text` parsed as JSON; minified text at `pointer` in each.
std::vector<std::string> json_lines(const std::string& text, const char* pointer) {
  std::vector<std::string> found;
  std::istringstream lines(text);
  simdjson::dom::parser parser;
  for (std::string line; std::getline(lines, line);) {
    simdjson::dom::element root;
    EXPECT_EQ(parser.parse(line).get(root), simdjson::SUCCESS) << line;
    simdjson::dom::element at;
    found.push_back(root.at_pointer(pointer).get(at) == simdjson::SUCCESS ? simdjson::minify(at)
                                                                          : "(nothing)");
  }
  return found;
}

TEST_F(CliTest, VerdictsGoToStandardOutputAndTheExitStatus) {
  const Ran holds = ouro({"check", "--level", "causal", fine_});
  EXPECT_EQ(holds.status, 0);
  EXPECT_THAT(holds.out,
              StartsWith(fine_ + ": holds causal\n\n  The database gave: "
                                 "session-serializable.  No level is known to be violated.\n"));
  EXPECT_THAT(holds.err, IsEmpty());

  const Ran violated = ouro({"check", "-l", "ra", fractured_});
  EXPECT_EQ(violated.status, 1);
  EXPECT_THAT(violated.out,
              StartsWith(fractured_ + ": VIOLATED read-atomic (non-monotonic read)\n\n"));
  EXPECT_THAT(violated.out, HasSubstr("session a, line 1   w x=1   w y=1\n"));
  EXPECT_THAT(violated.out, HasSubstr(": a contradiction.\n"));
  EXPECT_THAT(violated.out, HasSubstr("\n  The database gave no level.  Weakest level violated: "
                                      "read-committed, si, repeatable-read.\n\n3 transactions, "));
  EXPECT_THAT(violated.out, Not(HasSubstr("\033"))) << "no terminal, no colour";
  EXPECT_THAT(violated.err, IsEmpty());
}

// By timestamps a lock may serialize what no snapshot shows: nothing about si follows from
// serializable, whichever was asked for.
TEST_F(CliTest, EveryLevelByTimestampsTellsTheSameAboutAll) {
  const std::string path =
      file("locks.jsonl", R"({"session":"a","start_ts":1,"commit_ts":4,"ops":[["r","x",1]]}
{"session":"b","start_ts":2,"commit_ts":3,"ops":[["w","x",1]]}
)");
  for (const LevelInfo& level : levels()) {
    if (!decidable(level.level, Evidence::Timestamps)) continue;
    const Ran ran =
        ouro({"check", "-l", std::string(level.name), "--evidence", "timestamps", path});
    EXPECT_THAT(ran.out,
                HasSubstr("The database gave: session-serializable by timestamps.  Weakest "
                          "level violated: si.\n"))
        << level.name;
  }
}

// Levels that take no search are decided even if a search for others takes too long.
TEST_F(CliTest, CheapLevelsAreDecidedThoughOthersTakeTooLong) {
  const std::string path = folder_ + "/causal.ouro";
  ASSERT_EQ(ouro({"generate", "-n", "100000", "--keys", "20000", "--sessions", "50", "--clocks",
                  "--seed", "3", "--level", "cc", "-o", path})
                .status,
            0);
  const Ran ran = ouro({"check", "--threads", "1", "-l", "session-si", path});
  EXPECT_THAT(ran.out, testing::ContainsRegex("The database gave( at least)?: (causal|prefix)"));
  EXPECT_THAT(ran.out, HasSubstr(".  Weakest level violated: "));
  EXPECT_THAT(ran.out, Not(HasSubstr("Undecided: read-")));
}

TEST_F(CliTest, NothingIsWrittenOverWhatIsRead) {
  for (const char* const option :
       {"--html", "--dot", "--junit", "--sarif", "--certificate", "--counterexample"}) {
    const Ran ran = ouro({"check", "-l", "ra", option, fractured_, fractured_});
    EXPECT_EQ(ran.status, 254) << option;
    EXPECT_THAT(ran.err, HasSubstr("input and output are the same file")) << option;
    EXPECT_EQ(read_file(fractured_), kFractured) << option;
  }
}

// Every name in the headline is told, and as many of each as were asked for.
TEST_F(CliTest, EveryAnomalyThatIsNamedIsTold) {
  const std::string path = file(
      "many.jsonl", R"({"session":"a","start_ts":1,"commit_ts":2,"ops":[["w","x",1],["w","y",1]]}
{"session":"b","start_ts":3,"commit_ts":4,"ops":[["r","x",0],["r","y",0]]}
{"session":"c","start_ts":3,"commit_ts":4,"ops":[["w","x",2],["r","x",9],["r","y",1],["r","y",5]]}
)");
  const Ran one = ouro({"check", "-l", "si", "--evidence", "timestamps", path});
  EXPECT_THAT(one.out, HasSubstr("\n  internal inconsistency: "));
  EXPECT_THAT(one.out, HasSubstr("\n  non-repeatable read: "));
  EXPECT_THAT(one.out, HasSubstr("\n  thin-air read: "));
  EXPECT_THAT(one.out, HasSubstr("\n  … and 1 more of the kind \"snapshot mismatch\""));
  const Ran all = ouro({"check", "-l", "si", "--evidence", "timestamps", "--examples", "9", path});
  EXPECT_THAT(all.out, HasSubstr("T2 read x=0, which nobody wrote; "));
  EXPECT_THAT(all.out, HasSubstr("T2 read y=0, which nobody wrote; "));
  EXPECT_THAT(all.out, Not(HasSubstr("more of")));
}

TEST_F(CliTest, AnomaliesAreLookedForBeforeTheyAreDenied) {
  const std::string path = folder_ + "/rows.jsonl";
  ASSERT_EQ(ouro({"generate", "-w", "phantom", "--level", "cc", "-n", "300", "--seed", "5",
                  "--clocks", "-o", path})
                .status,
            0);
  EXPECT_EQ(ouro({"check", "-q", "-l", "ser", "--shows", "lost-update", path}).status, 0);
  EXPECT_EQ(ouro({"check", "-q", "-l", "ser", "--lacks", "lost-update", path}).status, 1);
  EXPECT_EQ(ouro({"check", "-q", "-l", "ser", "--lacks", "aborted-read", path}).status, 0);
}

TEST_F(CliTest, QuietPrintsNoVerdict) {
  const Ran ran = ouro({"check", "-q", "-l", "ra", fractured_});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, IsEmpty());
  EXPECT_THAT(ran.err, IsEmpty());
}

TEST_F(CliTest, StandardInputIsADash) {
  const Ran ran = ouro({"check", "-l", "rc", "-"}, kFine);
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, StartsWith("standard input: holds read-committed\n"));
}

TEST_F(CliTest, SeveralHistoriesGetALineEachAndTheWorstStatus) {
  const Ran two = ouro({"check", "-l", "ra", fine_, fractured_, fine_});
  EXPECT_EQ(two.status, 1);
  EXPECT_EQ(two.out, fine_ + ": holds read-atomic\n" + fractured_ +
                         ": VIOLATED read-atomic (non-monotonic read)\n" + fine_ +
                         ": holds read-atomic\n");
  const Ran broken = ouro({"check", "-l", "ra", fractured_, broken_, fine_});
  EXPECT_EQ(broken.status, 1) << "what cannot be read does not hide a violation";
  EXPECT_EQ(broken.out, fractured_ + ": VIOLATED read-atomic (non-monotonic read)\n" + fine_ +
                            ": holds read-atomic\n");
  EXPECT_THAT(broken.err, StartsWith("ouro: " + broken_ + ":3: "));
  EXPECT_EQ(broken.err.find('\n'), broken.err.size() - 1) << "one line";
  EXPECT_EQ(ouro({"check", "-l", "ra", fine_, broken_}).status, 254);
  const Ran verbose = ouro({"check", "-v", "-l", "ra", fine_, fractured_});
  EXPECT_THAT(verbose.out, HasSubstr(": a contradiction.\n"));
}

TEST_F(CliTest, JsonIsOneObjectPerHistoryEvenForUnreadableOnes) {
  const Ran ran = ouro({"check", "--json", "-l", "ra", fine_, broken_, fractured_});
  EXPECT_EQ(ran.status, 1);
  EXPECT_EQ(json_lines(ran.out, "/verdict"),
            (std::vector<std::string>{"\"holds\"", "(nothing)", "\"violated\""}));
  EXPECT_EQ(json_lines(ran.out, "/error/line")[1], "3");
  EXPECT_EQ(json_lines(ran.out, "/anomalies/0/name")[2], "\"non-monotonic read\"");
  EXPECT_EQ(json_lines(ran.out, "/transactions")[2], "3");
}

TEST_F(CliTest, AllLevelsAreAnsweredAtOnce) {
  const Ran text = ouro({"check", "-l", "all", fractured_});
  EXPECT_EQ(text.status, 1);
  EXPECT_THAT(text.out, HasSubstr("Weakest level violated: read-committed, si, repeatable-read."));
  const Ran json = ouro({"check", "-l", "all", "--json", fine_});
  EXPECT_EQ(json.status, 0);
  for (const LevelInfo& level : levels()) {
    const std::string pointer = "/levels/" + std::string(level.name);
    EXPECT_EQ(json_lines(json.out, pointer.c_str())[0],
              decidable(level.level) ? "\"holds\"" : "(nothing)")
        << level.name;
    if (!decidable(level.level)) {
      EXPECT_THAT(text.out, HasSubstr(level.name)) << "told as undecided";
    }
  }
}

TEST_F(CliTest, ElleOutputIsItsLine) {
  const Ran ran = ouro({"check", "--output", "elle", "-c", "ra", "--model", "rw-register", fine_,
                        fractured_, broken_});
  EXPECT_EQ(ran.status, 1);
  EXPECT_EQ(ran.out, fine_ + " \t true\n" + fractured_ + " \t false\n" + broken_ + " \t unknown\n");
}

TEST_F(CliTest, LevelsAreRefusedByName) {
  const Ran misspelt = ouro({"check", "--level", "serialisable", fine_});
  EXPECT_EQ(misspelt.status, 254);
  EXPECT_EQ(misspelt.err, "ouro: unknown level 'serialisable'; did you mean 'serializable'?\n");
  for (const LevelInfo& level : levels()) {
    if (decidable(level.level, Evidence::Timestamps)) continue;
    const Ran ran =
        ouro({"check", "--evidence", "timestamps", "--level", std::string(level.name), fine_});
    EXPECT_EQ(ran.status, 254);
    EXPECT_EQ(ran.err,
              "ouro: level '" + std::string(level.name) +
                  "' cannot be decided by evidence 'timestamps'; give --evidence observed\n");
    EXPECT_THAT(ran.out, IsEmpty());
  }
}

TEST_F(CliTest, BadUsageIs254AndOneLine) {
  const std::vector<std::vector<std::string>> wrong{
      {"chek"},
      {"check"},
      {"check", "--frobnicate", fine_},
      {"check", "-l", "rc", "--format", "nonsense", fine_},
      {"check", "-l", "rc", "--output", "xml", fine_},
      {"check", "-l", "rc", "--time-limit", "soon", fine_},
      {"check", "-l", "rc", "--time-limit", "-1", fine_},
      {"check", "-l", "rc", "--threads", "-1", fine_},
      {"check", "-l", "", fine_},
      {"check", "-l", "rc", folder_ + "/absent.jsonl"},
      {"check", "-l", "rc", "--pdf", "x", fine_},
      {"generate", "--txns", "-5"},
      {"generate", "--fault", "nonsense=1"},
      {"generate", "--fault", "aborted-read=2"},
      {"generate", "--read-share", "1.5"},
      {"generate", "-l", "nonsense"},
      {"check", "-l", "si", "--search", "no-chain", fine_},
      {"bench", "txn=10"},
      {"bench", "txns"},
      {"bench", "txns=10,ten"},
      {"bench", "txns=10", "level=nonsense"},
      {"bench", "txns=10", "search=nonsense"},
      {"bench", "txns=10", "threads=-1"},
      {"bench", "file=" + folder_ + "/absent.jsonl"},
      {"convert", fine_},
      {"convert", fine_, folder_ + "/x.unknown"},
      {"convert", fine_, fine_},
      {"completion", "tcsh"},
  };
  for (const auto& arguments : wrong) {
    const Ran ran = ouro(arguments);
    EXPECT_EQ(ran.status, 254) << testing::PrintToString(arguments);
    EXPECT_THAT(ran.out, IsEmpty());
    EXPECT_THAT(ran.err, StartsWith("ouro: ")) << testing::PrintToString(arguments);
    EXPECT_EQ(ran.err.find('\n'), ran.err.size() - 1) << ran.err;
    EXPECT_LT(ran.err.size(), 500u) << ran.err;
  }
  EXPECT_EQ(ouro({"check", "-l", "rc", "--evidence", "hearsay", fine_}).err,
            "ouro: evidence 'hearsay' is unknown; there are: observed, versions, timestamps\n");
}

TEST_F(CliTest, VersionOrdersAreEvidence) {
  const std::string path = folder_ + "/skew.jsonl";
  std::ofstream(path) << R"({"session":"a","ops":[["w","x",1]]}
{"session":"b","ops":[["w","x",2]]}
{"session":"c","ops":[["r","x",1],["r","y",3]]}
{"session":"d","ops":[["r","x",2],["w","y",3]]}
{"key":"x","versions":[1,2],"complete":true}
)";
  EXPECT_EQ(ouro({"check", "-l", "ser", path}).status, 0);
  const std::string proof = folder_ + "/skew.proof";
  const Ran ran =
      ouro({"check", "-l", "rr", "--evidence", "versions", "--certificate", proof, path});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, HasSubstr("VIOLATED repeatable-read by versions"));
  EXPECT_THAT(ran.out, HasSubstr("In another order than that of its version orders the history is "
                                 "repeatable-read"));
  EXPECT_THAT(ouro({"certify", path, proof}).out,
              HasSubstr("repeatable-read is violated by versions"));
}

TEST_F(CliTest, AnotherOrderIsNamedForPredicatesAndSeveralLevels) {
  const std::string papers = std::string(OURO_SOURCE_DIR) + "/tests/papers/";
  const Ran predicates = ouro(
      {"check", "-l", "ser", "--evidence", "timestamps", papers + "emme_fig3_another_order.jsonl"});
  EXPECT_EQ(predicates.status, 1);
  EXPECT_THAT(predicates.out,
              HasSubstr("By the rows that came back, whatever predicates left out, the history is "
                        "serializable\n  in another order than that of its timestamps"));
  const std::string fig11 = papers + "chronos_fig11_skipped_snapshot.jsonl";
  const Ran several = ouro({"check", "-l", "all", "--evidence", "timestamps", fig11});
  EXPECT_EQ(several.status, 1);
  EXPECT_THAT(several.out, HasSubstr("the history violates none of these levels"));
  EXPECT_THAT(ouro({"check", "-l", "all", "--evidence", "timestamps", "--json", fig11}).out,
              HasSubstr(R"("observed":"holds")"));
}

TEST_F(CliTest, TimestampsAreEvidence) {
  const std::string path = folder_ + "/stale.jsonl";
  std::ofstream(path) << R"({"session":"a","start_ts":1,"commit_ts":2,"ops":[["w","x",1]]}
{"session":"b","start_ts":3,"commit_ts":4,"ops":[["r","x",null]]}
)";
  const std::string proof = folder_ + "/stale.proof";
  EXPECT_EQ(ouro({"check", "-l", "si", path}).status, 0);
  const Ran ran = ouro({"check", "-l", "si", "--evidence", "timestamps", path});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, HasSubstr("VIOLATED si by timestamps (snapshot mismatch)"));
  EXPECT_THAT(ran.out, HasSubstr("T2 read x=null; but by its timestamp it should have read x=1, "
                                 "which T1 wrote and committed at 2."));
  EXPECT_THAT(ran.out, HasSubstr("In another order"));
  const Ran json = ouro(
      {"check", "-l", "si", "--evidence", "timestamps", "--json", "--certificate", proof, path});
  EXPECT_THAT(json.out, HasSubstr(R"("evidence":"timestamps","verdict":"violated")"));
  EXPECT_THAT(json.out, HasSubstr(R"("observed":"holds","counts":{"snapshot mismatch":1})"));
  EXPECT_THAT(json.out, HasSubstr(R"("expected":1,)"));
  EXPECT_THAT(json.out, HasSubstr(R"("start_ts":3,"commit_ts":4)"));
  EXPECT_EQ(ouro({"certify", path, proof}).out,
            "accepted: si is violated by timestamps; 2 transactions, 2 operations\n");
  const Ran all = ouro({"check", "-l", "all", "--evidence", "timestamps", path});
  EXPECT_THAT(all.out, HasSubstr("parallel-si, repeatable-read."));
  EXPECT_EQ(ouro({"check", "-l", "rc", "--evidence", "timestamps", path}).status, 254);
  EXPECT_EQ(ouro({"check", "-l", "si", "--evidence", "timestamps", fine_}).status, 254);
}

TEST_F(CliTest, ExpectationsDecideTheStatus) {
  const std::string expected = folder_ + "/expected";
  std::ofstream(expected) << "rc ra violated\nshows fractured-read\n";
  const Ran met = ouro({"check", "-q", "--expect", expected, fractured_});
  EXPECT_EQ(met.status, 0) << met.err;
  EXPECT_EQ(met.out + met.err, "");
  const Ran unmet = ouro({"check", "-q", "--expect", expected, fine_});
  EXPECT_EQ(unmet.status, 1);
  EXPECT_EQ(unmet.err,
            "ouro: " + fine_ + ": expected read-committed to be violated, but it holds\n" +
                "ouro: " + fine_ + ": expected read-atomic to be violated, but it holds\n" +
                "ouro: " + fine_ +
                ": expected fractured-read, which does not show: is the test blind?\n");
  EXPECT_EQ(ouro({"check", "-l", "ra", "--shows", "fractured-read,G-single", fractured_}).status,
            0);
  EXPECT_EQ(ouro({"check", "-l", "ra", "--lacks", "fractured-read", fractured_}).status, 1);
  EXPECT_EQ(ouro({"check", "-l", "ra", "--shows", "nonsense", fractured_}).status, 254);
  EXPECT_EQ(ouro({"check", "--expect", folder_ + "/absent", fine_}).status, 254);
}

TEST_F(CliTest, UndecidedCountsAsAsked) {
  const std::string big = folder_ + "/big.jsonl";
  ASSERT_EQ(ouro({"generate", "--txns", "30000", "-o", big}).status, 0);
  const std::vector<std::string> check{"check", "-q", "-l", "cc", "--time-limit", "0.001", big};
  const auto with = [&](const std::string& what) {
    std::vector<std::string> arguments = check;
    arguments.insert(arguments.end(), {"--undecided", what});
    return ouro(arguments).status;
  };
  EXPECT_EQ(ouro(check).status, 2);
  EXPECT_EQ(with("pass"), 0);
  EXPECT_EQ(with("fail"), 1);
  EXPECT_EQ(with("maybe"), 254);
}

TEST_F(CliTest, CounterexamplesAreHistories) {
  const std::string path = folder_ + "/least.jsonl";
  EXPECT_EQ(ouro({"check", "-l", "ra", "--counterexample", path, fractured_}).status, 1);
  const Ran again = ouro({"check", "-l", "ra", path});
  EXPECT_EQ(again.status, 1);
  EXPECT_THAT(again.out, HasSubstr("VIOLATED read-atomic (non-monotonic read)"));
}

TEST_F(CliTest, CounterexamplesByVersionsLeaveOutRowsThatDoNotMatter) {
  const std::string whole = folder_ + "/rows.jsonl";
  std::ofstream(whole) << R"({"session":"c","ops":[["w","c",{"on":0}]]}
{"session":"a","ops":[["aggregate","count",null,{"eq":["on",1]},0,{"versions":[["c",{"on":0}]]}],["w","a",{"on":1}]]}
{"session":"b","ops":[["select",{"eq":["on",1]},[],{"versions":[["c",{"on":0}]]}],["w","b",{"on":1}]]}
{"key":"a","versions":[{"on":1}],"complete":true}
{"key":"b","versions":[{"on":1}],"complete":true}
{"key":"c","versions":[{"on":0}],"complete":true}
)";
  const std::string least = folder_ + "/least.jsonl";
  EXPECT_EQ(ouro({"check", "--evidence", "versions", "--counterexample", least, whole}).status, 1);
  EXPECT_EQ(read_file(least), R"({"ouro":1,"initial":null}
{"session":"a","ops":[["aggregate","count",null,{"eq":["on",1]},0,{"versions":[]}],["w","a",{"on":1}]]}
{"session":"b","ops":[["select",{"eq":["on",1]},[],{"versions":[]}],["w","b",{"on":1}]]}
{"key":"a","versions":[{"on":1}],"complete":true}
{"key":"b","versions":[{"on":1}],"complete":true}
)");
  const Ran again = ouro({"check", "--evidence", "versions", least});
  EXPECT_EQ(again.status, 1);
  EXPECT_THAT(again.out, HasSubstr("VIOLATED serializable by versions (phantom)"));
}

TEST_F(CliTest, FormsAreWritten) {
  const auto form = [&](const std::string& flag) {
    const std::string path = folder_ + "/form";
    EXPECT_EQ(ouro({"check", "-q", "-l", "ra", flag, path, fractured_}).status, 1);
    return read_file(path);
  };
  EXPECT_THAT(form("--dot"), StartsWith("digraph ouro {\n"));
  EXPECT_THAT(form("--junit"), HasSubstr("<failure type=\"non-monotonic read\""));
  EXPECT_THAT(form("--sarif"), AllOf(HasSubstr(R"("ruleId":"non-monotonic-read")"),
                                     HasSubstr(R"("ouroStory/v2":"read-committed/)")));
  EXPECT_THAT(ouro({"check", "--output", "edn", "-l", "ra", fractured_}).out,
              StartsWith("{:valid? false, :anomaly-types (:G-single-item)"));
  EXPECT_EQ(ouro({"check", "-q", "-l", "ra", "--junit", folder_ + "/absent/form", fine_}).status,
            254);
  const std::string junit = folder_ + "/several";
  EXPECT_EQ(ouro({"check", "-q", "-l", "ra", "--junit", junit, fine_, broken_, fractured_}).status,
            1);
  EXPECT_THAT(read_file(junit), HasSubstr("tests=\"3\" failures=\"1\" errors=\"1\">"));
}

TEST_F(CliTest, JunitFailsWhereTheExitStatusDoes) {
  const std::string junit = folder_ + "/form";
  const auto check = [&](const char* option, const char* name) {
    return ouro({"check", "-q", "-l", "ra", option, name, "--junit", junit, fractured_}).status;
  };
  EXPECT_EQ(check("--shows", "fractured-read"), 0);
  EXPECT_THAT(read_file(junit), HasSubstr("tests=\"2\" failures=\"0\" errors=\"0\">"));
  EXPECT_THAT(read_file(junit),
              HasSubstr("<system-out>VIOLATED read-atomic: non-monotonic read, fractured read\n"));
  EXPECT_EQ(check("--lacks", "fractured-read"), 1);
  EXPECT_THAT(read_file(junit), HasSubstr("tests=\"2\" failures=\"1\" errors=\"0\">"));
  EXPECT_THAT(read_file(junit), HasSubstr("expected no fractured-read, but it shows</failure>"));
}

TEST_F(CliTest, ExplainSaysWhyOneMustPrecedeTheOther) {
  const std::string path = folder_ + "/chain.jsonl";
  std::ofstream(path) << R"({"session":"a","id":"first","ops":[["w","x",1]]}
{"session":"b","id":7,"ops":[["r","x",1],["w","y",2]]}
{"session":"c","ops":[["r","z",null]]}
)";
  const Ran forth = ouro({"explain", path, "first", "7"});
  EXPECT_EQ(forth.status, 0);
  EXPECT_EQ(forth.out,
            "T1 must precede T2 at serializable.\n\n"
            "  T1  session a, line 1, id first   w x=1\n"
            "  T2  session b, line 2, id 7       r x=1   …   (2 operations)\n\n"
            "  T1 < T2, because T2 read x=1, which T1 wrote.\n");
  EXPECT_EQ(ouro({"explain", path, "line:2", "#1"}).out, forth.out);
  EXPECT_EQ(ouro({"explain", path, "b/1", "a/1"}).out, forth.out);
  const Ran open = ouro({"explain", path, "3", "7", "-l", "cc"});
  EXPECT_EQ(open.status, 0);
  EXPECT_THAT(open.out, HasSubstr("\n  One way: … 1 other, T2, T1.\n"));
  EXPECT_THAT(open.out, HasSubstr("\n  Another: … 1 other, T1, T2.\n"));
  EXPECT_THAT(open.out, StartsWith("T2 and T1: open. At causal, some orders that explain the "
                                   "history have the one first, some the other.\n"));
  EXPECT_THAT(ouro({"explain", path, "first", "7", "-l", "rc"}).out,
              StartsWith("T1 must precede T2 at read-committed.\n"));
  const std::string undone =
      file("undone.jsonl",
           std::string(R"({"session":"z","status":"aborted","ops":[["w","x",9]]})") + '\n' + kFine);
  EXPECT_THAT(ouro({"explain", undone, "#1", "#2"}).out,
              StartsWith("T1 and T2: open. At serializable, no order has one that aborted.\n"));
  const std::string headed = file("headed.jsonl", std::string("{\"ouro\":1}\n") + kFine);
  EXPECT_THAT(ouro({"explain", headed, "1", "2"}).out, StartsWith("T1 must precede T2 at"))
      << "both are numbers, as no transaction is on line 1";
  EXPECT_THAT(ouro({"explain", headed, "2", "3"}).out, StartsWith("T1 must precede T2 at"));
  EXPECT_EQ(ouro({"explain", path, "first", "first"}).status, 254);
  EXPECT_EQ(ouro({"explain", path, "first", "nobody"}).err,
            "ouro: there is no transaction 'nobody'; give an id, line:12, byte:345, "
            "SESSION/3 or #12\n");
  EXPECT_EQ(ouro({"explain", fractured_, "#1", "#2", "-l", "ra"}).status, 1);
}

TEST_F(CliTest, HelpFitsAScreen) {
  std::vector<std::vector<std::string>> screens{{"--help"}, {"-h"}};
  for (const std::string& name : command_names()) {
    screens.push_back({name, "--help"});
    screens.push_back({name, "-h"});
  }
  for (const auto& arguments : screens) {
    const Ran ran = ouro(arguments);
    EXPECT_EQ(ran.status, 0);
    EXPECT_THAT(ran.out, StartsWith("Usage: ouro ")) << arguments[0];
    std::istringstream lines(ran.out);
    int count = 0;
    for (std::string line; std::getline(lines, line); ++count) EXPECT_LE(line.size(), 80u) << line;
    EXPECT_LE(count, 24) << ran.out;
  }
  const Ran nothing = ouro({});
  EXPECT_EQ(nothing.status, 254);
  EXPECT_THAT(nothing.err, StartsWith("Usage: ouro "));
}

TEST_F(CliTest, VersionIsTheLibrarys) {
  for (const char* flag : {"--version", "-V"}) {
    const Ran ran = ouro({flag});
    EXPECT_EQ(ran.status, 0);
    EXPECT_EQ(ran.out, "ouro " + std::string(version()) + "\n");
  }
}

TEST_F(CliTest, ManualInDocsIsUpToDate) {
  const std::string docs = OURO_SOURCE_DIR "/docs/";
  EXPECT_EQ(ouro({"man"}).out, read_file(docs + "ouro.1"))
      << "make it again: ouro man > docs/ouro.1";
  EXPECT_EQ(ouro({"man", "--markdown"}).out, read_file(docs + "reference.md"))
      << "make it again: ouro man --markdown > docs/reference.md";
}

TEST_F(CliTest, CompletionScriptsAreValidAndKnowTheFlags) {
  const Ran bash = ouro({"completion", "bash"});
  EXPECT_EQ(run_program({"/bin/bash", "-n", file("ouro.bash", bash.out)}).status, 0);
  // What bash would offer after "ouro check --level ca".
  const Ran offered =
      run_program({"/bin/bash", "-c",
                   "source " + folder_ +
                       "/ouro.bash; COMP_WORDS=(ouro check --level ca); COMP_CWORD=3; _ouro; "
                       "echo \"${COMPREPLY[@]}\""});
  EXPECT_EQ(offered.out, "causal\n") << offered.err;
  for (const char* shell : {"zsh", "fish"}) {
    const Ran ran = ouro({"completion", shell});
    EXPECT_EQ(ran.status, 0);
    for (const std::string& name : command_names()) EXPECT_THAT(ran.out, HasSubstr(name)) << shell;
    EXPECT_THAT(ran.out, HasSubstr("strict-serializable")) << shell;
    const std::string path = std::string("/usr/bin/") + shell;
    if (std::filesystem::exists(path)) {
      EXPECT_EQ(run_program({path, "-n", file("script", ran.out)}).status, 0) << shell;
    }
  }
}

TEST_F(CliTest, AClosedPipeIsNoError) {
  const auto deaf = [](std::vector<std::string> arguments) {
    Program program(command(std::move(arguments)), Program::Output::Closed);
    program.close_input();
    return program.wait();
  };
  const Ran ran = deaf({"check", "-l", "ra", fractured_});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, IsEmpty());
  EXPECT_EQ(deaf({"check", "-l", "ra", fine_, fine_, fine_}).status, 2)
      << "what was not looked at does not pass";
  const Ran generated = deaf({"generate", "-n", "20000"});
  EXPECT_EQ(generated.status, 0);
  EXPECT_THAT(generated.err, IsEmpty());
}

TEST_F(CliTest, AFullDiskIsAnError) {
  const Ran ran = run_program({"/bin/sh", "-c", std::string(kOuroBinary) + " levels > /dev/full"});
  EXPECT_EQ(ran.status, 255);
  EXPECT_THAT(ran.err, StartsWith("ouro: cannot write to standard output: "));
}

TEST_F(CliTest, CtrlCWhileReadingMeansUndecided) {
  Program program(command({"check", "-l", "ra", "-"}));
  program.write_input(kFine);
  program.send_when_caught(SIGINT);
  const Ran ran = program.wait();
  EXPECT_EQ(ran.status, 2) << ran.err;
  EXPECT_THAT(ran.out,
              StartsWith("standard input: UNDECIDED read-atomic (interrupted while reading)\n"));
}

TEST_F(CliTest, CtrlCWhileCheckingMeansUndecided) {
  const std::string hard = folder_ + "/hard.jsonl";
  write_hard_history(hard);
  Program program(command({"check", "-l", "si", hard, fine_}));
  program.close_input();
  program.send_when_caught(SIGINT);
  const Ran ran = program.wait();
  EXPECT_EQ(ran.status, 2) << ran.err;
  EXPECT_THAT(ran.out, StartsWith(hard + ": UNDECIDED si (interrupted"));
  EXPECT_THAT(ran.out, Not(HasSubstr(fine_))) << "the rest is not looked at";
}

TEST_F(CliTest, CtrlCWhileWritingLeavesNothingBehind) {
  const std::string big = folder_ + "/big.jsonl.gz";
  Program program(command({"generate", "-n", "300000", "-o", big}));
  program.close_input();
  program.send_when_caught(SIGINT);
  EXPECT_EQ(program.wait().status, 128 + SIGINT);
  EXPECT_FALSE(std::filesystem::exists(big));
  EXPECT_FALSE(std::filesystem::exists(big + ".part"));
}

TEST_F(CliTest, ATimeLimitThatIsReachedMeansUndecided) {
  const std::string big = folder_ + "/big.ouro";
  ASSERT_EQ(ouro({"generate", "-n", "100000", "-o", big}).status, 0);
  const Ran ran = ouro({"check", "-l", "cc", "--time-limit", "0.001", big});
  EXPECT_EQ(ran.status, 2) << ran.out << ran.err;
  EXPECT_THAT(ran.out, StartsWith(big + ": UNDECIDED causal (time limit of 0.001 s reached)\n"));
}

TEST_F(CliTest, AMemoryLimitThatIsReachedMeansUndecided) {
  const std::string big = folder_ + "/big.ouro";
  ASSERT_EQ(ouro({"generate", "-n", "100000", "-o", big}).status, 0);
  for (const char* level : {"rc", "cc", "psi", "session-si", "strict-ser"}) {
    const Ran ran = ouro({"check", "-l", level, "--memory-limit", "1", big});
    EXPECT_EQ(ran.status, 2) << ran.out << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("(memory limit of 1 MB reached)\n"));
  }
  EXPECT_EQ(ouro({"check", "-l", "rc", "--memory-limit", "1000000", big}).status, 0);
}

TEST_F(CliTest, GeneratedHistoriesAreJudgedAsPlanted) {
  const std::string good = folder_ + "/good.jsonl";
  const std::string bad = folder_ + "/bad.jsonl";
  EXPECT_EQ(ouro({"generate", "-n", "500", "--seed", "7", "-l", "cc", "-o", good}).status, 0);
  EXPECT_EQ(ouro({"check", "-l", "cc", good}).status, 0);
  EXPECT_EQ(ouro({"generate", "-n", "500", "--fault", "aborted-read=0.1", "--abort-share", "0.1",
                  "-o", bad})
                .status,
            0);
  const Ran ran = ouro({"check", "-l", "rc", bad});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, HasSubstr("aborted read"));
}

TEST_F(CliTest, GenerateWritesNativeTextToStandardOutput) {
  const Ran ran = ouro({"generate", "-n", "10", "--seed", "3"});
  ASSERT_EQ(ran.status, 0);
  EXPECT_EQ(ran.out, ouro({"generate", "-n", "10", "--seed", "3"}).out) << "deterministic";
  const Ran checked = ouro({"check", "-l", "causal", "-"}, ran.out);
  EXPECT_EQ(checked.status, 0) << checked.err;
}

TEST_F(CliTest, ConvertThereAndBackChangesNothing) {
  const std::string binary = folder_ + "/h.ouro";
  const std::string text = folder_ + "/h.jsonl";
  const std::string again = folder_ + "/again.jsonl";
  ASSERT_EQ(ouro({"convert", fractured_, binary}).status, 0);
  ASSERT_EQ(ouro({"convert", binary, text}).status, 0);
  ASSERT_EQ(ouro({"convert", text, again}).status, 0);
  EXPECT_EQ(read_file(text), read_file(again));
  EXPECT_EQ(ouro({"check", "-l", "ra", binary}).status, 1);
  const Ran out = ouro({"convert", fractured_, "-", "--to", "native"});
  EXPECT_EQ(out.status, 0);
  EXPECT_EQ(out.out, read_file(text));
}

TEST_F(CliTest, CertificatesAreWrittenAndChecked) {
  const std::string certificate = folder_ + "/proof.jsonl";
  EXPECT_EQ(ouro({"check", "--level", "ra", "--certificate", certificate, fine_}).status, 0);
  const Ran accepted = ouro({"certify", fine_, certificate});
  EXPECT_EQ(accepted.status, 0);
  EXPECT_THAT(accepted.out, HasSubstr("accepted: read-atomic holds; "));
  const Ran other = ouro({"certify", fractured_, certificate});
  EXPECT_EQ(other.status, 1);
  EXPECT_EQ(other.out, "rejected: it is about another history\n");
  EXPECT_EQ(ouro({"check", "--level", "ra", "--certificate", certificate, fractured_}).status, 1);
  EXPECT_EQ(ouro({"certify", fractured_, certificate}).status, 0);
  EXPECT_EQ(ouro({"certify", fine_, fine_}).status, 254);
  EXPECT_EQ(ouro({"check", "--level", "all", "--certificate", certificate, fine_}).status, 254);
  EXPECT_EQ(ouro({"check", "--certificate", certificate, fine_, fractured_}).status, 254);
}

TEST_F(CliTest, StatsAndLintLookWithoutJudging) {
  const Ran stats = ouro({"stats", fractured_});
  EXPECT_EQ(stats.status, 0);
  EXPECT_THAT(stats.out, HasSubstr("  transactions       3 (3 committed)\n"));
  EXPECT_EQ(json_lines(ouro({"stats", "--json", fractured_}).out, "/operations_by_kind/write")[0],
            "4");

  EXPECT_EQ(ouro({"lint", fractured_}).status, 0);
  const std::string twice = file("twice.jsonl", std::string(kFine) + kFine);
  const Ran lint = ouro({"lint", twice});
  EXPECT_EQ(lint.status, 0);
  EXPECT_THAT(lint.out, HasSubstr("warning duplicate-write: "));
  EXPECT_THAT(lint.out, HasSubstr(twice + ":3: w x=1 repeats " + twice + ":1\n"));
  EXPECT_EQ(json_lines(ouro({"lint", "--json", twice}).out, "/findings/0/id")[0],
            "\"duplicate-write\"");
  EXPECT_EQ(ouro({"lint", broken_}).status, 254);
}

TEST_F(CliTest, LevelsAndFormatsAreListed) {
  const Ran levels_text = ouro({"levels"});
  EXPECT_EQ(levels_text.status, 0);
  EXPECT_THAT(levels_text.out, HasSubstr("\n  read-committed (rc)\n"));
  EXPECT_EQ(json_lines(ouro({"levels", "--json"}).out, "/levels/0/decidable")[0], "true");
  const Ran list = ouro({"formats"});
  EXPECT_EQ(list.status, 0);
  for (const FormatInfo& format : formats()) EXPECT_THAT(list.out, HasSubstr(format.name));
}

TEST_F(CliTest, CausalityStoriesNameThoseInBetween) {
  const std::string path = file("chat.jsonl", R"({"session":"alice","ops":[["w","question",1]]}
{"session":"bob","ops":[["r","question",1]]}
{"session":"bob","ops":[["w","answer",2]]}
{"session":"carol","ops":[["r","answer",2],["r","question",null]]}
)");
  const Ran text = ouro({"check", "-l", "causal", path});
  EXPECT_EQ(text.status, 1);
  EXPECT_THAT(
      text.out,
      HasSubstr("  T1 < T2, because T2 read question=1, which T1 wrote.\n"
                "  T2 < T3, because T2 is before T3 in session bob.\n"
                "  T3 < T4, because T4 read answer=2, which T3 wrote.\n"
                "  But T4 < T1, because T4 read question=null, which T1 overwrote with 1: a "
                "contradiction.\n"));
  const std::string json = ouro({"check", "-l", "causal", "--json", path}).out;
  EXPECT_EQ(json_lines(json, "/anomalies/0/edges/0/kind"), std::vector<std::string>{"\"wr\""});
  EXPECT_EQ(json_lines(json, "/anomalies/0/edges/1/kind"), std::vector<std::string>{"\"so\""});
  EXPECT_EQ(json_lines(json, "/anomalies/0/edges/1/to"), std::vector<std::string>{"2"});
  EXPECT_EQ(json_lines(json, "/anomalies/0/edges/3/to"), std::vector<std::string>{"0"});
}

TEST_F(CliTest, DevicesAndPipesAreWrittenInPlace) {
  EXPECT_EQ(ouro({"convert", fine_, "/dev/null"}).status, 0);
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  EXPECT_FALSE(std::filesystem::exists("/dev/null.part"));

  const std::string expected = ouro({"convert", fine_, "-"}).out;
  EXPECT_THAT(expected, EndsWith(kFine));
  EXPECT_EQ(ouro({"convert", fine_, "/dev/stdout"}).out, expected);
  EXPECT_EQ(ouro({"convert", fine_, "/dev/fd/1"}).out, expected);
  EXPECT_EQ(ouro({"convert", fine_, "/dev/stderr"}).err, expected);

  const std::string fifo = folder_ + "/fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  Program writer(command({"convert", fine_, fifo}));
  EXPECT_EQ(read_file(fifo), expected);
  EXPECT_EQ(writer.wait().status, 0);
  EXPECT_TRUE(std::filesystem::is_fifo(fifo));
}

// Writing to /dev/stdout appends to what standard output already holds, as writing to "-" does.
TEST_F(CliTest, NamesOfStandardOutputContinueItsFile) {
  const std::string log = file("log", "before\n");
  const Ran ran = run_program(
      {"/bin/sh", "-c", std::string(kOuroBinary) + " convert " + fine_ + " /dev/stdout >>" + log});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(read_file(log), "before\n" + ouro({"convert", fine_, "-"}).out);
}

TEST_F(CliTest, WritingThroughASymbolicLinkReplacesWhatItNames) {
  const std::string expected = ouro({"convert", fine_, "-"}).out;
  const std::string target = file("target.jsonl", "old");
  std::filesystem::permissions(target, std::filesystem::perms{0640});
  for (const char* named : {"target.jsonl", "new.jsonl"}) {
    const std::string link = folder_ + "/link.jsonl";
    std::filesystem::remove(link);
    std::filesystem::create_symlink(named, link);
    const Ran ran = ouro({"convert", fine_, link});
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_TRUE(std::filesystem::is_symlink(link));
    EXPECT_EQ(read_file(folder_ + '/' + named), expected);
  }
  EXPECT_EQ(std::filesystem::status(target).permissions(), std::filesystem::perms{0640});
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    EXPECT_NE(entry.path().extension(), ".part");
  }
}

TEST_F(CliTest, WritingOverAFolderIsRefused) {
  const Ran ran = ouro({"convert", fine_, folder_, "--to", "native"});
  EXPECT_EQ(ran.status, 254);
  EXPECT_EQ(ran.err, "ouro: " + folder_ + ": cannot create: Is a directory\n");
  EXPECT_FALSE(std::filesystem::exists(folder_ + ".part"));
}

}  // namespace
}  // namespace ouro
