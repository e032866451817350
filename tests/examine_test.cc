// examine(): one call for all that a report needs.

#include "ouro/examine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "ouro/format.h"
#include "ouro/generate.h"
#include "ouro/report.h"
#include "tests/case_file.h"
#include "tests/ordinary_data.h"
#include "tests/small_histories.h"
#include "tests/this_build.h"

namespace ouro {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

constexpr char kLostUpdate[] = R"({"session":1,"ops":[["r","x",null],["w","x",1]]}
{"session":2,"ops":[["r","x",null],["w","x",2]]}
)";

History parse(const std::string& text) {
  auto history = parse_history(text);
  EXPECT_TRUE(history.ok());
  return *std::move(history);
}

Examination examined(const History& history, const ExamineOptions& options) {
  auto out = examine(history, options);
  EXPECT_TRUE(out.ok());
  return *std::move(out);
}

TEST(ExamineTest, TellsWhatAskedForAndWhatElseHolds) {
  const History history = parse(kLostUpdate);
  std::vector<ExamineStage> stages;
  ExamineOptions options{.levels = {Level::Si}};
  options.progress = [&](ExamineStage stage) { stages.push_back(stage); };
  const Examination out = examined(history, options);
  ASSERT_THAT(out.verdicts, SizeIs(1));
  EXPECT_EQ(out.verdicts[0].outcome, Outcome::Violated);
  EXPECT_EQ(outcome(out), Outcome::Violated);
  EXPECT_FALSE(out.observed);
  EXPECT_FALSE(out.met);
  EXPECT_GT(out.check_seconds, 0);
  std::vector<Level> others;
  for (const Verdict& verdict : out.others) {
    others.push_back(verdict.level);
    EXPECT_NE(verdict.outcome, Outcome::Undecided);
  }
  EXPECT_THAT(others, Contains(Level::Causal));
  EXPECT_THAT(others, Contains(Level::ParallelSi));
  EXPECT_THAT(others, Not(Contains(Level::Serializable))) << "that follows from si";
  ASSERT_THAT(out.explanations, SizeIs(1));
  EXPECT_EQ(name(out.explanations[0].stories.at(0)), "lost update");
  EXPECT_THAT(stages, ElementsAre(ExamineStage::Checking, ExamineStage::Explaining,
                                  ExamineStage::OtherLevels));
  EXPECT_THAT(describe(history, out, {.name = "h"}), HasSubstr("allowed up to "));
}

// What was asked for is known before anything is told of it, and what is said then is how the
// report begins.
TEST(ExamineTest, TheVerdictComesFirst) {
  for (const Level level : {Level::Si, Level::Causal}) {
    const History history = parse(kLostUpdate);
    std::string begun;
    ExamineOptions options{.levels = {level}};
    options.decided = [&](std::span<const Verdict> verdicts) {
      ASSERT_EQ(verdicts.size(), 1u);
      begun = headline_start(history, verdicts[0], {.name = "h"});
    };
    options.progress = [&](ExamineStage stage) {
      EXPECT_EQ(begun.empty(), stage == ExamineStage::Checking);
    };
    const Examination out = examined(history, options);
    EXPECT_THAT(describe(history, out, {.name = "h"}), StartsWith(begun));
    EXPECT_EQ(begun, level == Level::Si ? "h: VIOLATED si" : "h: holds causal\n");
    EXPECT_GT(telling_seconds(out.effort), 0);
  }
}

