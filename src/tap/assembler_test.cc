#include "tap/assembler.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "ouro/check.h"
#include "ouro/format.h"
#include "tap/outputs.h"

namespace ouro::tapping {
namespace {

constexpr Oid kTable = 20000;

std::shared_ptr<const Catalog> one_table(int version = 1, bool loaded = false) {
  auto catalog = std::make_shared<Catalog>();
  const std::string form = std::to_string(version);
  catalog->add({"20000", "public", "t", "", form, "1", "id", "23", "0", "t", "23.-1"});
  catalog->add({"20000", "public", "t", "", "", "2", "v", "23", "-1", "t", "23.-1"});
  catalog->add({"20000", "public", "t", "", "", "3", "w", "23", "-1", "t", "23.-1"});
  if (loaded) catalog->set_loaded(kTable);
  return catalog;
}

class Lines final : public Receiver {
 public:
  void initial(const std::string& key, const std::string& value,
               const std::string& column) override {
    print_initial(key, value, column, text);
  }
  void transaction(const Placed& placed) override { print_placed(placed, text); }
  void settled() override { prefixes.push_back(text.size()); }
  void undecided(const std::string& why) override { problems.push_back(why); }
  std::string text;
  std::vector<std::size_t> prefixes;  // What had been told each time.
  std::vector<std::string> problems;
};

// A server with snapshots that keeps the rules of snapshot isolation; except that it logs a commit
// before it makes it visible, as PostgreSQL does. Rows have two columns.
class Model {
 public:
  struct Txn {
    std::uint64_t id = 0;
    db::Snapshot snapshot;
    std::size_t seen = 0;  // How many commits it sees.
    Nanos began = 0;
    ClientTxn client;
    std::map<int, std::pair<int, int>> writes;
    std::map<int, std::vector<std::string>> assigned;
    bool logged = false;
    bool visible = false;  // It has ended, but the client does not know yet.
  };

  explicit Model(unsigned seed, int keys) : random(seed), count(keys) {
    for (int key = 0; key < keys; ++key) versions[key] = {{0, {key, -key}}};
  }

  db::Snapshot snapshot() const {
    db::Snapshot taken;
    taken.next = ended + 1;
    for (const std::uint64_t id : running) {
      if (id <= ended) taken.in_progress.push_back(id);
    }
    return taken;
  }
  std::pair<int, int> at(int key, std::size_t seen) const {
    const auto& all = versions.at(key);
    auto found = all.rbegin();
    while (found->first > seen) ++found;
    return found->second;
  }
  int any(int below) { return std::uniform_int_distribution<int>(0, below - 1)(random); }

