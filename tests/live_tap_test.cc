// ouro tap between real clients and a private PostgreSQL.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <future>
#include <mutex>
#include <thread>

#include "ouro/ouro.h"
#include "tests/fake_service.h"
#include "tests/files.h"
#include "tests/live_servers.h"
#include "tests/run_program.h"

namespace ouro {
namespace {

using testing::HasSubstr;
using testing::Not;

// Runs SQL on the server, beside any tap.
void beside(const std::string& sql,
            const db::Server& server = *live_server(db::ServerKind::Postgres)) {
  const db::ServerNode& node = server.nodes()[0];
  const Ran ran = run_program({"/usr/bin/env", "psql", "-X", "-q", "-h", node.socket, "-p",
                               std::to_string(node.port), "-U", "postgres", "-d", "postgres", "-v",
                               "ON_ERROR_STOP=1", "-c", sql});
  EXPECT_EQ(ran.status, 0) << ran.err;
}

void make_shop() {
  beside(
      "SET client_min_messages = warning; DROP TABLE IF EXISTS stock; CREATE TABLE stock (item int "
      "PRIMARY KEY, pieces int, name text); INSERT INTO stock SELECT i, 1000, 'item ' || i FROM "
      "generate_series(1, 4) i");
}

// A tap in front of the private server, and what it recorded.
class Tapped {
 public:
  explicit Tapped(const std::string& name, TapOptions options = {}) : history_(temporary(name)) {
    if (options.url.empty()) options.url = db::url_of(*live_server(db::ServerKind::Postgres));
    options.listen = "127.0.0.1:0";
    options.history = history_;
    options.statements = history_ + ".sql";
    options.stop = &stop_;
    options.notice = [this](const std::string& what) {
      const std::lock_guard lock(mutex_);
      notices_.push_back(what);
      changed_.notify_all();
    };
    options.ready = [this](const std::string& at) {
      const std::lock_guard lock(mutex_);
      port_ = at.substr(at.rfind(':') + 1);
      changed_.notify_all();
    };
    thread_ = std::thread([this, options] {
      auto report = tap(options);
      const std::lock_guard lock(mutex_);
      if (report.ok()) report_ = *report;
      if (!report.ok()) problem_ = report.error().to_string();
      ended_ = true;
      changed_.notify_all();
    });
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ended_ || !port_.empty(); });
    EXPECT_EQ(problem_, "");
  }
  ~Tapped() {
    (void)end();
    std::filesystem::remove(history_);
    std::filesystem::remove(history_ + ".sql");
  }

  // Runs a client; `words` follow the settings that lead to the tap.
  Ran run(std::vector<std::string> words) const {
    std::vector<std::string> all = {"/usr/bin/env",        "PGHOST=127.0.0.1",
                                    "PGPORT=" + port_,     "PGUSER=postgres",
                                    "PGDATABASE=postgres", "PGCONNECT_TIMEOUT=20"};
    all.insert(all.end(), words.begin(), words.end());
    return run_program(all);
  }
  std::string sql(const std::string& text) const {
    const Ran ran = run({"psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", text});
    EXPECT_EQ(ran.status, 0) << ran.err;
    return ran.out;
  }

  // Waits until the tap said something; a minute at most.
  std::string notice() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::minutes(1), [&] { return !notices_.empty(); });
    return notices_.empty() ? "" : notices_[0];
  }
  const TapReport& end() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
    EXPECT_EQ(problem_, "");
    return report_;
  }
  Outcome judge(Level level, Evidence evidence) const {
    const auto history = read_history(history_);
    EXPECT_TRUE(history.ok()) << history.error().to_string();
    if (!history.ok()) return Outcome::Undecided;
    const auto verdict = check(*history, level, {.evidence = evidence});
    EXPECT_TRUE(verdict.ok()) << verdict.error().to_string();
    return verdict.ok() ? verdict->outcome : Outcome::Undecided;
  }
  [[nodiscard]] std::string text() const { return slurp(history_); }

 private:
  const std::string history_;
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string port_, problem_;
  bool ended_ = false;
  std::vector<std::string> notices_;
  TapReport report_;
  std::thread thread_;
};

