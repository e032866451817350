#include "format/viper.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "format/format_testing.h"

namespace ouro {
namespace {

std::string read_viper_log(const std::string& text) {
  const auto history = parse_viper_log(text, "J1.log");
  return history.ok() ? native(*history) : history.error().to_string();
}

TEST(ViperTest, ReadsEveryOperation) {
  EXPECT_EQ(
      read_viper_log(R"({"value": [["r", 1, 5, false], ["w", 1, -7, true], ["w", 2, 9, false]]}
{"value": [["i", "k", 4, 0, false, true], ["i", "k", 6, 4, false, false], ["d", "k", 8, 4, false, true], ["r","k",8,true]]}

{"value": [["range", 1, "nil", [{"id":1,"sk":1,"val":-7}], [{"id":3,"val":33,"sk":3}]], ["range", "nil", "z", [], []]]}
)"),
      R"({"key":1,"initial":5}
{"key":3,"initial":33}
{"session":"J1.log","ops":[["r",1,5],["w",1,-7]]}
{"session":"J1.log","ops":[["r","k",null],["w","k",4],["r","k",4],["r","k",4],["d","k",8],["r","k",8]]}
{"session":"J1.log","ops":[["scan",1,null,[[1,-7],[3,33]]],["scan",null,"z",[]]]}
)");
}

TEST(ViperTest, ATransactionThatEndsBeforeItBeginsIsAnError) {
  EXPECT_EQ(read_viper_log("{\"value\":[]}\n{\"preBeginTS\":4,\"postCommitTS\":3,\"value\":[]}\n"),
            "J1.log:2: the transaction completed at 3, before it was invoked at 4; correct its "
            "clocks, or leave one out");
}

TEST(ViperTest, TimesOfBeginAndCommitAreClocks) {
  EXPECT_EQ(
      read_viper_log(
          R"({"preBeginTS":1,"postBeginTS":2,"preCommitTS":3,"postCommitTS":4,"isFinal":true,"isInitial":false,"value":[]})"),
      "{\"session\":\"J1.log\",\"invoked\":1,\"began\":2,\"committing\":3,\"completed\":4,"
      "\"ops\":[]}\n");
}

TEST(ViperTest, TheInitialTransactionGivesTheInitialValues) {
  EXPECT_EQ(read_viper_log(R"({"value": [["r", 1, 5, false],["r", 9, 99, false]]}
{"value": [["w", 1, 5, true], ["i", 2, 6, 0, false, true], ["range","nil","nil",[{"id":3,"sk":3,"val":7}],[{"id":4,"sk":4,"val":8}]]], "isInitial": true}
)"),
            R"({"key":1,"initial":5}
{"key":2,"initial":6}
{"key":3,"initial":7}
{"key":4,"initial":8}
{"session":"J1.log","ops":[["r",1,5],["r",9,99]]}
)");
}

// The first value that nobody wrote is the initial one; the second stays a value nobody wrote.
TEST(ViperTest, WithoutOneAValueNobodyWroteIsInitial) {
  EXPECT_EQ(
      read_viper_log(
          R"({"value": [["r", 1, 5, false],["r", 1, 6, false],["r", 2, 0, false],["r", 2, 3, false]]})"),
      R"({"key":1,"initial":5}
{"session":"J1.log","ops":[["r",1,5],["r",1,6],["r",2,null],["r",2,3]]}
)");
}

TEST(ViperTest, ErrorsNameLineAndRemedy) {
  const auto error = [](std::string_view line) { return read_viper_log("\n" + std::string(line)); };
  const auto with_op = [&](std::string_view op) {
    return error("{\"value\": [" + std::string(op) + "]}");
  };
  EXPECT_EQ(error("[]"), "J1.log:2: expected a JSON object");
  EXPECT_EQ(error("{}"), "J1.log:2: the transaction has no \"value\", its operations");
  EXPECT_EQ(error(R"({"value":[]} {})"),
            "J1.log:2: column 14: expected the end of the line, found '{'");
  EXPECT_EQ(error(R"({"values":[]})"),
            "J1.log:2: unknown field 'values'; expected value, isInitial, isFinal, preBeginTS, "
            "postBeginTS, preCommitTS or postCommitTS");
  EXPECT_EQ(error(R"({"value":[],"value":[]})"), "J1.log:2: \"value\" appears twice");
  EXPECT_EQ(error(R"({"value":[],"preBeginTS":"x"})"),
            "J1.log:2: expected a time: a 64-bit integer");
  EXPECT_EQ(error(R"({"value":[],"isFinal":1})"),
            "J1.log:2: expected true or false for \"isFinal\"");
  EXPECT_EQ(with_op("[]"), "J1.log:2: an empty operation");
  EXPECT_EQ(with_op(R"({"opType":"r"})"),
            "J1.log:2: expected an operation like [\"r\",key,value,false]; logs with an object per "
            "operation are not supported");
  EXPECT_EQ(with_op(R"(["x",1])"), "J1.log:2: unknown operation 'x'; expected r, w, i, d or range");
  EXPECT_EQ(with_op(R"(["r",1,2])"), "J1.log:2: operation 'r' has 3 parts; expected 4");
  EXPECT_EQ(with_op(R"(["r",1,2,true,3])"),
            "J1.log:2: too many parts in an operation 'r'; expected 4");
  EXPECT_EQ(with_op(R"(["r",1,"v",true])"), "J1.log:2: expected a value: an integer");
  EXPECT_EQ(with_op(R"(["r",1,2.5,true])"), "J1.log:2: expected a value: an integer");
  EXPECT_EQ(with_op(R"(["r",null,2,true])"), "J1.log:2: expected a key: an integer or a string");
  EXPECT_EQ(with_op(R"(["r",1,2,3])"), "J1.log:2: expected true or false");
  EXPECT_EQ(with_op(R"(["range",1,2,[{"id":1}],[]])"),
            "J1.log:2: expected rows like [{\"id\":1,\"sk\":1,\"val\":5}]");
  EXPECT_EQ(with_op(R"(["range",1,2,[{"id":1,"sk":2,"val":3}],[]])"),
            "J1.log:2: a row's \"sk\" differs from its \"id\": ranges over other columns are not "
            "supported");
  EXPECT_EQ(error(R"({"isInitial":true,"value":[["d",1,2,3,false,true]]})"),
            "J1.log:2: the initial transaction may hold writes, inserts and ranges only");
}

TEST(ViperTest, ATruncatedLineIsAnError) {
  const std::string line =
      R"({"value": [["i", "k", 4, 0, false, true], ["range",1,2,[{"id":1,"sk":1,"val":3}],[]]]})";
  for (std::size_t length = 1; length < line.size(); ++length) {
    EXPECT_TRUE(read_viper_log(line.substr(0, length)).starts_with("J1.log:1: ")) << length;
  }
}

TEST(ViperTest, EveryLogOfTheFolderIsASession) {
  const std::string folder =
      testing::TempDir() + "ouro_" + std::to_string(::getpid()) + "_" + "viper";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  std::ofstream(folder + "/J11.log") << R"({"value": [["r", 1, 5, false]]})";
  std::ofstream(folder + "/J2.log") << R"({"value": [["w", 1, 5, true]]})";
  std::ofstream(folder + "/notes.txt") << "hello";
  const auto history = read_history(folder);
  ASSERT_TRUE(history.ok()) << history.error().to_string();
  EXPECT_EQ(native(*history), R"({"session":2,"ops":[["w",1,5]]}
{"session":11,"ops":[["r",1,5]]}
)");
  EXPECT_EQ(history->place(TxnId{1}).to_string(), folder + "/J11.log:1");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace ouro
