// Random small histories of rows whose version orders the history states, with values that repeat,
// plain deletes, and predicate reads that do not say what they saw. What reads violate by
// themselves they violate by version orders, too.

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "ouro/certificate.h"
#include "ouro/check.h"
#include "ouro/format.h"
#include "tests/oracle.h"
#include "tests/this_build.h"

namespace ouro {
namespace {

class StatedStore {
 public:
  // With `plain` there are no predicate reads.
  explicit StatedStore(std::uint64_t seed, bool plain = false)
      : random_(seed), plain_(plain), complete_(random_() % 3 > 0) {}

  std::string history() {
    const int txns = 3 + pick(2);
    std::string out;
    for (int t = 0; t < txns; ++t) {
      State state = states_[pick(2) == 0 ? states_.size() - 1 : below(states_.size())];
      State wrote;
      std::string ops;
      for (int i = 1 + pick(3); i > 0; --i) ops += (ops.empty() ? "" : ",") + op(state, wrote);
      out += R"({"session":)" + std::to_string(pick(3)) + R"(,"id":"t)" + std::to_string(t) +
             R"(","ops":[)" + ops + "]}\n";
      State next = states_.back();
      for (const auto& [key, value] : wrote) {
        next[key] = value;
        const bool kept = complete_ || pick(3) > 0;
        if (kept)
          orders_[key] +=
              (orders_[key].empty() ? R"(["t)" : R"(,["t)") + std::to_string(t) + R"("])";
      }
      states_.push_back(next);
    }
    for (const auto& [key, order] : orders_) {
      out += R"({"key":)" + name(key) + R"(,"versions":[)" + order + R"(],"complete":)" +
             (complete_ ? "true" : "false") + "}\n";
    }
    return out;
  }

 private:
  using State = std::map<int, int>;  // By key: the only column of its row; -1: there is none.

  int pick(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }
  std::size_t below(std::size_t limit) { return random_() % limit; }
  static std::string name(int key) { return key == 0 ? R"("x")" : R"("y")"; }
  static std::string row(int value) {
    return value < 0 ? "null" : R"({"c":)" + std::to_string(value) + "}";
  }

  std::string op(State& state, State& wrote) {
    const int key = pick(2);
    switch (pick(plain_ ? 5 : 8)) {
      case 0:
      case 1:
        wrote[key] = state[key] = pick(2);
        return R"(["w",)" + name(key) + "," + row(state[key]) + "]";
      case 2:
        wrote[key] = state[key] = -1;
        return R"(["d",)" + name(key) + "]";
      case 3:
        return R"(["r",)" + name(key) + "," + row(state.contains(key) ? state[key] : -1) + "]";
      case 4:
        if (plain_) return R"(["r",)" + name(key) + "," + row(pick(3) - 1) + "]";
        return R"(["select",{"eq":["c",1]},)" + rows(state, 1) + "]";
      case 5:
        return R"(["scan",null,null,)" + rows(state, 0) + "]";
      case 6:
        return R"(["aggregate","count",null,{"eq":["c",1]},)" + std::to_string(ones(state)) + "]";
      default:
        return R"(["aggregate","sum","c",{"eq":["c",1]},)" +
               (ones(state) == 0 ? "null" : std::to_string(ones(state))) + "]";
    }
  }
  std::string rows(const State& state, int least) {
    std::string out;
    for (const auto& [key, value] : state) {
      if (value < least || pick(12) == 0) continue;
      out += (out.empty() ? "[" : ",[") + name(key) + "," + row(value) + "]";
    }
    return "[" + out + "]";
  }
  static int ones(const State& state) {
    int out = 0;
    for (const auto& [_, value] : state) out += value == 1 ? 1 : 0;
    return out;
  }

  std::mt19937_64 random_;
  const bool plain_;
  const bool complete_;
  std::vector<State> states_{State()};
  std::map<int, std::string> orders_;
};

