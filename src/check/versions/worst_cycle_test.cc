// The cycle that worst_cycle() finds in a component, compared with all of its cycles.

#include "check/versions/worst_cycle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include "ouro/certificate.h"
#include "ouro/check.h"
#include "ouro/explain.h"
#include "ouro/history_builder.h"
#include "tests/this_build.h"

namespace ouro {
namespace {

// A history with nothing wrong in single reads and version orders, and all its edges.
struct Scenario {
  struct Txn {
    std::size_t session = 0;
    std::int64_t invoked = 0;
    std::int64_t completed = 0;
    std::map<std::size_t, std::size_t> reads;  // Key, and the position of the version.
    std::set<std::size_t> writes;
  };
  std::vector<Txn> txns;
  std::vector<std::vector<std::size_t>> orders;  // By key: who wrote versions 1, 2, …

  [[nodiscard]] std::size_t place(std::size_t txn, std::size_t key) const {
    const auto& order = orders[key];
    return static_cast<std::size_t>(std::find(order.begin(), order.end(), txn) - order.begin()) + 1;
  }
  [[nodiscard]] bool has(std::size_t a, std::size_t b, EdgeKind kind) const {
    const Txn& one = txns[a];
    const Txn& two = txns[b];
    if (kind == EdgeKind::Session) return one.session == two.session && a < b;
    if (kind == EdgeKind::RealTime) return one.completed < two.invoked;
    for (std::size_t k = 0; k < orders.size(); ++k) {
      const bool reads =
          kind == EdgeKind::ReadWrite ? one.reads.contains(k) : two.reads.contains(k);
      const std::size_t first = one.writes.contains(k) ? place(a, k) : 0;
      const std::size_t second = two.writes.contains(k) ? place(b, k) : 0;
      if (kind == EdgeKind::WriteWrite && first != 0 && first < second) return true;
      if (kind == EdgeKind::WriteRead && first != 0 && reads && two.reads.at(k) == first)
        return true;
      if (kind == EdgeKind::ReadWrite && reads && one.reads.at(k) < second) return true;
    }
    return false;
  }