// Read committed is violated by as few transactions and in a worse way, so that is told; the long
// fork has nothing to do with it and stays.
TEST(ExamineTest, TellsTheSmallestAndWorstStoryOfAllLevelsThatAreViolated) {
  constexpr char kBoth[] = R"({"session":"a","ops":[["w","x",1]]}
{"session":"b","ops":[["w","y",1]]}
{"session":"c","ops":[["r","x",1],["r","y",null]]}
{"session":"d","ops":[["r","y",1],["r","x",null]]}
{"session":"e","ops":[["w","u",1],["w","v",1]]}
{"session":"f","ops":[["r","u",1],["w","u",2],["w","v",2]]}
{"session":"g","ops":[["r","u",2],["r","v",1]]}
)";
  const History history = parse(kBoth);
  const Examination out = examined(history, {.levels = {Level::SessionSi}});
  ASSERT_THAT(out.explanations, SizeIs(1));
  const std::vector<Story>& stories = out.explanations[0].stories;
  ASSERT_THAT(stories, SizeIs(2));
  EXPECT_EQ(name(stories[0]), "non-monotonic read");
  EXPECT_EQ(stories[0].level, Level::ReadCommitted);
  EXPECT_EQ(name(stories[1]), "long fork");
  for (const Story& story : stories) {
    const History least = counterexample(history, story);
    EXPECT_EQ(check(least, Level::SessionSi)->outcome, Outcome::Violated);
  }
}

// A long fork of four transactions with readers whom others must be seen through, so that it takes
// seven; and beside it a fractured read of three.
constexpr char kForkAndFracture[] = R"({"session":"a","ops":[["w","x",1]]}
{"session":"b","ops":[["w","y",1]]}
{"session":"c","ops":[["r","x",1],["w","p",1]]}
{"session":"d","ops":[["r","y",1],["w","q",1]]}
{"session":"e","ops":[["r","p",1],["r","y",null]]}
{"session":"f","ops":[["r","q",1],["r","x",null]]}
{"session":"g","ops":[["w","u",1],["w","v",1]]}
{"session":"h","ops":[["r","u",1],["w","u",2],["w","v",2]]}
{"session":"i","ops":[["r","v",1],["r","u",2]]}
)";

std::vector<std::string> told(const History& history, Level level) {
  std::vector<std::string> out;
  for (const Explanation& explanation : examined(history, {.levels = {level}}).explanations) {
    for (const Story& story : explanation.stories) {
      out.push_back(name(story) + " of " + std::to_string(story.txns.size()));
      EXPECT_EQ(check(counterexample(history, story), level)->outcome, Outcome::Violated);
    }
  }
  return out;
}

TEST(ExamineTest, TellsWhatViolatesWeakerLevelsAndThoseApart) {
  const History history = parse(kForkAndFracture);
  for (const LevelInfo& level : levels()) {
    if (!decidable(level.level, Evidence::Observed)) continue;
    const auto stories = told(history, level.level);
    if (stories.empty()) continue;
    EXPECT_EQ(stories[0], "fractured read of 3") << level.name;
  }
}

// T2 may have read x=50 from T1 or from the transaction before it, and only one of these forbids
// what it read of the other keys.
constexpr char kEitherBalance[] = R"({"session":1,"ops":[["w","x",50],["w","a",1]]}
{"session":5,"ops":[["w","d",1],["w","x",50]]}
{"session":3,"ops":[["r","d",null],["r","x",50],["r","a",null]]}
)";

TEST(ExamineTest, AReportNamesEveryWriterOfARepeatedValue) {
  const History history = parse(kEitherBalance);
  const Examination out = examined(history, {.levels = {Level::ReadAtomic}});
  ASSERT_THAT(out.explanations, SizeIs(1));
  const Story& story = out.explanations[0].stories.at(0);
  EXPECT_THAT(story.txns, SizeIs(3));
  EXPECT_THAT(story.weakest_violated, Contains(Level::ReadAtomic));
  EXPECT_THAT(story.strongest_holding, Contains(Level::ReadCommitted));
  EXPECT_THAT(describe(history, out, {.name = "h"}), HasSubstr("If T3 read x=50 from T1"));
}

