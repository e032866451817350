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

std::shared_ptr<const Catalog> one_table() {
  auto catalog = std::make_shared<Catalog>();
  catalog->add({"20000", "public", "t", "", "1", "1", "id", "23", "0", "t", "23.-1"});
  catalog->add({"20000", "public", "t", "", "1", "2", "v", "23", "-1", "t", "23.-1"});
  catalog->add({"20000", "public", "t", "", "1", "3", "w", "23", "-1", "t", "23.-1"});
  return catalog;
}

class Lines final : public Receiver {
 public:
  void initial(const std::string& key, const std::string& value) override {
    print_initial(key, value, text);
  }
  void transaction(const Placed& placed) override { print_placed(placed, text); }
  std::string text;
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
  execution.reads.push_back({kTable, fmt::format("t/{}.v", key), std::to_string(value.first)});
  execution.reads.push_back({kTable, fmt::format("t/{}.w", key), std::to_string(value.second)});
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

// Runs clients on the model, polls now and then, and returns what the assembler makes of it.
std::string record(unsigned seed, bool faulty, Assembler::Totals* totals = nullptr) {
  Model model(seed, 6);
  Lines lines;
  Assembler assembler({.split = true}, lines);
  assembler.set_catalog(one_table());
  std::vector<std::unique_ptr<Model::Txn>> clients(5);
  Ledger::Taken taken;
  const auto poll = [&] {
    Poll taken_now;
    taken_now.sent = ++model.time;
    taken_now.snapshot = model.snapshot();
    taken_now.received = ++model.time;
    assembler.add(std::move(taken_now));
    taken.open.clear();
    for (const auto& txn : clients) {
      if (txn != nullptr) taken.open.push_back(txn->began);
    }
    assembler.settle(std::exchange(taken, {}), ++model.time);
  };
  const int pause = seed % 2 == 0 ? 20 : 400;
  poll();
  for (int step = 0; step < 3000; ++step) {
    const auto which = static_cast<std::size_t>(model.any(5));
    auto& txn = clients[which];
    if (model.any(pause) == 0) poll();
    if (model.any(10) == 0) taken.finished.push_back(model_look(model, faulty));
    if (txn == nullptr) {
      txn = std::make_unique<Model::Txn>();
      txn->began = ++model.time;
      txn->snapshot = model.snapshot();
      txn->seen = model.commits;
      txn->client.session = fmt::format("s{}", which);
      txn->client.isolation = "repeatable read";
    } else if (txn->logged || model.any(5) == 0) {
      if (txn->id != 0 && !std::exchange(txn->logged, true)) {
        assembler.add(model_log(*txn));
        continue;
      }
      model_end(model, *txn, true);
      txn->client.id = txn->id;
      txn->client.snapshot = txn->snapshot;
      txn->client.began = txn->began;
      txn->client.ended = ++model.time;
      taken.finished.push_back(std::move(txn->client));
      txn.reset();
    } else if (model.any(2) == 0) {
      model_read(model, *txn, model.any(6), faulty && step == 2000);
    } else if (!model_write(model, *txn, model.any(6))) {
      model_end(model, *txn, false);
      txn.reset();
    }
  }
  for (auto& txn : clients) {
    if (txn != nullptr) model_end(model, *txn, txn->logged);
    txn.reset();
  }
  poll();
  poll();
  if (totals != nullptr) *totals = assembler.totals();
  return lines.text;
}

Outcome judge(const std::string& text, Level level, Evidence evidence) {
  const auto history = parse_history(text);
  EXPECT_TRUE(history.ok()) << history.error().to_string();
  if (!history.ok()) return Outcome::Undecided;
  const auto verdict = check(*history, level, {.evidence = evidence});
  EXPECT_TRUE(verdict.ok()) << verdict.error().to_string();
  return verdict.ok() ? verdict->outcome : Outcome::Undecided;
}

TEST(AssemblerTest, AHealthyServerIsNeverAccused) {
  for (unsigned seed = 0; seed < 24; ++seed) {
    Assembler::Totals totals;
    const std::string text = record(seed, false, &totals);
    EXPECT_GT(totals.txns, 100U);
    EXPECT_EQ(totals.breaks, 0U);
    EXPECT_EQ(totals.without_start, 0U);
    EXPECT_EQ(judge(text, Level::Si, Evidence::Timestamps), Outcome::Holds) << seed;
    EXPECT_EQ(judge(text, Level::SessionSi, Evidence::Timestamps), Outcome::Holds) << seed;
    EXPECT_EQ(judge(text, Level::Si, Evidence::Versions), Outcome::Holds) << seed;
  }
}

TEST(AssemblerTest, AStaleReadIsFound) {
  int found = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    found += judge(record(seed, true), Level::Si, Evidence::Timestamps) == Outcome::Violated;
  }
  EXPECT_GT(found, 0);  // Values repeat, and many reads are of transactions that end otherwise.
}

// Tests of single rules: polls and transactions by hand.
class PlacingTest : public testing::Test {
 protected:
  PlacingTest() : assembler_({}, lines_) { assembler_.set_catalog(one_table()); }

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
  Decoded change;
  change.kind = Decoded::Kind::Truncate;
  change.schema = "public";
  change.table = "t";
  assembler_.add(Logged{10, {change}});
  poll(11, {}, 200);
  EXPECT_EQ(assembler_.spoiled().size(), 1U);
}

}  // namespace
}  // namespace ouro::tapping