// Registers whose few values repeat, and plain deletes.
TEST(PredicateVersionsTest, RepeatedValuesAgreeWithTheOracle) {
  const int count = 1500 / static_cast<int>(kSlowdown);
  std::map<Outcome, int> outcomes;
  for (int seed = 1; seed <= count; ++seed) {
    const std::string text = StatedStore(static_cast<std::uint64_t>(seed), true).history();
    const auto history = parse_history(text, {.format = Format::Native});
    ASSERT_TRUE(history.ok()) << history.error().to_string() << '\n' << text;
    const oracle::LevelSet allowed =
        oracle::allowed_levels(*history, {.evidence = Evidence::Versions});
    for (const LevelInfo& level : levels()) {
      if (!decidable(level.level, Evidence::Versions)) continue;
      const auto verdict = check(*history, level.level, {.evidence = Evidence::Versions});
      ASSERT_TRUE(verdict.ok()) << verdict.error().to_string() << '\n' << text;
      ++outcomes[verdict->outcome];
      if (verdict->outcome == Outcome::Undecided) continue;
      EXPECT_EQ(verdict->outcome == Outcome::Holds, allowed.has(level.level))
          << "seed " << seed << ' ' << level.name << '\n'
          << text;
      const auto answer = certify(*history, make_certificate(*history, *verdict));
      ASSERT_TRUE(answer.ok()) << answer.error().to_string() << text;
      EXPECT_TRUE(answer->accepted) << answer->reason << text;
    }
    if (HasFailure()) return;
  }
  EXPECT_EQ(outcomes[Outcome::Undecided], 0);
  EXPECT_GT(outcomes[Outcome::Violated], count);
  EXPECT_GT(outcomes[Outcome::Holds], count);
}