// Clients that read what is left of two items and write one less, at a level and with or without
// FOR UPDATE.
constexpr char kShop[] = R"(
import psycopg2, random, sys, threading
level, lock, sales = sys.argv[1], sys.argv[2], int(sys.argv[3])
def sell(seed):
    chance = random.Random(seed)
    shop = psycopg2.connect(application_name='shop.py')
    shop.set_session(isolation_level=level)
    cursor = shop.cursor()
    for sale in range(sales):
        try:
            for item in sorted(chance.sample(range(1, 5), 2)):
                cursor.execute('SELECT pieces, name FROM stock WHERE item = %s' + lock, (item,))
                pieces = cursor.fetchone()[0]
                cursor.execute('UPDATE stock SET pieces = %s WHERE item = %s', (pieces - 1, item))
            if chance.random() < 0.2:
                cursor.execute('SELECT item, pieces FROM stock')
                cursor.fetchall()
            if chance.random() < 0.1: shop.rollback()
            else: shop.commit()
        except psycopg2.Error:
            shop.rollback()
    shop.close()
threads = [threading.Thread(target=sell, args=(i,)) for i in range(6)]
for thread in threads: thread.start()
for thread in threads: thread.join()
)";

Ran sell(const Tapped& tapped, const std::string& level, const std::string& lock,
         const std::string& sales) {
  return tapped.run({"/usr/bin/python3", "-c", kShop, level, lock, sales});
}

TEST(LiveTapTest, WhatPsqlSeesIsRecorded) {
  OURO_NEEDS_SERVER(db::ServerKind::Postgres);
  make_shop();
  Tapped tapped("live_tap_psql.jsonl");
  EXPECT_EQ(tapped.sql("SELECT pieces FROM stock WHERE item = 2"), "1000\n");
  (void)tapped.run({"psql", "-X", "-q", "-c", "BEGIN ISOLATION LEVEL REPEATABLE READ", "-c",
                    "SELECT pieces FROM stock WHERE item = 2", "-c",
                    "UPDATE stock SET pieces = 999 WHERE item = 2", "-c",
                    "SELECT pieces FROM stock WHERE item = 77", "-c", "COMMIT"});
  EXPECT_EQ(tapped.sql("SELECT pieces FROM stock WHERE item = 2"), "999\n");
  const TapReport& report = tapped.end();
  EXPECT_EQ(report.repeatable_read, 1U);
  EXPECT_EQ(report.spoiled.size(), 0U);
  const std::string text = tapped.text();
  EXPECT_THAT(text, HasSubstr("[\"r\",\"stock/2.pieces\",1000],[\"r\",\"stock/77.item\",null],"
                              "[\"w\",\"stock/2.pieces\",999]]"));
  EXPECT_THAT(text, HasSubstr("[\"r\",\"stock/2.pieces\",999]"));
  EXPECT_EQ(tapped.judge(Level::SessionSi, Evidence::Timestamps), Outcome::Holds) << text;
}

TEST(LiveTapTest, HealthyClientsAreNeverAccused) {
  OURO_NEEDS_SERVER(db::ServerKind::Postgres);
  for (const std::string level : {"REPEATABLE READ", "SERIALIZABLE"}) {
    make_shop();
    Tapped tapped("live_tap_healthy.jsonl");
    const Ran ran = sell(tapped, level, "", "40");
    ASSERT_EQ(ran.status, 0) << ran.err;
    const TapReport& report = tapped.end();
    EXPECT_GT(report.repeatable_read + report.serializable, 50U) << level;
    EXPECT_EQ(report.spoiled.size(), 0U);
    EXPECT_EQ(report.without_start, 0U);
    EXPECT_EQ(tapped.judge(Level::Si, Evidence::Timestamps), Outcome::Holds) << tapped.text();
    EXPECT_EQ(tapped.judge(Level::SessionSi, Evidence::Timestamps), Outcome::Holds);
    const Level promised = level == "SERIALIZABLE" ? Level::Serializable : Level::Si;
    EXPECT_EQ(tapped.judge(promised, Evidence::Versions), Outcome::Holds) << tapped.text();
  }
}

