// Tests of what every embedded driver must do, whichever database is behind it.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>
#include <set>
#include <utility>

#include "db/built_in.h"
#include "db/registry.h"
#include "tests/files.h"

namespace ouro::db {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Result<std::unique_ptr<Database>> open_text(const std::string& text) {
  const auto url = parse_url(text);
  if (!url.ok()) return url.error();
  return open_database(*url);
}

std::vector<std::string> embedded() {
  std::vector<std::string> urls;
  if (kWithRocksdb) {
    urls.insert(urls.end(), {"rocksdb:", "rocksdb:?mode=optimistic", "rocksdb:?snapshot=off"});
  }
  if (kWithSqlite) {
    urls.insert(urls.end(), {"sqlite:", "sqlite:?mode=rollback", "sqlite:?mode=shared"});
  }
  if (kWithWiredtiger)
    urls.insert(urls.end(), {"wiredtiger:", "wiredtiger:?isolation=read-committed"});
  return urls;
}

class DriverTest : public testing::TestWithParam<std::string> {
 protected:
  void prepare(Model model) {
    auto opened = open_text(GetParam());
    ASSERT_TRUE(opened.ok()) << opened.error().to_string();
    database_ = *std::move(opened);
    Schema schema;
    schema.model = model;
    schema.evidence = true;
    schema.patience = std::chrono::milliseconds(200);
    const Status prepared = database_->prepare(schema);
    ASSERT_TRUE(prepared.ok()) << prepared.error().to_string();
  }
  std::unique_ptr<Connection> connect() {
    auto connection = database_->connect(0);
    EXPECT_TRUE(connection.ok());
    return *std::move(connection);
  }
  void TearDown() override {
    if (database_) {
      EXPECT_TRUE(database_->finish().ok());
    }
  }
  static void commit(Connection& connection) {
    const Answer answer = connection.commit();
    ASSERT_TRUE(answer.ok()) << answer.reason;
  }
  std::optional<Number> value(Key key) {
    auto reader = connect();
    std::optional<Number> number;
    EXPECT_TRUE(reader->begin(true).ok());
    EXPECT_TRUE(reader->read(key, number).ok());
    EXPECT_TRUE(reader->commit().ok());
    return number;
  }