  std::mt19937 random;
  int count;
  bool loaded = false;  // The table is loaded, so that predicates can ask for its columns.
  Nanos time = 1000;
  std::uint64_t next = 100, ended = 99;
  std::set<std::uint64_t> running;
  std::size_t commits = 0;
  std::map<int, std::vector<std::pair<std::size_t, std::pair<int, int>>>> versions;
  std::map<int, std::uint64_t> locks;
};

void model_read(Model& model, Model::Txn& txn, int key, bool stale) {
  Execution execution;
  execution.sent = ++model.time;
  auto value = model.at(key, stale && txn.seen > 0 ? 0 : txn.seen);
  const auto own = txn.writes.find(key);
  if (own != txn.writes.end()) value = own->second;
  execution.returned = true;
  const auto add = [&](const std::string& column, int shown) {
    execution.reads.push_back({kTable, fmt::format("t/{}.{}", key, column), std::to_string(shown),
                               model.loaded ? "t." + column : ""});
  };
  add("v", value.first);
  add("w", value.second);
  execution.done = ++model.time;
  txn.client.executions.push_back(std::move(execution));
}

// SELECT id, v FROM t WHERE v BETWEEN low AND high. A faulty one overlooks a row, or finds one that
// is not there.
void model_select(Model& model, Model::Txn& txn, bool faulty) {
  const int low = model.any(5);
  const int high = low + model.any(2);
  Execution execution;
  execution.sent = ++model.time;
  execution.returned = true;
  Selection selection{kTable, "t.v", fmt::format("{{\"between\":[\"t.v\",{},{}]}}", low, high), {}};
  const int wrong = faulty ? model.any(model.count) : -1;
  for (int key = 0; key < model.count; ++key) {
    const int value = model.at(key, txn.seen).first;
    const bool found = low <= value && value <= high;
    if (found == (key == wrong)) continue;
    selection.rows.push_back(
        {kTable, fmt::format("t/{}.v", key), std::to_string(found ? value : low), "t.v"});
  }
  execution.selection = std::move(selection);
  execution.done = ++model.time;
  txn.client.executions.push_back(std::move(execution));
}

// Returns whether the update is allowed.
bool model_write(Model& model, Model::Txn& txn, int key) {
  const bool locked = model.locks.contains(key) && model.locks[key] != txn.id;
  if (locked || model.versions[key].back().first > txn.seen) return false;
  if (txn.id == 0) {
    txn.id = model.next++;
    model.running.insert(txn.id);
  }
  model.locks[key] = txn.id;
  auto value = txn.writes.contains(key) ? txn.writes[key] : model.at(key, txn.seen);
  const bool first = model.any(2) == 0;
  (first ? value.first : value.second) = model.any(5);  // Values repeat.
  txn.writes[key] = value;
  Execution execution;
  execution.sent = execution.done = ++model.time;
  execution.writes = true;
  execution.assigned = Assigned{kTable, fmt::format("t/{}", key), {first ? "v" : "w"}, 1};
  txn.client.executions.push_back(std::move(execution));
  return true;
}

void model_end(Model& model, Model::Txn& txn, bool commits) {
  if (commits && txn.id != 0) {
    ++model.commits;
    for (const auto& [key, value] : txn.writes) {
      model.versions[key].emplace_back(model.commits, value);
    }
  }
  std::erase_if(model.locks,
                [&](const auto& lock) { return lock.second == txn.id && txn.id != 0; });
  model.running.erase(txn.id);
  if (txn.id != 0) model.ended = std::max(model.ended, txn.id);
}

Logged model_log(const Model::Txn& txn) {
  Logged logged;
  logged.id = txn.id;
  for (const auto& execution : txn.client.executions) {
    if (!execution.assigned) continue;
    const int key = std::stoi(execution.assigned->row.substr(2));
    Decoded change;
    change.kind = Decoded::Kind::Update;
    change.schema = "public";
    change.table = "t";
    const auto value = txn.writes.at(key);  // The last one, which is as good for this test.
    change.cells = {{"id", std::to_string(key), false, false},
                    {"v", std::to_string(value.first), false, false},
                    {"w", std::to_string(value.second), false, false}};
    logged.changes.push_back(change);
  }
  return logged;
}

// One statement with a snapshot of its own, or a transaction of two such statements.
ClientTxn model_look(Model& model, bool faulty) {
  Model::Txn txn;
  txn.began = ++model.time;
  txn.client.session = "looker";
  const int statements = 1 + model.any(2);
  for (int i = 0; i < statements; ++i) {
    txn.seen = model.commits;
    model_read(model, txn, model.any(6), faulty && model.any(20) == 0);
    model_read(model, txn, model.any(6), false);
    auto& executions = txn.client.executions;
    Execution& one = executions[executions.size() - 2];
    const Execution& other = executions.back();
    one.reads.insert(one.reads.end(), other.reads.begin(), other.reads.end());
    one.done = other.done;
    one.text = analyse("SELECT v, w FROM t");
    executions.pop_back();
  }
  txn.client.automatic = statements == 1;
  txn.client.isolation = "read committed";
  txn.client.began = txn.began;
  txn.client.ended = ++model.time;
  return std::move(txn.client);
}

// A rewrite of the table that the log does not tell: ALTER TABLE … USING v + 1000.
void model_alter(Model& model) {
  ++model.commits;
  model.ended = std::max(model.ended, model.next++);
  for (auto& [key, versions] : model.versions) {
    const auto [v, w] = versions.back().second;
    versions.emplace_back(model.commits, std::pair(v + 1000, w + 1000));
  }
}

// How clients run on the model.
struct Course {
  unsigned seed = 0;
  bool faulty = false;   // The server returns a stale value now and then.
  bool alters = false;   // The table is altered now and then.
  bool notices = true;   // The catalog tells so.
  bool selects = false;  // The table is loaded, and clients ask for rows by a condition.
};

// Clients on the model that polls watch now and then.
class Watched {
 public:
  explicit Watched(Course course) : course_(course), model_(course.seed, 6) {
    assembler_.set_catalog(one_table(1, course_.selects), 0);
    model_.loaded = course_.selects;
    if (course_.selects) load();
  }

