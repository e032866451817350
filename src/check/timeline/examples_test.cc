// Violations as anomalies, with whom they are about.

#include "check/timeline/examples.h"

#include <gtest/gtest.h>

#include <string>

#include "check/timeline/replay.h"
#include "tests/case_file.h"

namespace ouro {
namespace {

// "write-conflict T1 T2 0 1": what is found at SI, with transactions and operations.
std::string examples_of(std::string_view text, std::size_t examples = 10) {
  const History history = oracle::history_of(text);
  Violations violations(examples);
  const Timeline timeline(history, rules(Level::Si), 1, violations);
  const auto lists = ListKeys::of(history, 1);
  if (!lists.ok()) return "error";
  replay(history, timeline, *lists, 1, Budget(), violations);
  std::string out;
  for (const Anomaly& anomaly :
       anomalies_of(history, timeline, std::move(violations).first_examples(), examples)) {
    out += (out.empty() ? "" : "; ") + std::string(oracle::word(anomaly.kind));
    for (const TxnId txn : anomaly.txns) out += " T" + std::to_string(txn.index() + 1);
    for (const OpId op : anomaly.ops) out += ' ' + std::to_string(op.index());
  }
  return out;
}

TEST(TimelineExamplesTest, AWrongReadIsShownWithTheWriteThatItReturned) {
  EXPECT_EQ(examples_of("T1 {1,2}: w x 1\nT2 {3,9}: w x 2\nT3 {5,6}: r x 2"),
            "snapshot-mismatch T3 T1 T2 2 0 1")
      << "it should have returned T1's and returned T2's";
  EXPECT_EQ(examples_of("T1 {1,2}: w x 1\nT2 {3,4}: r x 9"), "snapshot-mismatch T2 T1 1 0");
}

TEST(TimelineExamplesTest, OfSeveralWritersOneOnTheTimelineIsNamed) {
  EXPECT_EQ(examples_of("T1 aborted {1,2}: w x 7\nT2 {8,9}: w x 7\nT3 {3,4}: r x 7"),
            "snapshot-mismatch T3 T2 2 1");
}

TEST(TimelineExamplesTest, AWriteConflictsWithEveryWriterThatRanThen) {
  const char* const text = "T1 {1,5}: w x 1\nT2 {2,7}: w x 2, w x 3\nT3 {3,6}: w x 4";
  EXPECT_EQ(examples_of(text),
            "write-conflict T1 T3 0 3; write-conflict T1 T2 0 1; write-conflict T3 T2 3 1");
  EXPECT_EQ(examples_of(text, 1), "write-conflict T1 T3 0 3");
  EXPECT_EQ(examples_of("T1 {1,5}: w x 1\nT2 {5,7}: w x 2"), "");
}

TEST(TimelineExamplesTest, WhatIsAboutWholeTransactionsHasNoOperations) {
  EXPECT_EQ(examples_of("T1 {9,5}: w x 1"), "inverted-timestamps T1");
}

}  // namespace
}  // namespace ouro