TEST(LiveTapTest, ALostUpdateIsFoundAndItsRepairHolds) {
  OURO_NEEDS_SERVER(db::ServerKind::Postgres);
  for (const std::string lock : {"", " FOR UPDATE"}) {
    make_shop();
    Tapped tapped("live_tap_shop.jsonl");
    const Ran ran = sell(tapped, "READ COMMITTED", lock, "30");
    ASSERT_EQ(ran.status, 0) << ran.err;
    const TapReport& report = tapped.end();
    EXPECT_GT(report.read_committed, 100U);
    EXPECT_EQ(promised(report).level, Level::ReadCommitted);
    // Values repeat, and below prefix the ways to read them may be too many to decide.
    EXPECT_NE(tapped.judge(Level::ReadCommitted, Evidence::Versions), Outcome::Violated);
    // With the lock all is well but the look at all items, which may see half of a sale.
    if (lock.empty()) {
      EXPECT_EQ(tapped.judge(Level::Serializable, Evidence::Versions), Outcome::Violated);
    } else {
      EXPECT_EQ(tapped.judge(Level::Prefix, Evidence::Versions), Outcome::Holds);
    }
  }
}

TEST(LiveTapTest, PgbenchRunsInEveryProtocolAndHolds) {
  OURO_NEEDS_SERVER(db::ServerKind::Postgres);
  Tapped tapped("live_tap_pgbench.jsonl");
  const Ran made = tapped.run({"pgbench", "-i", "-q", "-s", "1"});
  ASSERT_EQ(made.status, 0) << made.err;
  tapped.end();
  for (const std::string protocol : {"simple", "extended", "prepared"}) {
    Tapped bench("live_tap_pgbench_" + protocol + ".jsonl");
    const Ran ran =
        bench.run({"PGOPTIONS=-c default_transaction_isolation=repeatable\\ read", "pgbench", "-n",
                   "-M", protocol, "-c", "6", "-t", "60", "--max-tries=20"});
    EXPECT_EQ(ran.status, 0) << ran.err;
    const Ran selects = bench.run({"pgbench", "-n", "-S", "-M", protocol, "-c", "2", "-t", "50"});
    EXPECT_EQ(selects.status, 0) << selects.err;
    const TapReport& report = bench.end();
    EXPECT_GT(report.repeatable_read, 250U);
    EXPECT_GE(report.automatic, 100U);
    EXPECT_GE(report.judged, 100U) << describe(report);
    EXPECT_EQ(report.without_start, 0U);
    EXPECT_EQ(report.spoiled.size(), 0U);
    EXPECT_EQ(bench.judge(Level::Si, Evidence::Timestamps), Outcome::Holds) << protocol;
  }
}

TEST(LiveTapTest, WhatPassesThroughIsUnharmed) {
  OURO_NEEDS_SERVER(db::ServerKind::Postgres);
  make_shop();
  Tapped tapped("live_tap_through.jsonl");
  const Ran copied = tapped.run({"psql", "-X", "-q", "-c", "\\copy stock TO stdout"});
  EXPECT_THAT(copied.out, HasSubstr("3\t1000\titem 3\n"));
  const std::string large = tapped.sql("SELECT repeat('x', 3000000)");
  EXPECT_EQ(large.size(), 3'000'001U);
  EXPECT_EQ(tapped.sql("SELECT count(*) FROM (SELECT repeat('y', 100) FROM "
                       "generate_series(1, 100000)) t"),
            "100000\n");
  const Ran failed = tapped.run({"psql", "-X", "-c", "SELECT 1/0"});
  EXPECT_THAT(failed.err, HasSubstr("division by zero"));
  const Ran denied = tapped.run({"psql", "-X", "-U", "nobody", "-c", "SELECT 1"});
  EXPECT_THAT(denied.err, HasSubstr("role \"nobody\" does not exist"));
  const Ran cancelled = tapped.run({"/usr/bin/python3", "-c",
                                    "import psycopg2, threading\n"
                                    "c = psycopg2.connect('')\n"
                                    "ended = threading.Event()\n"
                                    "def cancel():\n"
                                    "  while not ended.wait(0.1): c.cancel()\n"
                                    "threading.Thread(target=cancel).start()\n"
                                    "try: c.cursor().execute('SELECT pg_sleep(60)')\n"
                                    "except psycopg2.errors.QueryCanceled: print('cancelled')\n"
                                    "finally: ended.set()\n"});
  EXPECT_EQ(cancelled.out, "cancelled\n") << cancelled.err;
}