// The same among hundreds of transactions that have nothing to do with it.
TEST(ExamineTest, AReportOfManyTransactionsNamesEveryWriterOfARepeatedValue) {
  std::string text;
  for (int i = 0; i < 400; ++i) {
    const std::string key = "\"k" + std::to_string(i % 20) + "\"";
    text += R"({"session":)" + std::to_string(10 + i % 7) + R"(,"ops":[["r",)" + key + "," +
            (i < 20 ? "null" : std::to_string(i - 20)) + R"(],["w",)" + key + "," +
            std::to_string(i) + "]]}\n";
  }
  const History history = parse(text + kEitherBalance);
  const Examination out = examined(history, {.levels = {Level::ReadAtomic}});
  EXPECT_EQ(check(history, Level::ReadCommitted)->outcome, Outcome::Holds);
  ASSERT_THAT(out.explanations, SizeIs(1));
  EXPECT_THAT(out.explanations[0].stories.at(0).txns, SizeIs(3));
  EXPECT_THAT(describe(history, out, {.name = "h"}), HasSubstr("If T3 read x=50 from T1"));
}

// What a report says of a level, whether it was asked for or not, is what the check of that level
// says.
std::string report_complaint(const History& history, Level asked) {
  const Examination out = examined(history, {.levels = {asked}});
  const auto truth = [&](Level level) { return check(history, level)->outcome; };
  for (const Verdict& verdict : out.others) {
    if (verdict.outcome != truth(verdict.level)) {
      return "other level " + std::string(info(verdict.level).name);
    }
  }
  for (const Explanation& explanation : out.explanations) {
    for (const Story& story : explanation.stories) {
      for (const Level level : story.weakest_violated) {
        if (truth(level) != Outcome::Violated) return "story at " + std::string(info(level).name);
      }
    }
  }
  return "";
}

TEST(ExamineTest, ReportsSayOfEveryLevelWhatItsCheckSays) {
  std::size_t told = 0;
  for (std::uint64_t seed = 1; seed <= 600 / kSlowdown; ++seed) {
    const History history = seed % 2 == 0
                                ? oracle::random_history(seed, oracle::repeating_shape(seed))
                                : oracle::ordinary_data(seed);
    if (history.txn_count() == 0) continue;
    for (const Level level : {Level::ReadAtomic, Level::SessionSi, Level::StrictSerializable}) {
      told += check(history, level)->outcome == Outcome::Violated ? 1 : 0;
      ASSERT_EQ(report_complaint(history, level), "") << "seed " << seed << " " << info(level).name;
    }
  }
  EXPECT_GT(told, 200 / kSlowdown);
}

// How small a story is, and among equals how bad.
using Size = std::pair<std::size_t, Pattern>;

Size size_of_best(const Explanation& explanation) {
  Size out(~std::size_t{0}, Pattern::Internal);
  for (const Story& story : explanation.stories) {
    out = std::min(out, Size(story.txns.size(), story.pattern));
  }
  return out;
}

Explanation explained(const History& history, Level level) {
  const auto verdict = check(history, level);
  EXPECT_TRUE(verdict.ok());
  return explain(history, *verdict);
}

// What docs/anomalies.md says of stories: of no level that is violated and not stronger there is a
// smaller one, or one that is as small and worse.
TEST(ExamineTest, NoStoryOfAnotherLevelIsSmaller) {
  std::size_t smaller_elsewhere = 0;
  for (std::uint64_t seed = 1; seed <= 400 / kSlowdown; ++seed) {
    const History history = oracle::random_history(seed, oracle::mixed_shape(seed));
    if (history.txn_count() == 0) continue;
    for (const Level level : {Level::SessionSi, Level::Si, Level::Serializable}) {
      const Examination out = examined(history, {.levels = {level}});
      if (out.explanations.empty()) continue;
      const Story& first = out.explanations[0].stories.at(0);
      const Size told(first.txns.size(), first.pattern);
      const Size own = size_of_best(explained(history, level));
      EXPECT_LE(told, own) << "seed " << seed;
      for (const LevelInfo& other : levels()) {
        if (!decidable(other.level, Evidence::Observed) || implies(other.level, level)) continue;
        // Without predicate reads this is serializable, which is stronger.
        if (other.level == Level::RepeatableRead && !history.has_predicate_reads()) continue;
        const Explanation explanation = explained(history, other.level);
        const Size size = size_of_best(explanation);
        if (explanation.stories.empty() || size >= told) continue;
        // It is smaller, so its transactions do not violate the level in such a way.
        EXPECT_FALSE(implies(level, other.level)) << "seed " << seed << ": " << other.name;
        for (const Story& story : explanation.stories) {
          if (Size(story.txns.size(), story.pattern) != size) continue;
          EXPECT_GE(size_of_best(explained(excerpt(history, story.txns), level)), told)
              << "seed " << seed << ": " << info(level).name << ", " << other.name;
          break;
        }
      }
      if (told < own) ++smaller_elsewhere;
    }
  }
  // Too rare for the few histories that there are with sanitizers.
  if (kSlowdown == 1) {
    EXPECT_GT(smaller_elsewhere, 10u) << "else this test shows nothing";
  }
}

