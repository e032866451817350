// What the program tells of a violation, and of why one transaction precedes another, whatever it
// is asked to print.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/files.h"
#include "tests/run_program.h"

namespace ouro {
namespace {

namespace fs = std::filesystem;

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// session-si finds a long fork and a fractured read by itself; but read-committed is violated, too,
// and in a worse way.
constexpr char kForkAndWorse[] = R"({"session":"a","ops":[["w","x",1]]}
{"session":"b","ops":[["w","y",1]]}
{"session":"c","ops":[["r","x",1],["r","y",null]]}
{"session":"d","ops":[["r","y",1],["r","x",null]]}
{"session":"e","ops":[["w","u",1],["w","v",1]]}
{"session":"f","ops":[["r","u",1],["w","u",2],["w","v",2]]}
{"session":"g","ops":[["r","u",2],["r","v",1]]}
)";

class CliStoryTest : public testing::Test {
 protected:
  CliStoryTest() {
    std::string pattern = (fs::temp_directory_path() / "ouro_story_XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    fork_ = file("fork.jsonl", kForkAndWorse);
  }
  ~CliStoryTest() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string file(const std::string& name, const std::string& content) const {
    const std::string path = folder_ + '/' + name;
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }

  static Ran ouro(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), kOuroBinary);
    return run_program(arguments);
  }

  // What a check of the history at session-si prints.
  [[nodiscard]] std::string told(std::vector<std::string> options) const {
    options.insert(options.begin(), {"check", "-l", "session-si", fork_});
    return ouro(std::move(options)).out;
  }

  std::string folder_, fork_;
};

// What is behind the first of `before` in `text`, up to `end`.
std::string behind(const std::string& text, const std::string& before, char end) {
  const std::size_t at = text.find(before);
  if (at == text.npos) return "(nothing)";
  const std::size_t from = at + before.size();
  return text.substr(from, text.find(end, from) - from);
}

TEST_F(CliStoryTest, TheFirstStoryDoesNotDependOnWhatIsPrinted) {
  const std::string name = "non-monotonic read";
  const std::string text = told({});
  EXPECT_EQ(behind(text, "VIOLATED session-si (", ','), name);
  EXPECT_EQ(behind(told({"-v"}), "VIOLATED session-si (", ','), name);
  EXPECT_EQ(behind(told({"--json"}), "\"anomalies\":[{\"name\":\"", '"'), name);
  // Elle's map has its anomalies by their types, so none of them is first.
  EXPECT_THAT(told({"--output", "edn"}), HasSubstr(":ouro/story [\"" + name + '"'));
  EXPECT_EQ(behind(told({"-q", "--junit", "-"}), "<failure type=\"", ','), name);
  EXPECT_EQ(behind(told({"-q", "--sarif", "-"}), " violated: ", '.'), name);
  EXPECT_EQ(behind(told({"-q", "--dot", "-"}), "label=\"", '('), name + ' ');
  EXPECT_THAT(told({"-q", "--html", "-"}), HasSubstr("\"stories\":[{\"name\":\"" + name));
  EXPECT_EQ(told({"-q", "--counterexample", "-"}),
            "{\"ouro\":1,\"initial\":null}\n"
            R"({"session":"e","ops":[["w","u",1],["w","v",1]]})"
            "\n"
            R"({"session":"f","ops":[["r","u",1],["w","u",2],["w","v",2]]})"
            "\n"
            R"({"session":"g","ops":[["r","u",2],["r","v",1]]})"
            "\n");
  for (const std::string& line : {told({"--shows", "long-fork"}), told({"--lacks", "write-skew"}),
                                  told({fork_}), told({"--junit", folder_ + "/form"})}) {
    EXPECT_EQ(behind(line, "VIOLATED session-si (", ','), name) << line;
  }
  EXPECT_EQ(told({"--shows", "long-fork"}).substr(0, text.rfind(',')),
            text.substr(0, text.rfind(',')));
  EXPECT_EQ(told({"-q"}), "");
}

// What a test expects is told, and last: what is told first stays.
TEST_F(CliStoryTest, WhatIsExpectedIsToldToo) {
  const std::string usual = told({});
  EXPECT_THAT(usual, Not(HasSubstr("\n  fractured read: ")));
  const std::string more = told({"--shows", "fractured-read"});
  EXPECT_THAT(more, StartsWith(usual.substr(0, usual.find(')'))));
  EXPECT_THAT(more, HasSubstr("\n  fractured read: "));
}

TEST_F(CliStoryTest, ExplainSaysOfEverybodyWhatTheyHaveToDoWithAViolation) {
  const std::string path =
      file("g1a.jsonl", R"({"session":"a","status":"aborted","ops":[["w","x",1]]}
{"session":"b","ops":[["r","x",1]]}
{"session":"c","ops":[["r","z",null]]}
)");
  const Ran ran = ouro({"explain", path, "#1", "#3"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, HasSubstr("\n  T3  session c, line 3            r z=null\n"));
  EXPECT_THAT(ran.out, EndsWith("\n\n  T3 has nothing to do with it.\n"));
}

TEST_F(CliStoryTest, ExplainFindsTransactionsByTheByteWhereTheyStand) {
  const std::string lines = file("chain.jsonl", R"({"session":1,"ops":[["w",1,1]]}
{"session":2,"ops":[["r",1,1]]}
)");
  const std::string bytes = folder_ + "/chain.bincode";
  ASSERT_EQ(ouro({"convert", lines, bytes}).status, 0);
  const std::string told = ouro({"explain", bytes, "#1", "#2"}).out;
  const std::string first = behind(told, "byte ", ' ');
  const std::string second = behind(told.substr(told.find("byte " + first) + 5), "byte ", ' ');
  EXPECT_NE(first, second);
  EXPECT_EQ(ouro({"explain", bytes, "byte:" + first, "byte:" + second}).out, told) << told;
  EXPECT_EQ(ouro({"explain", bytes, "byte:" + first, "byte:1234567"}).status, 254);
}

// Standard input that is not closed cannot be read to its end.
TEST_F(CliStoryTest, LimitsOfExplainAreForReadingToo) {
  using Limit = std::pair<std::vector<std::string>, std::string>;
  for (const auto& [limit, reason] :
       {Limit{{"--time-limit", "0.05"}, "time limit of 0.05 s reached"},
        Limit{{"--memory-limit", "1"}, "memory limit of 1 MB reached"}}) {
    std::vector<std::string> arguments{kOuroBinary, "explain", "-", "#1", "#2"};
    arguments.insert(arguments.end(), limit.begin(), limit.end());
    Program program(arguments);
    program.write_input("{\"session\":\"a\",\"ops\":[[\"w\",\"x\",1]]}\n");
    const Ran ran = program.wait();
    EXPECT_EQ(ran.status, 2) << ran.err;
    EXPECT_EQ(ran.out, "Undecided: " + reason + ".\n");
  }
}

TEST_F(CliStoryTest, HelpOfExplainNamesEveryWayToNameATransaction) {
  const std::string help = ouro({"explain", "--help"}).out;
  for (const char* way : {"id", "line:12", "byte:345", "SESSION/3", "#12"}) {
    EXPECT_THAT(help, HasSubstr(way));
  }
}

}  // namespace
}  // namespace ouro