TEST(LiveTapTest, WritersBesideTheTapAreSeen) {
  OURO_NEEDS_SERVER(db::ServerKind::Postgres);
  make_shop();
  Tapped tapped("live_tap_beside.jsonl");
  // Of a single statement it would not be known whether the update was before it.
  (void)tapped.run({"psql", "-X", "-q", "-c", "BEGIN ISOLATION LEVEL REPEATABLE READ", "-c",
                    "SELECT pieces FROM stock WHERE item = 1", "-c", "COMMIT"});
  beside("UPDATE stock SET pieces = 7 WHERE item = 1");
  EXPECT_EQ(tapped.sql("SELECT pieces FROM stock WHERE item = 1"), "7\n");
  tapped.end();
  EXPECT_THAT(tapped.text(), HasSubstr("[\"w\",\"stock/1.pieces\",7]"));
  EXPECT_EQ(tapped.judge(Level::Si, Evidence::Timestamps), Outcome::Holds) << tapped.text();
}

TEST(LiveTapTest, ATableThatIsAlteredSpoilsTheVerdict) {
  OURO_NEEDS_SERVER(db::ServerKind::Postgres);
  make_shop();
  Tapped tapped("live_tap_altered.jsonl");
  (void)tapped.sql("SELECT pieces FROM stock WHERE item = 1");
  (void)tapped.sql("ALTER TABLE stock ALTER COLUMN pieces TYPE int USING pieces + 1");
  (void)tapped.sql("SELECT pieces FROM stock WHERE item = 1");
  const TapReport& report = tapped.end();
  ASSERT_EQ(report.spoiled.size(), 1U);
  EXPECT_THAT(report.spoiled[0], HasSubstr("table stock"));
}

TEST(LiveTapTest, AValueOfATypeThatIsRenamedSpoilsTheVerdict) {
  OURO_NEEDS_SERVER(db::ServerKind::Postgres);
  make_shop();
  beside(
      "DROP TABLE IF EXISTS lamp; DROP TYPE IF EXISTS colour; "
      "CREATE TYPE colour AS ENUM ('red', 'green'); "
      "CREATE TABLE lamp (id int PRIMARY KEY, shows colour); INSERT INTO lamp VALUES (1, 'red')");
  Tapped tapped("live_tap_renamed.jsonl");
  (void)tapped.sql("UPDATE lamp SET shows = 'green' WHERE id = 1");
  (void)tapped.sql("ALTER TYPE colour RENAME VALUE 'green' TO 'go'");
  EXPECT_EQ(tapped.sql("SELECT shows FROM lamp WHERE id = 1"), "go\n");
  const TapReport& report = tapped.end();
  ASSERT_EQ(report.spoiled.size(), 1U);
  EXPECT_THAT(report.spoiled[0], HasSubstr("table lamp"));
}

// A service that judges what a tap sends.
class Serving {
 public:
  explicit Serving(Level level) {
    ServeOptions options;
    options.stream.level = level;
    options.http = "127.0.0.1:0";
    options.stop = &stop_;
    options.event = [this](const std::string& line) {
      const std::lock_guard lock(mutex_);
      events_ += line;
    };
    std::promise<std::string> ready;
    options.ready = [&](const ServeAddresses& at) { ready.set_value(at.http); };
    thread_ = std::thread([this, options] {
      auto report = serve(options);
      EXPECT_TRUE(report.ok()) << report.error().to_string();
      if (report.ok()) report_ = *report;
    });
    url_ = ready.get_future().get();
  }
  ~Serving() { (void)end(); }
  [[nodiscard]] std::string url() const { return url_.substr(0, url_.size() - 1); }
  const ServeReport& end() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
    return report_;
  }
  [[nodiscard]] std::string events() {
    const std::lock_guard lock(mutex_);
    return events_;
  }

 private:
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::string events_, url_;
  ServeReport report_;
  std::thread thread_;
};

