#include "tap/literals.h"

#include <gtest/gtest.h>

#include "tap/statement.h"

namespace ouro::tapping {
namespace {

TEST(LiteralsTest, TextsThatDifferInConstantsHaveOneForm) {
  const auto one = take_literals("UPDATE t1 SET v = v + -5 WHERE id = 7 AND n = 'it''s'");
  const auto other = take_literals("UPDATE t1 SET v = v + -123 WHERE id = 77 AND n = ''");
  ASSERT_TRUE(one && other);
  EXPECT_EQ(one->text, other->text);
  ASSERT_EQ(one->literals.size(), 3U);
  EXPECT_EQ(one->literals[1].text, "7");
  EXPECT_EQ(one->literals[2].text, "it's");
  EXPECT_NE(one->text, take_literals("UPDATE t2 SET v = v + -5 WHERE id = 7 AND n = 'x'")->text);
}

TEST(LiteralsTest, WhatIsHardToReadHasNoForm) {
  for (const char* sql :
       {"SELECT v FROM t WHERE n = E'a'", "SELECT v FROM t LIMIT 0", "SELECT $$a$$", "SELECT 1.5",
        "SELECT 1e5", "SELECT 12345678901", "SELECT 1 -- 2", "SELECT /* 1 */ 2", "SELECT 'a\\'",
        "SELECT 'a'\n'b'", "SELECT U&'a'", "SELECT 'a", "SELECT .5", "SELECT fetch"}) {
    EXPECT_FALSE(take_literals(sql)) << sql;
  }
}

TEST(LiteralsTest, AFormGivesWhatParsingGives) {
  Texts texts;
  for (const char* sql :
       {"SELECT v FROM t WHERE id = 5", "SELECT v FROM t WHERE id = 0",
        "SELECT v FROM t WHERE id = -5", "SELECT v FROM t WHERE id = -6",
        "SELECT v FROM t WHERE id = 'a''b' AND c = 3", "SELECT v FROM t WHERE id = 'c' AND c = 0",
        "SELECT v FROM t WHERE 8 = id AND \"c 1\" = $1", "SELECT v FROM t WHERE id = 1 LIMIT 1",
        "SELECT v FROM t WHERE id = 1 LIMIT 0", "UPDATE t SET a = 5 WHERE id = 9",
        "UPDATE t SET a = 6 WHERE id = 10; COMMIT", "SELECT 1", "SELECT 2"}) {
    const auto parsed = analyse(sql);
    const auto quick = texts.get(sql);
    EXPECT_EQ(quick->sql, sql);
    ASSERT_EQ(quick->statements.size(), parsed->statements.size());
    for (std::size_t i = 0; i < parsed->statements.size(); ++i) {
      const Statement& a = parsed->statements[i];
      const Statement& b = quick->statements[i];
      EXPECT_EQ(a.act, b.act);
      EXPECT_EQ(a.tells_absence, b.tells_absence) << sql;
      ASSERT_EQ(a.equal.size(), b.equal.size());
      for (std::size_t k = 0; k < a.equal.size(); ++k) {
        EXPECT_EQ(a.equal[k].first, b.equal[k].first);
        EXPECT_EQ(a.equal[k].second.text, b.equal[k].second.text) << sql;
        EXPECT_EQ(a.equal[k].second.parameter, b.equal[k].second.parameter);
      }
    }
  }
}

}  // namespace
}  // namespace ouro::tapping