// The first story of each explanation.
std::vector<std::string> first_stories(const History& history, const ExamineOptions& options) {
  std::vector<std::string> out;
  for (const Explanation& explanation : examined(history, options).explanations) {
    if (explanation.stories.empty()) continue;
    const Story& first = explanation.stories[0];
    out.push_back(std::string(info(explanation.level).name) + ": " + name(first) + '\n' +
                  oracle::to_string(counterexample(history, first)));
  }
  return out;
}

// Neither what is reported besides nor what is expected changes what is told first.
TEST(ExamineTest, TheFirstStoryIsTheSameWhateverElseIsAsked) {
  std::size_t told = 0;
  for (std::uint64_t seed = 1; seed <= 100 / kSlowdown; ++seed) {
    const History history = oracle::random_history(seed, oracle::mixed_shape(seed));
    if (history.txn_count() == 0) continue;
    const ExamineOptions usual{.levels = {Level::SessionSi, Level::Serializable, Level::Causal}};
    const auto first = first_stories(history, usual);
    ExamineOptions brief = usual;
    brief.other_levels = brief.reads_alone = false;
    EXPECT_EQ(first_stories(history, brief), first) << "seed " << seed;
    ExamineOptions expecting = usual;
    expecting.expectation = *parse_expectation("shows long-fork\nlacks write-skew\n");
    ExamineOptions all = usual;
    all.explain = ExamineOptions::Explain::AllLevels;
    for (const ExamineOptions& options : {expecting, all}) {
      auto more = first_stories(history, options);
      ASSERT_GE(more.size(), first.size()) << "seed " << seed;
      more.resize(first.size());
      EXPECT_EQ(more, first) << "seed " << seed;
    }
    told += first.size();
  }
  EXPECT_GT(told, kSlowdown == 1 ? 30u : 0u) << "else this test shows nothing";
}

TEST(ExamineTest, DoesNoMoreThanIsWanted) {
  const Examination out = examined(parse(kLostUpdate), {.levels = {Level::Si, Level::SessionSi},
                                                        .explain = ExamineOptions::Explain::Nothing,
                                                        .other_levels = false});
  EXPECT_THAT(out.verdicts, SizeIs(2));
  EXPECT_THAT(out.others, IsEmpty());
  EXPECT_THAT(out.explanations, IsEmpty());
}

TEST(ExamineTest, ExplainsTheWeakestLevelsOrAll) {
  ExamineOptions options{.levels = {Level::Si, Level::SessionSi, Level::Causal}};
  const Examination weakest = examined(parse(kLostUpdate), options);
  ASSERT_THAT(weakest.explanations, SizeIs(1));
  EXPECT_EQ(weakest.explanations[0].level, Level::Si);
  options.explain = ExamineOptions::Explain::AllLevels;
  EXPECT_THAT(examined(parse(kLostUpdate), options).explanations, SizeIs(2));
}