  std::unique_ptr<Database> database_;
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(DriverTest);  // A build may leave all of them out.
INSTANTIATE_TEST_SUITE_P(, DriverTest, testing::ValuesIn(embedded()), [](const auto& test) {
  std::string name;
  for (const char c : test.param) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
});

TEST_P(DriverTest, RegistersAreReadAsWritten) {
  prepare(Model::Registers);
  auto connection = connect();
  std::optional<Number> number = 7;
  ASSERT_TRUE(connection->begin(false).ok());
  ASSERT_TRUE(connection->read(5, number).ok());
  EXPECT_FALSE(number.has_value());
  ASSERT_TRUE(connection->write(5, -12).ok());
  ASSERT_TRUE(connection->write(5, 13).ok());
  ASSERT_TRUE(connection->write(-3, 1'000'000'000'000).ok());
  ASSERT_TRUE(connection->read(5, number).ok());
  EXPECT_EQ(number, 13) << "a transaction sees its own writes";
  commit(*connection);
  EXPECT_EQ(value(5), 13);
  EXPECT_EQ(value(-3), 1'000'000'000'000);
}

TEST_P(DriverTest, RollbackUndoesAndTheConnectionGoesOn) {
  prepare(Model::Registers);
  auto connection = connect();
  ASSERT_TRUE(connection->begin(false).ok());
  ASSERT_TRUE(connection->write(1, 10).ok());
  ASSERT_TRUE(connection->rollback().ok());
  EXPECT_EQ(value(1), std::nullopt);
  ASSERT_TRUE(connection->begin(false).ok());
  ASSERT_TRUE(connection->write(1, 11).ok());
  commit(*connection);
  EXPECT_EQ(value(1), 11);
}

TEST_P(DriverTest, ClosingAConnectionRollsBack) {
  prepare(Model::Registers);
  {
    auto connection = connect();
    ASSERT_TRUE(connection->begin(false).ok());
    ASSERT_TRUE(connection->write(1, 10).ok());
  }
  EXPECT_EQ(value(1), std::nullopt);
}

TEST_P(DriverTest, ScansReturnTheRangeAndRemovedKeysAreAbsent) {
  prepare(Model::Registers);
  auto connection = connect();
  ASSERT_TRUE(connection->begin(false).ok());
  for (const Key key : {-5, -1, 0, 3, 7, 300}) ASSERT_TRUE(connection->write(key, key * 10).ok());
  commit(*connection);
  ASSERT_TRUE(connection->begin(false).ok());
  ASSERT_TRUE(connection->remove(3).ok());
  ASSERT_TRUE(connection->remove(4).ok()) << "absent";
  ASSERT_TRUE(connection->write(5, 50).ok());
  std::vector<KeyNumber> found;
  ASSERT_TRUE(connection->scan(-1, 7, found).ok());
  std::set<std::pair<Key, Number>> seen;
  for (const KeyNumber& one : found) seen.emplace(one.key, one.number);
  EXPECT_THAT(seen,
              ElementsAre(std::pair(-1, -10), std::pair(0, 0), std::pair(5, 50), std::pair(7, 70)));
  ASSERT_TRUE(connection->scan(8, 299, found).ok());
  EXPECT_THAT(found, IsEmpty());
  commit(*connection);
  EXPECT_EQ(value(3), std::nullopt);
}

TEST_P(DriverTest, ListsGrowAtTheEnd) {
  prepare(Model::Lists);
  auto connection = connect();
  std::vector<Number> elements{99};
  ASSERT_TRUE(connection->begin(false).ok());
  ASSERT_TRUE(connection->read_list(1, elements).ok());
  EXPECT_THAT(elements, IsEmpty());
  for (const Number element : {4, 256, -1, 0}) ASSERT_TRUE(connection->append(1, element).ok());
  commit(*connection);
  ASSERT_TRUE(connection->begin(false).ok());
  ASSERT_TRUE(connection->append(1, 5).ok());
  ASSERT_TRUE(connection->read_list(1, elements).ok());
  EXPECT_THAT(elements, ElementsAre(4, 256, -1, 0, 5));
  commit(*connection);
}

TEST_P(DriverTest, PredicatesSelectAggregateUpdateAndRemove) {
  prepare(Model::Rows);
  auto connection = connect();
  ASSERT_TRUE(connection->begin(false).ok());
  for (Key key = 0; key < 10; ++key) {
    ASSERT_TRUE(connection->write_row(key, {key, key * 10, -key}).ok());
  }
  commit(*connection);
  ASSERT_TRUE(connection->begin(false).ok());
  const Where where{{.column = 1, .lower = 20, .upper = 40}};
  std::vector<KeyRow> found;
  ASSERT_TRUE(connection->select(where, found).ok());
  ASSERT_EQ(found.size(), 3u);
  std::optional<Number> result;
  for (const auto& [kind, expected] : {std::pair{AggregateKind::Count, 3},
                                       {AggregateKind::Sum, -9},
                                       {AggregateKind::Min, -4},
                                       {AggregateKind::Max, -2}}) {
    ASSERT_TRUE(connection->aggregate(kind, 2, where, result).ok());
    EXPECT_EQ(result, expected);
  }
  const Where none{{.column = 1, .lower = 500, .upper = 600}};
  ASSERT_TRUE(connection->aggregate(AggregateKind::Max, 2, none, result).ok());
  EXPECT_FALSE(result.has_value());
  ASSERT_TRUE(connection->aggregate(AggregateKind::Count, 2, none, result).ok());
  EXPECT_EQ(result, 0);

  std::vector<RowChange> changed;
  const Assignment assignments[] = {{.column = 0, .number = 77}, {.column = 1, .number = 5}};
  ASSERT_TRUE(connection->update_where(where, assignments, changed).ok());
  ASSERT_EQ(changed.size(), 3u);
  for (const RowChange& change : changed) {
    EXPECT_EQ(change.before, (Row{change.key, change.key * 10, -change.key}));
    EXPECT_EQ(change.after, (Row{77, 5, -change.key}));
  }
  ASSERT_TRUE(connection->select(where, found).ok());
  EXPECT_THAT(found, IsEmpty());
  ASSERT_TRUE(connection->remove_where({{.column = 0, .lower = 77, .upper = 77}}, found).ok());
  EXPECT_EQ(found.size(), 3u);
  ASSERT_TRUE(connection->select({}, found).ok());
  EXPECT_EQ(found.size(), 7u);
  std::optional<Row> row;
  ASSERT_TRUE(connection->read_row(3, row).ok());
  EXPECT_FALSE(row.has_value());
  ASSERT_TRUE(connection->read_row(9, row).ok());
  EXPECT_EQ(row, (Row{9, 90, -9}));
  commit(*connection);
}

// Two transactions read a key and both write it. Databases that promise anything refuse one of
// them (with a shared cache both), as aborted, and what is refused has no effect.
TEST_P(DriverTest, ALostUpdateIsRefusedWhereThatIsPromised) {
  prepare(Model::Registers);
  auto a = connect();
  auto b = connect();
  std::optional<Number> number;
  ASSERT_TRUE(a->begin(false).ok());
  ASSERT_TRUE(b->begin(false).ok());
  Answer answers[2];
  answers[0] = a->read(1, number);
  answers[1] = b->read(1, number);
  if (answers[0].ok()) answers[0] = a->write(1, 100);
  if (answers[0].ok()) answers[0] = a->commit();
  if (answers[1].ok()) answers[1] = b->write(1, 200);
  if (answers[1].ok()) answers[1] = b->commit();
  for (Connection* connection : {a.get(), b.get()}) {
    if (!answers[connection == b.get()].ok()) static_cast<void>(connection->rollback());
  }
  const bool promised = database_->claims() != Level::ReadCommitted;
  const int committed = (answers[0].ok() ? 1 : 0) + (answers[1].ok() ? 1 : 0);
  if (promised) {
    ASSERT_LE(committed, 1);
    for (const Answer& answer : answers) {
      EXPECT_TRUE(answer.ok() || answer.reply == Reply::Aborted) << answer.reason;
    }
    const std::optional<Number> kept = answers[0].ok()   ? std::optional<Number>(100)
                                       : answers[1].ok() ? std::optional<Number>(200)
                                                         : std::nullopt;
    EXPECT_EQ(value(1), kept);
  } else {
    EXPECT_EQ(committed, 2);
    EXPECT_EQ(value(1), 200);
  }
}

// A transaction sees exactly the commits whose timestamps are before its start timestamp.
TEST_P(DriverTest, TimestampsOrderCommitsAndSnapshots) {
  prepare(Model::Registers);
  if (!database_->features().timestamps) return;
  struct Seen {
    Trace trace;
    std::optional<Number> number;
  };
  std::vector<Seen> writers;
  std::vector<Seen> readers;
  auto connection = connect();
  for (Number i = 1; i <= 5; ++i) {
    Seen writer{.trace = {}, .number = i};
    ASSERT_TRUE(connection->begin(false).ok());
    ASSERT_TRUE(connection->write(1, i).ok());
    ASSERT_TRUE(connection->write(2, i).ok());
    commit(*connection);
    writer.trace = connection->trace();
    writers.push_back(writer);
    Seen reader;
    ASSERT_TRUE(connection->begin(true).ok());
    ASSERT_TRUE(connection->read(2, reader.number).ok());
    commit(*connection);
    reader.trace = connection->trace();
    readers.push_back(reader);
  }
  connection.reset();
  std::vector<std::uint64_t> tokens;
  for (const Seen& writer : writers) {
    if (writer.trace.token != 0) tokens.push_back(writer.trace.token);
  }
  const auto recovered = database_->recover(tokens);
  ASSERT_TRUE(recovered.ok());
  for (Seen& writer : writers) {
    for (const Recovered::Times& times : recovered->times) {
      if (times.token == writer.trace.token) writer.trace.commit = times.commit;
    }
    ASSERT_NE(writer.trace.start, kNoTimestamp);
    ASSERT_NE(writer.trace.commit, kNoTimestamp);
    EXPECT_LT(writer.trace.start, writer.trace.commit);
  }
  for (std::size_t i = 0; i < readers.size(); ++i) {
    ASSERT_NE(readers[i].trace.start, kNoTimestamp);
    EXPECT_EQ(readers[i].number, static_cast<Number>(i + 1));
    EXPECT_LT(writers[i].trace.commit, readers[i].trace.start);
    if (i + 1 < writers.size()) {
      EXPECT_LT(readers[i].trace.start, writers[i + 1].trace.commit);
    }
  }
}

TEST(DriversTest, UnknownOptionsAndSchemesAreRefusedWithAdvice) {
  EXPECT_THAT(open_text("rockdb:").error().what, HasSubstr("did you mean 'rocksdb'?"));
  EXPECT_THAT(open_text("oracle://x").error().what, HasSubstr("no driver for 'oracle'"));
  if (kWithRocksdb) {
    EXPECT_THAT(open_text("rocksdb:?speed=1").error().what,
                HasSubstr("unknown option 'speed'; there are: mode, snapshot"));
    EXPECT_THAT(open_text("rocksdb:?snapshot=maybe").error().what,
                HasSubstr("option snapshot is 'maybe'; it can be on, off"));
  }
  if (kWithSqlite) {
    EXPECT_THAT(open_text("sqlite:?read_uncommitted=on").error().what, HasSubstr("mode=shared"));
  }
}

// TiDB's pessimistic transactions overwrite what has changed since their snapshot.
TEST(DriversTest, OnlyOptimisticTransactionsOfTiDbPromiseSnapshots) {
  if (!kWithMariadb) GTEST_SKIP() << "this build has no driver for MariaDB";
  const auto claims = [](const char* url) {
    const auto opened = open_text(url);
    EXPECT_TRUE(opened.ok()) << opened.error().what;
    return (*opened)->claims();
  };
  EXPECT_EQ(claims("tidb://h/t"), Level::ReadCommitted);
  EXPECT_EQ(claims("tidb://h/t?txn_mode=pessimistic"), Level::ReadCommitted);
  EXPECT_EQ(claims("tidb://h/t?txn_mode=optimistic"), Level::Si);
  EXPECT_EQ(claims("tidb://h/t?isolation=rc"), Level::ReadCommitted);
  EXPECT_EQ(claims("mysql://h/t?isolation=rr"), Level::Si);
  EXPECT_THAT(open_text("tidb://h/t?isolation=ser").error().what, HasSubstr("there are rc, rr"));
  EXPECT_THAT(open_text("tidb://h/t?txn_mode=x").error().what,
              HasSubstr("it can be optimistic, pessimistic"));
  EXPECT_THAT(open_text("mysql://h/t?txn_mode=optimistic").error().what, HasSubstr("only tidb://"));
  EXPECT_THAT(open_text("mysql://h/t?status=10080").error().what, HasSubstr("only tidb://"));
  EXPECT_THAT(open_text("tidb://h/t?status=x").error().what, HasSubstr("'x' is no number"));
}

// Runs ask before they connect whether a service can be fed.
TEST(DriversTest, TiDbTellsTimestampsAlreadyBeforeItIsAsked) {
  if (!kWithMariadb) GTEST_SKIP() << "this build has no driver for MariaDB";
  const auto times = [](const char* url) {
    const Features features = (*open_text(url))->features();
    EXPECT_EQ(features.timestamps, features.live);
    return features.timestamps;
  };
  EXPECT_TRUE(times("tidb://h/t"));
  EXPECT_TRUE(times("tidb://h/t?txn_mode=optimistic"));
  EXPECT_FALSE(times("tidb://h/t?isolation=rc"));
  EXPECT_FALSE(times("mysql://h/t?isolation=rr"));
}

// Files in a folder that the user named are somebody's data, unless a run made them.
TEST(DriversTest, FoldersOfOthersAreLeftAlone) {
  namespace fs = std::filesystem;
  const fs::path base = temporary("driver_test");
  for (const std::string scheme : {"rocksdb", "wiredtiger"}) {
    if (!(scheme == "rocksdb" ? kWithRocksdb : kWithWiredtiger)) continue;
    fs::remove_all(base);
    fs::create_directories(base);
    std::ofstream(base / "precious") << "data";
    const auto foreign = open_text(scheme + ":" + base.string());
    ASSERT_TRUE(foreign.ok());
    const Status refused = (*foreign)->prepare({});
    ASSERT_FALSE(refused.ok());
    EXPECT_THAT(refused.error().what, HasSubstr("no run of ouro made"));
    EXPECT_TRUE(fs::exists(base / "precious"));

    fs::remove_all(base);
    for (int round = 0; round < 2; ++round) {
      const auto own = open_text(scheme + ":" + base.string());
      ASSERT_TRUE(own.ok());
      const Status prepared = (*own)->prepare({});
      ASSERT_TRUE(prepared.ok()) << prepared.error().to_string();
      {
        auto connection = *(*own)->connect(0);
        std::optional<Number> number;
        ASSERT_TRUE(connection->begin(false).ok());
        ASSERT_TRUE(connection->read(1, number).ok());
        EXPECT_FALSE(number.has_value()) << "left over from an earlier run";
        ASSERT_TRUE(connection->write(1, 1).ok());
        ASSERT_TRUE(connection->commit().ok());
      }
      ASSERT_TRUE((*own)->finish().ok());
      EXPECT_TRUE(fs::exists(base)) << "the user named it, so it stays";
    }

    std::ofstream(base / "000012.notes") << "data";
    const auto files = [&] { return std::distance(fs::recursive_directory_iterator(base), {}); };
    const auto before = files();
    const Status kept = (*open_text(scheme + ":" + base.string()))->prepare({});
    ASSERT_FALSE(kept.ok());
    EXPECT_THAT(kept.error().what, HasSubstr("000012.notes in it, which no run of ouro made"));
    EXPECT_EQ(files(), before);
  }
  fs::remove_all(base);
}

// A server that takes connections and says nothing.
class SilentServer {
 public:
  SilentServer() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(socket_, any, size), 0);
    EXPECT_EQ(::listen(socket_, 16), 0);
    EXPECT_EQ(::getsockname(socket_, any, &size), 0);
    port_ = ntohs(address.sin_port);
  }
  ~SilentServer() { ::close(socket_); }
  SilentServer(const SilentServer&) = delete;
  SilentServer& operator=(const SilentServer&) = delete;
  [[nodiscard]] int port() const { return port_; }

