// Version orders that a history states, and what they say of its reads.

#include "check/observed/given_orders.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "ouro/check.h"
#include "ouro/format.h"
#include "tests/tiny.h"

namespace ouro {
namespace {

Result<Verdict> check_text(std::string_view text, Level level, History* history = nullptr) {
  auto read = parse_history(text, {}, "h.jsonl");
  if (!read.ok()) return std::move(read).error();
  if (history != nullptr) *history = *read;
  CheckOptions options;
  options.evidence = Evidence::Versions;
  return check(*read, level, options);
}

// Serializable in another order, but not in the one the database had (compare Emme, Fig. 3).
constexpr std::string_view kStaleByItsOwnOrder = R"({"session":"a","ops":[["w","x",1]]}
{"session":"b","ops":[["w","x",2]]}
{"session":"c","ops":[["r","x",1],["r","y",3]]}
{"session":"d","ops":[["r","x",2],["w","y",3]]}
)";

TEST(GivenOrdersTest, AnOrderThatTheReadsContradictIsAViolation) {
  const auto without = check_text(kStaleByItsOwnOrder, Level::Serializable);
  ASSERT_TRUE(without.ok());
  EXPECT_EQ(without->outcome, Outcome::Holds);
  History history;
  const auto with = check_text(
      std::string(kStaleByItsOwnOrder) + R"({"key":"x","versions":[1,2],"complete":true})" + "\n",
      Level::Serializable, &history);
  ASSERT_TRUE(with.ok());
  EXPECT_EQ(with->outcome, Outcome::Violated);
  ASSERT_EQ(with->anomalies.size(), 1u);
  EXPECT_EQ(with->anomalies[0].kind, AnomalyKind::ForbiddenCycle);
  EXPECT_EQ(with->anomalies[0].edges.size(), 3u);
}

TEST(GivenOrdersTest, ACompleteOrderMustHaveEveryVersion) {
  const auto verdict = check_text(
      R"({"session":"a","ops":[["w","x",1]]}
{"session":"b","ops":[["w","x",2]]}
{"key":"x","versions":[2],"complete":true}
)",
      Level::ReadCommitted);
  ASSERT_TRUE(verdict.ok()) << verdict.error().to_string();
  EXPECT_EQ(verdict->outcome, Outcome::Violated);
  ASSERT_EQ(verdict->anomalies.size(), 1u);
  EXPECT_EQ(verdict->anomalies[0].kind, AnomalyKind::VersionOrderMismatch);
  EXPECT_EQ(verdict->anomalies[0].ops, std::vector<OpId>{OpId{0}});
}

TEST(GivenOrdersTest, OrdersThatCannotBeReadAreErrors) {
  const std::string history = R"({"session":"a","ops":[["w","x",1],["w","y",null]]}
{"session":"b","ops":[["w","x",2],["w","y",null]]}
)";
  const auto error = [&](const std::string& line) {
    const auto verdict = check_text(history + line + "\n", Level::Serializable);
    return verdict.ok() ? "" : verdict.error().to_string();
  };
  EXPECT_EQ(error(R"({"key":"x","versions":[1,7]})"),
            "h.jsonl: version 7 in the version order of x was written by no transaction; add the "
            "transaction or leave the version out");
  EXPECT_EQ(
      error(R"({"key":"x","versions":[1,2,1]})"),
      "h.jsonl: version 1 in the version order of x is listed twice; list every version once");
  EXPECT_EQ(error(R"({"key":"x","versions":[null,1]})"),
            "h.jsonl: version null in the version order of x is the initial one, which always "
            "comes first; leave it out");
  EXPECT_EQ(error(R"({"key":"y","versions":[null]})"),
            "h.jsonl: version null in the version order of y was written by several transactions "
            "(h.jsonl:1, h.jsonl:2); name the one that is meant by its \"id\", like [\"t7\"]");
}

