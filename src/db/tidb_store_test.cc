#include "db/tidb_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace ouro::db {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using End = Journal::End;

constexpr std::string_view kValue[] = {"v"};

// As TiDB 8.0 answers: the newest version first. A lock that wrote nothing, a delete, a rollback.
constexpr char kAnswer[] = R"({
  "data": {"100": {"v": "7"}, "300": {"v": "12"}},
  "info": {"writes": [
    {"commit_ts": 510, "start_ts": 500, "type": 2},
    {"commit_ts": 410, "start_ts": 400, "type": 1},
    {"commit_ts": 310, "short_value": "gAABAAAAAgEADA==", "start_ts": 300},
    {"commit_ts": 200, "start_ts": 200, "type": 3},
    {"commit_ts": 110, "short_value": "gAABAAAAAgEABw==", "start_ts": 100}]},
  "key": "7480000000000000685F728000000000000001"})";

std::uint64_t keep(Journal& journal, End end, std::int64_t start, std::int64_t commit,
                   std::vector<Journal::Write> writes) {
  Journal::Txn& txn = journal.begin();
  txn.end = end;
  txn.start = {start, 0};
  if (commit > 0) txn.commit = {commit, 0};
  txn.writes = std::move(writes);
  return journal.token();
}

Result<StoredSettlement> settle(Journals& journals, const std::map<Key, std::string>& answers) {
  return settle_by_store([&](Key key) -> Result<std::string> { return answers.at(key); },
                         Model::Registers, journals);
}

TEST(TidbStoreTest, VersionsAreReadWithTheirTimes) {
  const auto row = read_stored_row(kAnswer, kValue);
  ASSERT_TRUE(row.ok()) << row.error().what;
  ASSERT_EQ(row->versions.size(), 3u);
  EXPECT_TRUE(row->versions[0].removed);
  EXPECT_THAT(row->versions[0].columns, IsEmpty());
  EXPECT_EQ(row->versions[1].start, 300);
  EXPECT_EQ(row->versions[1].commit, 310);
  EXPECT_THAT(row->versions[1].columns, ElementsAre("12"));
  EXPECT_THAT(row->versions[2].columns, ElementsAre("7"));
  EXPECT_THAT(row->rolled_back, ElementsAre(200));
}

// So it answers if no version has a value.
TEST(TidbStoreTest, AnAnswerThatIsNotDecodedIsReadToo) {
  const auto row = read_stored_row(
      R"({"key":"74","region_id":6,"value":{"info":{"writes":[{"type":1,"start_ts":4,"commit_ts":5}]}}})",
      kValue);
  ASSERT_TRUE(row.ok());
  ASSERT_EQ(row->versions.size(), 1u);
  EXPECT_EQ(row->versions[0].commit, 5);
  EXPECT_THAT(read_stored_row(R"({"key":"74","region_id":6,"value":{}})", kValue)->versions,
              IsEmpty());
}

TEST(TidbStoreTest, WhatIsNoAnswerIsAnError) {
  EXPECT_FALSE(read_stored_row("not found", kValue).ok());
  EXPECT_FALSE(read_stored_row("[]", kValue).ok());
  const auto half = read_stored_row(R"({"info":{"writes":[{"start_ts":4}]}})", kValue);
  ASSERT_FALSE(half.ok());
  EXPECT_THAT(half.error().what, HasSubstr("no \"commit_ts\""));
}

TEST(TidbStoreTest, TheStoreSaysHowUnansweredCommitsEnded) {
  Journals journals;
  Journal& journal = journals.add();
  const std::vector<std::uint64_t> tokens = {keep(journal, End::Committed, 100, 110, {{1, {7}}}),
                                             keep(journal, End::Unknown, 200, 0, {{1, {8}}}),
                                             keep(journal, End::Unknown, 300, 0, {{1, {12}}}),
                                             keep(journal, End::Committed, 400, 0, {{1, {}, true}}),
                                             keep(journal, End::Unknown, 600, 0, {{1, {13}}})};
  const auto settled = settle(journals, {{1, kAnswer}});
  ASSERT_TRUE(settled.ok());
  EXPECT_THAT(settled->unexplained, IsEmpty());
  EXPECT_THAT(
      settled->notes,
      ElementsAre("the store knows how 2 transactions ended whose commits were not answered"));
  EXPECT_EQ(journals.find(tokens[1]).end, End::Aborted);
  EXPECT_EQ(journals.find(tokens[2]).end, End::Committed);
  EXPECT_EQ(journals.find(tokens[2]).commit.physical, 310);
  EXPECT_EQ(journals.find(tokens[3]).commit.physical, 410) << "the session was not told";
  EXPECT_EQ(journals.find(tokens[4]).end, End::Unknown) << "the store has no trace of it";
  const Recovered recovered = journals.recover(tokens, Model::Registers);
  ASSERT_EQ(recovered.orders.size(), 1u);
  EXPECT_THAT(recovered.orders[0].numbers, ElementsAre(7, 12));
}

TEST(TidbStoreTest, WhatDoesNotFitIsTold) {
  Journals journals;
  Journal& journal = journals.add();
  keep(journal, End::Committed, 100, 111, {{1, {7}}});
  keep(journal, End::Aborted, 300, 0, {{1, {12}}});
  keep(journal, End::Committed, 700, 710, {{2, {5}}});
  keep(journal, End::Committed, 800, 810, {{2, {9}}, {1, {9}}, {1, {}, true}});
  const auto settled = settle(journals, {{1, kAnswer}, {2, R"({"data":{"700":{"v":"6"}},
                         "info":{"writes":[{"commit_ts":710,"start_ts":700}]}})"}});
  ASSERT_TRUE(settled.ok());
  EXPECT_THAT(settled->unexplained, ElementsAre(1));
  EXPECT_THAT(settled->notes,
              ElementsAre("the store has 1 versions no more that committed transactions wrote (it "
                          "forgets them after tidb_gc_life_time)",
                          "the store has 1 versions that nobody is known to have written",
                          "the store has 1 versions of transactions that were rolled back",
                          "of 1 versions the store has another commit_ts than the session was told",
                          "of 1 versions the store has another value than was written"));
}

TEST(TidbStoreTest, AnErrorOfThePortIsPassedOn) {
  Journals journals;
  keep(journals.add(), End::Committed, 100, 110, {{1, {7}}});
  const auto settled = settle_by_store(
      [](Key) -> Result<std::string> { return Error{.what = "404"}; }, Model::Lists, journals);
  ASSERT_FALSE(settled.ok());
  EXPECT_EQ(settled.error().what, "404");
}

}  // namespace
}  // namespace ouro::db
