#include "db/journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ouro::db {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using End = Journal::End;

// Adds a transaction to `journal`; returns its token.
std::uint64_t add(Journal& journal, End end, std::int64_t start, std::int64_t commit,
                  std::vector<Journal::Write> writes, std::vector<std::uint32_t> asked = {}) {
  Journal::Txn& txn = journal.begin();
  txn.end = end;
  if (start > 0) txn.start = {start, 0};
  if (commit > 0) txn.commit = {commit, 0};
  txn.writes = std::move(writes);
  txn.asked = std::move(asked);
  return journal.token();
}

TEST(JournalTest, TokensFindTheirTransactions) {
  Journals journals;
  Journal& a = journals.add();
  Journal& b = journals.add();
  const std::uint64_t first = add(a, End::Committed, 1, 0, {});
  const std::uint64_t second = add(b, End::Aborted, 2, 0, {});
  const std::uint64_t third = add(a, End::Unknown, 3, 0, {});
  EXPECT_NE(first, 0u);
  EXPECT_EQ(journals.find(first).start.physical, 1);
  EXPECT_EQ(journals.find(second).start.physical, 2);
  EXPECT_EQ(journals.find(third).start.physical, 3);
}

// TiDB's pessimistic transactions read later than they began what they lock.
TEST(JournalTest, APredicateReadMayHaveATimeOfItsOwn) {
  Journals journals;
  Journal& a = journals.add();
  std::vector<std::uint64_t> tokens = {add(a, End::Committed, 1, 5, {{1, {10}}}),
                                       add(a, End::Committed, 2, 0, {}, {0, 0})};
  a.last().asked_at = {kNoTimestamp, {7, 0}};
  const Recovered recovered = journals.recover(tokens, Model::Rows);
  ASSERT_THAT(recovered.version_sets, SizeIs(2));
  EXPECT_THAT(recovered.version_sets[0].versions, IsEmpty());
  EXPECT_THAT(recovered.version_sets[1].versions, SizeIs(1));
}

TEST(JournalTest, VersionsAreInOrderOfCommitAndOnlyTheLastOfATransactionCounts) {
  Journals journals;
  Journal& a = journals.add();
  Journal& b = journals.add();
  std::vector<std::uint64_t> tokens = {
      add(a, End::Committed, 0, 7, {{1, {70}}, {2, {71}}, {1, {72}}}),
      add(b, End::Committed, 0, 3, {{1, {30}}, {2, {}, true}}),
      add(b, End::Aborted, 0, 0, {{1, {99}}}),
      add(b, End::Committed, 0, 9, {{1, {}, true}, {1, {90}}, {2, {91}}, {2, {}, true}})};
  Recovered recovered = journals.recover(tokens, Model::Registers);
  ASSERT_THAT(recovered.orders, SizeIs(2));
  EXPECT_EQ(recovered.orders[0].key, 1);
  EXPECT_TRUE(recovered.orders[0].complete);
  EXPECT_THAT(recovered.orders[0].numbers, ElementsAre(30, 72, 90));
  EXPECT_THAT(recovered.orders[1].numbers, ElementsAre(71));
  EXPECT_FALSE(recovered.orders[1].complete);  // The key was deleted.
  EXPECT_THAT(recovered.orders[0].rows, IsEmpty());
  EXPECT_THAT(recovered.notes, IsEmpty());
  // In a list, every append counts.
  recovered = journals.recover(std::span(tokens).first(2), Model::Lists);
  EXPECT_THAT(recovered.orders[0].numbers, ElementsAre(30, 70, 72));
}

TEST(JournalTest, AWriterWithoutAPlaceLeavesOrdersIncomplete) {
  Journals journals;
  Journal& a = journals.add();
  const std::vector<std::uint64_t> tokens = {add(a, End::Committed, 0, 7, {{1, {70}}}),
                                             add(a, End::Unknown, 0, 0, {{1, {80}}})};
  const Recovered recovered = journals.recover(tokens, Model::Registers);
  ASSERT_THAT(recovered.orders, SizeIs(1));
  EXPECT_FALSE(recovered.orders[0].complete);
  EXPECT_THAT(recovered.orders[0].numbers, ElementsAre(70));
  ASSERT_THAT(recovered.notes, SizeIs(1));
  EXPECT_THAT(recovered.notes[0], HasSubstr("the place of 1 transactions"));
}

std::string text(const Recovered::VersionSet& set) {
  std::string all;
  for (const KeyRow& row : set.versions) {
    all += std::to_string(row.key) + "=" + std::to_string(row.row[0]) + " ";
  }
  return all;
}

TEST(JournalTest, PredicateReadsSeeTheirSnapshotAndTheirOwnWrites) {
  Journals journals;
  Journal& a = journals.add();
  Journal& b = journals.add();
  const std::uint64_t reader = add(b, End::Committed, 5, 8, {{3, {300}}, {1, {}, true}}, {0, 1, 2});
  const std::vector<std::uint64_t> tokens = {
      add(a, End::Committed, 1, 2, {{1, {10}}, {2, {20}}}),
      reader,
      add(a, End::Committed, 3, 6, {{2, {21}}}),  // Too late for the reader.
      add(a, End::Committed, 7, 9, {{2, {}, true}}, {0}),
      add(b, End::Aborted, 9, 0, {}, {0}),
      add(b, End::Committed, 10, 0, {}, {0})};
  const Recovered recovered = journals.recover(tokens, Model::Rows);
  ASSERT_THAT(recovered.version_sets, SizeIs(5));
  EXPECT_EQ(recovered.version_sets[0].token, reader);
  EXPECT_EQ(recovered.version_sets[2].read, 2u);
  EXPECT_EQ(text(recovered.version_sets[0]), "1=10 2=20 ");
  EXPECT_EQ(text(recovered.version_sets[1]), "1=10 2=20 3=300 ");
  EXPECT_EQ(text(recovered.version_sets[2]), "2=20 3=300 ");
  EXPECT_EQ(text(recovered.version_sets[3]), "1=10 2=21 ");
  EXPECT_EQ(text(recovered.version_sets[4]), "3=300 ");
  ASSERT_THAT(recovered.orders, SizeIs(3));
  EXPECT_THAT(recovered.orders[1].rows, ElementsAre(Row{20}, Row{21}));
  EXPECT_THAT(journals.recover(tokens, Model::Registers).version_sets, IsEmpty());
}

}  // namespace
}  // namespace ouro::db
