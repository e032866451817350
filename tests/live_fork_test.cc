// A long fork of PostgreSQL and its standby, on schedule.
//
// A commit that waits for a second standby, which does not exist, is visible on the first one and
// not on the primary. One that waits for nobody is visible on the primary and, while the standby
// does not replay, not there. So the two nodes see two commits in opposite orders, every time.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <thread>

#include "db/registry.h"
#include "history/columns.h"
#include "ouro/check.h"
#include "ouro/explain.h"
#include "ouro/history_builder.h"
#include "tests/live_servers.h"
#include "tests/run_program.h"

namespace ouro {
namespace {

using namespace std::chrono_literals;
using db::ServerKind;

constexpr db::Key kX = 1;
constexpr db::Key kY = 2;
constexpr db::Number kNone = 0;
constexpr db::Number kOld = 1;
constexpr db::Number kNew = 2;

// What `psql` prints for a statement on a node.
std::string ask(const db::ServerNode& node, const std::string& statement) {
  const Ran ran =
      run_program({"/usr/bin/psql", "-X", "-A", "-t", "-q", "-h", node.socket, "-p",
                   std::to_string(node.port), "-U", "postgres", "-c", statement, "postgres"});
  EXPECT_EQ(ran.status, 0) << statement << '\n' << ran.err;
  return ran.out.substr(0, ran.out.find('\n'));
}

// Whether it comes true within a minute.
bool comes_true(const std::function<bool()>& fact) {
  for (int i = 0; i < 6000; ++i) {
    if (fact()) return true;
    std::this_thread::sleep_for(10ms);
  }
  return false;
}

class Fork {
 public:
  explicit Fork(const db::Server& server)
      : primary_(server.nodes()[0]), standby_(server.nodes()[1]) {
    auto opened = db::open_database(*db::parse_url(db::url_of(server, "isolation=rr")));
    EXPECT_TRUE(opened.ok());
    database_ = *std::move(opened);
    EXPECT_TRUE(database_->prepare({.keys = 3, .clients = 5}).ok());
    update(kX, kOld);
    update(kY, kOld);
    EXPECT_TRUE(comes_true([&] { return read(1, kY) == kOld; }));
  }
  ~Fork() { EXPECT_TRUE(database_->finish().ok()); }

  // Reads the key first, so that the order of its versions is known.
  void update(db::Key key, db::Number number) {
    const auto connection = connect(0);
    std::optional<db::Number> before;
    EXPECT_TRUE(connection->begin(false).ok());
    EXPECT_TRUE(connection->read(key, before).ok());
    EXPECT_EQ(before.value_or(kNone), number - 1);
    EXPECT_TRUE(connection->write(key, number).ok());
    const db::Answer committed = connection->commit();
    EXPECT_TRUE(committed.ok()) << committed.reason;
  }

  db::Number read(std::size_t node, db::Key key) { return read_both(node, key, key).first; }

  std::pair<db::Number, db::Number> read_both(std::size_t node, db::Key a, db::Key b) {
    const auto connection = connect(node);
    std::optional<db::Number> first;
    std::optional<db::Number> second;
    EXPECT_TRUE(connection->begin(true).ok());
    EXPECT_TRUE(connection->read(a, first).ok());
    EXPECT_TRUE(connection->read(b, second).ok());
    EXPECT_TRUE(connection->commit().ok());
    return {first.value_or(kNone), second.value_or(kNone)};
  }

  void configure(const std::string& setting) {
    ask(primary_, "ALTER SYSTEM " + setting);
    ask(primary_, "SELECT pg_reload_conf()");
  }
  void stop_replay() {
    ask(standby_, "SELECT pg_wal_replay_pause()");
    EXPECT_TRUE(comes_true(
        [&] { return ask(standby_, "SELECT pg_get_wal_replay_pause_state()") == "paused"; }));
  }
  void resume_replay() { ask(standby_, "SELECT pg_wal_replay_resume()"); }
  // Whether a new session on the primary finds the setting.
  bool has(const std::string& setting, const std::string& value) {
    return comes_true([&] { return ask(primary_, "SHOW " + setting) == value; });
  }

 private:
  std::unique_ptr<db::Connection> connect(std::size_t node) {
    auto connection = database_->connect(node);
    EXPECT_TRUE(connection.ok()) << connection.error().what;
    return *std::move(connection);
  }

  db::ServerNode primary_;
  db::ServerNode standby_;
  std::unique_ptr<db::Database> database_;
};

using Seen = std::pair<db::Number, db::Number>;

History history_of(const Seen& on_primary, const Seen& on_standby) {
  HistoryBuilder builder;
  const auto txn = [&](std::int64_t session) { builder.begin_txn(builder.session(session)); };
  const auto value = [&](db::Number number) {
    return number == kNone ? Value::null() : builder.integer(number);
  };
  const auto update = [&](std::int64_t session, db::Key key, db::Number number) {
    txn(session);
    builder.read(builder.key(key), value(number - 1));
    builder.write(builder.key(key), value(number));
  };
  update(1, kX, kOld);
  update(1, kY, kOld);
  update(2, kX, kNew);
  update(3, kY, kNew);
  std::int64_t session = 4;
  for (const Seen& seen : {on_primary, on_standby}) {
    txn(session++);
    builder.read(builder.key(kX), value(seen.first));
    builder.read(builder.key(kY), value(seen.second));
  }
  auto history = std::move(builder).freeze();
  EXPECT_TRUE(history.ok());
  return *std::move(history);
}

Outcome outcome_of(const History& history, Level level) { return check(history, level)->outcome; }

TEST(LivePostgresForkTest, AStandbySeesCommitsInAnotherOrderThanItsPrimary) {
  OURO_NEEDS_SERVER(ServerKind::PostgresStandby);
  Fork fork(*live_server(ServerKind::PostgresStandby));

  fork.configure("SET synchronous_standby_names = 'ANY 2 (*)'");
  ASSERT_TRUE(fork.has("synchronous_standby_names", "ANY 2 (*)"));
  std::thread waiting([&] { fork.update(kX, kNew); });
  EXPECT_TRUE(comes_true([&] { return fork.read(1, kX) == kNew; }));
  fork.stop_replay();
  fork.configure("SET synchronous_commit = local");
  EXPECT_TRUE(fork.has("synchronous_commit", "local"));
  fork.update(kY, kNew);

  const Seen on_primary = fork.read_both(0, kX, kY);
  const Seen on_standby = fork.read_both(1, kX, kY);
  EXPECT_EQ(on_primary, Seen(kOld, kNew));
  EXPECT_EQ(on_standby, Seen(kNew, kOld));

  fork.configure("SET synchronous_standby_names = ''");  // Lets go whoever waits.
  waiting.join();
  fork.configure("RESET synchronous_standby_names");
  fork.configure("RESET synchronous_commit");
  fork.resume_replay();

  const History history = history_of(on_primary, on_standby);
  EXPECT_EQ(outcome_of(history, Level::ParallelSi), Outcome::Holds);
  EXPECT_EQ(outcome_of(history, Level::Si), Outcome::Violated);
  const Explanation explanation = explain(history, *check(history, Level::Si));
  ASSERT_EQ(explanation.stories.size(), 1u);
  EXPECT_EQ(explanation.stories[0].pattern, Pattern::LongFork);

  // The control: on the primary alone, now that all is visible everywhere.
  const Seen again = fork.read_both(0, kX, kY);
  EXPECT_EQ(outcome_of(history_of(again, again), Level::Si), Outcome::Holds);
}

}  // namespace
}  // namespace ouro