 private:
  int socket_;
  int port_ = 0;
};

// What prepare() says of a server that never answers.
std::string said_of_silence(const std::string& scheme, const SilentServer& server,
                            const std::atomic<bool>* stop) {
  const auto opened =
      open_text(fmt::format("{}://somebody@127.0.0.1:{}/db", scheme, server.port()));
  if (!opened.ok()) return opened.error().what;
  Schema schema;
  schema.patience = std::chrono::milliseconds(100);
  schema.stop = stop;
  const Status prepared = (*opened)->prepare(schema);
  return prepared.ok() ? "ready" : prepared.error().what;
}

TEST(DriversTest, SilentServersAreGivenUpAndSignalsObeyed) {
  const SilentServer server;
  const std::atomic<bool> stop{true};
  std::vector<std::future<std::string>> waiting;
  for (const auto& [scheme, built] :
       {std::pair("postgres", kWithPostgres), std::pair("mysql", kWithMariadb)}) {
    if (!built) continue;
    EXPECT_THAT(said_of_silence(scheme, server, &stop), HasSubstr("interrupted"));
    waiting.push_back(
        std::async(std::launch::async, said_of_silence, scheme, std::cref(server), nullptr));
  }
  for (auto& said : waiting) EXPECT_THAT(said.get(), HasSubstr("no answer in time"));
}

}  // namespace
}  // namespace ouro::db
