#include "tap/observer.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tap/wire.h"

namespace ouro::tapping {
namespace {

const std::string kZero(1, '\0');

std::string message(char type, const std::string& body) {
  std::string out;
  put_message(out, type, body);
  return out;
}
std::string query(const std::string& sql) { return message('Q', sql + kZero); }
std::string done(const std::string& tag) { return message('C', tag + kZero); }
std::string ready(char status) { return message('Z', std::string(1, status)); }

// Columns of the table with this number, by their numbers.
std::string columns(Oid table, const std::vector<std::int16_t>& numbers) {
  std::string body;
  put_int16(body, static_cast<std::int16_t>(numbers.size()));
  for (const std::int16_t number : numbers) {
    body += "name" + kZero;
    put_int32(body, static_cast<std::int32_t>(table));
    put_int16(body, number);
    body += std::string(12, '\0');
  }
  return message('T', body);
}
std::string row(const std::vector<std::string>& values) {
  std::string body;
  put_int16(body, static_cast<std::int16_t>(values.size()));
  for (const std::string& value : values) {
    put_int32(body, static_cast<std::int32_t>(value.size()));
    body += value;
  }
  return message('D', body);
}
// The server's answer to the tap's own statement.
std::string own_answer(const std::string& snapshot, const std::string& id,
                       const std::string& isolation, char status = 'T') {
  return message('1', "") + message('2', "") + row({snapshot, id, isolation}) + done("SELECT 1") +
         message('3', "") + message('3', "") + ready(status);
}

// A connection that is ready, and a table public.t (id integer primary key, v integer).
class ObserverTest : public testing::Test {
 protected:
  ObserverTest() {
    auto catalog = std::make_shared<Catalog>();
    catalog->add({"20000", "public", "t", "", "1", "1", "id", "23", "0", "t", "23.-1"});
    catalog->add({"20000", "public", "t", "", "1", "2", "v", "23", "-1", "t", "23.-1"});
    ledger_.set_catalog(catalog);
    observer_ = std::make_unique<Observer>(ledger_, texts_, "app", 1, true);
    server(message('R', std::string(4, '\0')) + ready('I'));
  }

  // What goes on to the server.
  std::string client(const std::string& bytes) {
    std::string out;
    from_client_.add(bytes);
    while (const auto piece = from_client_.next()) observer_->from_client(*piece, out);
    return out;
  }
  // What goes on to the client.
  std::string server(const std::string& bytes) {
    std::string out;
    from_server_.add(bytes);
    while (const auto piece = from_server_.next()) observer_->from_server(*piece, out);
    return out;
  }
  // A trip: nothing is added to it or taken from it.
  void trip(const std::string& asked, const std::string& answered) {
    EXPECT_EQ(client(asked), asked);
    EXPECT_EQ(server(answered), answered);
  }
  std::vector<ClientTxn> finished() { return ledger_.take().finished; }