  void run() {
    const int pause = course_.seed % 2 == 0 ? 20 : 400;
    poll();
    for (int step = 0; step < 3000; ++step) {
      if (model_.any(pause) == 0) poll();
      if (model_.any(10) == 0) taken_.finished.push_back(model_look(model_, course_.faulty));
      act(static_cast<std::size_t>(model_.any(5)), step);
      if (course_.alters && model_.any(700) == 0) alter();
    }
    end_all();
    poll();
    poll();
  }

  Lines lines;
  [[nodiscard]] const Assembler::Totals& totals() const { return assembler_.totals(); }

 private:
  void load() {
    const auto table = one_table(1, true);
    for (int key = 0; key < model_.count; ++key) {
      const auto [v, w] = model_.at(key, 0);
      assembler_.load(*table->find(kTable), {{"id", std::to_string(key), false, false},
                                             {"v", std::to_string(v), false, false},
                                             {"w", std::to_string(w), false, false}});
    }
    assembler_.end_load(*table->find(kTable));
  }
  void poll() {
    Poll poll;
    poll.sent = ++model_.time;
    poll.snapshot = model_.snapshot();
    for (auto& txn : clients_) {
      if (txn != nullptr && txn->visible && model_.any(2) == 0) answer(txn);
    }
    poll.received = ++model_.time;
    assembler_.add(std::move(poll));
    for (const auto& txn : clients_) {
      if (txn != nullptr) taken_.open.push_back(txn->began);
    }
    if (course_.notices)
      assembler_.set_catalog(one_table(version_, course_.selects), ++model_.time);
    assembler_.settle(std::exchange(taken_, {}), ++model_.time);
    lines.settled();
  }
  // The client learns that it has committed.
  void answer(std::unique_ptr<Model::Txn>& txn) {
    txn->client.id = txn->id;
    txn->client.snapshot = txn->snapshot;
    txn->client.began = txn->began;
    txn->client.ended = ++model_.time;
    taken_.finished.push_back(std::move(txn->client));
    txn.reset();
  }
  void act(std::size_t which, int step) {
    auto& txn = clients_[which];
    if (txn == nullptr) {
      txn = std::make_unique<Model::Txn>();
      txn->began = ++model_.time;
      txn->snapshot = model_.snapshot();
      txn->seen = model_.commits;
      txn->client.session = fmt::format("s{}", which);
      txn->client.isolation = "repeatable read";
    } else if (txn->visible) {
      answer(txn);
    } else if (txn->logged || model_.any(5) == 0) {
      if (txn->id != 0 && !std::exchange(txn->logged, true)) {
        assembler_.add(model_log(*txn));
        return;
      }
      model_end(model_, *txn, true);
      txn->visible = true;
      if (model_.any(2) == 0) answer(txn);
    } else if (course_.selects && model_.any(3) == 0) {
      // What follows a write of the own transaction is not judged.
      if (txn->writes.empty()) model_select(model_, *txn, course_.faulty && model_.any(50) == 0);
    } else if (model_.any(2) == 0) {
      model_read(model_, *txn, model_.any(6), course_.faulty && step == 2000);
    } else if (!model_write(model_, *txn, model_.any(6))) {
      model_end(model_, *txn, false);
      txn.reset();
    }
  }
  // The table is locked, so nobody uses it meanwhile.
  void alter() {
    end_all();
    model_alter(model_);
    ++version_;
  }
  void end_all() {
    for (auto& txn : clients_) {
      if (txn != nullptr && txn->visible) answer(txn);
      if (txn != nullptr) model_end(model_, *txn, txn->logged);
      txn.reset();
    }
  }

