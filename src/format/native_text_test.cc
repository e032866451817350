#include "format/native_text.h"

#include <gtest/gtest.h>

#include <string>

namespace ouro {
namespace {

// Every feature of the format, as the writer prints it.
constexpr std::string_view kEverything =
    R"({"ouro":1,"initial":0,"info":{"database":"db","quote":"a\"b\\c\n"}}
{"key":"x","initial":"first"}
{"session":"a","id":"t1","invoked":100,"completed":180,"start_ts":17,"commit_ts":[21,3],"ops":[["r","x",null],["w","x",1],["r","y"]]}
{"session":7,"status":"aborted","ops":[["append","l",3],["r","l",[1,2,3]],["r","l",[]]]}
{"session":7,"status":"unknown","ops":[["w",12,9223372036854775807],["w",12,18446744073709551615],["w",12,-9223372036854775808],["d","x"],["d","x",5]]}
{"session":"b","ops":[["scan","a","f",[["b",1],["e",7]]],["scan",null,null,[],{"versions":[["b",null]]}]]}
{"session":"c","ops":[["select",{"and":[{"ge":["c1",0]},{"not":{"le":["@key",10]}},{"or":[true,{"in":["c2",[1,"z",null]]}]},{"between":["c1",1,2]},{"is_null":"c0"}]},[["k3",{"c1":"é","c0":1}]],{"versions":[["k3",{"c1":"é","c0":1}]]}]]}
{"session":"c","ops":[["aggregate","count",null,true,3],["aggregate","sum","c1",{"eq":["c0",1]},null,{"versions":[]}],["aggregate","max","c1",true],["aggregate","min","c1",true,{"versions":[]}]]}
{"session":"c","ops":[["cas","x",1,2,true],["cas","x",null,"new",false]]}
{"session":"v","ops":[["w","b",true],["w","n",-0.25],["w","n",123456789012345678901234567890],["w","f",{"@float":0.1}],["w","f",{"@float":"-Infinity"}],["w","k4",{"a":{"@float":1e+22},"b":false}],["r","l",[1.5,{"@float":"NaN"}]]]}
{"session":"v","ops":[["select",{"in":["c",[{"@float":0.5},true,1.5]]},[]],["aggregate","avg","c1",true,5.00],["aggregate","avg","c1",true,{"@float":2.5}],["aggregate","sum","c1",true,{"@float":2.5},{"versions":[]}]]}
{"session":"c","ops":[]}
{"session":null,"ops":[["w","n",1]]}
{"session":null,"ops":[["w","n",2]]}
{"key":"x","versions":[1,5,2],"complete":true}
{"key":12,"versions":["p"],"complete":false}
)";

std::string printed(const History& history) {
  std::string out;
  const auto report = print_history(history, Format::Native, out);
  EXPECT_TRUE(report.ok() && report->warnings.empty());
  return out;
}

std::string error_of(std::string_view text) {
  const auto history = parse_history(text, {.format = Format::Native}, "h.jsonl");
  return history.ok() ? "no error" : history.error().to_string();
}

TEST(NativeTextTest, WritesWhatItReads) {
  for (const unsigned threads : {1u, 2u, 3u}) {
    const auto history = parse_history(kEverything, {.threads = threads});
    ASSERT_TRUE(history.ok()) << history.error().to_string();
    EXPECT_EQ(printed(*history), kEverything);
  }
}

TEST(NativeTextTest, FieldsMayComeInAnyOrder) {
  const auto history =
      parse_history(R"({"ops":[["w","x",1]],"commit_ts":5,"status":"aborted","session":"a"})");
  ASSERT_TRUE(history.ok()) << history.error().to_string();
  EXPECT_EQ(history->status(TxnId{0}), TxnStatus::Aborted);
  EXPECT_EQ(history->label(history->session_name(history->session(TxnId{0}))), "a");
  EXPECT_EQ(history->commit_ts(TxnId{0}), (Timestamp{5, 0}));
}

TEST(NativeTextTest, ThreadsDoNotChangeALargeHistory) {
  std::string text;
  for (int i = 0; i < 60000; ++i) {
    text += R"({"session":)" + std::to_string(i % 50) + R"(,"ops":[["w","k)" +
            std::to_string(i % 977) + R"(",)" + std::to_string(i) + R"(],["r",)" +
            std::to_string(i % 31) + ",null]]}\n";
  }
  const auto one = parse_history(text, {.threads = 1});
  const auto four = parse_history(text, {.threads = 4});
  ASSERT_TRUE(one.ok() && four.ok());
  EXPECT_EQ(one->txn_count(), 60000u);
  EXPECT_EQ(printed(*one), printed(*four));
  EXPECT_EQ(four->place(TxnId{59999}).position, 60000u);
}

