// Clients' clocks, of any size and with any drift: every engine, the stream, the explanations and
// the certifier judge them alike, and no transaction may complete before it is invoked.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>
#include <vector>

#include "ouro/certificate.h"
#include "ouro/check.h"
#include "ouro/explain.h"
#include "ouro/format.h"
#include "ouro/history_builder.h"
#include "tests/case_file.h"
#include "tests/oracle.h"
#include "tests/run_program.h"
#include "tests/stream_trial.h"
#include "tests/this_build.h"
#include "tests/timeline_oracle.h"

namespace ouro::oracle {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr Level kLevels[] = {Level::Gsi, Level::StrongSi, Level::StrictSerializable};

// Whether clients recorded when begins were answered and commits asked for.
enum class InnerClocks { None, Some };

// Four transactions of two keys, whose clocks begin at `from` and are `step` apart; those of the
// database are at random.
History random_history(std::uint64_t seed, std::int64_t from, std::int64_t step,
                       InnerClocks inner = InnerClocks::None) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t limit) {
    return static_cast<std::int64_t>(random() % limit);
  };
  HistoryBuilder b;
  b.default_initial(Value::small(0));
  std::int64_t written = 0;
  for (std::int64_t t = 0; t < 4; ++t) {
    b.begin_txn(b.session(below(3)));
    const std::int64_t invoked = from + step * (t + below(2));
    if (inner == InnerClocks::None) {
      b.clocks(invoked, invoked + step * below(2));
    } else {
      const std::int64_t began = invoked + step * below(2);
      const std::int64_t committing = began + step * below(3);
      b.clocks(below(8) == 0 ? kNoClock : invoked,
               below(8) == 0 ? kNoClock : committing + step * below(2));
      b.inner_clocks(below(4) == 0 ? kNoClock : began, below(4) == 0 ? kNoClock : committing);
    }
    const std::int64_t commit = 10 * (below(2) == 0 ? t : below(4)) + t + 5;
    b.timestamps({commit - below(12), 0}, {commit, 0});
    for (std::int64_t op = 0; op < 2; ++op) {
      const KeyId key = b.key(below(2));
      if (below(2) == 0) {
        b.write(key, b.integer(++written));
      } else {
        b.read(key, b.integer(below(static_cast<std::uint64_t>(written) + 1)));
      }
    }
  }
  return *std::move(b).freeze();
}

// What is wrong with one verdict, or "".
std::string complaint(const History& history, Level level, Evidence evidence, std::int64_t drift) {
  CheckOptions options;
  options.evidence = evidence;
  options.clock_drift = drift;
  const auto verdict = check(history, level, options);
  if (!verdict.ok()) return verdict.error().to_string();
  const bool allowed = evidence == Evidence::Timestamps
                           ? TimestampOracle(history, level, drift).counts().empty()
                           : oracle::allowed(history, level, {drift, evidence});
  if (verdict->outcome != (allowed ? Outcome::Holds : Outcome::Violated)) return "another verdict";
  for (const Anomaly& anomaly : verdict->anomalies) {
    for (const Edge& edge : anomaly.edges) {
      const bool there = edge.kind == EdgeKind::RealTime
                             ? precedes_in_time(history, edge.from, edge.to, drift)
                         : edge.kind == EdgeKind::CommitTime
                             ? commits_first_in_time(history, edge.from, edge.to, drift)
                         : edge.kind == EdgeKind::BeginTime
                             ? begins_first_in_time(history, edge.from, edge.to, drift)
                             : true;
      if (!there) return "an edge that is not there";
    }
  }
  const auto rechecked = certify(history, make_certificate(history, *verdict, drift));
  if (!rechecked.ok()) return rechecked.error().to_string();
  return rechecked->accepted ? "" : "certify: " + rechecked->reason;
}

struct Clocks {
  std::int64_t from;
  std::int64_t step;
  std::vector<std::int64_t> drifts;
};
const Clocks kClocks[] = {
    {-kMost, 10, {0, 10, 25, kMost / 9, kMost}},
    {-9'000'000'000'000'000'000, 10, {0, 15, 1'000'000'000'000'000'000}},
    {0, 10, {0, 15, kMost}},
    {kMost - 80, 10, {0, 15, kMost / 2, kMost}},
    {-kMost, kMost / 3, {0, kMost / 3, kMost / 2, kMost}},
};

TEST(RealTimeTest, EveryEngineTakesClocksAndDriftsOfAnySize) {
  for (const Clocks& clocks : kClocks) {
    for (const std::int64_t drift : clocks.drifts) {
      for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        const History history = random_history(seed, clocks.from, clocks.step);
        for (const Level level : kLevels) {
          for (const Evidence evidence :
               {Evidence::Observed, Evidence::Versions, Evidence::Timestamps}) {
            if (evidence == Evidence::Versions && !check(history, level, {.evidence = evidence})) {
              continue;  // Equal timestamps of two writers of a key are no order.
            }
            ASSERT_EQ(complaint(history, level, evidence, drift), "")
                << "seed " << seed << ", clocks from " << clocks.from << ", drift " << drift << ", "
                << info(level).name << " by " << name(evidence) << "\n"
                << to_string(history);
          }
        }
      }
    }
  }
}