// Clients with savepoints, some of which are rolled back to.
constexpr char kSavepoints[] = R"(
import psycopg2, random, threading
def sell(seed):
    chance = random.Random(seed)
    shop = psycopg2.connect(application_name='shop.py')
    shop.set_session(isolation_level='REPEATABLE READ')
    cursor = shop.cursor()
    for sale in range(40):
        try:
            for item in sorted(chance.sample(range(1, 5), 3)):
                cursor.execute('SAVEPOINT here')
                cursor.execute('SELECT pieces FROM stock WHERE item = %s', (item,))
                pieces = cursor.fetchone()[0]
                cursor.execute('UPDATE stock SET pieces = %s WHERE item = %s', (pieces - 1, item))
                end = chance.random()
                if end < 0.3: cursor.execute('ROLLBACK TO here')
                elif end < 0.6: cursor.execute('RELEASE here')
            shop.commit()
        except psycopg2.Error:
            shop.rollback()
    shop.close()
threads = [threading.Thread(target=sell, args=(i,)) for i in range(6)]
for thread in threads: thread.start()
for thread in threads: thread.join()
)";

TEST(LiveTapTest, SavepointsAreUnderstood) {
  OURO_NEEDS_SERVER(db::ServerKind::Postgres);
  make_shop();
  Tapped tapped("live_tap_savepoints.jsonl");
  (void)tapped.run({"psql", "-X", "-q", "-c", "BEGIN ISOLATION LEVEL REPEATABLE READ", "-c",
                    "UPDATE stock SET pieces = 11 WHERE item = 1", "-c", "SAVEPOINT here", "-c",
                    "UPDATE stock SET pieces = 22 WHERE item = 2", "-c", "ROLLBACK TO here", "-c",
                    "SELECT pieces FROM stock WHERE item = 2", "-c",
                    "UPDATE stock SET pieces = 33 WHERE item = 3", "-c", "COMMIT"});
  const Ran ran = tapped.run({"/usr/bin/python3", "-c", kSavepoints});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const TapReport& report = tapped.end();
  EXPECT_EQ(report.spoiled.size(), 0U);
  EXPECT_GT(report.repeatable_read, 20U);
  const std::string text = tapped.text();
  EXPECT_THAT(text, HasSubstr("[\"w\",\"stock/1.pieces\",11]"));
  EXPECT_THAT(text, HasSubstr("[\"w\",\"stock/3.pieces\",33]"));
  EXPECT_THAT(text, Not(HasSubstr("\"stock/2.pieces\",22]")));
  EXPECT_EQ(tapped.judge(Level::SessionSi, Evidence::Timestamps), Outcome::Holds) << text;
  EXPECT_EQ(tapped.judge(Level::Si, Evidence::Versions), Outcome::Holds) << text;
}

TEST(LiveTapTest, PreparedTransactionsAreSeenWhenTheyCommit) {
  OURO_NEEDS_SERVER(db::ServerKind::Postgres);
  auto server =
      db::start_server(db::ServerKind::Postgres, {.settings = {"max_prepared_transactions=5"}});
  ASSERT_TRUE(server.ok()) << server.error().what;
  beside(
      "CREATE TABLE stock (item int PRIMARY KEY, pieces int); "
      "INSERT INTO stock VALUES (1, 1000), (2, 1000)",
      **server);
  TapOptions options;
  options.url = db::url_of(**server);
  Tapped tapped("live_tap_prepared.jsonl", options);
  const auto look = [&] {
    (void)tapped.run({"psql", "-X", "-q", "-c", "BEGIN ISOLATION LEVEL REPEATABLE READ", "-c",
                      "SELECT item, pieces FROM stock", "-c", "COMMIT"});
  };
  (void)tapped.run({"psql", "-X", "-q", "-c", "BEGIN ISOLATION LEVEL REPEATABLE READ", "-c",
                    "UPDATE stock SET pieces = 5 WHERE item = 1", "-c",
                    "PREPARE TRANSACTION 'sale'"});
  look();
  (void)tapped.sql("UPDATE stock SET pieces = 6 WHERE item = 2");
  look();
  EXPECT_EQ(tapped.sql("COMMIT PREPARED 'sale'"), "");
  look();
  const TapReport& report = tapped.end();
  EXPECT_EQ(report.spoiled.size(), 0U);
  const std::string text = tapped.text();
  EXPECT_THAT(text, HasSubstr("[\"w\",\"stock/1.pieces\",5]"));
  EXPECT_THAT(text, HasSubstr("[\"r\",\"stock/1.pieces\",1000]"));
  EXPECT_THAT(text, HasSubstr("[\"r\",\"stock/1.pieces\",5]"));
  EXPECT_EQ(tapped.judge(Level::SessionSi, Evidence::Timestamps), Outcome::Holds) << text;
}