TEST(PredicateVersionsTest, WhateverIsViolatedByObservationIsSoByVersionOrders) {
  const int count = 1500 / static_cast<int>(kSlowdown);
  int violated = 0;
  int told = 0;  // Violations that only the reads by themselves show.
  for (int seed = 1; seed <= count; ++seed) {
    const std::string text = StatedStore(static_cast<std::uint64_t>(seed)).history();
    const auto history = parse_history(text, {.format = Format::Native});
    ASSERT_TRUE(history.ok()) << history.error().to_string() << '\n' << text;
    for (const LevelInfo& level : levels()) {
      if (!decidable(level.level, Evidence::Versions)) continue;
      const auto stated = check(*history, level.level, {.evidence = Evidence::Versions});
      ASSERT_TRUE(stated.ok()) << stated.error().to_string() << '\n' << text;
      const auto observed = check(*history, level.level);
      ASSERT_TRUE(observed.ok()) << observed.error().to_string() << '\n' << text;
      const std::string where = std::string(level.name) + '\n' + text;
      if (observed->outcome == Outcome::Violated) {
        EXPECT_EQ(stated->outcome, Outcome::Violated) << where;
      }
      if (stated->outcome == Outcome::Undecided) continue;
      const auto answer = certify(*history, make_certificate(*history, *stated));
      ASSERT_TRUE(answer.ok()) << answer.error().to_string() << where;
      EXPECT_TRUE(answer->accepted) << answer->reason << where;
      violated += stated->outcome == Outcome::Violated ? 1 : 0;
      told += stated->evidence == Evidence::Observed ? 1 : 0;
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(violated, count);
  EXPECT_GT(told, count / 20);
}

// Selects and aggregates with version sets. Rows have a column by which all versions differ, and no
// predicate asks for it; or they do not have it, and then version sets do not tell versions apart.
class ListedStore {
 public:
  explicit ListedStore(std::uint64_t seed) : random_(seed) {
    const std::size_t txns = 3 + below(3);
    for (std::size_t t = 0; t < txns; ++t) add_txn(t);
    for (const auto& [key, order] : orders_) {
      const std::string line =
          "{\"key\":\"" + key + "\",\"versions\":[" + order + "],\"complete\":true}\n";
      with += line;
      without += line;
    }
  }
  std::string with, without;

 private:
  struct Row {
    std::string with, without;
    std::size_t value = 0;
  };
  using State = std::map<std::string, Row>;

  std::size_t below(std::size_t limit) { return random_() % limit; }
  static void add(std::string& list, const std::string& part) {
    list += (list.empty() ? "" : ",") + part;
  }

  void add_txn(std::size_t number) {
    State state = states_[below(2) == 0 ? states_.size() - 1 : below(states_.size())];
    std::map<std::string, bool> wrote;
    State next = states_.back();
    std::string all_with, all_without;
    for (std::size_t i = 1 + below(3); i > 0; --i) {
      const std::string key = below(2) == 0 ? "p" : "q";
      const std::size_t which = below(6);
      if (which < 2) {
        const std::size_t value = below(2);
        const std::string cells = "{\"c\":" + std::to_string(value);
        state[key] =
            next[key] = {cells + ",\"u\":" + std::to_string(++unique_) + "}", cells + "}", value};
        add(all_with, "[\"w\",\"" + key + "\"," + state[key].with + "]");
        add(all_without, "[\"w\",\"" + key + "\"," + state[key].without + "]");
        wrote[key] = true;
      } else if (which == 2) {
        add(all_with, read(state, &Row::with, 0));
        add(all_without, read(state, &Row::without, 0));
      } else {
        add(all_with, read(state, &Row::with, which - 2));
        add(all_without, read(state, &Row::without, which - 2));
      }
    }
    const std::string head = "{\"session\":" + std::to_string(below(3)) + ",\"id\":\"t" +
                             std::to_string(number) + "\",\"ops\":[";
    with += head + all_with + "]}\n";
    without += head + all_without + "]}\n";
    for (const auto& [key, _] : wrote) add(orders_[key], "[\"t" + std::to_string(number) + "\"]");
    states_.push_back(next);
  }

  // Reads with an even number ask for c = 0, and find rows; the others count those with c = 1.
  static std::string read(const State& state, std::string Row::*text, std::size_t kind) {
    std::string set, rows;
    std::size_t count = 0;
    for (const auto& [key, row] : state) {
      const std::string version = "[\"" + key + "\"," + row.*text + "]";
      add(set, version);
      if (row.value == 0) add(rows, version);
      count += row.value;
    }
    const std::string versions = "{\"versions\":[" + set + "]}";
    if (kind % 2 == 0) return "[\"select\",{\"eq\":[\"c\",0]},[" + rows + "]," + versions + "]";
    return R"(["aggregate","count",null,{"eq":["c",1]},)" + std::to_string(count) + "," + versions +
           "]";
  }

  std::mt19937_64 random_;
  std::size_t unique_ = 0;
  std::vector<State> states_{State()};
  std::map<std::string, std::string> orders_;
};

TEST(PredicateVersionsTest, VersionSetsThatDoNotTellVersionsApartForbidNoMore) {
  const int count = kSlowdown == 1 ? 1000 : 300;  // Fewer do not show each pair of outcomes.
  std::map<std::pair<Outcome, Outcome>, int> seen;
  for (int seed = 1; seed <= count; ++seed) {
    const ListedStore made(static_cast<std::uint64_t>(seed));
    const auto unique = parse_history(made.with, {.format = Format::Native});
    const auto repeats = parse_history(made.without, {.format = Format::Native});
    ASSERT_TRUE(unique.ok() && repeats.ok()) << made.with << made.without;
    for (const LevelInfo& level : levels()) {
      if (!decidable(level.level, Evidence::Versions)) continue;
      const auto exact = check(*unique, level.level, {.evidence = Evidence::Versions});
      const auto open = check(*repeats, level.level, {.evidence = Evidence::Versions});
      const std::string where = std::string(level.name) + '\n' + made.without;
      ASSERT_TRUE(exact.ok()) << exact.error().to_string() << where;
      ASSERT_TRUE(open.ok()) << open.error().to_string() << where;
      ++seen[{exact->outcome, open->outcome}];
      if (exact->outcome == Outcome::Holds) {
        ASSERT_NE(open->outcome, Outcome::Violated) << where;
      }
      if (open->outcome == Outcome::Undecided) continue;
      const auto answer = certify(*repeats, make_certificate(*repeats, *open));
      ASSERT_TRUE(answer.ok()) << answer.error().to_string() << where;
      ASSERT_TRUE(answer->accepted) << answer->reason << where;
    }
  }
  const int undecided =
      seen[{Outcome::Holds, Outcome::Undecided}] + seen[{Outcome::Violated, Outcome::Undecided}];
  EXPECT_LT(undecided, count / 10);
  EXPECT_GT((seen[{Outcome::Violated, Outcome::Violated}]), count / 4);
  EXPECT_GT((seen[{Outcome::Violated, Outcome::Holds}]), count / 30);
}

}  // namespace
}  // namespace ouro