  Course course_;
  Model model_;
  Assembler assembler_{{.split = true}, lines};
  std::vector<std::unique_ptr<Model::Txn>> clients_{5};
  Ledger::Taken taken_;
  int version_ = 1;
};

std::string record(const Course& course) {
  Watched watched(course);
  watched.run();
  return watched.lines.text;
}

Outcome judge(const std::string& text, Level level, Evidence evidence) {
  if (text.empty()) return Outcome::Holds;
  const auto history = parse_history(text);
  EXPECT_TRUE(history.ok()) << history.error().to_string();
  if (!history.ok()) return Outcome::Undecided;
  const auto verdict = check(*history, level, {.evidence = evidence});
  EXPECT_TRUE(verdict.ok()) << verdict.error().to_string();
  return verdict.ok() ? verdict->outcome : Outcome::Undecided;
}

TEST(AssemblerTest, AHealthyServerIsNeverAccused) {
  for (unsigned seed = 0; seed < 24; ++seed) {
    Watched watched({.seed = seed});
    watched.run();
    const std::string& text = watched.lines.text;
    EXPECT_GT(watched.totals().txns, 100U);
    EXPECT_TRUE(watched.lines.problems.empty());
    EXPECT_EQ(watched.totals().without_start, 0U);
    EXPECT_EQ(judge(text, Level::Si, Evidence::Timestamps), Outcome::Holds) << seed;
    EXPECT_EQ(judge(text, Level::SessionSi, Evidence::Timestamps), Outcome::Holds) << seed;
    EXPECT_EQ(judge(text, Level::Si, Evidence::Versions), Outcome::Holds) << seed;
  }
}

TEST(AssemblerTest, ConditionsOfHealthyClientsAreNeverAccusedAndFaultsAreFound) {
  for (unsigned seed = 0; seed < 24; ++seed) {
    Watched watched({.seed = seed, .selects = true});
    watched.run();
    const std::string& text = watched.lines.text;
    EXPECT_GT(watched.totals().selections, 50U);
    EXPECT_TRUE(watched.lines.problems.empty());
    EXPECT_EQ(judge(text, Level::Si, Evidence::Timestamps), Outcome::Holds) << seed << text;
    EXPECT_EQ(judge(text, Level::Si, Evidence::Versions), Outcome::Holds) << seed;
    for (const std::size_t end : watched.lines.prefixes) {
      ASSERT_EQ(judge(text.substr(0, end), Level::Si, Evidence::Timestamps), Outcome::Holds)
          << seed;
    }
    const std::string faulty = record({.seed = seed, .faulty = true, .selects = true});
    EXPECT_EQ(judge(faulty, Level::Si, Evidence::Timestamps), Outcome::Violated) << seed;
  }
}

// A tap may be killed, and so may the server.
TEST(AssemblerTest, NorByWhatHadBeenToldAtAnyMoment) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    Watched watched({.seed = seed});
    watched.run();
    const std::vector<std::size_t>& prefixes = watched.lines.prefixes;
    for (std::size_t i = seed % 7; i < prefixes.size(); i += 7) {
      const std::string text = watched.lines.text.substr(0, prefixes[i]);
      EXPECT_EQ(judge(text, Level::SessionSi, Evidence::Timestamps), Outcome::Holds) << seed;
    }
  }
}

TEST(AssemblerTest, NorIfTheTableIsAltered) {
  int problems = 0;
  int missed = 0;
  for (unsigned seed = 0; seed < 40; ++seed) {
    Watched watched({.seed = seed, .alters = true});
    watched.run();
    problems += watched.lines.problems.empty() ? 0 : 1;
    EXPECT_EQ(judge(watched.lines.text, Level::SessionSi, Evidence::Timestamps), Outcome::Holds)
        << seed;
    const std::string blind = record({.seed = seed, .alters = true, .notices = false});
    missed += judge(blind, Level::Si, Evidence::Timestamps) == Outcome::Violated ? 1 : 0;
  }
  EXPECT_GT(problems, 20);
  EXPECT_GT(missed, 20);
}

TEST(AssemblerTest, AStaleReadIsFound) {
  int found = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    const std::string text = record({.seed = seed, .faulty = true});
    found += judge(text, Level::Si, Evidence::Timestamps) == Outcome::Violated;
  }
  EXPECT_GT(found, 0);  // Values repeat, and many reads are of transactions that end otherwise.
}

// Tests of single rules: polls and transactions by hand.
class PlacingTest : public testing::Test {
 protected:
  explicit PlacingTest(std::shared_ptr<const Catalog> first = one_table())
      : assembler_({}, lines_) {
    assembler_.set_catalog(std::move(first), 0);
  }