// What happened in between, nobody recorded; so the second knows nothing of the first.
TEST(LiveTapTest, AnotherTapBeginsAnew) {
  OURO_NEEDS_SERVER(db::ServerKind::Postgres);
  make_shop();
  Serving serving(Level::SessionSi);
  TapOptions options;
  options.serve = serving.url();
  for (int tap = 0; tap < 2; ++tap) {
    Tapped tapped("live_tap_again.jsonl", options);
    const Ran ran = sell(tapped, "REPEATABLE READ", "", "20");
    ASSERT_EQ(ran.status, 0) << ran.err;
    EXPECT_EQ(tapped.end().spoiled.size(), 0U);
    EXPECT_EQ(tapped.judge(Level::SessionSi, Evidence::Timestamps), Outcome::Holds);
    beside("UPDATE stock SET pieces = pieces + 7");
  }
  EXPECT_EQ(serving.end().outcome, Outcome::Holds) << serving.events();
}

// Statements that are sent without waiting for answers.
constexpr char kPipeline[] = R"(
import psycopg, random, threading
def sell(seed):
    chance = random.Random(seed)
    with psycopg.connect('', application_name='pipe.py') as shop:
        shop.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        for sale in range(40):
            try:
                with shop.pipeline():
                    with shop.transaction():
                        item = chance.randint(1, 4)
                        found = shop.execute('SELECT item, pieces FROM stock WHERE item = %s',
                                             (item,))
                        shop.execute('UPDATE stock SET pieces = %s WHERE item = %s',
                                     (found.fetchone()[1] - 1, item))
                        shop.execute('SELECT item, pieces FROM stock').fetchall()
            except psycopg.Error:
                pass
threads = [threading.Thread(target=sell, args=(i,)) for i in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
)";

TEST(LiveTapTest, PipelinesPassAndAccuseNobody) {
  OURO_NEEDS_SERVER(db::ServerKind::Postgres);
  if (run_program({"/usr/bin/python3", "-c", "import psycopg"}).status != 0) {
    GTEST_SKIP() << "pip install --target FOLDER psycopg, and PYTHONPATH=FOLDER";
  }
  make_shop();
  Tapped tapped("live_tap_pipeline.jsonl");
  const Ran ran = tapped.run({"/usr/bin/python3", "-c", kPipeline});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const TapReport& report = tapped.end();
  EXPECT_EQ(report.spoiled.size(), 0U);
  EXPECT_THAT(describe(report), Not(HasSubstr("not understood")));
  EXPECT_GT(report.txns + report.others, 40U) << describe(report);
  EXPECT_EQ(tapped.judge(Level::SessionSi, Evidence::Timestamps), Outcome::Holds) << tapped.text();
}

TEST(LiveTapTest, AServiceGetsThemWhileTheyHappen) {
  OURO_NEEDS_SERVER(db::ServerKind::Postgres);
  make_shop();
  FakeService service;
  TapOptions options;
  options.serve = service.url();
  Tapped tapped("live_tap_serve.jsonl", options);
  (void)tapped.sql("UPDATE stock SET pieces = 5 WHERE item = 1");
  (void)tapped.sql("UPDATE stock SET pieces = 6 WHERE item = 1");
  EXPECT_TRUE(service.wait_for_text("[\"w\",\"stock/1.pieces\",6]"));
  EXPECT_EQ(tapped.end().unsent, "");
}

// Without what was loaded, it would not be known which of them saw the update.
TEST(LiveTapTest, WhatTablesHeldAtFirstIsLoaded) {
  OURO_NEEDS_SERVER(db::ServerKind::Postgres);
  make_shop();
  TapOptions options;
  options.load = "stock";
  Tapped tapped("live_tap_load.jsonl", options);
  EXPECT_EQ(tapped.sql("SELECT pieces FROM stock WHERE item = 1"), "1000\n");
  (void)tapped.sql("UPDATE stock SET pieces = 5 WHERE item = 1");
  EXPECT_EQ(tapped.sql("SELECT pieces FROM stock WHERE item = 1"), "5\n");
  EXPECT_EQ(tapped.sql("SELECT pieces FROM stock WHERE item = 77"), "");
  const TapReport& report = tapped.end();
  EXPECT_THAT(describe(report), HasSubstr("note: 4 rows loaded\n"));
  EXPECT_THAT(describe(report), Not(HasSubstr("values that were read are not judged")));
  EXPECT_THAT(tapped.text(), HasSubstr("[\"r\",\"stock/1.pieces\",{\"stock.pieces\":1000}]"));
  EXPECT_EQ(tapped.judge(Level::Si, Evidence::Timestamps), Outcome::Holds) << tapped.text();
}

