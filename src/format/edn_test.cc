#include "format/edn.h"

#include <gtest/gtest.h>

#include <string>

namespace ouro {
namespace {

// The tokens of `text` as a short text, or the error.
std::string tokens_of(const std::string& text) {
  EdnTokens tokens(text, "h.edn");
  std::string out;
  for (Token token;;) {
    if (!tokens.next(token)) return tokens.error().to_string();
    if (!out.empty()) out += ' ';
    switch (token.kind) {
      case TokenKind::End:
        return out + "end";
      case TokenKind::OpenMap:
        out += '{';
        break;
      case TokenKind::OpenList:
        out += '[';
        break;
      case TokenKind::OpenSet:
        out += "#{";
        break;
      case TokenKind::Close:
        out += '.';
        break;
      case TokenKind::Nil:
        out += "nil";
        break;
      case TokenKind::Integer:
        out += std::to_string(token.number);
        break;
      case TokenKind::String:
        out += '"' + std::string(token.text) + '"';
        break;
      default:
        out += std::string(token.text.empty() ? token.describe() : token.text);
    }
  }
}

TEST(EdnTest, ReadsEveryKindOfForm) {
  EXPECT_EQ(tokens_of("{:a 1, :b [x (y) #{z}]} nil true false"),
            "{ :a 1 :b [ x [ y . #{ z . . . nil true false end");
  EXPECT_EQ(tokens_of("-7 +7 12N 3.5 1e9 2M 1/2 9223372036854775807 9223372036854775808"),
            "-7 7 12 3.5 1e9 2M 1/2 9223372036854775807 9223372036854775808 end");
  EXPECT_EQ(tokens_of(R"(\a \newline \( [\]] ##Inf)"), R"(\a \newline \( [ \] . Inf end)");
  EXPECT_EQ(tokens_of(":a/b - + a.b/c"), ":a/b - + a.b/c end");
  EXPECT_EQ(tokens_of(""), "end");
}

TEST(EdnTest, CommasCommentsDiscardsAndTagsAreNoForms) {
  EXPECT_EQ(tokens_of(",,1,,;2\n3;4"), "1 3 end");
  EXPECT_EQ(tokens_of("[#_1 2 #_[3 {4 5}] 6 #_#_7 8 9]"), "[ 2 6 9 . end");
  EXPECT_EQ(tokens_of("{:a #_skipped 1 #_:b}"), "{ :a 1 . end");
  EXPECT_EQ(tokens_of("{:a #inst \"2020\" :b #x/y [1]}"), "{ :a \"2020\" :b [ 1 . . end");
  EXPECT_EQ(tokens_of("#_{:odd} 1"), "1 end");
}

TEST(EdnTest, StringsAreUnescaped) {
  EXPECT_EQ(tokens_of(R"("a\"b\\c\td")"), "\"a\"b\\c\td\" end");
  EXPECT_EQ(tokens_of(R"("\u00e9\ud83d\ude00")"), "\"é😀\" end");
  EXPECT_EQ(tokens_of("\"two\nlines é\""), "\"two\nlines é\" end");
  EXPECT_EQ(tokens_of(R"("\q")"), "h.edn:1: column 2: unknown escape '\\q' in a string");
  EXPECT_EQ(tokens_of(R"("\ud83dx")"),
            "h.edn:1: column 2: expected \\u and four hexadecimal digits");
  EXPECT_EQ(tokens_of("\"\xff\""), "h.edn:1: column 2: not valid UTF-8");
  EXPECT_EQ(tokens_of("x :\xff"), "h.edn:1: column 3: not valid UTF-8");
  EXPECT_EQ(tokens_of("x\xff"), "h.edn:1: column 1: not valid UTF-8");
  EXPECT_EQ(tokens_of("\\\xff"), "h.edn:1: column 1: not valid UTF-8");
  EXPECT_EQ(tokens_of("é :é"), "é :é end");
}

TEST(EdnTest, FaultsHaveLineColumnAndExpectation) {
  EXPECT_EQ(tokens_of("{:a 1\n :b]"), "h.edn:2: column 4: expected '}', found ']'");
  EXPECT_EQ(tokens_of("{:a 1 :b}"),
            "h.edn:1: column 9: expected a value: the last key of this map has none");
  EXPECT_EQ(tokens_of("1 )"), "h.edn:1: column 3: ')' without its opening bracket");
  EXPECT_EQ(tokens_of("\n [1 2"),
            "h.edn:2: column 2: the ']' that belongs to this bracket is missing; is the file "
            "truncated?");
  EXPECT_EQ(tokens_of("\"abc"), "h.edn:1: column 1: a string that starts here does not end");
  EXPECT_EQ(tokens_of("\"abc\\"), "h.edn:1: column 1: a string that starts here does not end");
  EXPECT_EQ(tokens_of("12ab"), "h.edn:1: column 1: '12ab' is not a number");
  EXPECT_EQ(tokens_of(": x"),
            "h.edn:1: column 2: expected a keyword's name behind ':', found byte 0x20");
  EXPECT_EQ(tokens_of("#_"), "h.edn:1: column 1: expected a form behind #_");
  EXPECT_EQ(tokens_of("[1 #_]"), "h.edn:1: column 4: expected a form behind #_");
  EXPECT_EQ(tokens_of("[#inst]"), "h.edn:1: column 7: expected a form behind the tag");
  EXPECT_EQ(tokens_of("# "),
            "h.edn:1: column 2: expected a tag, '{' or '_' behind '#', found byte 0x20");
  EXPECT_EQ(tokens_of("\\"), "h.edn:1: column 1: expected a character behind '\\'");
  EXPECT_EQ(tokens_of(std::string("a \0 b", 5)),
            "h.edn:1: column 3: expected EDN, found byte 0x00");
}

TEST(EdnTest, DeepNestingIsNoProblem) {
  const std::string open(1'000'000, '[');
  const std::string close(1'000'000, ']');
  EdnTokens tokens(open, "h.edn");
  Token token;
  while (tokens.next(token)) {
  }
  EXPECT_NE(tokens.error().what.find("is missing"), std::string::npos);
  EXPECT_TRUE(tokens_of("#_" + open + close + " 1") == "1 end");
}

}  // namespace
}  // namespace ouro
