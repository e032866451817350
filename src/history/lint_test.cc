#include "ouro/lint.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "ouro/check.h"
#include "ouro/history_builder.h"

namespace ouro {
namespace {

std::map<std::string_view, std::uint64_t> counts(const History& history) {
  std::map<std::string_view, std::uint64_t> out;
  for (const Finding& finding : lint(history)) out[finding.rule->id] = finding.count;
  out.erase("no-clocks");  // Most histories here have none; see NoClocksAtAllAreAWarning.
  return out;
}

using Counts = std::map<std::string_view, std::uint64_t>;

TEST(LintTest, CleanHistoryHasNoFindings) {
  HistoryBuilder b;
  const KeyId x = b.key("x");
  for (int i = 1; i <= 2; ++i) {
    b.begin_txn(b.session("a"));
    b.read(x, i == 1 ? Value::null() : b.integer(1));
    b.write(x, b.integer(i));
    b.clocks(i * 10, i * 10 + 5);
  }
  EXPECT_TRUE(lint(*std::move(b).freeze()).empty());
}

TEST(LintTest, TransactionsWithoutASessionAreCounted) {
  HistoryBuilder b;
  b.begin_txn(b.session("a"));
  b.write(b.key("x"), b.integer(1));
  for (int i = 2; i <= 3; ++i) {
    b.begin_txn(b.unknown_session());
    b.write(b.key("x"), b.integer(i));
  }
  EXPECT_EQ(counts(*std::move(b).freeze()),
            (Counts{{"no-sessions", 2}, {"single-transaction-session", 1}}));
}

TEST(LintTest, NegativeBalancesOfABankAreCounted) {
  HistoryBuilder b;
  b.remark("model", "bank");
  b.initial(b.key(0), b.integer(2));
  b.initial(b.key(1), b.integer(0));
  b.begin_txn(b.session("a"));
  b.inc(b.key(0), b.integer(-3));
  b.inc(b.key(1), b.integer(3));
  b.begin_txn(b.session("a"));
  b.read(b.key(0), b.integer(-1));
  b.read(b.key(1), b.integer(3));
  const auto findings = lint(*std::move(b).freeze());
  ASSERT_EQ(findings[0].rule->id, "negative-balance");
  EXPECT_EQ(findings[0].count, 1u);
  EXPECT_EQ(findings[0].examples[0].what, "balance -1");
}

TEST(LintTest, DuplicateWritesNameBothPlaces) {
  HistoryBuilder b;
  b.file("bank.jsonl", PlaceUnit::Line);
  const KeyId x = b.key("x");
  b.begin_txn(b.session("a"), 2);
  b.write(x, b.integer(9));
  b.begin_txn(b.session("a"), 3);
  b.write(x, b.integer(9));
  b.write(x, b.integer(7));
  b.write(x, b.integer(7));
  const auto findings = lint(*std::move(b).freeze());
  ASSERT_EQ(findings.size(), 3u);
  EXPECT_EQ(findings[0].rule->id, "duplicate-write");
  EXPECT_EQ(findings[0].rule->severity, Severity::Warning);
  ASSERT_EQ(findings[0].examples.size(), 1u);
  EXPECT_EQ(findings[0].examples[0].place, "bank.jsonl:3");
  EXPECT_EQ(findings[0].examples[0].what, "w x=9 repeats bank.jsonl:2");
  EXPECT_EQ(findings[1].rule->id, "repeated-write");
}

TEST(LintTest, ValuesAreMatchedWithTheirWriters) {
  HistoryBuilder b;
  const KeyId x = b.key("x");
  b.default_initial(b.integer(0));
  b.begin_txn(b.session("a"));
  b.write(x, b.integer(0));  // The initial value.
  b.write(x, b.integer(1));
  b.status(TxnStatus::Aborted);
  b.begin_txn(b.session("a"));
  b.read(x, b.integer(0));
  b.read(x, b.integer(1));  // Written by an aborted transaction.
  b.read(x, b.integer(5));  // Written by nobody.
  b.read(x, Value::unobserved());
  b.remove(x, Value::null());
  b.begin_txn(b.session("a"));
  b.read(x, Value::null());  // Written by the delete.
  EXPECT_EQ(counts(*std::move(b).freeze()),
            (Counts{{"writes-initial-value", 1},
                    {"aborted-read", 2},  // The initial value was written by an aborted one, too.
                    {"read-nobody-wrote", 1},
                    {"unobserved-read", 1},
                    {"ambiguous-delete", 1}}));
}

TEST(LintTest, ListsAreCheckedByElement) {
  HistoryBuilder b;
  const KeyId l = b.key("l");
  b.begin_txn(b.session("a"));
  b.append(l, b.integer(1));
  b.begin_txn(b.session("a"));
  b.append(l, b.integer(1));
  const Value elements[] = {b.integer(1), b.integer(4)};
  b.read_list(l, elements);
  b.write(l, b.integer(3));
  EXPECT_EQ(
      counts(*std::move(b).freeze()),
      (Counts{{"duplicate-element", 1}, {"read-nobody-wrote", 1}, {"mixed-register-and-list", 1}}));
}

// A compare-and-set is of a register, whether it succeeds or fails.
TEST(LintTest, ACompareAndSetOfAListIsNoticedAndRefused) {
  for (const bool succeeded : {false, true}) {
    HistoryBuilder b;
    const KeyId l = b.key("l");
    b.begin_txn(b.session("a"));
    b.append(l, b.integer(1));
    b.begin_txn(b.session("a"));
    b.cas(l, b.integer(1), b.integer(2), succeeded);
    const History history = *std::move(b).freeze();
    EXPECT_EQ(counts(history), (Counts{{"mixed-register-and-list", 1}}));
    const auto verdict = check(history, Level::ReadCommitted);
    ASSERT_FALSE(verdict.ok());
    EXPECT_NE(verdict.error().what.find("l is a list elsewhere, but read as a single value here"),
              std::string::npos)
        << verdict.error().what;
  }
}

TEST(LintTest, NobodyKnowsWhenAnUnknownTransactionCompleted) {
  HistoryBuilder b;
  for (const auto status : {TxnStatus::Committed, TxnStatus::Unknown}) {
    b.begin_txn(b.session("a"));
    b.status(status);
    b.clocks(status == TxnStatus::Committed ? 1 : 3, status == TxnStatus::Committed ? 2 : 4);
    b.read(b.key("x"), Value::null());
  }
  EXPECT_EQ(counts(*std::move(b).freeze()),
            (Counts{{"unknown-completed", 1}, {"unknown-unseen", 1}}));
}

TEST(LintTest, UnknownTransactionsCountOnceACountingOneReadFromThem) {
  HistoryBuilder b;
  const KeyId x = b.key("x");
  const KeyId y = b.key("y");
  const KeyId z = b.key("z");
  const auto unknown = [&](KeyId key) {
    b.begin_txn(b.session("a"));
    b.status(TxnStatus::Unknown);
    b.write(key, b.integer(1));
  };
  unknown(x);  // Counts, as the one that wrote y counts and read from it.
  unknown(y);
  b.read(x, b.integer(1));
  unknown(z);  // Read only by an unknown transaction that nobody read from.
  b.begin_txn(b.session("a"));
  b.status(TxnStatus::Unknown);
  b.read(z, b.integer(1));
  b.begin_txn(b.session("a"));
  b.read(y, b.integer(1));
  EXPECT_EQ(counts(*std::move(b).freeze()), (Counts{{"unknown-seen", 2}, {"unknown-unseen", 2}}));
}

TEST(LintTest, ClocksAndTimestampsMustRunForward) {
  HistoryBuilder b;
  const KeyId x = b.key("x");
  b.begin_txn(b.session("a"));
  b.write(x, b.integer(1));
  b.clocks(10, 20);
  b.timestamps({5, 0}, {6, 0});
  b.begin_txn(b.session("a"));  // Invoked before its predecessor completed.
  b.write(x, b.integer(2));
  b.clocks(15, 16);
  b.timestamps({9, 0}, {6, 0});  // Inverted, and repeats 6.
  b.begin_txn(b.session("a"));   // Neither clocks nor timestamps.
  b.write(x, b.integer(3));
  EXPECT_EQ(counts(*std::move(b).freeze()), (Counts{{"session-clock-inversion", 1},
                                                    {"partial-clocks", 1},
                                                    {"timestamp-inversion", 1},
                                                    {"duplicate-commit-ts", 1},
                                                    {"partial-timestamps", 1}}));
}

TEST(LintTest, EitherAllTransactionsStateALevelOrNone) {
  HistoryBuilder b;
  const KeyId x = b.key("x");
  for (int i = 0; i < 4; ++i) {
    b.begin_txn(b.session("a"));
    b.write(x, b.integer(i));
    b.clocks(10 * i, 10 * i + 5);
    if (i < 2) b.level(Level::ReadCommitted);
    if (i == 3) b.status(TxnStatus::Aborted);
  }
  EXPECT_EQ(counts(*std::move(b).freeze()), (Counts{{"partial-levels", 1}}));
}

TEST(LintTest, TypesVersionOrdersAndShapesAreNoticed) {
  HistoryBuilder b;
  const KeyId one = b.key("1");
  b.begin_txn(b.session("a"));
  b.write(one, b.integer(1));
  b.write(one, b.text("1"));
  b.write(b.key(1), b.integer(1));
  b.begin_txn(b.session("a"));  // Empty.
  b.begin_txn(b.session("b"));
  b.read(one, b.text("1"));
  const Value versions[] = {b.integer(1), b.integer(8)};
  b.version_order(one, versions, false);
  EXPECT_EQ(counts(*std::move(b).freeze()), (Counts{{"mixed-key-types", 1},
                                                    {"mixed-value-types", 1},
                                                    {"unwritten-version", 1},
                                                    {"empty-transaction", 1},
                                                    {"single-transaction-session", 1}}));
}

TEST(LintTest, AllOccurrencesAreCountedAndOnlyTheFirstDescribed) {
  HistoryBuilder b;
  for (int i = 0; i < 10; ++i) b.begin_txn(b.session("a"));
  const auto findings = lint(*std::move(b).freeze(), 2);
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[1].count, 10u);
  EXPECT_EQ(findings[1].examples.size(), 2u);
}

TEST(LintTest, NoClocksAtAllAreAWarning) {
  HistoryBuilder b;
  b.begin_txn(b.session("a"));
  b.begin_txn(b.session("a"));
  const auto findings = lint(*std::move(b).freeze());
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].rule->id, "no-clocks");
  EXPECT_EQ(findings[0].rule->severity, Severity::Warning);
  EXPECT_EQ(findings[0].count, 1u);
  EXPECT_TRUE(lint(History()).empty());
}

TEST(LintTest, RulesAreDistinctAndErrorsComeFirst) {
  std::map<std::string_view, int> ids;
  Severity last = Severity::Error;
  for (const LintRule& rule : lint_rules()) {
    EXPECT_EQ(ids[rule.id]++, 0) << rule.id;
    EXPECT_GE(rule.severity, last) << rule.id;
    EXPECT_FALSE(rule.what.empty() || rule.advice.empty()) << rule.id;
    last = rule.severity;
  }
}

}  // namespace
}  // namespace ouro