// Two doctors are on call, and each leaves because another one is: nobody reads a row that the
// other writes and finds it changed, but both read who is on call by a condition.
constexpr char kDoctors[] = R"(
import psycopg2, sys
def doctor():
    link = psycopg2.connect(application_name='ward.py')
    link.set_session(isolation_level='REPEATABLE READ')
    return link
one, other = doctor(), doctor()
for link, name in (one, 'ann'), (other, 'bob'):
    cursor = link.cursor()
    cursor.execute('SELECT id, duty FROM doctor WHERE duty = %s', ('none' if sys.argv[1] else 'call',))
    cursor.fetchall()
    if sys.argv[1]: cursor.execute('INSERT INTO doctor VALUES (%s, %s)', (name + '2', 'none'))
    else: cursor.execute('UPDATE doctor SET duty = %s WHERE id = %s', ('home', name))
one.commit(), other.commit()
)";

TEST(LiveTapTest, ConditionsThatPredicatesCanSayShowPhantoms) {
  OURO_NEEDS_SERVER(db::ServerKind::Postgres);
  for (const std::string inserts : {"", "yes"}) {
    beside(
        "SET client_min_messages = warning; DROP TABLE IF EXISTS doctor; CREATE TABLE doctor (id "
        "text PRIMARY KEY, duty text); INSERT INTO doctor VALUES ('ann', 'call'), ('bob', 'call')");
    TapOptions options;
    options.load = "doctor";
    Tapped tapped("live_tap_doctors.jsonl", options);
    const Ran ran = tapped.run({"/usr/bin/python3", "-c", kDoctors, inserts});
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_THAT(describe(tapped.end()),
                HasSubstr("of 2 statements it is also judged whether they returned all rows"));
    EXPECT_THAT(tapped.text(), HasSubstr("[\"select\",{\"eq\":[\"doctor.duty\","));
    EXPECT_EQ(tapped.judge(Level::Si, Evidence::Timestamps), Outcome::Holds) << tapped.text();
    EXPECT_EQ(tapped.judge(Level::Serializable, Evidence::Versions), Outcome::Violated)
        << tapped.text();
  }
}

TEST(LiveTapTest, ATableThatCannotBeLoadedIsNamed) {
  OURO_NEEDS_SERVER(db::ServerKind::Postgres);
  std::atomic<bool> stop{false};
  TapOptions options;
  options.url = db::url_of(*live_server(db::ServerKind::Postgres));
  options.listen = "127.0.0.1:0";
  options.load = "nowhere";
  options.stop = &stop;
  const auto report = tap(options);
  ASSERT_FALSE(report.ok());
  EXPECT_THAT(report.error().what, HasSubstr("there is no table 'nowhere' to load"));
}

TEST(LiveTapTest, AServiceAccusesNoHealthyClient) {
  OURO_NEEDS_SERVER(db::ServerKind::Postgres);
  for (const std::string level : {"REPEATABLE READ", "READ COMMITTED"}) {
    make_shop();
    Serving serving(Level::Si);
    TapOptions options;
    options.serve = serving.url();
    Tapped tapped("live_tap_serve.jsonl", options);
    const Ran ran = sell(tapped, level, "", "40");
    ASSERT_EQ(ran.status, 0) << ran.err;
    const TapReport& report = tapped.end();
    EXPECT_EQ(report.spoiled.size(), 0U);
    EXPECT_EQ(report.unsent, "");
    const ServeReport& served = serving.end();
    EXPECT_EQ(served.outcome, Outcome::Holds) << serving.events();
    EXPECT_GT(served.summary.txns, 50U);
  }
}

