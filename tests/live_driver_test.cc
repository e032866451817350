// The drivers of servers, statement by statement, against private servers.
//
// The name of every suite here begins with "Live": ctest runs them in one process of their own, so
// that each server is started once (tests/CMakeLists.txt).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <thread>

#include "db/registry.h"
#include "tests/live_servers.h"

namespace ouro::db {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

using Numbers = std::map<Key, Number>;
using Rows = std::map<Key, Row>;

Numbers by_key(const std::vector<KeyNumber>& found) {
  Numbers numbers;
  for (const KeyNumber& pair : found) EXPECT_TRUE(numbers.emplace(pair.key, pair.number).second);
  return numbers;
}

Rows by_key(const std::vector<KeyRow>& found) {
  Rows rows;
  for (const KeyRow& pair : found) EXPECT_TRUE(rows.emplace(pair.key, pair.row).second);
  return rows;
}

// A table on one of the servers.
class Table {
 public:
  Table(ServerKind kind, std::string_view options, Schema schema) {
    const Result<Url> url = parse_url(url_of(*live_server(kind), options));
    EXPECT_TRUE(url.ok());
    auto opened = open_database(*url);
    EXPECT_TRUE(opened.ok()) << opened.error().what;
    if (!opened.ok()) return;
    database_ = std::move(*opened);
    const Status prepared = database_->prepare(schema);
    EXPECT_TRUE(prepared.ok()) << prepared.error().what;
  }
  ~Table() {
    const Status finished = database_->finish();
    EXPECT_TRUE(finished.ok()) << finished.error().what;
  }

  Database* operator->() { return database_.get(); }
  std::unique_ptr<Connection> connect(std::size_t node = 0) {
    auto connection = database_->connect(node);
    EXPECT_TRUE(connection.ok()) << connection.error().what;
    return connection.ok() ? std::move(*connection) : nullptr;
  }