// Every committed version is in a complete order, and each once.
TEST(GivenOrdersTest, AValueThatRepeatsIsWhatElseItCannotBe) {
  const std::string history = R"({"session":"a","id":"a","ops":[["w","x",50],["w","x",60]]}
{"session":"b","id":"b","ops":[["w","x",50]]}
{"session":"c","id":"c","ops":[["r","x",50],["w","x",70]]}
)";
  const auto outcome = [&](const std::string& order, const std::string& more = "") {
    const auto verdict = check_text(history + more + R"({"key":"x","versions":)" + order + "}\n",
                                    Level::Serializable);
    return verdict.ok() ? std::string(name(verdict->outcome)) : verdict.error().what;
  };
  const auto complete = [&](const std::string& order, const std::string& more = "") {
    return outcome(order + R"(,"complete":true)", more);
  };
  // The first version of `a` is no last write, so 50 is what `b` left.
  EXPECT_EQ(complete("[60,50,70]"), "holds");
  EXPECT_EQ(complete("[50,60,70]"), "violated");
  // In a fragment it could be either; twice, it is both, and nobody knows which is which.
  const std::string several =
      "was written by several transactions (h.jsonl:1, h.jsonl:2); name "
      "the one that is meant by its \"id\", like [\"a\"]";
  EXPECT_NE(outcome("[50,60]").find(several), std::string::npos);
  EXPECT_NE(complete("[50,60,50,70]").find(several), std::string::npos);
  // Whoever is named is not the other one.
  const std::string again = R"({"session":"d","id":"d","ops":[["r","x",70],["w","x",50]]}
)";
  EXPECT_NE(complete("[60,50,70,50]", again).find("(h.jsonl:1, h.jsonl:2, h.jsonl:4)"),
            std::string::npos);
  EXPECT_EQ(complete(R"([60,["b"],70,50])", again), "holds");
  EXPECT_EQ(complete(R"([60,50,70,["d"]])", again), "holds");
  EXPECT_EQ(complete(R"([60,50,["d"],70])", again), "violated");
}

TEST(GivenOrdersTest, CommitTimestampsAreVersionOrdersIfThereAreNoOthers) {
  const std::string history = R"({"session":"a","commit_ts":1,"ops":[["w","x",1]]}
{"session":"b","commit_ts":2,"ops":[["w","x",2]]}
{"session":"c","commit_ts":4,"ops":[["r","x",1],["r","y",3]]}
{"session":"d","commit_ts":3,"ops":[["r","x",2],["w","y",3]]}
)";
  const auto verdict = check_text(history, Level::Serializable);
  ASSERT_TRUE(verdict.ok()) << verdict.error().to_string();
  EXPECT_EQ(verdict->outcome, Outcome::Violated);
  const auto without =
      check_text(history + R"({"session":"e","ops":[["w","x",9]]})", Level::Serializable);
  ASSERT_FALSE(without.ok());
  EXPECT_EQ(without.error().line, 5u);
}

// Fragments say less than complete orders.
TEST(GivenOrdersTest, OnlyInACompleteOrderDoesNothingStandBetween) {
  constexpr std::string_view kWrites = R"({"session":1,"ops":[["w","x",1]]}
{"session":2,"ops":[["w","x",2]]}
)";
  const auto steps = [&](std::string_view order) {
    return Tiny(std::string(kWrites) + std::string(order), Evidence::Versions).version_steps();
  };
  EXPECT_EQ(steps(R"({"key":"x","versions":[2,1],"complete":true})"), "->T2.1, T2.1>T1.1");
  EXPECT_EQ(steps(R"({"key":"x","versions":[2,1]})"), "T2.1 T1.1");
}

TEST(GivenOrdersTest, UnknownTransactionsInAnOrderCount) {
  Tiny t(R"({"session":1,"status":"unknown","ops":[["w","x",1]]}
{"session":2,"status":"unknown","ops":[["w","x",2]]}
{"key":"x","versions":[2]})",
         Evidence::Versions);
  EXPECT_FALSE(t.observed().counted(Tiny::txn(1)));
  EXPECT_TRUE(t.observed().counted(Tiny::txn(2)));
}

}  // namespace
}  // namespace ouro