  [[nodiscard]] History history() const {
    HistoryBuilder b;
    std::vector<KeyId> keys;
    for (std::size_t k = 0; k < orders.size(); ++k)
      keys.push_back(b.key(static_cast<std::int64_t>(k)));
    const auto value = [&](std::size_t key, std::size_t version) {
      if (version == 0) return Value::null();
      return b.integer(static_cast<std::int64_t>(100 * key + version));
    };
    for (std::size_t t = 0; t < txns.size(); ++t) {
      b.begin_txn(b.session(static_cast<std::int64_t>(txns[t].session)));
      b.clocks(txns[t].invoked, txns[t].completed);
      for (const auto& [key, version] : txns[t].reads) b.read(keys[key], value(key, version));
      for (const std::size_t key : txns[t].writes) b.write(keys[key], value(key, place(t, key)));
    }
    for (std::size_t k = 0; k < orders.size(); ++k) {
      std::vector<Value> versions;
      for (std::size_t i = 1; i <= orders[k].size(); ++i) versions.push_back(value(k, i));
      b.version_order(keys[k], versions, true);
    }
    return *std::move(b).freeze();
  }
};

// Two transactions write a key each, others read both: often a long fork.
Scenario random_fork(std::mt19937_64& random) {
  Scenario scenario;
  scenario.txns.resize(4 + random() % 2);
  scenario.orders = {{0}, {1}};
  for (std::size_t t = 0; t < scenario.txns.size(); ++t) {
    scenario.txns[t].session = random() % 4;
    scenario.txns[t].completed = 10;
    if (t < 2) {
      scenario.txns[t].writes = {t};
    } else {
      scenario.txns[t].reads = {{0, random() % 2}, {1, random() % 2}};
    }
  }
  return scenario;
}

Scenario random_scenario(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  if (seed % 4 == 0) return random_fork(random);
  Scenario scenario;
  scenario.txns.resize(3 + random() % 4);
  scenario.orders.resize(1 + random() % 4);
  for (std::size_t t = 0; t < scenario.txns.size(); ++t) {
    Scenario::Txn& txn = scenario.txns[t];
    txn.session = random() % 4;
    txn.invoked = static_cast<std::int64_t>(3 * t + random() % 4);
    txn.completed = txn.invoked + static_cast<std::int64_t>(random() % 12);
    for (std::size_t i = random() % 3; i > 0; --i)
      txn.writes.insert(random() % scenario.orders.size());
    for (const std::size_t key : txn.writes) scenario.orders[key].push_back(t);
  }
  for (auto& order : scenario.orders) {
    // With some seeds the orders of keys mostly agree.
    for (std::size_t i = 1; i < order.size(); ++i) {
      if (random() % (seed % 3 + 2) == 0) std::swap(order[i - 1], order[i]);
    }
  }
  for (std::size_t t = 0; t < scenario.txns.size(); ++t) {
    for (std::size_t i = random() % 3; i > 0; --i) {
      const std::size_t key = random() % scenario.orders.size();
      const std::size_t version = random() % (scenario.orders[key].size() + 1);
      const bool own = version > 0 && scenario.orders[key][version - 1] == t;
      if (!own) scenario.txns[t].reads[key] = version;
    }
  }
  return scenario;
}

// The kind of a cycle, zero being the worst, and its length.
using Badness = std::pair<int, std::size_t>;

struct Rule {
  Level level;
  bool sessions, real_time, split, ww_to_commit, time_to_commit;
};
constexpr std::array kRules = {
    Rule{Level::Serializable, false, false, false, false, false},
    Rule{Level::SessionSerializable, true, false, false, false, false},
    Rule{Level::StrictSerializable, true, true, false, false, false},
    Rule{Level::Si, false, false, true, false, false},
    Rule{Level::SessionSi, true, false, true, false, false},
    Rule{Level::Gsi, false, true, true, false, true},
    Rule{Level::PrefixConsistentSi, true, true, true, false, true},
    Rule{Level::StrongSi, true, true, true, false, false},
    Rule{Level::Prefix, true, false, true, true, false},
};

// Nothing if the level allows the cycle.
std::optional<Badness> badness(const std::vector<EdgeKind>& cycle, const Rule& rule) {
  const auto count = [&](EdgeKind kind) { return std::count(cycle.begin(), cycle.end(), kind); };
  bool adjacent = false;
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    if (cycle[(i + 1) % cycle.size()] != EdgeKind::ReadWrite) continue;
    if (cycle[i] == EdgeKind::ReadWrite) adjacent = true;
    const bool at_commit = (cycle[i] == EdgeKind::WriteWrite && rule.ww_to_commit) ||
                           (cycle[i] == EdgeKind::RealTime && rule.time_to_commit);
    if (at_commit) return std::nullopt;
  }
  if (adjacent && rule.split) return std::nullopt;
  const auto overwritten = count(EdgeKind::ReadWrite);
  const int kind = overwritten == 0   ? (count(EdgeKind::WriteRead) == 0 ? 0 : 1)
                   : overwritten == 1 ? 2
                   : adjacent         ? 4
                                      : 3;
  return Badness{kind, cycle.size()};
}

// All cycles of a scenario that a level forbids, each found once, from its first transaction on.
class AllCycles {
 public:
  AllCycles(const Scenario& scenario, const Rule& rule) : s_(scenario), rule_(rule) {
    for (std::size_t t = 0; t < s_.txns.size(); ++t) {
      path_ = {t};
      extend();
    }
  }
  // The worst one through any of `txns`, which are a component.
  [[nodiscard]] std::optional<Badness> worst(const std::set<std::size_t>& txns) const {
    std::optional<Badness> out;
    for (const auto& [badness, members] : found_) {
      const bool inside = std::all_of(members.begin(), members.end(),
                                      [&](std::size_t t) { return txns.contains(t); });
      if (inside && (!out || badness < *out)) out = badness;
    }
    return out;
  }
  // Whether the component `txns` has a cycle that is shorter than `bad`.
  [[nodiscard]] bool has_shorter(const Badness& bad, const std::set<std::size_t>& txns) const {
    return std::any_of(found_.begin(), found_.end(), [&](const auto& cycle) {
      return cycle.first.second < bad.second && txns.contains(cycle.second[0]);
    });
  }
  // Transactions that share cycles with each other, directly or not.
  [[nodiscard]] std::vector<std::set<std::size_t>> components() const {
    std::vector<std::set<std::size_t>> out;
    for (const auto& [badness, members] : found_) {
      std::set<std::size_t> merged(members.begin(), members.end());
      std::erase_if(out, [&](const std::set<std::size_t>& other) {
        const bool shares = std::any_of(other.begin(), other.end(),
                                        [&](std::size_t t) { return merged.contains(t); });
        if (shares) merged.insert(other.begin(), other.end());
        return shares;
      });
      out.push_back(merged);
    }
    return out;
  }

 private:
  void extend() {
    for (const EdgeKind kind : {EdgeKind::Session, EdgeKind::RealTime, EdgeKind::WriteRead,
                                EdgeKind::WriteWrite, EdgeKind::ReadWrite}) {
      if (kind == EdgeKind::Session && !rule_.sessions) continue;
      if (kind == EdgeKind::RealTime && !rule_.real_time) continue;
      for (std::size_t t = path_[0]; t < s_.txns.size(); ++t) {
        const bool closes = t == path_[0] && path_.size() > 1;
        const bool again = std::find(path_.begin(), path_.end(), t) != path_.end();
        if ((again && !closes) || !s_.has(path_.back(), t, kind)) continue;
        kinds_.push_back(kind);
        if (closes) {
          if (const auto bad = badness(kinds_, rule_)) found_.emplace_back(*bad, path_);
        } else {
          path_.push_back(t);
          extend();
          path_.pop_back();
        }
        kinds_.pop_back();
      }
    }
  }

