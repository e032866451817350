// What open reads returned if their transactions know of as little as possible.

#include "check/careful_guess.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/tiny.h"

namespace ouro {
namespace {

// "T1 T2": the guessed source of each open read; transactions commit in the order of their numbers.
std::string careful(std::string_view text, Premise premise) {
  Tiny t(text);
  Positions places;
  for (std::uint32_t i = 0; i < t.history().txn_count(); ++i) places.begin.push_back(i + 1);
  places.commit = places.begin;
  std::string out;
  for (const ReadSource& said : careful_guess(t.observed(), places, premise, Budget())) {
    out += (out.empty() ? "" : " ") + Tiny::name(said.writer);
  }
  return out;
}

constexpr char kTwoWriters[] = "T1: w x 1\nT2: w x 1, w y 2\n";

TEST(CarefulGuessTest, AReadIsGivenTheOldestVersionThatItMayHaveReturned) {
  EXPECT_EQ(careful(std::string(kTwoWriters) + "T3: r x 1", Premise::WholePast), "T1");
  EXPECT_EQ(careful("initial 1\nT1: w x 2\nT2: w x 1\nT3: r x 1", Premise::WholePast), "T0");
}

TEST(CarefulGuessTest, WhatItsTransactionKnewOfIsNotTooOld) {
  const std::string text = std::string(kTwoWriters) + "T3: r y 2, r x 1";
  EXPECT_EQ(careful(text, Premise::WholePast), "T2");
  EXPECT_EQ(careful(text, Premise::EarlierReads), "T2");
  const std::string later = std::string(kTwoWriters) + "T3: r x 1, r y 2";
  EXPECT_EQ(careful(later, Premise::EarlierReads), "T1") << "it did not know yet";
  EXPECT_EQ(careful(later, Premise::DirectPast), "T2");
}

TEST(CarefulGuessTest, ASessionKnowsWhatItReadBefore) {
  const char* const text = "T1 @a: w x 1\nT2 @b: w x 1, w y 2\nT3 @c: r y 2\nT4 @c: r x 1";
  EXPECT_EQ(careful(text, Premise::WholePast), "T2");
  EXPECT_EQ(careful(text, Premise::DirectPast), "T1") << "only T3 itself is known";
}

TEST(CarefulGuessTest, WithoutOpenReadsThereIsNothingToGuess) {
  EXPECT_EQ(careful("T1: w x 1\nT2: r x 1", Premise::WholePast), "");
}

TEST(WritesByCommitTest, AreTheLastOnesOfTransactionsThatTakePart) {
  Tiny t("T1: w x 1, w x 2\nT2 aborted: w x 3\nT3: w x 4");
  const Positions places{{9, 0, 5}, {9, 0, 5}};
  std::string out;
  for (const auto& [at, item] : writes_by_commit(t.observed(), places, t.key("x"))) {
    out += t.name(item) + ' ';
  }
  EXPECT_EQ(out, "T3.1 T1.2 ");
}

}  // namespace
}  // namespace ouro
