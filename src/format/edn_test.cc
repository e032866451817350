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

TEST(EdnTest, IntegersOfOtherBasesAreWhatClojureReads) {
  EXPECT_EQ(tokens_of("0x3c7 -0X1F +0xaN 017 -010 2r101 36rZz 0 00 0N"),
            "967 -31 10 15 -8 5 1295 0 0 0 end");
  EXPECT_EQ(tokens_of("0x7fffffffffffffff -0x8000000000000000"),
            "9223372036854775807 -9223372036854775808 end");
}

// An error about them is for who needs their values.
TEST(EdnTest, WhatIsNoNumberAfterAllIsStillAToken) {
  EXPECT_EQ(tokens_of("12ab 08 0x 0xfg 37r1 1.2.3 0x8000000000000000"),
            "12ab 08 0x 0xfg 37r1 1.2.3 0x8000000000000000 end");
}

TEST(EdnTest, WhatClojurePrintsBeyondEdnIsRead) {
  EXPECT_EQ(tokens_of("{:a #object[java.lang.Object 0x3c7 \"x\"] :b 1}"),
            "{ :a [ java.lang.Object 967 \"x\" . :b 1 . end");
  EXPECT_EQ(tokens_of("{:a ^:m {:b ^{:c 1} [^String s]} ^:x :d #^:m 2}"),
            "{ :a { :b [ s . . :d 2 . end");
  EXPECT_EQ(tokens_of("[#_^:m a b #_#_^:m a b c]"), "[ b c . end");
  EXPECT_EQ(tokens_of("#\"a\\d\\\"b\" #'user/f #(inc 1) #=(f) #error {:a 1}"),
            "\"a\\d\\\"b\" user/f [ inc 1 . [ f . { :a 1 . end");
  EXPECT_EQ(tokens_of("{:a #<Fn f->g@1> :b #<Object java.lang.Object@3c7>}"),
            "{ :a #<Fn f->g@1> :b #<Object java.lang.Object@3c7> . end");
  EXPECT_EQ(tokens_of(R"({:a \a :b \u0041 :c \tab :d \}})"),
            R"({ :a \a :b \u0041 :c \tab :d \} . end)");
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
  EXPECT_EQ(tokens_of(": x"),
            "h.edn:1: column 2: expected a keyword's name behind ':', found byte 0x20");
  EXPECT_EQ(tokens_of("#_"), "h.edn:1: column 1: expected a form behind #_");
  EXPECT_EQ(tokens_of("[1 #_]"), "h.edn:1: column 4: expected a form behind #_");
  EXPECT_EQ(tokens_of("[#inst]"), "h.edn:1: column 7: expected a form behind the tag or metadata");
  EXPECT_EQ(tokens_of("[^:m]"), "h.edn:1: column 5: expected a form behind the tag or metadata");
  EXPECT_EQ(tokens_of("[^]"), "h.edn:1: column 2: expected a form behind ^");
  EXPECT_EQ(tokens_of("#\"a"), "h.edn:1: column 1: a pattern that starts here does not end");
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