  const Scenario& s_;
  const Rule& rule_;
  std::vector<std::size_t> path_;
  std::vector<EdgeKind> kinds_;
  std::vector<std::pair<Badness, std::vector<std::size_t>>> found_;
};

TEST(WorstCycleTest, IsAShortestOfTheWorstKindInItsComponent) {
  std::array<std::size_t, 5> kinds{};
  std::size_t passed_over = 0;  // Worse cycles that are longer than others.
  // Some kinds are rare, so not as few as elsewhere with sanitizers.
  for (std::uint64_t seed = 1; seed <= 2'000 / std::min<std::size_t>(kSlowdown, 4); ++seed) {
    const Scenario scenario = random_scenario(seed);
    const History history = scenario.history();
    for (const Rule& rule : kRules) {
      const AllCycles all(scenario, rule);
      CheckOptions options;
      options.evidence = Evidence::Versions;
      options.examples = 100;
      options.threads = 1;
      const auto verdict = check(history, rule.level, options);
      ASSERT_TRUE(verdict.ok()) << verdict.error().to_string();
      const auto components = all.components();
      ASSERT_EQ(verdict->outcome == Outcome::Violated, !components.empty()) << "seed " << seed;
      if (components.empty()) continue;
      std::optional<Badness> least;
      for (const Anomaly& anomaly : verdict->anomalies) {
        std::vector<EdgeKind> cycle;
        for (const Edge& edge : anomaly.edges) cycle.push_back(edge.kind);
        const auto bad = badness(cycle, rule);
        ASSERT_TRUE(bad.has_value()) << "seed " << seed;
        if (!least || *bad < *least) least = bad;
        ++kinds[static_cast<std::size_t>(bad->first)];
        if (rule.split) continue;
        const auto mine =
            std::find_if(components.begin(), components.end(), [&](const auto& component) {
              return component.contains(anomaly.edges[0].from.index());
            });
        ASSERT_NE(mine, components.end()) << "seed " << seed;
        ASSERT_EQ(*bad, *all.worst(*mine)) << "seed " << seed;
        passed_over += all.has_shorter(*bad, *mine) ? 1 : 0;
      }
      std::set<std::size_t> everybody;
      for (std::size_t t = 0; t < scenario.txns.size(); ++t) everybody.insert(t);
      ASSERT_EQ(*least, *all.worst(everybody)) << "seed " << seed;
      if (!rule.split) {
        ASSERT_EQ(verdict->anomalies.size(), components.size()) << "seed " << seed;
      }
      ASSERT_TRUE(certify(history, make_certificate(history, *verdict, 0))->accepted)
          << "seed " << seed;
    }
  }
  for (const std::size_t count : kinds) EXPECT_GT(count, 20 / kSlowdown);
  EXPECT_GT(passed_over, 50 / kSlowdown);
}

// A story tells a cycle of the worst kind, too, and none that is longer; unless a part of what
// makes that cycle is forbidden by itself, as stories are minimal.
TEST(WorstCycleTest, IsWhatAStoryTells) {
  std::size_t told = 0;
  std::size_t milder = 0;
  for (std::uint64_t seed = 1; seed <= 600 / kSlowdown; ++seed) {
    const Scenario scenario = random_scenario(seed);
    const History history = scenario.history();
    std::set<std::size_t> everybody;
    for (std::size_t t = 0; t < scenario.txns.size(); ++t) everybody.insert(t);
    for (const Rule& rule : kRules) {
      const auto worst = AllCycles(scenario, rule).worst(everybody);
      if (!worst) continue;
      CheckOptions options;
      options.evidence = Evidence::Versions;
      options.threads = 1;
      const auto verdict = check(history, rule.level, options);
      ExplainOptions thorough;
      thorough.examples = 2;
      thorough.work_limit = 0;
      thorough.threads = 1;
      std::optional<Badness> least;
      for (const Story& story : explain(history, *verdict, thorough).stories) {
        ASSERT_EQ(story.cases.size(), 1u) << "seed " << seed;
        const auto& cycle = story.cases[0].cycle;
        const Badness bad{static_cast<int>(kind_of(cycle)), cycle.size()};
        if (!least || bad < *least) least = bad;
      }
      ASSERT_TRUE(least.has_value()) << "seed " << seed;
      ++told;
      if (*least == *worst) continue;
      ++milder;
      ASSERT_GT(least->first, worst->first) << "seed " << seed << " at " << info(rule.level).name;
      ASSERT_LE(least->second, worst->second) << "seed " << seed << " at " << info(rule.level).name;
    }
  }
  EXPECT_GT(told, 1'000 / kSlowdown);
  EXPECT_LT(milder, told / 10);
}

}  // namespace
}  // namespace ouro
