#include "certify/reading.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/case_file.h"

namespace ouro::recheck {
namespace {

// The first access of transaction `txn`, from 1, plus `number`, from 0.
AccessId access_of(const Reading& reading, std::size_t txn, std::uint32_t number = 0) {
  return reading.first(TxnId{txn - 1}) + number;
}

// "T1", or "initial": whom the read returned; "nobody" if it is not known, or wrong.
std::string source_of(const Reading& reading, std::size_t txn, std::uint32_t number = 0) {
  const AccessId read = access_of(reading, txn, number);
  if (!reading.is_external(read)) return "nobody";
  const TxnId writer = reading.source_txn(read);
  return writer == kInitialTxn ? "initial" : "T" + std::to_string(writer.value + 1);
}

std::vector<AnomalyKind> flaws_of(std::string_view text) {
  const History history = oracle::history_of(text);
  const auto reading = Reading::of(history);
  EXPECT_TRUE(reading.ok());
  std::vector<AnomalyKind> out;
  for (const Flaw& flaw : reading->flaws()) out.push_back(flaw.kind);
  return out;
}

TEST(ReadingTest, ReadsAreJoinedToTheLastWriteOfTheirWriter) {
  const History history =
      oracle::history_of("T1: w x 1, w x 2, w y 3\nT2: r x 2, r y 3\nT3: r x nil, w x 4, r x 4\n");
  const auto reading = Reading::of(history);
  ASSERT_TRUE(reading.ok());
  EXPECT_EQ(source_of(*reading, 2, 0), "T1");
  EXPECT_EQ(source_of(*reading, 2, 1), "T1");
  EXPECT_EQ(source_of(*reading, 3, 0), "initial");
  EXPECT_EQ(source_of(*reading, 3, 2), "nobody") << "it is its own";
  EXPECT_FALSE(reading->is_last(access_of(*reading, 1, 0)));
  EXPECT_TRUE(reading->is_last(access_of(*reading, 1, 1)));
  EXPECT_TRUE(reading->flaws().empty());
}

TEST(ReadingTest, WhatIsWrongInPlainSightIsAFlaw) {
  using enum AnomalyKind;
  EXPECT_EQ(flaws_of("T1 aborted: w x 1\nT2: r x 1\n"), std::vector{AbortedRead});
  EXPECT_EQ(flaws_of("T1: w x 1, w x 2\nT2: r x 1\n"), std::vector{IntermediateRead});
  EXPECT_EQ(flaws_of("T1: r x 9\n"), std::vector{ThinAirRead});
  EXPECT_EQ(flaws_of("T1: r x 1, w x 1\n"), std::vector{FutureRead});
  EXPECT_EQ(flaws_of("T1: w x 1, r x nil\n"), std::vector{Internal});
  EXPECT_TRUE(flaws_of("T1 aborted: r x 9\n").empty()) << "nobody saw what it did";
}

TEST(ReadingTest, AnUnknownTransactionCountsOnceItIsSeen) {
  const History history = oracle::history_of("T1 unknown: w x 1\nT2 unknown: w y 1\nT3: r x 1\n");
  const auto reading = Reading::of(history);
  ASSERT_TRUE(reading.ok());
  EXPECT_TRUE(reading->counts(TxnId{0}));
  EXPECT_FALSE(reading->counts(TxnId{1}));
  EXPECT_EQ(reading->counted(), 2u);
}

TEST(ReadingTest, ARepeatedValueIsOpenUntilASourceSaysWhoseItWas) {
  const History history =
      oracle::history_of("T1: w x 1\nT2: w x 1\nT3 aborted: w x 1\nT4: r x 1\n");
  const auto open = Reading::of(history);
  ASSERT_TRUE(open.ok());
  const AccessId read = access_of(*open, 4);
  EXPECT_TRUE(open->has_open());
  EXPECT_TRUE(open->is_open(read));
  EXPECT_EQ(open->candidates(read), (std::vector{TxnId{0}, TxnId{1}})) << "T3 aborted";
  EXPECT_EQ(source_of(*open, 4), "nobody");

  const Access& access = open->access(read);
  const ReadSource said{.read = access.op, .key = access.key, .writer = TxnId{1}};
  const auto settled = Reading::of(history, Evidence::Observed, {&said, 1});
  ASSERT_TRUE(settled.ok());
  EXPECT_FALSE(settled->has_open());
  EXPECT_EQ(source_of(*settled, 4), "T2");
}

TEST(ReadingTest, AListIsReadFromWhoseAppendItShowsLast) {
  const History history = oracle::history_of(
      "T1: append l 1\nT2: append l 2\nT3: r l [1 2], append l 3, r l [1 2 3]\nT4: r l []\n");
  const auto reading = Reading::of(history);
  ASSERT_TRUE(reading.ok());
  EXPECT_EQ(source_of(*reading, 3, 0), "T2");
  EXPECT_EQ(source_of(*reading, 3, 2), "T2") << "its own append is behind what others wrote";
  EXPECT_EQ(reading->others(access_of(*reading, 3, 2)), 2u);
  EXPECT_EQ(source_of(*reading, 4), "initial");
}

}  // namespace
}  // namespace ouro::recheck