  Ledger ledger_;
  Texts texts_;
  std::unique_ptr<Observer> observer_;
  MessageReader from_client_, from_server_;
};

TEST_F(ObserverTest, ACommitIsPrecededByAStatementOfOurOwn) {
  trip(query("BEGIN ISOLATION LEVEL REPEATABLE READ"), done("BEGIN") + ready('T'));
  trip(query("SELECT v FROM t WHERE id = 7"),
       columns(20000, {2}) + row({"5"}) + done("SELECT 1") + ready('T'));
  trip(query("UPDATE t SET v = 6 WHERE id = 7"), done("UPDATE 1") + ready('T'));
  const std::string sent = client(query("COMMIT"));
  EXPECT_TRUE(sent.ends_with(query("COMMIT")));
  EXPECT_GT(sent.size(), query("COMMIT").size());
  EXPECT_TRUE(observer_->probing());
  EXPECT_EQ(server(own_answer("10:12:10", "11", "repeatable read")), "");
  EXPECT_FALSE(observer_->probing());
  EXPECT_EQ(server(done("COMMIT") + ready('I')), done("COMMIT") + ready('I'));
  const auto txns = finished();
  ASSERT_EQ(txns.size(), 1U);
  EXPECT_EQ(txns[0].id, 11U);
  EXPECT_EQ(txns[0].isolation, "repeatable read");
  ASSERT_TRUE(txns[0].snapshot);
  EXPECT_EQ(txns[0].snapshot->next, 12U);
  ASSERT_EQ(txns[0].executions.size(), 2U);
  ASSERT_EQ(txns[0].executions[0].reads.size(), 1U);
  EXPECT_EQ(txns[0].executions[0].reads[0].key, "t/7.v");
  EXPECT_EQ(txns[0].executions[0].reads[0].value, "5");
  ASSERT_TRUE(txns[0].executions[1].assigned);
  EXPECT_EQ(txns[0].executions[1].assigned->row, "t/7");
}

TEST_F(ObserverTest, AtReadCommittedThereIsNoSnapshotOfTheTransaction) {
  trip(query("BEGIN"), done("BEGIN") + ready('T'));
  trip(query("SELECT * FROM t"),
       columns(20000, {1, 2}) + row({"7", "5"}) + row({"8", "6"}) + done("SELECT 2") + ready('T'));
  (void)client(query("COMMIT"));
  (void)server(own_answer("10:12:10", "", "read committed") + done("COMMIT") + ready('I'));
  const auto txns = finished();
  ASSERT_EQ(txns.size(), 1U);
  EXPECT_FALSE(txns[0].snapshot);
  EXPECT_EQ(txns[0].executions[0].reads.size(), 2U);
}

TEST_F(ObserverTest, APipelineIsLeftAlone) {
  const std::string batch =
      query("BEGIN") + query("SELECT v FROM t WHERE id = 7") + query("COMMIT");
  EXPECT_EQ(client(batch), batch);
  (void)server(done("BEGIN") + ready('T') + columns(20000, {2}) + row({"5"}) + done("SELECT 1") +
               ready('T') + done("COMMIT") + ready('I'));
  const auto txns = finished();
  ASSERT_EQ(txns.size(), 1U);
  EXPECT_NE(txns[0].not_judged, "");
}

TEST_F(ObserverTest, AFailedTransactionIsLeftAlone) {
  trip(query("BEGIN"), done("BEGIN") + ready('T'));
  trip(query("SELEC 1"), message('E', "SERROR" + kZero + kZero) + ready('E'));
  trip(query("COMMIT"), done("ROLLBACK") + ready('I'));
  const auto txns = finished();
  ASSERT_EQ(txns.size(), 1U);
  EXPECT_EQ(txns[0].end, ClientTxn::End::RolledBack);
}

TEST_F(ObserverTest, ACommitThatFailsIsNoCommit) {
  trip(query("BEGIN ISOLATION LEVEL SERIALIZABLE"), done("BEGIN") + ready('T'));
  (void)client(query("COMMIT"));
  (void)server(own_answer("10:12:10", "11", "serializable") +
               message('E', "SERROR" + kZero + kZero) + ready('I'));
  const auto txns = finished();
  ASSERT_EQ(txns.size(), 1U);
  EXPECT_EQ(txns[0].end, ClientTxn::End::RolledBack);
}

TEST_F(ObserverTest, AbsenceIsReadByThePrimaryKeyOnly) {
  trip(query("SELECT v FROM t WHERE id = 9"), columns(20000, {2}) + done("SELECT 0") + ready('I'));
  trip(query("SELECT v FROM t WHERE v = 9"), columns(20000, {2}) + done("SELECT 0") + ready('I'));
  const auto txns = finished();
  ASSERT_EQ(txns.size(), 2U);
  ASSERT_EQ(txns[0].executions[0].reads.size(), 1U);
  EXPECT_EQ(txns[0].executions[0].reads[0].key, "t/9.id");
  EXPECT_EQ(txns[0].executions[0].reads[0].value, "null");
  EXPECT_TRUE(txns[1].executions[0].reads.empty());
  EXPECT_NE(txns[1].executions[0].not_judged, "");
}

TEST_F(ObserverTest, PreparedStatementsTakeTheirParameters) {
  const std::string none("\0\0", 2), one("\0\1", 2);
  std::string nine;
  put_int32(nine, 9);
  std::string four;
  put_int32(four, 4);
  trip(message('P', "s" + kZero + "SELECT v FROM t WHERE id = $1" + kZero + none) +
           message('D', "Ss" + kZero) + message('S', ""),
       message('1', "") + message('t', none) + columns(20000, {2}) + ready('I'));
  // A binary parameter, and a binary result.
  trip(message('B', kZero + "s" + kZero + one + one + one + four + nine + one + one) +
           message('E', kZero + std::string(4, '\0')) + message('S', ""),
       message('2', "") + row({std::string("\0\0\1\0", 4)}) + done("SELECT 1") + ready('I'));
  const auto txns = finished();
  ASSERT_EQ(txns.size(), 1U);
  ASSERT_EQ(txns[0].executions[0].reads.size(), 1U);
  EXPECT_EQ(txns[0].executions[0].reads[0].key, "t/9.v");
  EXPECT_EQ(txns[0].executions[0].reads[0].value, "256");
}

// A driver may send the bytes of a floating-point number where a column is an integer.
TEST_F(ObserverTest, ABinaryParameterOfAnotherTypeIsNoKey) {
  const std::string none("\0\0", 2), one("\0\1", 2);
  for (const bool floating : {false, true}) {
    std::string type;
    put_int32(type, floating ? 701 : 20);
    std::string eight;
    put_int32(eight, 8);
    trip(message('P', "s" + kZero + "SELECT v FROM t WHERE id = $1" + kZero + one + type) +
             message('D', "Ss" + kZero) +
             message('B', kZero + "s" + kZero + one + one + one + eight + std::string(7, '\0') +
                              "\7" + none) +
             message('E', kZero + std::string(4, '\0')) + message('S', ""),
         message('1', "") + message('t', none) + columns(20000, {2}) + message('2', "") +
             row({"5"}) + done("SELECT 1") + ready('I'));
    const auto txns = finished();
    ASSERT_EQ(txns.size(), 1U);
    EXPECT_EQ(txns[0].executions[0].reads.size(), floating ? 0U : 1U);
  }
}

// What a SELECT returns from the table, if all rows of that are known.
class SelectionTest : public ObserverTest {
 protected:
  SelectionTest() {
    auto catalog = std::make_shared<Catalog>();
    catalog->add({"20000", "public", "t", "", "1", "1", "id", "23", "0", "t", "23.-1"});
    catalog->add({"20000", "public", "t", "", "1", "2", "v", "23", "-1", "t", "23.-1"});
    catalog->add({"20000", "public", "t", "", "1", "3", "s", "25", "-1", "t", "25.-1"});
    catalog->add({"20000", "public", "t", "", "1", "4", "c", "25", "-1", "f", "25.-1"});
    catalog->add({"20000", "public", "t", "", "1", "5", "b", "16", "-1", "t", "16.-1"});
    catalog->set_loaded(20000);
    ledger_.set_catalog(catalog);
  }
  // The predicate and the rows; empty if there is no selection.
  std::string selected(const std::string& sql, const std::vector<std::int16_t>& shown,
                       const std::vector<std::vector<std::string>>& rows) {
    std::string answer = columns(20000, shown);
    for (const auto& each : rows) answer += row(each);
    trip(query(sql), answer + done("SELECT " + std::to_string(rows.size())) + ready('I'));
    const auto txns = finished();
    const auto& selection = txns[0].executions[0].selection;
    if (!selection) return "";
    std::string out = selection->predicate;
    for (const Read& each : selection->rows) out += " " + each.key + "=" + each.value;
    return out;
  }
};

TEST_F(SelectionTest, ConditionsOnOneColumnBecomePredicates) {
  EXPECT_EQ(selected("SELECT id, v FROM t WHERE v < 3", {1, 2}, {{"1", "2"}, {"4", "-1"}}),
            R"({"lt":["t.v",3]} t/1.v=2 t/4.v=-1)");
  EXPECT_EQ(selected("SELECT id, v FROM t WHERE v < 7", {1, 2}, {}), R"({"lt":["t.v",7]})");
  EXPECT_EQ(selected("SELECT id FROM t WHERE 3 < v AND NOT v IN (5, 6)", {1}, {}),
            R"({"and":[{"gt":["t.v",3]},{"not":{"in":["t.v",[5,6]]}}]})");
  EXPECT_EQ(selected("SELECT id, v FROM t WHERE v NOT BETWEEN -3 AND 4 OR v = 0", {1, 2}, {}),
            R"({"or":[{"not":{"between":["t.v",-3,4]}},{"eq":["t.v",0]}]})");
  EXPECT_EQ(selected("SELECT id FROM t WHERE s = 'it''s'", {1}, {{"7"}}),
            R"({"eq":["t.s","it's"]} t/7.s="it's")");
  EXPECT_EQ(selected("SELECT s, id FROM t WHERE s LIKE 'a\\_%'", {3, 1}, {{"a_b", "7"}}),
            R"({"like":["t.s","a\\_%"]} t/7.s="a_b")");
  EXPECT_EQ(selected("SELECT id, b FROM t WHERE b", {1, 5}, {{"1", "t"}}),
            R"({"eq":["t.b",true]} t/1.b=true)");
  EXPECT_EQ(selected("SELECT id FROM t WHERE NOT b", {1}, {}), R"({"not":{"eq":["t.b",true]}})");
  EXPECT_EQ(selected("SELECT id, v FROM t ORDER BY v", {1, 2}, {{"1", "2"}}),
            R"({"not":{"is_null":"t.id"}} t/1.id=1)");
  EXPECT_EQ(selected("SELECT id FROM t WHERE id BETWEEN 2 AND 3", {1}, {{"2"}, {"3"}}),
            R"({"between":["t.id",2,3]} t/2.id=2 t/3.id=3)");
}

TEST_F(SelectionTest, ConstantsOfTextsThatDifferInThemAreTheirOwn) {
  for (const std::string bound : {"3", "4", "5"}) {
    EXPECT_EQ(selected("SELECT id, v FROM t WHERE v < " + bound, {1, 2}, {}),
              R"({"lt":["t.v",)" + bound + "]}");
  }
}

TEST_F(SelectionTest, WhatPredicatesCannotSayIsNoSelection) {
  for (const std::string where :
       {"v < 3 AND s = 'x'", "s < 'x'", "v IS NULL", "v = id", "v + 1 = 3", "c = 'x'", "v = 'x'",
        "v < 1.5", "s ILIKE 'x'", "s LIKE 'a!%' ESCAPE '!'", "v = ANY ('{1}')", "id = 3",
        "v < 3 LIMIT 2", "v < 3 FOR UPDATE", "v = NULL"}) {
    EXPECT_EQ(selected("SELECT id, v FROM t WHERE " + where, {1, 2}, {}), "") << where;
  }
  // The result does not tell which rows, or what they hold.
  EXPECT_EQ(selected("SELECT v FROM t WHERE v < 3", {2}, {{"1"}}), "");
  EXPECT_EQ(selected("SELECT id FROM t WHERE v < 3", {1}, {{"1"}}), "");
}

TEST_F(ObserverTest, WithoutAllRowsOfTheTableThereIsNoSelection) {
  trip(query("SELECT id, v FROM t WHERE v < 3"),
       columns(20000, {1, 2}) + row({"1", "2"}) + done("SELECT 1") + ready('I'));
  EXPECT_FALSE(finished()[0].executions[0].selection);
}

TEST_F(ObserverTest, ATransactionMayBeginInABatch) {
  const std::string none("\0\0", 2);
  const auto run = [&](const std::string& sql) {
    return message('P', kZero + sql + kZero + none) +
           message('B', kZero + kZero + none + none + none) + message('D', "P" + kZero) +
           message('E', kZero + std::string(4, '\0'));
  };
  trip(run("BEGIN") + run("SELECT v FROM t WHERE id = 7") + message('S', ""),
       message('1', "") + message('2', "") + message('n', "") + done("BEGIN") + message('1', "") +
           message('2', "") + columns(20000, {2}) + row({"5"}) + done("SELECT 1") + ready('T'));
  const std::string commit = run("COMMIT") + message('S', "");
  EXPECT_TRUE(client(commit).ends_with(commit));
  (void)server(own_answer("10:12:10", "", "serializable") + message('1', "") + message('2', "") +
               message('n', "") + done("COMMIT") + ready('I'));
  const auto txns = finished();
  ASSERT_EQ(txns.size(), 1U);
  EXPECT_EQ(txns[0].not_judged, "");
  ASSERT_EQ(txns[0].executions.size(), 1U);
  EXPECT_EQ(txns[0].executions[0].reads.size(), 1U);
}

TEST_F(ObserverTest, ACopyInTheExtendedProtocolStaysInStep) {
  const std::string none("\0\0", 2);
  trip(message('P', kZero + "COPY t FROM STDIN" + kZero + none) +
           message('B', kZero + kZero + none + none + none) +
           message('E', kZero + std::string(4, '\0')) + message('S', ""),
       message('1', "") + message('2', "") + message('G', std::string("\0\0\0", 3)));
  trip(message('d', "1\t2\n") + message('c', "") + message('S', ""), done("COPY 1") + ready('I'));
  trip(query("BEGIN"), done("BEGIN") + ready('T'));
  EXPECT_GT(client(query("COMMIT")).size(), query("COMMIT").size());
}

TEST_F(ObserverTest, WhatTheServerSaysInBetweenReachesTheClient) {
  trip(query("BEGIN"), done("BEGIN") + ready('T'));
  (void)client(query("COMMIT"));
  const std::string notice = message('N', "SNOTICE" + kZero + kZero);
  EXPECT_EQ(server(notice + own_answer("10:12:10", "", "read committed")), notice);
  const std::string fatal = message('E', "SFATAL" + kZero + "VFATAL" + kZero + kZero);
  (void)server(done("COMMIT") + ready('I'));
  trip(query("BEGIN"), done("BEGIN") + ready('T'));
  (void)client(query("COMMIT"));
  EXPECT_EQ(server(fatal), fatal);
}

// The COMMIT of a transaction that our own statement broke is a rollback, which drivers take for a
// success.
TEST_F(ObserverTest, AnErrorOfOurOwnIsToldInsteadOfARollback) {
  const std::string error = message('E', "SERROR" + kZero + "C57014" + kZero + kZero);
  for (int failures = 0; failures < 3; ++failures) {
    trip(query("BEGIN"), done("BEGIN") + ready('T'));
    EXPECT_GT(client(query("COMMIT")).size(), query("COMMIT").size());
    EXPECT_EQ(server(error + ready('E')), "");
    EXPECT_EQ(server(done("ROLLBACK") + ready('I')), error + ready('I'));
  }
  // That is no accident, so there are no more of them.
  trip(query("BEGIN"), done("BEGIN") + ready('T'));
  EXPECT_EQ(client(query("COMMIT")), query("COMMIT"));
  EXPECT_EQ(server(done("COMMIT") + ready('I')), done("COMMIT") + ready('I'));
}

TEST_F(ObserverTest, AnswersThatNobodyAskedForEndTheObservation) {
  trip(query("SELECT 1"), message('1', "") + done("SELECT 1") + ready('I'));
  EXPECT_EQ(ledger_.counts().not_understood, 0U);  // Of a simple query it is not looked at.
  EXPECT_EQ(server(ready('I')), ready('I'));
  EXPECT_EQ(ledger_.counts().not_understood, 1U);
  trip(query("BEGIN"), done("BEGIN") + ready('T'));
  trip(query("COMMIT"), done("COMMIT") + ready('I'));
}

TEST_F(ObserverTest, WhatIsOpenIsKnown) {
  EXPECT_TRUE(ledger_.take().open.empty());
  trip(query("BEGIN"), done("BEGIN") + ready('T'));
  EXPECT_EQ(ledger_.take().open.size(), 1U);
  (void)client(query("COMMIT"));
  (void)server(own_answer("10:12:10", "", "read committed") + done("COMMIT") + ready('I'));
  EXPECT_TRUE(ledger_.take().open.empty());
  (void)client(query("SELECT 1"));
  EXPECT_EQ(ledger_.take().open.size(), 1U);
  observer_.reset();
  EXPECT_TRUE(ledger_.take().open.empty());
}

}  // namespace
}  // namespace ouro::tapping
