#include "tap/statement.h"

#include <gtest/gtest.h>

#include <string>

namespace ouro::tapping {
namespace {

Statement only(const std::string& sql) {
  const auto text = analyse(sql);
  EXPECT_EQ(text->statements.size(), 1U) << sql;
  return text->statements.empty() ? Statement() : text->statements[0];
}

std::string conditions(const Statement& statement) {
  std::string out;
  for (const auto& [column, operand] : statement.equal) {
    out += column + "=" +
           (operand.parameter > 0 ? "$" + std::to_string(operand.parameter) : operand.text) + ";";
  }
  return out;
}

TEST(StatementTest, TransactionsAreRecognised) {
  EXPECT_EQ(only("begin isolation level serializable").act, Act::Begin);
  EXPECT_EQ(only("START TRANSACTION").act, Act::Begin);
  EXPECT_EQ(only("END").act, Act::Commit);
  EXPECT_TRUE(only("COMMIT AND CHAIN").chain);
  EXPECT_EQ(only("ABORT").act, Act::Rollback);
  EXPECT_EQ(only("ROLLBACK TO x").act, Act::RollbackTo);
  EXPECT_EQ(only("PREPARE TRANSACTION 'x'").act, Act::TwoPhase);
  EXPECT_EQ(only("SET x = 1").act, Act::Setting);
  EXPECT_EQ(only("DISCARD ALL").act, Act::Forget);
}

TEST(StatementTest, ConditionsOnColumnsAreFound) {
  const Statement read = only("SELECT v FROM shop.t WHERE id = 5 AND $2 = part AND c = 'x'::text");
  EXPECT_EQ(read.schema, "shop");
  EXPECT_EQ(read.table, "t");
  EXPECT_EQ(conditions(read), "id=5;part=$2;c=x;");
  EXPECT_TRUE(read.tells_absence);
  EXPECT_FALSE(read.may_write);
  EXPECT_EQ(read.not_judged, "");
}

TEST(StatementTest, NegativeNumbersAndZeroAreNotMixedUp) {
  EXPECT_EQ(conditions(only("SELECT v FROM t WHERE id = -5")), "id=-5;");
  EXPECT_EQ(conditions(only("SELECT v FROM t WHERE id = 0")), "id=0;");
  EXPECT_EQ(conditions(only("SELECT v FROM t WHERE id = - 7")), "id=-7;");
}

TEST(StatementTest, ACastThatMayChangeTheValueIsNoCondition) {
  EXPECT_EQ(conditions(only("SELECT v FROM t WHERE id = 'abc'::varchar(2)")), "");
  EXPECT_EQ(conditions(only("SELECT v FROM t WHERE id = 1.5")), "");
}

TEST(StatementTest, OtherConditionsDoNotTellAbsence) {
  EXPECT_FALSE(only("SELECT v FROM t WHERE id = 5 AND v > 3").tells_absence);
  EXPECT_FALSE(only("SELECT v FROM t WHERE id = 5 OR v = 3").tells_absence);
  EXPECT_FALSE(only("SELECT v FROM t WHERE id = 5 LIMIT 0").tells_absence);
  EXPECT_FALSE(only("SELECT v FROM t WHERE id = 5 FOR UPDATE SKIP LOCKED").tells_absence);
  EXPECT_TRUE(only("SELECT v FROM t WHERE id = 5 LIMIT 1").tells_absence);
}

TEST(StatementTest, WhatIsNotJudgedSaysWhy) {
  EXPECT_EQ(only("SELECT count(*) FROM t").not_judged, "calls a function");
  EXPECT_EQ(only("SELECT v FROM t UNION SELECT v FROM u").not_judged, "UNION or the like");
  EXPECT_EQ(only("SELECT v FROM t GROUP BY v").not_judged, "GROUP BY");
  EXPECT_EQ(only("WITH t AS (SELECT 1) SELECT * FROM t").not_judged, "WITH");
  EXPECT_NE(only("SELECT * FROM t a, t b").not_judged, "");
  EXPECT_NE(only("SELECT * FROM t AS a(x, y)").not_judged, "");
  EXPECT_EQ(only("SELECT * FROM t JOIN u USING (id)").not_judged, "");
  EXPECT_EQ(only("SELECT 1").not_judged, "no table");
}

TEST(StatementTest, AFunctionThatIsNotKnownMayWrite) {
  EXPECT_TRUE(only("SELECT f(id) FROM t").may_write);
  EXPECT_TRUE(only("SELECT v FROM t WHERE id = next()").may_write);
  EXPECT_FALSE(only("SELECT count(*), pg_catalog.max(v) FROM t").may_write);
  EXPECT_FALSE(only("SELECT '\"FuncCall\":{\"funcname\":[' FROM t").may_write);
  EXPECT_TRUE(only("COPY t FROM STDIN").may_write);
  EXPECT_TRUE(only("EXECUTE x").may_write);
}

TEST(StatementTest, AnUpdateSaysWhatItSets) {
  const Statement update = only("UPDATE t SET a = a + 1, b = 2 WHERE id = $1 RETURNING a");
  EXPECT_EQ(update.act, Act::Change);
  EXPECT_TRUE(update.updates);
  EXPECT_EQ(update.assigned, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(conditions(update), "id=$1;");
  EXPECT_FALSE(update.may_write);
  const Statement insert =
      only("INSERT INTO t VALUES (1) ON CONFLICT (id) DO UPDATE SET a = excluded.a");
  EXPECT_EQ(insert.assigned, (std::vector<std::string>{"a"}));
}

TEST(StatementTest, WhatCannotBeParsedHasNoStatements) {
  EXPECT_FALSE(analyse("SELEC 1")->parsed);
  EXPECT_TRUE(analyse("")->parsed);
  EXPECT_EQ(analyse("SELECT 1; SELECT 2;")->statements.size(), 2U);
}

TEST(StatementTest, EqualStatementsHaveOneShape) {
  EXPECT_EQ(shape_of("SELECT v FROM t\n WHERE id = 5;"), shape_of("SELECT v FROM t WHERE id = 77"));
}

}  // namespace
}  // namespace ouro::tapping