TEST(RealTimeTest, TheStreamTakesThemToo) {
  for (const Clocks& clocks : kClocks) {
    for (const std::int64_t drift : clocks.drifts) {
      for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const History history = random_history(seed, clocks.from, clocks.step);
        const Trial trial = random_trial(history, seed, {});
        for (const Level level : kLevels) {
          StreamOptions options;
          options.level = level;
          options.clock_drift = drift;
          options.timeout = std::chrono::milliseconds(2);
          ASSERT_EQ(complaint(trial, options), "")
              << "seed " << seed << ", clocks from " << clocks.from << ", drift " << drift << ", "
              << info(level).name << "\n"
              << to_string(history);
        }
      }
    }
  }
}

// ---- when begins were answered and commits asked for ----

constexpr Level kAllTimed[] = {Level::Gsi, Level::PrefixConsistentSi, Level::StrongSi,
                               Level::StrictSerializable};

TEST(RealTimeTest, EveryEngineTakesClocksOfBeginsAndCommits) {
  std::size_t told_apart = 0;
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    const History history = random_history(seed, 0, 10, InnerClocks::Some);
    for (const std::int64_t drift : {0, 10}) {
      for (const Level level : kAllTimed) {
        for (const Evidence evidence :
             {Evidence::Observed, Evidence::Versions, Evidence::Timestamps}) {
          if (evidence == Evidence::Versions && !check(history, level, {.evidence = evidence})) {
            continue;
          }
          ASSERT_EQ(complaint(history, level, evidence, drift), "")
              << "seed " << seed << ", drift " << drift << ", " << info(level).name << " by "
              << name(evidence) << "\n"
              << to_string(history);
        }
      }
    }
    const auto serial = check(history, Level::StrictSerializable);
    const auto snapshots = check(history, Level::Gsi);
    told_apart += serial->outcome == Outcome::Holds && snapshots->outcome == Outcome::Violated;
  }
  EXPECT_GT(told_apart, 0U);  // Serial, but not in snapshots of when they began.
}

TEST(RealTimeTest, SeveralLevelsAtOnceAgreeWithEachAlone) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const History history = random_history(seed, 0, 10, InnerClocks::Some);
    for (const bool outcomes_only : {false, true}) {
      CheckOptions options;
      options.outcomes_only = outcomes_only;
      const auto together = check(history, kAllTimed, options);
      ASSERT_TRUE(together.ok());
      for (const Verdict& verdict : *together) {
        ASSERT_EQ(verdict.outcome, check(history, verdict.level)->outcome)
            << "seed " << seed << ", " << info(verdict.level).name << "\n"
            << to_string(history);
      }
    }
  }
}

TEST(RealTimeTest, TheStreamTakesClocksOfBeginsAndCommits) {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    const History history = random_history(seed, 0, 10, InnerClocks::Some);
    const Trial trial = random_trial(history, seed, {});
    for (const Level level : kAllTimed) {
      StreamOptions options;
      options.level = level;
      options.clock_drift = seed % 2 == 0 ? 0 : 10;
      options.timeout = std::chrono::milliseconds(2);
      ASSERT_EQ(complaint(trial, options), "")
          << "seed " << seed << ", " << info(level).name << "\n"
          << to_string(history);
    }
  }
}

TEST(RealTimeTest, ClocksOfBeginsAndCommitsSurviveTheirFormats) {
  const History history = random_history(7, 0, 10, InnerClocks::Some);
  for (const Format format : {Format::Native, Format::NativeBinary}) {
    std::string bytes;
    ASSERT_TRUE(print_history(history, format, bytes).ok());
    const auto again = parse_history(bytes, {.format = format});
    ASSERT_TRUE(again.ok());
    ASSERT_TRUE(history.has_inner_clocks());
    for (std::size_t t = 0; t < history.txn_count(); ++t) {
      EXPECT_EQ(again->began(TxnId{t}), history.began(TxnId{t}));
      EXPECT_EQ(again->committing(TxnId{t}), history.committing(TxnId{t}));
    }
  }
}

// Once -9·10^18 - 10^18 overflowed to a large number, and every transaction preceded itself.
TEST(RealTimeTest, NobodyPrecedesItself) {
  const std::string text =
      R"({"session":"a","invoked":-9000000000000000000,"completed":-8999999999999999990,)"
      R"("ops":[["w","x",1]]})"
      "\n"
      R"({"session":"b","invoked":-8999999999999999980,"completed":-8999999999999999970,)"
      R"("ops":[["r","x",1]]})"
      "\n"
      R"({"session":"c","invoked":-8999999999999999960,"completed":-8999999999999999950,)"
      R"("ops":[["r","x",null]]})"
      "\n";
  const History history = *parse_history(text);
  CheckOptions options;
  EXPECT_EQ(check(history, Level::StrictSerializable, options)->outcome, Outcome::Violated);
  options.clock_drift = 1'000'000'000'000'000'000;
  EXPECT_EQ(check(history, Level::StrictSerializable, options)->outcome, Outcome::Holds);
  ExplainOptions how;
  how.clock_drift = options.clock_drift;
  const auto answer = precedence(history, TxnId{1}, TxnId{2}, Level::StrictSerializable, how);
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->answer, Precedence::Answer::Open);
}