  void poll(std::uint64_t next, std::vector<std::uint64_t> in_progress, Nanos at) {
    assembler_.add(Poll{{next, std::move(in_progress)}, at, at + 1});
    assembler_.settle(std::exchange(taken_, {}), at + 2);
  }
  void log_update(std::uint64_t id, int key, int v, int w) {
    Decoded change;
    change.kind = Decoded::Kind::Update;
    change.schema = "public";
    change.table = "t";
    change.cells = {{"id", std::to_string(key), false, false},
                    {"v", std::to_string(v), false, false},
                    {"w", std::to_string(w), false, false}};
    assembler_.add(Logged{id, {change}});
  }
  static ClientTxn reader(const std::string& key, const std::string& value, Nanos at) {
    ClientTxn txn;
    txn.session = "r";
    txn.began = at;
    txn.ended = at + 2;
    Execution execution;
    execution.sent = at;
    execution.done = at + 1;
    execution.text = analyse("SELECT v FROM t");
    execution.returned = true;
    execution.reads.push_back({kTable, key, value});
    txn.executions.push_back(execution);
    return txn;
  }

  Lines lines_;
  Assembler assembler_;
  Ledger::Taken taken_;
};

TEST_F(PlacingTest, VisibilityGoesBeforeTheLog) {
  // 11 is in the log behind 10, but a snapshot sees it without 10.
  poll(10, {}, 100);
  log_update(10, 1, 5, 0);
  log_update(11, 2, 6, 0);
  ClientTxn txn = reader("t/2.v", "6", 150);
  txn.snapshot = db::Snapshot{12, {10}};
  txn.isolation = "repeatable read";
  txn.executions[0].reads.push_back({kTable, "t/1.v", "0"});
  taken_.finished.push_back(std::move(txn));
  log_update(10, 1, 7, 1);
  poll(12, {}, 200);
  EXPECT_EQ(judge(lines_.text, Level::Si, Evidence::Timestamps), Outcome::Holds) << lines_.text;
}

TEST_F(PlacingTest, WhatAnOpenTransactionMaySeeWaits) {
  poll(10, {}, 100);
  log_update(10, 1, 5, 0);
  taken_.open = {150};
  poll(11, {}, 200);
  EXPECT_EQ(lines_.text, "");
  poll(11, {}, 300);
  EXPECT_NE(lines_.text, "");
}

TEST_F(PlacingTest, AColumnThatNobodySetIsNotWritten) {
  poll(10, {}, 100);
  log_update(10, 1, 5, 7);
  log_update(11, 1, 6, 7);
  poll(12, {}, 200);
  EXPECT_EQ(lines_.text.find("[\"w\",\"t/1.w\""), std::string::npos) << lines_.text;
  EXPECT_NE(lines_.text.find("[\"w\",\"t/1.v\",6]"), std::string::npos) << lines_.text;
}

TEST_F(PlacingTest, WhatAReaderSawBeforeTheFirstChangeIsKnown) {
  poll(10, {}, 100);
  ClientTxn txn = reader("t/1.v", "4", 110);
  txn.snapshot = db::Snapshot{10, {}};
  txn.isolation = "repeatable read";
  taken_.finished.push_back(std::move(txn));
  log_update(10, 1, 5, 7);
  poll(11, {}, 200);
  EXPECT_NE(lines_.text.find("[\"r\",\"t/1.v\",4]"), std::string::npos) << lines_.text;
  EXPECT_NE(lines_.text.find("[\"w\",\"t/1.v\",5]"), std::string::npos) << lines_.text;
}

TEST_F(PlacingTest, AReadThatMayBeOfAnUnknownValueIsDropped) {
  // Whether the statement saw what was there before 10, which nobody knows, or after it.
  poll(10, {}, 100);
  taken_.finished.push_back(reader("t/1.v", "4", 110));
  taken_.finished.back().automatic = true;
  log_update(10, 1, 5, 7);
  poll(11, {}, 200);
  poll(11, {}, 300);
  EXPECT_EQ(lines_.text.find("[\"r\""), std::string::npos) << lines_.text;
  EXPECT_EQ(assembler_.coverage().dropped_reads, 1U);
}