// Alters the table while clients sell; some of them fail, which is not the point.
TEST(LiveTapTest, AServiceAccusesNobodyOfAnAlteredTable) {
  OURO_NEEDS_SERVER(db::ServerKind::Postgres);
  make_shop();
  Serving serving(Level::Si);
  TapOptions options;
  options.serve = serving.url();
  Tapped tapped("live_tap_serve.jsonl", options);
  std::thread clients([&] { (void)sell(tapped, "REPEATABLE READ", "", "60"); });
  for (int i = 0; i < 3; ++i) {
    (void)tapped.run({"psql", "-X", "-q", "-c",
                      "ALTER TABLE stock ALTER COLUMN pieces TYPE int USING pieces + 5000"});
  }
  EXPECT_THAT(tapped.notice(), HasSubstr("table stock"));
  clients.join();
  const TapReport& report = tapped.end();
  ASSERT_EQ(report.spoiled.size(), 1U);
  EXPECT_EQ(report.unsent, "");
  EXPECT_EQ(serving.end().outcome, Outcome::Undecided) << serving.events();
  EXPECT_THAT(serving.events(), HasSubstr("table stock"));
  EXPECT_THAT(serving.events(), Not(HasSubstr("\"violation\"")));
}

TEST(LiveTapTest, ACrashOfTheServerIsToldAtOnce) {
  OURO_NEEDS_SERVER(db::ServerKind::Postgres);
  auto server = db::start_server(db::ServerKind::Postgres, {});
  ASSERT_TRUE(server.ok()) << server.error().what;
  Serving serving(Level::Si);
  TapOptions options;
  options.url = db::url_of(**server);
  options.serve = serving.url();
  Tapped tapped("live_tap_crash.jsonl", options);
  (void)tapped.sql("CREATE TABLE stock (item int PRIMARY KEY, pieces int, name text)");
  (void)tapped.sql("INSERT INTO stock SELECT i, 1000, 'item' FROM generate_series(1, 4) i");
  std::thread clients([&] { (void)sell(tapped, "REPEATABLE READ", "", "100000"); });
  constexpr std::size_t kSome = 10'000;
  for (int i = 0; i < 6000 && tapped.text().size() < kSome; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_TRUE((*server)->kill(0).ok());
  clients.join();
  EXPECT_GE(tapped.text().size(), kSome);
  EXPECT_THAT(tapped.notice(), HasSubstr("recording ended early"));
  ASSERT_TRUE((*server)->restart(0).ok());
  // The application goes on.
  EXPECT_EQ(tapped.sql("SELECT count(*) FROM stock"), "4\n");
  const TapReport& report = tapped.end();
  ASSERT_EQ(report.spoiled.size(), 1U);
  EXPECT_EQ(report.unsent, "");
  EXPECT_EQ(tapped.judge(Level::SessionSi, Evidence::Timestamps), Outcome::Holds);
  EXPECT_EQ(serving.end().outcome, Outcome::Undecided) << serving.events();
  EXPECT_THAT(serving.events(), Not(HasSubstr("\"violation\"")));
}

TEST(LiveTapTest, TheSlotIsGoneAfterwards) {
  OURO_NEEDS_SERVER(db::ServerKind::Postgres);
  std::string slots;
  {
    Tapped tapped("live_tap_slot.jsonl");
    slots = tapped.sql("SELECT count(*) FROM pg_replication_slots WHERE slot_name ~ '^ouro_tap'");
  }
  EXPECT_EQ(slots, "1\n");
  Tapped tapped("live_tap_slot.jsonl");
  EXPECT_EQ(tapped.sql("SELECT count(*) FROM pg_replication_slots WHERE slot_name ~ '^ouro_tap'"),
            "1\n");
}

TEST(LiveTapTest, WhatTheServerLacksIsSaid) {
  OURO_NEEDS_SERVER(db::ServerKind::Postgres);
  auto server = db::start_server(db::ServerKind::Postgres, {.settings = {"wal_level=replica"}});
  ASSERT_TRUE(server.ok()) << server.error().what;
  std::atomic<bool> stop{false};
  TapOptions options;
  options.url = db::url_of(**server);
  options.listen = "127.0.0.1:0";
  options.stop = &stop;
  const auto report = tap(options);
  ASSERT_FALSE(report.ok());
  EXPECT_THAT(report.error().what, HasSubstr("set wal_level = logical"));
}

}  // namespace
}  // namespace ouro
