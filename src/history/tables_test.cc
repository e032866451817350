// The tables of what operations, predicates and aggregates are.

#include <gtest/gtest.h>

#include "history/access.h"
#include "ouro/history.h"
#include "ouro/predicate.h"

namespace ouro {
namespace {

TEST(TablesTest, EveryRowIsThatOfItsKind) {
  for (std::size_t i = 0; i < kOpKindCount; ++i) {
    EXPECT_EQ(static_cast<std::size_t>(kOpInfos[i].kind), i);
  }
  for (std::size_t i = 0; i < kPredicateKindCount; ++i) {
    EXPECT_EQ(static_cast<std::size_t>(kPredicateInfos[i].kind), i);
  }
  EXPECT_EQ(static_cast<std::size_t>(PredicateKind::Multiply) + 1, kPredicateKindCount);
  EXPECT_EQ(static_cast<std::size_t>(AggregateKind::Avg) + 1, kAggregateKindCount);
  EXPECT_EQ(name(AggregateKind::Sum), "sum");
}

TEST(TablesTest, TheOtherHalfOfAHalfIsItself) {
  for (const OpInfo& row : kOpInfos) {
    if (!row.first && !row.second) continue;
    EXPECT_EQ(info(row.other).other, row.kind) << row.name;
    EXPECT_EQ(info(row.other).first, row.second) << row.name;
  }
}

TEST(TablesTest, ConditionsArePredicateReadsWithoutScans) {
  for (const OpInfo& row : kOpInfos) {
    EXPECT_EQ(has_condition(row.kind), row.predicate && row.kind != OpKind::Scan) << row.name;
  }
}

TEST(TablesTest, ANodeCombinesOrComparesOrIsTrue) {
  for (const PredicateInfo& row : kPredicateInfos) {
    EXPECT_FALSE(row.has_children && row.compares) << row.word;
    EXPECT_EQ(!row.has_children && !row.compares, row.kind == PredicateKind::True) << row.word;
  }
}

TEST(TablesTest, ComparisonsOfTermsHaveTheWordsOfTheOthers) {
  for (const PredicateInfo& row : kPredicateInfos) {
    if (row.plain == PredicateKind::True) continue;
    EXPECT_EQ(row.word, info(row.plain).word);
    EXPECT_TRUE(row.takes_terms && !row.term) << row.word;
  }
}

TEST(TablesTest, WhatWasUndoneNeitherReadsNorWrites) {
  for (const OpInfo& row : kOpInfos) {
    if (!row.undone && !row.back) continue;
    EXPECT_FALSE(row.reads || row.open || row.writes || row.predicate) << row.name;
  }
}

}  // namespace
}  // namespace ouro