TEST_F(PlacingTest, AStatementIsPlacedWhereItFits) {
  poll(10, {}, 100);
  taken_.finished.push_back(reader("t/1.v", "4", 110));
  taken_.finished.back().automatic = true;
  poll(10, {}, 200);
  log_update(10, 1, 5, 7);
  log_update(11, 1, 6, 7);
  taken_.finished.push_back(reader("t/1.v", "5", 210));
  taken_.finished.back().automatic = true;
  poll(12, {}, 300);
  poll(12, {}, 400);
  EXPECT_EQ(judge(lines_.text, Level::Si, Evidence::Timestamps), Outcome::Holds) << lines_.text;
  EXPECT_NE(lines_.text.find("[\"r\",\"t/1.v\",5]"), std::string::npos) << lines_.text;
}

TEST_F(PlacingTest, AStatementThatFitsNowhereIsAccused) {
  poll(10, {}, 100);
  taken_.finished.push_back(reader("t/1.v", "4", 110));
  taken_.finished.back().automatic = true;
  poll(10, {}, 200);
  log_update(10, 1, 5, 7);
  taken_.finished.push_back(reader("t/1.v", "8", 210));
  taken_.finished.back().automatic = true;
  poll(11, {}, 300);
  poll(11, {}, 400);
  EXPECT_EQ(judge(lines_.text, Level::Si, Evidence::Timestamps), Outcome::Violated) << lines_.text;
}

TEST_F(PlacingTest, ATruncatedTableSpoilsTheRecording) {
  poll(10, {}, 100);
  taken_.finished.push_back(reader("t/1.v", "4", 110));
  poll(10, {}, 150);
  Decoded change;
  change.kind = Decoded::Kind::Truncate;
  change.schema = "public";
  change.table = "t";
  assembler_.add(Logged{10, {change}});
  EXPECT_TRUE(lines_.problems.empty());
  poll(11, {}, 200);
  ASSERT_EQ(lines_.problems.size(), 1U);
  EXPECT_EQ(lines_.problems[0], "table t: it was truncated");
}

class NewTableTest : public PlacingTest {
 protected:
  NewTableTest() : PlacingTest(std::make_shared<Catalog>()) {}
};

TEST_F(NewTableTest, ItCountsFromWhereItIsKnown) {
  // Between the write in the log and the catalog, the table may have been altered.
  poll(10, {}, 100);
  log_update(10, 1, 5, 0);
  log_update(11, 2, 5, 0);
  assembler_.set_catalog(one_table(), 290);
  poll(11, {}, 200);
  poll(12, {}, 250);  // Sees 11, but is older than the catalog.
  poll(12, {}, 300);
  taken_.finished.push_back(reader("t/1.v", "6", 310));
  taken_.finished.push_back(reader("t/2.v", "6", 320));
  poll(12, {}, 400);
  log_update(12, 1, 7, 0);
  taken_.finished.push_back(reader("t/1.v", "7", 410));
  poll(13, {}, 500);
  poll(13, {}, 600);
  EXPECT_EQ(lines_.text.find("t/1.v\",5"), std::string::npos) << lines_.text;
  EXPECT_NE(lines_.text.find("[\"w\",\"t/1.v\",7]"), std::string::npos) << lines_.text;
  EXPECT_EQ(judge(lines_.text, Level::Si, Evidence::Timestamps), Outcome::Holds) << lines_.text;
}

TEST_F(PlacingTest, ATableOfTheSameNameIsAnother) {
  poll(10, {}, 100);
  taken_.finished.push_back(reader("t/1.v", "4", 110));
  poll(10, {}, 200);
  auto catalog = std::make_shared<Catalog>();
  catalog->add({"30000", "public", "t", "", "1", "1", "id", "23", "0", "t", "23.-1"});
  catalog->add({"30000", "public", "t", "", "", "2", "v", "23", "-1", "t", "23.-1"});
  assembler_.set_catalog(catalog, 250);
  poll(11, {}, 300);
  ClientTxn txn = reader("t/1.v", "9", 310);
  txn.executions[0].reads[0].table = 30000;
  taken_.finished.push_back(std::move(txn));
  poll(11, {}, 400);
  poll(11, {}, 500);
  EXPECT_EQ(judge(lines_.text, Level::Si, Evidence::Timestamps), Outcome::Holds) << lines_.text;
  ASSERT_EQ(lines_.problems.size(), 2U);
  EXPECT_EQ(lines_.problems[0], "table t: it was dropped");
  EXPECT_EQ(lines_.problems[1], "table t: another one of its name was there before");
}