// Lines with white space and without, which are parsed by different code, with numbers of every
// length.
TEST(NativeTextTest, WhiteSpaceChangesNothing) {
  std::string tight;
  std::string loose;
  std::string number;
  for (int length = 1; length <= 20; ++length) {
    number += static_cast<char>('0' + length % 10);
    for (const std::string& value : {number, "-" + number, std::string("null"), std::string("0")}) {
      for (const char kind : {'r', 'w', 'd'}) {
        const std::string key = value == "null" ? "7" : value;
        tight += R"({"session":1,"ops":[[")" + std::string(1, kind) + R"(",)" + key + "," + value +
                 R"(],["r",)" + key + R"(],["w","x",)" + value + "]]}\n";
        loose += R"( {"session" :1, "ops":[ [")" + std::string(1, kind) + R"(", )" + key + " ,\t" +
                 value + R"( ] , ["r",)" + key + R"( ],["w", "x",)" + value + "]] }\r\n";
      }
    }
  }
  const auto one = parse_history(tight);
  const auto other = parse_history(loose);
  // -12345678901234567890 does not fit into 64 bits, so it is no key; without the sign it does.
  ASSERT_FALSE(one.ok() || other.ok());
  EXPECT_EQ(one.error().to_string(), other.error().to_string());
  EXPECT_EQ(one.error().line, 19u * 12 + 4);
  const auto without_last = [](std::string_view text) {
    std::size_t at = 0;
    for (int line = 0; line < 19 * 12 + 3; ++line) at = text.find('\n', at) + 1;
    return parse_history(text.substr(0, at));
  };
  const auto tight_history = without_last(tight);
  const auto loose_history = without_last(loose);
  ASSERT_TRUE(tight_history.ok()) << tight_history.error().to_string();
  ASSERT_TRUE(loose_history.ok()) << loose_history.error().to_string();
  EXPECT_EQ(printed(*tight_history), printed(*loose_history));
}

TEST(NativeTextTest, WhatIsNoNumberIsAnError) {
  for (const std::string_view number : {"01", "00", "-", "+1", "1_0", "0x10", "1-2", "-01", "1.",
                                        "1e", ".5", "1e1001", "0.1e-1000"}) {
    for (const std::string_view key : {"5", " 5"}) {
      const std::string line = R"({"session":1,"ops":[["w",)" + std::string(key) + "," +
                               std::string(number) + R"(],["w",8,9]]})";
      EXPECT_NE(error_of(line), "no error") << line;
      EXPECT_TRUE(error_of(line).starts_with("h.jsonl:1: ")) << error_of(line);
    }
  }
  EXPECT_EQ(error_of(R"({"session":1,"ops":[["w","x",1e5000]]})"),
            "h.jsonl:1: a number has more than 1000 digits before or behind the point; write it as "
            "a string");
}

// The value that a write of `text` writes, as it is printed.
std::string value_of(std::string_view text) {
  const auto history =
      parse_history(R"({"session":1,"ops":[["w","x",)" + std::string(text) + "]]}");
  if (!history.ok()) return history.error().to_string();
  return history->text(history->op(OpId{0}).value);
}

TEST(NativeTextTest, ExactNumbersHaveOneSpelling) {
  EXPECT_EQ(value_of("1.10"), "1.1");
  EXPECT_EQ(value_of("-0.0"), "0");
  EXPECT_EQ(value_of("1.5e1"), "15");
  EXPECT_EQ(value_of("123456789012345.0"), "123456789012345");
  EXPECT_EQ(value_of("25E-4"), "0.0025");
  EXPECT_EQ(value_of("12345678901234567890123"), "12345678901234567890123");
}

TEST(NativeTextTest, FloatsAreMarked) {
  EXPECT_EQ(value_of(R"({"@float":0.10})"), R"({"@float":0.1})");
  EXPECT_EQ(value_of(R"({"@float":1})"), R"({"@float":1})");
  EXPECT_EQ(value_of(R"({"@float":-0.0})"), R"({"@float":0})");
  EXPECT_EQ(value_of(R"({"@float":"NaN"})"), R"({"@float":"NaN"})");
  EXPECT_EQ(value_of(R"({"c":{"@float":2.5}})"), R"({"c":{"@float":2.5}})");
  for (const std::string_view wrong : {R"({"@float":"0.5"})", R"({"@float":true})",
                                       R"({"@float":1e999})", R"({"@float":1,"c":2})"}) {
    EXPECT_NE(value_of(wrong).find("expected a floating-point number of 64 bits"),
              std::string::npos)
        << value_of(wrong);
  }
  EXPECT_NE(value_of(R"({"c":2,"@float":1})").find("a row cannot have a column '@float'"),
            std::string::npos);
}

