// Commit orders by hand, and what keeps them from satisfying the axioms of the weak levels.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "certify/orders.h"
#include "tests/case_file.h"

namespace ouro::recheck {
namespace {

using ::testing::HasSubstr;

// What is said of a commit order, "213": T2, T1, T3.
std::string commit_order(std::string_view text, Level level, std::string_view order,
                         Evidence evidence = Evidence::Observed) {
  const History history = oracle::history_of(text);
  const auto reading = Reading::of(history, evidence);
  if (!reading.ok()) return reading.error().what;
  std::vector<TxnId> txns;
  for (const char c : order) txns.push_back(TxnId{static_cast<std::size_t>(c - '1')});
  const PredicateReads predicates(*reading, PredicateReads::Seeing::Start, {}, txns);
  return check_commit_order(*reading, predicates, level, txns);
}

constexpr Level kAllAxioms[] = {Level::ReadCommitted, Level::ReadAtomic, Level::Causal,
                                Level::ParallelSi};

TEST(WeakCommitOrderTest, HasEverybodyWhoCountsOnceInTheOrderOfSessionsAndReads) {
  const char* const text = "T1 @a: w x 1\nT2 @a: w y 2\nT3 @b: r y 2\nT4 aborted: w z 1\n";
  for (const Level level : kAllAxioms) {
    EXPECT_EQ(commit_order(text, level, "123"), "");
    EXPECT_THAT(commit_order(text, level, "12"), HasSubstr("leaves out"));
    EXPECT_THAT(commit_order(text, level, "1223"), HasSubstr("transaction 2 commits twice"));
    EXPECT_THAT(commit_order(text, level, "1234"), HasSubstr("does not count"));
    EXPECT_THAT(commit_order(text, level, "129"), HasSubstr("does not have"));
    EXPECT_THAT(commit_order(text, level, "213"), HasSubstr("transaction 1 of its session"));
    EXPECT_THAT(commit_order(text, level, "132"), HasSubstr("which it read from"));
  }
  EXPECT_EQ(commit_order("", Level::Causal, ""), "");
}

// T3 sees T2's y, then T1's x. T2 wrote x, too.
TEST(WeakCommitOrderTest, AtReadCommittedWhatEarlierReadsSawIsKnown) {
  const std::string writers = "T1: w x 1\nT2: w x 2, w y 2\n";
  const std::string forward = writers + "T3: r y 2, r x 1\n";
  EXPECT_EQ(commit_order(forward, Level::ReadCommitted, "213"), "");
  EXPECT_EQ(commit_order(forward, Level::ReadCommitted, "123"),
            "transaction 3 reads x from before transaction 2, which it knew of");
  const std::string backward = writers + "T3: r x 1, r y 2\n";
  EXPECT_EQ(commit_order(backward, Level::ReadCommitted, "123"), "") << "it did not know yet";
  EXPECT_NE(commit_order(backward, Level::ReadAtomic, "123"), "");
  EXPECT_EQ(commit_order(backward, Level::ReadAtomic, "213"), "");
}

TEST(WeakCommitOrderTest, AtReadAtomicTheSessionIsKnownToo) {
  const char* const text = "T1 @a: w x 1\nT2 @b: w x 2\nT3 @b: r x 1\n";
  EXPECT_EQ(commit_order(text, Level::ReadCommitted, "123"), "");
  EXPECT_NE(commit_order(text, Level::ReadAtomic, "123"), "");
  EXPECT_EQ(commit_order(text, Level::ReadAtomic, "213"), "");
  EXPECT_NE(commit_order("T1 @a: w x 1\nT2 @a: r x nil\n", Level::ReadAtomic, "12"), "");
}

// T2 knew of T1, and T3 of T2.
TEST(WeakCommitOrderTest, AtCausalEverythingBehindIsKnown) {
  const char* const text = "T1: w x 1\nT2: r x 1, w y 2\nT3: r y 2, r x nil\n";
  EXPECT_EQ(commit_order(text, Level::ReadAtomic, "123"), "");
  EXPECT_NE(commit_order(text, Level::Causal, "123"), "");
  // More sessions than fit in one block of clocks.
  std::string many;
  std::string order;
  for (int i = 1; i <= 70; ++i)
    many += "T" + std::to_string(i) + ": w z" + std::to_string(i) + " 1\n";
  const History history =
      oracle::history_of(many + "T71: w x 1\nT72: r x 1, w y 2\nT73: r y 2, r x nil\n");
  const auto reading = Reading::of(history);
  ASSERT_TRUE(reading.ok());
  std::vector<TxnId> txns;
  for (std::size_t t = 0; t < history.txn_count(); ++t) txns.emplace_back(t);
  const PredicateReads none(*reading, PredicateReads::Seeing::Start);
  EXPECT_EQ(check_commit_order(*reading, none, Level::ReadAtomic, txns), "");
  EXPECT_NE(check_commit_order(*reading, none, Level::Causal, txns), "");
}

// Both updates read the initial version.
TEST(WeakCommitOrderTest, OnlyParallelSiForbidsLostUpdates) {
  const char* const text = "T1: r x nil, w x 1\nT2: r x nil, w x 2\n";
  EXPECT_EQ(commit_order(text, Level::Causal, "12"), "");
  EXPECT_EQ(commit_order(text, Level::ParallelSi, "12"),
            "transaction 2 reads x from before transaction 1, which it knew of");
  const char* const fork = "T1: w x 1\nT2: w y 1\nT3: r x 1, r y nil\nT4: r x nil, r y 1\n";
  EXPECT_EQ(commit_order(fork, Level::ParallelSi, "1234"), "") << "a long fork is allowed";
}

TEST(WeakCommitOrderTest, ListsAndStatedOrdersAreKept) {
  const char* const list = "T1: append l 1\nT2: append l 2\nT3: r l [2 1]\n";
  EXPECT_EQ(commit_order(list, Level::Causal, "213"), "");
  EXPECT_NE(commit_order(list, Level::Causal, "123"), "");
  const std::string stated = R"({"session":1,"ops":[["w","x",1]]})"
                             "\n"
                             R"({"session":2,"ops":[["w","x",2]]})"
                             "\n"
                             R"({"key":"x","versions":[2,1],"complete":true})"
                             "\n";
  EXPECT_EQ(commit_order(stated, Level::ReadCommitted, "21", Evidence::Versions), "");
  EXPECT_NE(commit_order(stated, Level::ReadCommitted, "12", Evidence::Versions), "");
  EXPECT_EQ(commit_order(stated, Level::ReadCommitted, "12"), "");
}

// T3 knows T2, and its count has missed T1's row, which was there before T2's.
TEST(WeakCommitOrderTest, APredicateReadMissesNothingThatItsTransactionKnewOf) {
  const auto text = [](const char* known) {
    return std::string(R"({"session":1,"ops":[["w","k",{"n":1}]]})"
                       "\n"
                       R"({"session":2,"ops":[["w","k",{"n":2}],["w","y",2]]})"
                       "\n"
                       R"({"session":3,"ops":[["r","y",)") +
           known +
           R"(],["select",{"ge":["n",1]},[],{"versions":[["k",null]]}]]})"
           "\n"
           R"({"key":"k","versions":[{"n":1},{"n":2}],"complete":true})"
           "\n";
  };
  for (const Level level : kAllAxioms) {
    EXPECT_EQ(commit_order(text("null"), level, "312", Evidence::Versions), "");
    EXPECT_NE(commit_order(text("2"), level, "123", Evidence::Versions), "");
  }
}

}  // namespace
}  // namespace ouro::recheck