TEST_F(PlacingTest, WhatWasLoadedIsKnown) {
  const std::vector<LogCell> row = {{"id", "1"}, {"v", "4"}, {"w", "0"}};
  const auto loaded = one_table(1, true);
  assembler_.load(*loaded->find(kTable), row);
  assembler_.end_load(*loaded->find(kTable));
  assembler_.set_catalog(loaded, 50);
  poll(10, {}, 100);
  log_update(10, 1, 5, 0);  // Known to set v alone.
  for (const auto& [key, value] : {std::pair("t/1.v", "4"), std::pair("t/2.v", "null")}) {
    ClientTxn txn = reader(key, value, 150);
    txn.automatic = true;
    txn.executions[0].reads[0].column = "t.v";
    taken_.finished.push_back(std::move(txn));
  }
  poll(11, {}, 200);
  EXPECT_EQ(assembler_.coverage().dropped_reads, 0U);
  EXPECT_NE(lines_.text.find("{\"key\":\"t/1.v\",\"initial\":{\"t.v\":4}}"), std::string::npos);
  EXPECT_EQ(lines_.text.find("t/1.w"), std::string::npos) << lines_.text;  // Nobody asked.
  EXPECT_NE(lines_.text.find("[\"r\",\"t/2.v\",null]"), std::string::npos) << lines_.text;
  EXPECT_EQ(judge(lines_.text, Level::Si, Evidence::Timestamps), Outcome::Holds) << lines_.text;
}

// PostgreSQL lets a transaction insert a row that another one deleted behind its snapshot.
TEST_F(PlacingTest, ARowThatWasDeletedMeanwhileMayBeInserted) {
  poll(10, {}, 100);
  ClientTxn writer = reader("t/2.v", "4", 110);
  writer.id = 11;
  writer.snapshot = db::Snapshot{10, {}};
  writer.isolation = "repeatable read";
  writer.ended = 205;
  Decoded change;
  change.kind = Decoded::Kind::Delete;
  change.schema = "public";
  change.table = "t";
  change.cells = {{"id", "1"}};
  assembler_.add(Logged{10, {change}});
  change.kind = Decoded::Kind::Insert;
  change.cells = {{"id", "1"}, {"v", "5"}, {"w", "6"}};
  assembler_.add(Logged{11, {change}});
  taken_.finished.push_back(std::move(writer));
  ClientTxn later = reader("t/1.v", "5", 210);
  later.snapshot = db::Snapshot{12, {}};
  later.isolation = "repeatable read";
  taken_.finished.push_back(std::move(later));
  poll(12, {}, 300);
  poll(12, {}, 400);
  EXPECT_EQ(assembler_.totals().revived, 1U);
  EXPECT_NE(lines_.text.find("[\"r\",\"t/2.v\",4]"), std::string::npos) << lines_.text;
  EXPECT_NE(lines_.text.find("[\"w\",\"t/1.v\",5]"), std::string::npos) << lines_.text;
  for (const Level level : {Level::Si, Level::SessionSi, Level::Serializable}) {
    EXPECT_EQ(judge(lines_.text, level, Evidence::Timestamps), Outcome::Holds) << lines_.text;
  }
  EXPECT_EQ(judge(lines_.text, Level::Si, Evidence::Observed), Outcome::Holds) << lines_.text;
}

TEST_F(PlacingTest, AReaderIsNotToldWithoutWhomItRead) {
  // The answer to the COMMIT of 10 comes late, but a client has seen what it wrote.
  poll(10, {}, 100);
  ClientTxn writer = reader("t/2.v", "4", 110);
  writer.id = 10;
  writer.snapshot = db::Snapshot{10, {}};
  writer.ended = 205;
  writer.executions[0].writes = true;
  writer.executions[0].assigned = Assigned{kTable, "t/1", {"v"}, 1};
  log_update(10, 1, 5, 0);
  taken_.finished.push_back(std::move(writer));
  ClientTxn txn = reader("t/1.v", "5", 150);
  txn.snapshot = db::Snapshot{11, {}};
  txn.ended = 160;
  taken_.finished.push_back(std::move(txn));
  poll(11, {}, 200);
  EXPECT_NE(lines_.text.find("[\"r\",\"t/1.v\",5]"), std::string::npos) << lines_.text;
  EXPECT_NE(lines_.text.find("[\"w\",\"t/1.v\",5]"), std::string::npos) << lines_.text;
}

}  // namespace
}  // namespace ouro::tapping