TEST(NativeTextTest, NamesAreIntegersOrStrings) {
  for (const std::string_view key : {"true", "1.5", R"({"@float":1})", "123456789012345678901"}) {
    const std::string line = R"({"session":1,"ops":[["w",)" + std::string(key) + ",1]]}";
    EXPECT_EQ(error_of(line),
              "h.jsonl:1: expected a name: an integer of at most 64 bits or a string")
        << line;
  }
}

TEST(NativeTextTest, AnObjectMayNotSpanLines) {
  EXPECT_EQ(error_of("{\"session\":1,\n\"ops\":[]}"),
            "h.jsonl:1: column 14: expected a name in quotes, found the end");
  EXPECT_EQ(error_of("{\"session\":1,\"ops\":[[\"w\",1,2]\n]}"),
            "h.jsonl:1: column 30: expected ',' or ']', found the end");
  EXPECT_EQ(error_of("{\"session\":\"a\n\",\"ops\":[]}"),
            "h.jsonl:1: column 12: a string that starts here does not end");
}

TEST(NativeTextTest, ErrorsNameLineAndRemedy) {
  EXPECT_EQ(error_of("{\"session\":1,\"ops\":[]}\n\n{\"session\":2,\"ops\":[[\"w\",\"x\":1]]}"),
            "h.jsonl:3: column 29: expected ',' or ']', found ':'");
  EXPECT_EQ(error_of(R"({"sesion":1,"ops":[]})"),
            "h.jsonl:1: unknown field 'sesion'; did you mean 'session'?");
  EXPECT_EQ(error_of(R"({"session":1})"), "h.jsonl:1: the transaction has no \"ops\"");
  EXPECT_EQ(error_of(R"({"session":1,"ops":[["x","y",1]]})"),
            "h.jsonl:1: unknown operation 'x'; expected r, w, append, d, cas, inc, add, scan, "
            "select, aggregate, update, delete or rolled-back");
  EXPECT_EQ(
      error_of(R"({"session":1,"ops":[["cas","y",1,2]]})"),
      "h.jsonl:1: expected [\"cas\",\"x\",1,2,true]: a key, what was expected, what was to be "
      "written, and whether it was");
  EXPECT_EQ(error_of(R"({"session":1,"ops":[["cas","y",1,2,true,3]]})"),
            "h.jsonl:1: too many parts in an operation 'cas'");
  EXPECT_EQ(error_of(R"({"session":1,"ops":[]} {"session":1,"ops":[]})"),
            "h.jsonl:1: column 24: expected the end of the line, found '{'");
  EXPECT_EQ(error_of(R"({"session":1,"ops":[["r","x",nu]]})"),
            "h.jsonl:1: column 30: expected a value, found 'n'");
  EXPECT_EQ(error_of(R"({"session":1,"ops":[["aggregate","sum",nu,true,1]]})"),
            "h.jsonl:1: column 40: expected a value, found 'n'");
  EXPECT_EQ(error_of("{\"ouro\":2}"),
            "h.jsonl:1: version 2 of the format is not known; this program reads 1");
  EXPECT_EQ(error_of("{\"session\":1,\"ops\":[]}\n{\"ouro\":1}"),
            "h.jsonl:2: the header must be the first line");
  EXPECT_EQ(
      error_of(R"({"session":1,"start_ts":-9223372036854775808,"ops":[]})"),
      "h.jsonl:1: a timestamp of -9223372036854775808 means that there is none; leave it out");
  EXPECT_EQ(error_of(R"({"session":1,"invoked":-9223372036854775808,"ops":[]})"),
            "h.jsonl:1: a clock of -9223372036854775808 means that there is none; leave it out");
}

TEST(NativeTextTest, ATruncatedFileIsAnError) {
  for (std::size_t length = 1; length < kEverything.size(); ++length) {
    if (kEverything[length - 1] == '\n' || kEverything[length] == '\n') continue;
    const auto history = parse_history(kEverything.substr(0, length), {.format = Format::Native});
    EXPECT_FALSE(history.ok()) << kEverything.substr(0, length);
  }
}

TEST(NativeTextTest, DeepNestingIsAnError) {
  std::string text = R"({"session":1,"ops":[["select",)";
  for (int i = 0; i < 100000; ++i) text += R"({"not":)";
  EXPECT_NE(error_of(text), "no error");
}

}  // namespace
}  // namespace ouro
