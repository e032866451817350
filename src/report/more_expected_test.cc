// Models and balances that are expected beside levels.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ouro/elle.h"
#include "ouro/format.h"

namespace ouro {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(LevelsAndModelsTest, LevelsAreCheckedAndThoseThatTellOfModelsToo) {
  const auto plain = parse_levels_and_models("si,rc", Evidence::Observed);
  ASSERT_TRUE(plain.ok());
  EXPECT_THAT(plain->named, ElementsAre(Level::Si, Level::ReadCommitted));
  EXPECT_EQ(plain->asked.levels, plain->named);
  EXPECT_THAT(plain->models, IsEmpty());

  const auto model = parse_levels_and_models("monotonic-atomic-view", Evidence::Observed);
  ASSERT_TRUE(model.ok());
  EXPECT_THAT(model->models, ElementsAre("monotonic-atomic-view"));
  EXPECT_THAT(model->named, IsEmpty()) << "no level must hold";
  EXPECT_FALSE(model->asked.levels.empty());

  const auto both = parse_levels_and_models("si,monotonic-atomic-view", Evidence::Observed);
  ASSERT_TRUE(both.ok());
  EXPECT_THAT(both->named, ElementsAre(Level::Si));
  EXPECT_EQ(both->asked.levels.front(), Level::Si);
  EXPECT_GT(both->asked.levels.size(), 1u);
  EXPECT_FALSE(parse_levels_and_models("great", Evidence::Observed).ok());
}

Examination expected_more(const std::string& text, const std::vector<Level>& levels,
                          const MoreExpected& more) {
  const auto history = parse_history(text);
  EXPECT_TRUE(history.ok());
  auto found = examine(*history, {.levels = levels});
  EXPECT_TRUE(found.ok());
  expect_more(*history, more, *found);
  return *std::move(found);
}

constexpr char kLostUpdate[] =
    R"({"session":"a","ops":[["r","x",null],["w","x",1]]}
{"session":"b","ops":[["r","x",null],["w","x",2]]})";

TEST(MoreExpectedTest, AModelThatDoesNotHoldIsAComplaint) {
  const std::vector<std::string_view> weak = {"monotonic-atomic-view"};
  const Examination holds = expected_more(kLostUpdate, {Level::ReadAtomic}, {.models = weak});
  ASSERT_TRUE(holds.met.has_value());
  EXPECT_EQ(outcome(holds), Outcome::Holds);
  const std::vector<std::string_view> strong = {"cursor-stability"};
  const Examination violated = expected_more(kLostUpdate, {Level::Si}, {.models = strong});
  EXPECT_EQ(outcome(violated), Outcome::Violated);
  EXPECT_THAT(violated.met->complaints, ElementsAre("cursor-stability is violated"));
}

TEST(MoreExpectedTest, WithoutExpectationsNothingChanges) {
  const Examination plain = expected_more(kLostUpdate, {Level::Si}, {});
  EXPECT_FALSE(plain.met.has_value());
  EXPECT_EQ(outcome(plain), Outcome::Violated);
}

// The accounts hold 30 together, and one is overdrawn.
TEST(MoreExpectedTest, TheTotalOfABankIsComparedAndOverdrawingMayBeAllowed) {
  constexpr char kBank[] = R"({:type :ok, :process 0, :f :read, :value {0 10, 1 20}, :index 0}
{:type :invoke, :process 0, :f :transfer, :value {:from 0, :to 1, :amount 15}, :index 1}
{:type :ok, :process 0, :f :transfer, :value {:from 0, :to 1, :amount 15}, :index 2}
{:type :invoke, :process 0, :f :read, :index 3}
{:type :ok, :process 0, :f :read, :value {0 -5, 1 35}, :index 4}
)";
  const auto history = parse_history(kBank, {.format = Format::JepsenEdn, .model = "bank"});
  ASSERT_TRUE(history.ok()) << history.error().to_string();
  const auto judged = [&](const MoreExpected& more) {
    auto found = examine(*history, {.levels = {Level::Serializable}});
    EXPECT_TRUE(found.ok());
    expect_more(*history, more, *found);
    return *std::move(found);
  };
  EXPECT_EQ(outcome(judged({.total_amount = 30})), Outcome::Holds);
  const Examination wrong = judged({.total_amount = 31});
  EXPECT_EQ(outcome(wrong), Outcome::Violated);
  ASSERT_TRUE(wrong.met.has_value());
  EXPECT_THAT(wrong.met->complaints, ElementsAre("the accounts hold 30 together, expected 31"));
  EXPECT_FALSE(judged({}).verdicts[0].left_out.empty()) << "a negative balance is told";
  EXPECT_TRUE(judged({.negative_balances = true}).verdicts[0].left_out.empty());
}

}  // namespace
}  // namespace ouro