// ---- transactions that complete before they are invoked ----

std::string error_of(std::string_view text, Format format = Format::Detect) {
  const auto history = parse_history(text, {.format = format}, "h");
  return history.ok() ? "" : history.error().to_string();
}

TEST(InvertedClocksTest, AreErrorsOfTheInputInEveryFormatWithClocks) {
  const std::string good = R"({"session":"a","invoked":5,"completed":5,"ops":[]})";
  const std::string bad = R"({"session":"a","invoked":15,"completed":14,"ops":[]})";
  const std::string what =
      "the transaction completed at 14, before it was invoked at 15; correct its clocks, or leave "
      "one out";
  EXPECT_EQ(error_of(good + "\n"), "");
  EXPECT_EQ(error_of(good + "\n" + bad + "\n"), "h:2: " + what);
  EXPECT_EQ(error_of("{:process 0, :type :invoke, :f :txn, :value [[:w 1 1]], :time 15}\n"
                     "{:process 0, :type :ok, :f :txn, :value [[:w 1 1]], :time 14}\n"),
            "h:2: " + what);
  EXPECT_EQ(error_of("{\"process\":0,\"type\":\"invoke\",\"f\":\"txn\",\"value\":[[\"w\",1,1]],"
                     "\"time\":15}\n{\"process\":0,\"type\":\"ok\",\"f\":\"txn\",\"value\":"
                     "[[\"w\",1,1]],\"time\":14}\n",
                     Format::JepsenJson),
            "h:2: " + what);
}

TEST(InvertedClocksTest, ABinaryFileWithThemIsRefused) {
  const History history =
      *parse_history(R"({"session":"a","invoked":14,"completed":15,"ops":[["w",1,1]]})"
                     "\n");
  std::string bytes;
  ASSERT_TRUE(print_history(history, Format::NativeBinary, bytes).ok());
  const auto eight = [](std::int64_t number) {
    return std::string(reinterpret_cast<const char*>(&number), sizeof(number));
  };
  const std::size_t at = bytes.find(eight(14));
  ASSERT_NE(at, bytes.npos);
  ASSERT_EQ(error_of(bytes), "");
  bytes.replace(at, 8, eight(16));
  EXPECT_EQ(error_of(bytes),
            "h: transaction 0 completed at 15, before it was invoked at 16; the file is damaged, "
            "convert it again");
}

TEST(InvertedClocksTest, ABuilderSaysWhere) {
  HistoryBuilder b;
  b.begin_txn(b.session("a"));
  b.clocks(2, 1);
  EXPECT_THAT((std::move(b).freeze()).error().to_string(), HasSubstr("completed at 1, before"));
}

TEST(InvertedClocksTest, OneClockAloneIsNoMistake) {
  EXPECT_EQ(error_of(R"({"session":"a","invoked":15,"ops":[]})"
                     "\n"
                     R"({"session":"a","completed":14,"ops":[]})"
                     "\n"),
            "");
}

// ---- the command line ----

TEST(ClockDriftFlagTest, IsAWholeNumberFromZeroUp) {
  for (const std::string drift : {"-1", "1.5", "1e3", "9223372036854775808", "", "x"}) {
    for (const std::string command : {"check", "explain", "serve"}) {
      const Ran ran = run_program({kOuroBinary, command, "--clock-drift=" + drift, "none.jsonl"});
      EXPECT_EQ(ran.status, 254) << command << " " << drift;
      EXPECT_THAT(ran.err, HasSubstr("--clock-drift")) << command << " " << drift;
    }
  }
  const Ran most = run_program({kOuroBinary, "check", "--clock-drift", "9223372036854775807",
                                std::string(OURO_SOURCE_DIR) + "/tests/data/demo/bank.jsonl"});
  EXPECT_EQ(most.status, 0) << most.err;
}

TEST(RealTimeTest, ClocksThatGoBackAreRefused) {
  const auto error = [](const std::string& clocks) {
    return error_of(R"({"session":"a",)" + clocks +
                    R"("ops":[]})"
                    "\n");
  };
  EXPECT_THAT(error(R"("invoked":5,"began":4,)"),
              HasSubstr("began at 4, before it was invoked at 5"));
  EXPECT_THAT(error(R"("began":5,"committing":4,)"),
              HasSubstr("asked for its commit at 4, before it began at 5"));
  EXPECT_THAT(error(R"("committing":5,"completed":4,)"),
              HasSubstr("completed at 4, before it asked for its commit at 5"));
  EXPECT_THAT(error(R"("began":5,"completed":4,)"),
              HasSubstr("completed at 4, before it began at 5"));
  EXPECT_EQ(error(R"("invoked":5,"began":5,"committing":5,"completed":5,)"), "");
}

}  // namespace
}  // namespace ouro::oracle
