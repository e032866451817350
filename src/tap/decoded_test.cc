#include "tap/decoded.h"

#include <gtest/gtest.h>

namespace ouro::tapping {
namespace {

TEST(DecodedTest, TransactionsBeginAndEnd) {
  EXPECT_EQ(parse_decoded("BEGIN 731")->kind, Decoded::Kind::Begin);
  const auto commit = parse_decoded("COMMIT 4294967295");
  EXPECT_EQ(commit->kind, Decoded::Kind::Commit);
  EXPECT_EQ(commit->txn, 4294967295U);
}

TEST(DecodedTest, AnInsertHasItsCells) {
  const auto row = parse_decoded(
      "table public.t: INSERT: id[integer]:-1 name[character varying]:'it''s a: [x]' "
      "ok[boolean]:true gone[text]:null list[integer[]]:'{1,2}' b[bit]:B'10'");
  ASSERT_TRUE(row);
  ASSERT_EQ(row->cells.size(), 6U);
  EXPECT_EQ(row->cells[0].text, "-1");
  EXPECT_EQ(row->cells[1].text, "it's a: [x]");
  EXPECT_EQ(row->cells[2].text, "true");
  EXPECT_TRUE(row->cells[3].null);
  EXPECT_EQ(row->cells[4].text, "{1,2}");
  EXPECT_EQ(row->cells[5].text, "10");
}

TEST(DecodedTest, ADeleteMayNotTellTheRow) {
  const auto row = parse_decoded("table public.t: DELETE: (no-tuple-data)");
  ASSERT_TRUE(row);
  EXPECT_EQ(row->kind, Decoded::Kind::Delete);
  EXPECT_TRUE(row->cells.empty());
}

TEST(DecodedTest, ATextThatSaysNullIsNotNull) {
  const auto row = parse_decoded("table public.t: INSERT: a[text]:'null'");
  EXPECT_FALSE(row->cells[0].null);
}

TEST(DecodedTest, NamesMayBeQuoted) {
  const auto row = parse_decoded(
      "table \"My Shop\".\"a\"\"b.c\": DELETE: \"the id\"[\"My Shop\".\"odd]type\"]:7");
  ASSERT_TRUE(row);
  EXPECT_EQ(row->schema, "My Shop");
  EXPECT_EQ(row->table, "a\"b.c");
  EXPECT_EQ(row->cells[0].column, "the id");
  EXPECT_EQ(row->cells[0].text, "7");
}

TEST(DecodedTest, AnUpdateOfTheKeyTellsTheOldOne) {
  const auto row = parse_decoded(
      "table public.t: UPDATE: old-key: id[integer]:1 new-tuple: id[integer]:2 "
      "big[text]:unchanged-toast-datum");
  ASSERT_TRUE(row);
  ASSERT_EQ(row->before.size(), 1U);
  EXPECT_EQ(row->before[0].text, "1");
  ASSERT_EQ(row->cells.size(), 2U);
  EXPECT_TRUE(row->cells[1].unchanged);
}

TEST(DecodedTest, TruncatesAndMessages) {
  EXPECT_EQ(parse_decoded("table public.a, public.b: TRUNCATE: (no-flags)")->kind,
            Decoded::Kind::Truncate);
  EXPECT_EQ(parse_decoded("message: transactional: 0 prefix: ouro_tap, sz: 2 content:17")->message,
            "ouro_tap 17");
}

TEST(DecodedTest, WhatIsOfNoKnownFormIsNothing) {
  EXPECT_FALSE(parse_decoded("hello"));
  EXPECT_FALSE(parse_decoded("table public.t: INSERT: (no-tuple-data)"));
  EXPECT_FALSE(parse_decoded("table public.t: INSERT: a[text]:'cut"));
  EXPECT_FALSE(parse_decoded("table public.t: UPDATE: old-key: id[integer]:1"));
}

}  // namespace
}  // namespace ouro::tapping
