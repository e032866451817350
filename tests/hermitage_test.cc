// `ouro hermitage`: scripts, tables of the embedded databases, and that nothing is called prevented
// that merely went wrong. Tables of servers are in live_hermitage_test.cc.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <set>

#include "db/built_in.h"
#include "ouro/ouro.h"
#include "run/script.h"
#include "tests/hermitage_facts.h"
#include "tests/run_program.h"
#include "tests/this_build.h"

namespace ouro {
namespace {

namespace fs = std::filesystem;
using running::Act;
using testing::HasSubstr;
using testing::IsEmpty;

// Every client begins once, first of all, ends once, last of all, and writes numbers of its own.
TEST(HermitageTest, ScriptsAreWholeTransactions) {
  for (const HermitageTest& test : hermitage_tests()) {
    for (const std::string_view text : {test.rows, test.keys}) {
      std::map<std::size_t, std::vector<Act>> acts;
      std::set<std::pair<db::Key, db::Number>> written{{0, 10}, {1, 20}};
      for (const running::ScriptStep& step : running::parse_script(text)) {
        acts[step.client].push_back(step.act);
        if (step.act != Act::Write) continue;
        EXPECT_TRUE(written.emplace(step.key, step.low).second) << test.name;
      }
      for (const auto& [client, did] : acts) {
        EXPECT_EQ(did.front(), Act::Begin) << test.name;
        EXPECT_EQ(std::count(did.begin(), did.end(), Act::Begin), 1) << test.name;
        EXPECT_TRUE(did.back() == Act::Commit || did.back() == Act::Abort) << test.name;
      }
    }
    EXPECT_FALSE(test.rows.empty() && test.keys.empty()) << test.name;
  }
}

TEST(HermitageTest, StepsReadAsTheyAreWritten) {
  const auto steps = running::parse_script("2 b, 1 w x 11, 1 scan z u, 2 sel 30 39, 2 c, 1 a");
  ASSERT_EQ(steps.size(), 7u);  // T1 begins, though the script does not say so.
  EXPECT_EQ(steps[0].act, Act::Begin);
  EXPECT_EQ(steps[0].client, 0u);
  EXPECT_EQ(steps[1].client, 1u);
  EXPECT_EQ(text_of(steps[1]), "begin");
  EXPECT_EQ(text_of(steps[2]), "w x 11");
  EXPECT_EQ(text_of(steps[3]), "scan z u");
  EXPECT_EQ(text_of(steps[4]), "sel 30 39");
  EXPECT_EQ(text_of(steps[6]), "a");
}

// The simulated store keeps its level and is as weak as that allows where transactions overlap.
TEST(HermitageTest, TheSimulatedStoreKeepsEveryLevelThatItPromises) {
  for (const LevelInfo& level : levels()) {
    const auto report = hermitage({.url = fmt::format("sim:{}", level.name)});
    if (!report.ok()) {
      EXPECT_THAT(report.error().what, HasSubstr("no simulated store keeps"));
      continue;
    }
    ASSERT_EQ(report->rows.size(), 1u);
    EXPECT_FALSE(report->rows[0].broken()) << describe(*report);
    for (std::size_t i = 0; i < report->tests.size(); ++i) {
      if (implies(level.level, report->tests[i].level)) {
        EXPECT_NE(report->rows[0].cells[i].outcome, HermitageOutcome::Occurs)
            << level.name << ", " << report->tests[i].name;
      }
      EXPECT_NE(report->rows[0].cells[i].outcome, HermitageOutcome::Unclear);
    }
  }
}

TEST(HermitageTest, ASimulatedSnapshotAllowsSkewsOnly) {
  EXPECT_EQ(occurring({.url = "sim:si"}), (Table{{"", "G2-item G2 G2-three"}}));
}

TEST(HermitageTest, RocksDb) {
  if (!db::kWithRocksdb) GTEST_SKIP() << "built without OURO_WITH_ROCKSDB";
  EXPECT_EQ(occurring({.url = "rocksdb:"}),
            (Table{{"mode=pessimistic", "G2-item G2 G2-three"},
                   {"mode=pessimistic&snapshot=off",
                    "PMP P4 G-single G2-item G2 PMP-write P4-delete G-single-pred G-single-write "
                    "G2-three"},
                   {"mode=optimistic", "G2-item G2 G2-three"},
                   {"mode=optimistic&snapshot=off",
                    "PMP G-single G2-item G2 G-single-pred G-single-write G2-three"}}));
}

TEST(HermitageTest, WiredTiger) {
  if (!db::kWithWiredtiger) GTEST_SKIP() << "built without OURO_WITH_WIREDTIGER";
  const char* weak =
      "PMP P4 G-single G2-item G2 PMP-write P4-delete G-single-pred G-single-write G2-three";
  Table table = occurring({.url = "wiredtiger:"});
  EXPECT_EQ(table["isolation=snapshot"], "G2-item G2 G2-three");
  EXPECT_EQ(table["isolation=read-committed"], weak);
  EXPECT_THAT(table["isolation=read-uncommitted"], HasSubstr("G1a G1b G1c OTV PMP P4"));
}

TEST(HermitageTest, SqliteIsSerializableUnlessItReadsUncommittedData) {
  if (!db::kWithSqlite) GTEST_SKIP() << "built without OURO_WITH_SQLITE";
  Table table = occurring({.url = "sqlite:"});
  EXPECT_EQ(table["mode=wal"], "");
  EXPECT_EQ(table["mode=rollback"], "");
  EXPECT_EQ(table["mode=shared"], "");
  EXPECT_THAT(table["mode=shared&read_uncommitted=on"], HasSubstr("G1a G1b"));
}

TEST(HermitageTest, AUrlThatNamesALevelIsTakenAtItsWord) {
  if (!db::kWithRocksdb || !db::kWithWiredtiger) GTEST_SKIP() << "built without a driver";
  EXPECT_EQ(occurring({.url = "rocksdb:?snapshot=off", .only = {"PMP"}}), (Table{{"", "PMP"}}));
  EXPECT_EQ(occurring({.url = "wiredtiger:", .isolation = "read-committed", .only = {"PMP", "G0"}}),
            (Table{{"", "PMP"}}));
}

TEST(HermitageTest, AStepThatWaitsIsLeftAloneWhileTheOthersGoOn) {
  if (!db::kWithRocksdb) GTEST_SKIP() << "built without OURO_WITH_ROCKSDB";
  const auto report = hermitage({.url = "rocksdb:?snapshot=off", .only = {"P4"}});
  ASSERT_TRUE(report.ok()) << report.error().to_string();
  const HermitageCell& cell = report->rows[0].cells[0];
  EXPECT_TRUE(cell.waited);
  std::string steps;
  for (const HermitageStep& step : cell.steps) {
    steps += fmt::format("{} {}{}\n", step.client, step.what, step.waited ? " (waits)" : "");
  }
  EXPECT_EQ(steps,
            "T1 begin\nT2 begin\nT1 r x\nT2 r x\nT1 w x 11\nT2 w x 12 (waits)\nT1 c\nT2 c\n");
}

TEST(HermitageTest, ADriverThatAnswersUnknownIsUnclearAndNeverPrevented) {
  const std::string driver = "exec:/usr/bin/python3 " OURO_SOURCE_DIR
                             "/tests/data/bad_driver.py unknown commit 4 --threads";
  const auto report = hermitage({.url = driver, .only = {"P4"}});
  ASSERT_TRUE(report.ok()) << report.error().to_string();
  const HermitageCell& cell = report->rows[0].cells[0];
  EXPECT_EQ(cell.outcome, HermitageOutcome::Unclear) << describe_steps(*report);
  EXPECT_FALSE(cell.reason.empty());
  EXPECT_THAT(describe(*report), HasSubstr("? unclear"));
}

TEST(HermitageTest, WhatADatabaseCannotDoIsSaid) {
  const auto report = hermitage({.url = "sim:si", .only = {"PMP-write", "P4-delete"}});
  ASSERT_TRUE(report.ok());
  for (const HermitageCell& cell : report->rows[0].cells) {
    EXPECT_EQ(cell.outcome, HermitageOutcome::Impossible);
  }
  EXPECT_THAT(describe(*report), HasSubstr("· the driver has no such operations"));
}

TEST(HermitageTest, WrongWordsAreNamed) {
  const auto no_test = hermitage({.url = "sim:si", .only = {"P5"}});
  ASSERT_FALSE(no_test.ok());
  EXPECT_THAT(no_test.error().what, HasSubstr("no test 'P5'; there are: G0, G1a"));
  const auto both = hermitage({.url = "sim:si", .start = "postgres"});
  ASSERT_FALSE(both.ok());
  EXPECT_THAT(both.error().what, HasSubstr("not both"));
}

TEST(HermitageTest, TheCommandKeepsHistoriesThatSayTheSameAsTheTable) {
  if (!db::kWithWiredtiger) GTEST_SKIP() << "built without OURO_WITH_WIREDTIGER";
  const fs::path folder =
      fs::path(testing::TempDir()) / fmt::format("ouro-hermitage-test-{}", ::getpid());
  const Ran ran = run_program({kOuroBinary, "hermitage", "wiredtiger:", "--json", "--keep",
                               folder.string(), "--only", "G1a,P4,G2"});
  EXPECT_EQ(ran.status, 1) << ran.err;  // Read uncommitted reads what is aborted.
  simdjson::dom::parser parser;
  const simdjson::dom::element report = parser.parse(ran.out);
  int seen = 0;
  for (const simdjson::dom::element row : report["rows"].get_array()) {
    for (const simdjson::dom::element cell : row["cells"].get_array()) {
      ++seen;
      std::string test(cell["test"].get_string().value());
      for (char& c : test) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
      const std::string path = fmt::format("{}/{}-{}.jsonl", folder.string(),
                                           row["isolation"].get_string().value(), test);
      const auto history = read_history(path);
      ASSERT_TRUE(history.ok()) << history.error().to_string();
      const auto verdict = check(*history, *find_level(cell["level"].get_string().value()));
      ASSERT_TRUE(verdict.ok());
      EXPECT_EQ(verdict->outcome == Outcome::Violated,
                cell["outcome"].get_string().value() == "occurs")
          << path;
    }
  }
  EXPECT_EQ(seen, 9);
  fs::remove_all(folder);
}

TEST(HermitageTest, TheCommandPrintsTextAndMarkdown) {
  if (!db::kWithWiredtiger) GTEST_SKIP() << "built without OURO_WITH_WIREDTIGER";
  const Ran text = run_program(
      {kOuroBinary, "hermitage", "wiredtiger:?isolation=snapshot", "--steps", "--only", "P4"});
  EXPECT_EQ(text.status, 0);
  EXPECT_THAT(text.out, HasSubstr("  snapshot  ✓a\n"));
  EXPECT_THAT(text.out, HasSubstr("  T2  w x 12      refused: conflict\n"));
  const Ran markdown = run_program({kOuroBinary, "hermitage", "sim:si", "--markdown"});
  EXPECT_THAT(markdown.out, HasSubstr("| simulated si store | G0 | G1a |"));
  EXPECT_THAT(markdown.out, HasSubstr("| — | — | si: kept |"));
  EXPECT_EQ(run_program({kOuroBinary, "hermitage", "nonsense:"}).status, 254);
}

}  // namespace
}  // namespace ouro