TEST(ExamineTest, AsksWhetherReadsAloneWouldDo) {
  // By their timestamps the read is stale; in another order it is not.
  const History history = parse(R"({"session":1,"start_ts":1,"commit_ts":2,"ops":[["w","x",1]]}
{"session":2,"start_ts":3,"commit_ts":4,"ops":[["r","x",null]]}
)");
  ExamineOptions options{.levels = {Level::Si}};
  options.check.evidence = Evidence::Timestamps;
  EXPECT_EQ(examined(history, options).observed, Outcome::Holds);
  options.reads_alone = false;
  EXPECT_EQ(examined(history, options).observed, std::nullopt);
}

TEST(ExamineTest, ExpectationsAreJudgedAndLookedFor) {
  ExamineOptions options{.levels = {Level::Serializable}};
  options.explain = ExamineOptions::Explain::Nothing;
  options.expectation = *parse_expectation("serializable violated\nshows lost-update\n");
  const Examination met = examined(parse(kLostUpdate), options);
  ASSERT_TRUE(met.met);
  EXPECT_EQ(outcome(met), Outcome::Holds) << met.met->complaints.at(0);
  options.expectation = *parse_expectation("serializable holds\nlacks lost-update\n");
  const Examination unmet = examined(parse(kLostUpdate), options);
  EXPECT_EQ(outcome(unmet), Outcome::Violated);
  EXPECT_THAT(unmet.met->complaints, SizeIs(2));
}

TEST(ExamineTest, WhoeverCancelsACourtesyGetsTheRest) {
  std::atomic<bool> cancelled{false};
  ExamineOptions options{.levels = {Level::Si}};
  options.check.cancelled = &cancelled;
  options.progress = [&](ExamineStage stage) { cancelled = stage == ExamineStage::OtherLevels; };
  const Examination out = examined(parse(kLostUpdate), options);
  EXPECT_EQ(outcome(out), Outcome::Violated);
  ASSERT_THAT(out.others, Not(IsEmpty()));
  std::size_t interrupted = 0;
  for (const Verdict& verdict : out.others) {
    if (verdict.outcome == Outcome::Violated) continue;  // The story says so.
    EXPECT_EQ(verdict.reason, "interrupted");
    ++interrupted;
  }
  EXPECT_GT(interrupted, 0u);
  ASSERT_THAT(out.explanations, SizeIs(1));
  EXPECT_TRUE(out.explanations[0].stories.at(0).minimal);
}

TEST(ExamineTest, WhoeverCancelsTheCheckGetsNothingElse) {
  std::atomic<bool> cancelled{true};
  ExamineOptions options{.levels = {Level::Si}};
  options.check.cancelled = &cancelled;
  const Examination out = examined(parse(kLostUpdate), options);
  EXPECT_EQ(outcome(out), Outcome::Undecided);
  EXPECT_EQ(out.verdicts[0].reason, "interrupted");
  EXPECT_THAT(out.others, IsEmpty());
}

// What nobody had the time to look for is neither there nor not there.
TEST(ExamineTest, TheTimeLimitIsForLookingToo) {
  ExamineOptions options{.levels = {Level::Serializable}};
  options.check.time_limit = std::chrono::milliseconds(300);
  options.expectation = *parse_expectation("lacks aborted-read\n");
  EXPECT_EQ(outcome(examined(parse(kLostUpdate), {.levels = {Level::Serializable},
                                                  .expectation = options.expectation})),
            Outcome::Holds);
  options.progress = [&](ExamineStage stage) {
    if (stage == ExamineStage::Looking) std::this_thread::sleep_for(options.check.time_limit);
  };
  EXPECT_EQ(outcome(examined(parse(kLostUpdate), options)), Outcome::Undecided);
}

TEST(ExamineTest, TheErrorIsThatOfTheCheck) {
  ExamineOptions options{.levels = {Level::Si}};
  options.check.evidence = Evidence::Timestamps;
  const auto out = examine(parse(kLostUpdate), options);
  ASSERT_FALSE(out.ok());
  EXPECT_THAT(out.error().what, HasSubstr("no timestamps"));
}

}  // namespace
}  // namespace ouro