 private:
  std::unique_ptr<Database> database_;
};

#define ASSERT_DONE(call)                                   \
  do {                                                      \
    const Answer done = (call);                             \
    ASSERT_TRUE(done.ok()) << #call << ": " << done.reason; \
  } while (false)

void use_registers(Connection& client) {
  std::optional<Number> number = 5;
  ASSERT_DONE(client.begin(false));
  ASSERT_DONE(client.read(1, number));
  EXPECT_EQ(number, std::nullopt);
  ASSERT_DONE(client.write(1, 10));
  ASSERT_DONE(client.write(2, 20));
  ASSERT_DONE(client.write(1, 11));
  ASSERT_DONE(client.read(1, number));
  EXPECT_EQ(number, 11);
  ASSERT_DONE(client.commit());
  ASSERT_DONE(client.begin(false));
  ASSERT_DONE(client.write(2, 21));
  ASSERT_DONE(client.remove(1));
  ASSERT_DONE(client.remove(77));
  ASSERT_DONE(client.rollback());
  ASSERT_DONE(client.begin(true));
  std::vector<KeyNumber> found;
  ASSERT_DONE(client.scan(1, 2, found));
  EXPECT_EQ(by_key(found), (Numbers{{1, 11}, {2, 20}}));
  ASSERT_DONE(client.scan(2, 9, found));
  EXPECT_EQ(by_key(found), (Numbers{{2, 20}}));
  ASSERT_DONE(client.commit());
  ASSERT_DONE(client.begin(false));
  ASSERT_DONE(client.remove(1));
  ASSERT_DONE(client.write(9, std::numeric_limits<Number>::max()));
  ASSERT_DONE(client.write(-9, std::numeric_limits<Number>::min()));
  ASSERT_DONE(client.commit());
  ASSERT_DONE(client.begin(true));
  ASSERT_DONE(client.read(1, number));
  EXPECT_EQ(number, std::nullopt);
  ASSERT_DONE(client.read(9, number));
  EXPECT_EQ(number, std::numeric_limits<Number>::max());
  ASSERT_DONE(client.read(-9, number));
  EXPECT_EQ(number, std::numeric_limits<Number>::min());
  ASSERT_DONE(client.commit());
}

void use_lists(Connection& client) {
  std::vector<Number> elements = {1};
  ASSERT_DONE(client.begin(false));
  ASSERT_DONE(client.read_list(1, elements));
  EXPECT_THAT(elements, IsEmpty());
  ASSERT_DONE(client.append(1, 10));
  ASSERT_DONE(client.append(1, -20));
  ASSERT_DONE(client.append(1, 30));
  ASSERT_DONE(client.commit());
  ASSERT_DONE(client.begin(true));
  ASSERT_DONE(client.read_list(1, elements));
  EXPECT_THAT(elements, ElementsAre(10, -20, 30));
  ASSERT_DONE(client.commit());
}

void use_rows(Connection& client) {
  std::optional<Row> row;
  ASSERT_DONE(client.begin(false));
  for (Key key = 0; key < 6; ++key) ASSERT_DONE(client.write_row(key, {100 + key, key, 7}));
  ASSERT_DONE(client.commit());
  ASSERT_DONE(client.begin(false));
  ASSERT_DONE(client.read_row(3, row));
  EXPECT_EQ(row, (Row{103, 3, 7}));
  ASSERT_DONE(client.read_row(33, row));
  EXPECT_EQ(row, std::nullopt);
  std::vector<KeyRow> found;
  ASSERT_DONE(client.select({{1, 2, 3}, {2, 7, 7}}, found));
  EXPECT_EQ(by_key(found), (Rows{{2, {102, 2, 7}}, {3, {103, 3, 7}}}));
  ASSERT_DONE(client.select({}, found));
  EXPECT_THAT(found, SizeIs(6));
  std::optional<Number> result;
  ASSERT_DONE(client.aggregate(AggregateKind::Sum, 0, {{1, 4, 9}}, result));
  EXPECT_EQ(result, 104 + 105);
  ASSERT_DONE(client.aggregate(AggregateKind::Max, 1, {}, result));
  EXPECT_EQ(result, 5);
  ASSERT_DONE(client.aggregate(AggregateKind::Min, 1, {{1, 50, 60}}, result));
  EXPECT_EQ(result, std::nullopt);
  ASSERT_DONE(client.aggregate(AggregateKind::Count, 1, {{1, 50, 60}}, result));
  EXPECT_EQ(result, 0);
  std::vector<RowChange> changed;
  const std::vector<Assignment> assignments = {{0, 500}, {1, 40}};
  ASSERT_DONE(client.update_where({{1, 4, 5}}, assignments, changed));
  ASSERT_THAT(changed, SizeIs(2));
  for (const RowChange& change : changed) {
    EXPECT_EQ(change.before, (Row{100 + change.key, change.key, 7}));
    EXPECT_EQ(change.after, (Row{500, 40, 7}));
  }
  ASSERT_DONE(client.update_where({{1, 90, 99}}, assignments, changed));
  EXPECT_THAT(changed, IsEmpty());
  ASSERT_DONE(client.remove_where({{1, 0, 1}}, found));
  EXPECT_EQ(by_key(found), (Rows{{0, {100, 0, 7}}, {1, {101, 1, 7}}}));
  ASSERT_DONE(client.select({}, found));
  EXPECT_EQ(by_key(found),
            (Rows{{2, {102, 2, 7}}, {3, {103, 3, 7}}, {4, {500, 40, 7}}, {5, {500, 40, 7}}}));
  ASSERT_DONE(client.commit());
}

void use_everything(ServerKind kind, std::string_view options) {
  {
    Table table(kind, options, {.model = Model::Registers});
    use_registers(*table.connect());
  }
  {
    Table table(kind, options, {.model = Model::Lists});
    use_lists(*table.connect());
  }
  Table table(kind, options, {.model = Model::Rows});
  use_rows(*table.connect());
}

TEST(LivePostgresTest, EveryOperationDoesWhatItSays) {
  OURO_NEEDS_SERVER(ServerKind::Postgres);
  for (const char* options : {"isolation=rc", "isolation=rr", ""}) {
    SCOPED_TRACE(options);
    use_everything(ServerKind::Postgres, options);
  }
}

TEST(LiveMariaDbTest, EveryOperationDoesWhatItSays) {
  OURO_NEEDS_SERVER(ServerKind::MariaDb);
  for (const char* options :
       {"isolation=ru", "isolation=rc", "isolation=rr", "isolation=rr&snapshot_isolation=1", ""}) {
    SCOPED_TRACE(options);
    use_everything(ServerKind::MariaDb, options);
  }
}

// Two clients read x and then both write it; returns what the second one's commit came to.
Reply second_writer(ServerKind kind, std::string_view options) {
  Table table(kind, options, {.patience = 2s});
  const auto first = table.connect();
  const auto second = table.connect();
  EXPECT_TRUE(first->begin(false).ok() && first->write(1, 1).ok() && first->commit().ok());
  std::optional<Number> number;
  EXPECT_TRUE(first->begin(false).ok() && first->read(1, number).ok());
  EXPECT_TRUE(second->begin(false).ok() && second->read(1, number).ok());
  EXPECT_TRUE(first->write(1, 2).ok());
  EXPECT_TRUE(first->commit().ok());
  const Answer wrote = second->write(1, 3);
  if (wrote.ok()) return second->commit().reply;
  EXPECT_NE(wrote.reason, "");
  EXPECT_TRUE(second->rollback().ok());
  // And the connection is good for more.
  EXPECT_TRUE(second->begin(false).ok() && second->write(1, 4).ok() && second->commit().ok());
  return wrote.reply;
}

TEST(LivePostgresTest, ALostUpdateIsRefusedFromRepeatableReadUp) {
  OURO_NEEDS_SERVER(ServerKind::Postgres);
  EXPECT_EQ(second_writer(ServerKind::Postgres, "isolation=rc"), Reply::Ok);
  EXPECT_EQ(second_writer(ServerKind::Postgres, "isolation=rr"), Reply::Aborted);
  EXPECT_EQ(second_writer(ServerKind::Postgres, "isolation=ser"), Reply::Aborted);
}

TEST(LiveMariaDbTest, ALostUpdateIsAllowedByDefaultAndRefusedOnRequest) {
  OURO_NEEDS_SERVER(ServerKind::MariaDb);
  EXPECT_EQ(second_writer(ServerKind::MariaDb, "isolation=rr"), Reply::Ok);
  EXPECT_EQ(second_writer(ServerKind::MariaDb, "isolation=rr&snapshot_isolation=1"),
            Reply::Aborted);
}

// The classic mistake of recorders: COMMIT of a failed transaction "succeeds".
TEST(LivePostgresTest, CommitAfterAFailedStatementIsNotCommitted) {
  OURO_NEEDS_SERVER(ServerKind::Postgres);
  Table table(ServerKind::Postgres, "isolation=rr", {});
  const auto client = table.connect();
  ASSERT_DONE(client->begin(false));
  ASSERT_DONE(client->write(1, 1));
  std::vector<KeyRow> rows;
  EXPECT_EQ(client->select({{1, 0, 1}}, rows).reply, Reply::Failed);  // There are no such columns.
  EXPECT_EQ(client->commit().reply, Reply::Aborted);
  ASSERT_DONE(client->begin(false));
  std::optional<Number> number;
  ASSERT_DONE(client->read(1, number));
  EXPECT_EQ(number, std::nullopt);
  ASSERT_DONE(client->rollback());
}

TEST(LivePostgresTest, ALockIsRefusedForCertainBeforePatienceEnds) {
  OURO_NEEDS_SERVER(ServerKind::Postgres);
  Table table(ServerKind::Postgres, "isolation=rr", {.patience = 2s});
  const auto first = table.connect();
  const auto second = table.connect();
  ASSERT_DONE(first->begin(false));
  ASSERT_DONE(first->write(1, 1));
  ASSERT_DONE(second->begin(false));
  const Answer waited = second->write(1, 2);
  EXPECT_EQ(waited.reply, Reply::Aborted);
  EXPECT_EQ(waited.reason, "lock timeout");
  ASSERT_DONE(second->rollback());
  ASSERT_DONE(first->commit());
}

TEST(LivePostgresTest, WhatAPausedServerDoesNotAnswerIsLostAndLaterResolved) {
  OURO_NEEDS_SERVER(ServerKind::Postgres);
  Server& server = *live_server(ServerKind::Postgres);
  for (const bool evidence : {false, true}) {
    Table table(ServerKind::Postgres, "isolation=rr", {.evidence = evidence, .patience = 2s});
    const auto client = table.connect();
    const auto other = table.connect();
    ASSERT_DONE(client->begin(false));
    ASSERT_DONE(client->write(1, 1));
    ASSERT_DONE(other->begin(false));
    ASSERT_DONE(other->write(2, 2));
    ASSERT_TRUE(server.pause(0).ok());
    EXPECT_EQ(client->commit().reply, Reply::Lost);
    EXPECT_EQ(other->write(3, 3).reply, Reply::Lost);
    EXPECT_EQ(other->rollback().reply, Reply::Lost);
    ASSERT_TRUE(server.resume(0).ok());
    // The server got the COMMIT before the connection closed.
    EXPECT_EQ(table->resolve(client->trace().token), Resolution::Committed);
    EXPECT_EQ(table->resolve(other->trace().token), Resolution::Aborted);
  }
}

TEST(LivePostgresTest, AKilledServerKeepsItsPromisesAndComesBack) {
  OURO_NEEDS_SERVER(ServerKind::Postgres);
  Server& server = *live_server(ServerKind::Postgres);
  Table table(ServerKind::Postgres, "isolation=rr", {.patience = 2s});
  const auto client = table.connect();
  ASSERT_DONE(client->begin(false));
  ASSERT_DONE(client->write(1, 1));
  ASSERT_DONE(client->commit());
  ASSERT_DONE(client->begin(false));
  ASSERT_DONE(client->write(1, 2));
  ASSERT_TRUE(server.kill(0).ok());
  EXPECT_EQ(client->commit().reply, Reply::Lost);
  EXPECT_FALSE(table->connect(0).ok());
  ASSERT_TRUE(server.restart(0).ok());
  EXPECT_EQ(table->resolve(client->trace().token), Resolution::Aborted);
  const auto after = table.connect();
  std::optional<Number> number;
  ASSERT_DONE(after->begin(true));
  ASSERT_DONE(after->read(1, number));
  EXPECT_EQ(number, 1);
  ASSERT_DONE(after->commit());
}

TEST(LiveMariaDbTest, AKilledServerKeepsItsPromisesAndComesBack) {
  OURO_NEEDS_SERVER(ServerKind::MariaDb);
  Server& server = *live_server(ServerKind::MariaDb);
  Table table(ServerKind::MariaDb, "isolation=rr", {.patience = 2s});
  const auto client = table.connect();
  ASSERT_DONE(client->begin(false));
  ASSERT_DONE(client->write(1, 1));
  ASSERT_DONE(client->commit());
  ASSERT_DONE(client->begin(false));
  ASSERT_DONE(client->write(1, 2));
  ASSERT_TRUE(server.kill(0).ok());
  EXPECT_EQ(client->commit().reply, Reply::Lost);
  EXPECT_FALSE(table->connect(0).ok());
  ASSERT_TRUE(server.restart(0).ok());
  const auto after = table.connect();
  std::optional<Number> number;
  ASSERT_DONE(after->begin(true));
  ASSERT_DONE(after->read(1, number));
  EXPECT_EQ(number, 1);
  ASSERT_DONE(after->commit());
}

TEST(LivePostgresTest, TheStandbyReadsAndRefusesToWrite) {
  OURO_NEEDS_SERVER(ServerKind::PostgresStandby);
  Table table(ServerKind::PostgresStandby, "isolation=rr", {});
  ASSERT_EQ(table->node_count(), 2u);
  EXPECT_FALSE(table->read_only(0));
  EXPECT_TRUE(table->read_only(1));
  EXPECT_FALSE(table->features().timestamps);
  const auto primary = table.connect(0);
  const auto standby = table.connect(1);
  ASSERT_DONE(primary->begin(false));
  ASSERT_DONE(primary->write(1, 5));
  ASSERT_DONE(primary->commit());
  std::optional<Number> number;
  for (int attempt = 0; attempt < 6000 && number != 5; ++attempt) {
    ASSERT_DONE(standby->begin(true));
    ASSERT_DONE(standby->read(1, number));
    ASSERT_DONE(standby->commit());
    if (number != 5) std::this_thread::sleep_for(10ms);
  }
  EXPECT_EQ(number, 5);
  ASSERT_DONE(standby->begin(false));
  EXPECT_EQ(standby->write(1, 6).reply, Reply::Failed);
}

// A node alone has no majority, so it refuses to answer until it is back.
TEST(LiveGaleraTest, ANodeThatIsCutOffRefusesAndRejoins) {
  OURO_NEEDS_SERVER(ServerKind::Galera);
  Server& server = *live_server(ServerKind::Galera);
  Table table(ServerKind::Galera, "isolation=rr", {.patience = 5s});
  const auto client = table.connect(2);
  std::optional<Number> number;
  // What the node says to a read, as soon as it is `wanted`; tried for 30 s.
  const auto wait_for = [&](Reply wanted) {
    Answer answer;
    for (int attempt = 0; attempt < 300; ++attempt) {
      answer = client->begin(true);
      if (answer.ok()) answer = client->read(1, number);
      (void)client->rollback();
      if (answer.reply == wanted) break;
      std::this_thread::sleep_for(100ms);
    }
    return answer;
  };
  const auto other = table.connect(0);
  ASSERT_DONE(other->begin(false));
  ASSERT_DONE(other->write(1, 1));
  ASSERT_DONE(other->commit());
  EXPECT_EQ(wait_for(Reply::Ok).reply, Reply::Ok);
  ASSERT_TRUE(server.cut(2).ok());
  EXPECT_EQ(wait_for(Reply::Aborted).reason, "the node is not part of the cluster");
  ASSERT_DONE(other->begin(false));
  ASSERT_DONE(other->write(1, 2));
  ASSERT_DONE(other->commit());
  ASSERT_TRUE(server.join(2).ok());
  EXPECT_EQ(wait_for(Reply::Ok).reply, Reply::Ok);
  for (int attempt = 0; attempt < 100 && number != 2; ++attempt) (void)wait_for(Reply::Ok);
  EXPECT_EQ(number, 2);
}

TEST(LivePostgresTest, AWrongUrlSaysWhatIsWrong) {
  const auto problem = [](const std::string& text) {
    auto database = open_database(*parse_url(text));
    if (!database.ok()) return database.error().what;
    const Status prepared = (*database)->prepare({});
    return prepared.ok() ? std::string() : prepared.error().what;
  };
  EXPECT_THAT(problem("postgres://localhost/x?isolation=si"), HasSubstr("there are rc, rr, ser"));
  EXPECT_THAT(problem("postgres://localhost/x?level=rr"), HasSubstr("unknown option 'level'"));
  EXPECT_THAT(problem("postgres://%2Fno%2Fsuch/x"), HasSubstr("/no/such"));
  EXPECT_THAT(problem("mysql://localhost/x?isolation=si"), HasSubstr("there are ru, rc, rr, ser"));
  EXPECT_THAT(problem("mysql://%2Fno%2Fsuch/x"), HasSubstr("/no/such"));
}

}  // namespace
}  // namespace ouro::db
