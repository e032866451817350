// Expectations: parsing and judging.

#include "ouro/expect.h"

#include <gtest/gtest.h>

#include "tests/case_file.h"

namespace ouro {
namespace {

ExpectationMet judged(std::string_view expected, std::string_view history_text) {
  const auto expectation = parse_expectation(expected);
  EXPECT_TRUE(expectation.ok()) << expectation.error().to_string();
  const History history = oracle::history_of(history_text);
  std::vector<Verdict> verdicts;
  std::vector<Explanation> explanations;
  for (const Level level : {Level::Si, Level::Serializable}) {
    verdicts.push_back(*check(history, level));
    explanations.push_back(explain(history, verdicts.back()));
  }
  return judge(*expectation, verdicts, explanations);
}

constexpr const char* kSkew = "T1: r x nil, w y 1\nT2: r y nil, w x 2";

TEST(ExpectTest, WhatIsExpectedIsMet) {
  const auto met = judged(
      "# a comment\n\nsi holds\nserializable violated # another\nshows write-skew\n"
      "lacks lost-update, G1a\n",
      kSkew);
  EXPECT_EQ(met.outcome, Outcome::Holds);
  EXPECT_TRUE(met.complaints.empty());
  for (const char* name : {"G2-item", "G2", "A5B", "write_skew", "WRITE-SKEW"}) {
    EXPECT_EQ(judged("shows " + std::string(name), kSkew).outcome, Outcome::Holds) << name;
  }
}

TEST(ExpectTest, WhatIsNotMetIsNamed) {
  const auto met = judged(
      "si violated\nser holds\nshows lost-update\nlacks G2\nrc holds\n"
      "shows write-skew-session\n",
      kSkew);
  EXPECT_EQ(met.outcome, Outcome::Violated);
  EXPECT_EQ(
      met.complaints,
      (std::vector<std::string>{
          "expected si to be violated, but it holds",
          "expected serializable to be kept, but it is violated", "read-committed was not checked",
          "expected lost-update, which does not show: is the test blind?",
          "expected write-skew-session, which does not show: is the test blind?",
          "expected no G2, but it shows"}));
}

TEST(ExpectTest, VariantsAreToldApart) {
  const History history = oracle::history_of("T1 @s: w x 1\nT2 @s: r x nil");
  const auto verdict = check(history, Level::SessionSerializable);
  const Explanation explanation = explain(history, *verdict);
  const auto outcome = [&](std::string_view text) {
    return judge(*parse_expectation(text), {&*verdict, 1}, {&explanation, 1}).outcome;
  };
  EXPECT_EQ(outcome("shows stale-read"), Outcome::Holds);
  EXPECT_EQ(outcome("shows stale-read-session"), Outcome::Holds);
  EXPECT_EQ(outcome("shows stale-read-realtime"), Outcome::Violated);
  EXPECT_EQ(outcome("shows G-single-session"), Outcome::Holds);
}

TEST(ExpectTest, WhatIsUndecidedIsNeitherMetNorNot) {
  Verdict undecided;
  const auto expectation = parse_expectation("serializable holds");
  EXPECT_EQ(judge(*expectation, {&undecided, 1}, {}).outcome, Outcome::Undecided);
  EXPECT_EQ(judge(*parse_expectation("shows G0"), {&undecided, 1}, {}).outcome, Outcome::Violated);
}

TEST(ExpectTest, MistakesAreReportedWithTheirLine) {
  const struct {
    const char* text;
    const char* message;
  } kMistakes[] = {
      {"si holds\nserialisable holds",
       "e:2: unknown level 'serialisable'; did you mean 'serializable'?"},
      {"shows", "e:1: expected the name of an anomaly, such as write-skew"},
      {"lacks write-scew", "e:1: unknown anomaly 'write-scew'; docs/anomalies.md lists them"},
      {"si maybe",
       "e:1: expected 'LEVEL… holds', 'LEVEL… violated', 'shows ANOMALY…' or 'lacks ANOMALY…', "
       "found 'si maybe'"},
  };
  for (const auto& mistake : kMistakes) {
    const auto parsed = parse_expectation(mistake.text, "e");
    ASSERT_FALSE(parsed.ok()) << mistake.text;
    EXPECT_EQ(parsed.error().to_string(), mistake.message);
  }
  EXPECT_FALSE(read_expectation("/nonexistent/file").ok());
}

}  // namespace
}  // namespace ouro
