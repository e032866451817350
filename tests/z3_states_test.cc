// Histories of 20 to 60 transactions with values that repeat, deletes and predicate reads: too many
// for the oracle, so Z3 gives the second opinion.

#include "tests/z3_states.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "ouro/certificate.h"
#include "ouro/check.h"
#include "ouro/format.h"
#include "tests/observed.h"
#include "tests/oracle.h"
#include "tests/this_build.h"

namespace ouro::oracle {
namespace {

struct StatesShape {
  int txns = 4;
  int keys = 2;
  int sessions = 3;
  double stale = 0.3;       // Transactions that see a state that is not the last.
  double lost = 0.2;        // Of those, the ones that overwrite what they did not see.
  double fault = 0.02;      // Predicate reads with a wrong result.
  bool predicates = true;   // Or else reads and scans only.
  bool tombstones = false;  // Deletes leave tombstones, which scans list.
};

// A store of rows {"c":0} to {"c":2}. It gives each transaction one of the last committed states,
// never one from before the last transaction of its session.
class StatesStore {
 public:
  StatesStore(std::uint64_t seed, const StatesShape& shape)
      : shape_(shape), random_(seed), session_saw_(static_cast<std::size_t>(shape.sessions), 0) {
    states_.push_back({});
  }

  std::string history() {
    std::string out;
    for (int t = 0; t < shape_.txns; ++t) out += txn();
    return out;
  }

 private:
  using State = std::map<int, int>;  // By key: the cell; below zero: a tombstone. Absent: no row.

  int pick(std::size_t below) { return static_cast<int>(random_() % below); }
  bool chance(double share) { return std::uniform_real_distribution<>(0, 1)(random_) < share; }
  static std::string name(int key) { return "\"k" + std::to_string(key) + "\""; }
  static std::string held(int value) {
    return value < 0 ? std::to_string(1000 - value) : R"({"c":)" + std::to_string(value) + "}";
  }

  std::string txn() {
    const auto session = static_cast<std::size_t>(pick(session_saw_.size()));
    std::size_t begun = states_.size() - 1;
    const bool stale = chance(shape_.stale);
    if (stale) {
      const std::size_t least = std::max(session_saw_[session], begun < 4 ? 0 : begun - 4);
      begun = least + static_cast<std::size_t>(pick(begun - least + 1));
    }
    State state = states_[begun];
    State wrote;
    gone_.clear();
    std::string ops;
    const bool careful = !(stale && chance(shape_.lost));
    for (int i = 1 + pick(4); i > 0; --i) {
      ops += (ops.empty() ? "" : ",") + op(state, wrote, careful ? begun : states_.size());
    }
    const int status = pick(25);
    const char* word = status == 0 ? "aborted" : status == 1 ? "unknown" : "committed";
    if (status > 0) {
      State next = states_.back();
      for (const auto& [key, value] : wrote) next[key] = value;
      for (const int key : gone_) next.erase(key);
      changed_.emplace_back();
      for (const auto& [key, value] : wrote) changed_.back().push_back(key);
      for (const int key : gone_) changed_.back().push_back(key);
      states_.push_back(next);
      session_saw_[session] = states_.size() - 1;
    }
    return R"({"session":)" + std::to_string(session) + R"(,"status":")" + word + R"(","ops":[)" +
           ops + "]}\n";
  }

  // Whether a key was written by those that committed from state `since` on.
  [[nodiscard]] bool written_since(int key, std::size_t since) const {
    for (std::size_t i = since; i < changed_.size(); ++i) {
      if (std::find(changed_[i].begin(), changed_[i].end(), key) != changed_[i].end()) return true;
    }
    return false;
  }

  std::string op(State& state, State& wrote, std::size_t begun) {
    const int key = pick(static_cast<std::size_t>(shape_.keys));
    const bool may_write = !written_since(key, begun);
    const int what = pick(shape_.predicates ? 9 : 6);
    if (what < 3 && may_write) {
      gone_.erase(std::remove(gone_.begin(), gone_.end(), key), gone_.end());
      if (what > 0) {
        state[key] = wrote[key] = pick(3);
        return R"(["w",)" + name(key) + "," + held(state[key]) + "]";
      }
      if (shape_.tombstones) {
        state[key] = wrote[key] = -++deleted_;
        return R"(["d",)" + name(key) + "," + held(state[key]) + "]";
      }
      state.erase(key);
      wrote.erase(key);
      gone_.push_back(key);
      return R"(["d",)" + name(key) + "]";
    }
    if (what < 4) {
      const auto at = state.find(key);
      return R"(["r",)" + name(key) + "," + (at == state.end() ? "null" : held(at->second)) + "]";
    }
    if (what < 6) return scan(state, key);
    return what == 6 ? select(state) : aggregate(state);
  }

  std::string scan(const State& state, int first) {
    const int last = std::min(shape_.keys - 1, first + pick(4));
    std::string rows;
    for (const auto& [key, value] : state) {
      if (key < first || key > last || chance(shape_.fault)) continue;
      rows += (rows.empty() ? "[" : ",[") + name(key) + "," + held(value) + "]";
    }
    return R"(["scan",)" + name(first) + "," + name(last) + ",[" + rows + "]]";
  }
  std::string select(const State& state) {
    const int least = pick(3);
    std::string rows;
    for (const auto& [key, value] : state) {
      if (value < least || chance(shape_.fault)) continue;
      rows += (rows.empty() ? "[" : ",[") + name(key) + "," + held(value) + "]";
    }
    return R"(["select",{"ge":["c",)" + std::to_string(least) + "]},[" + rows + "]]";
  }
  std::string aggregate(const State& state) {
    const int least = pick(2);
    int count = 0;
    int sum = 0;
    for (const auto& [key, value] : state) {
      if (value < least) continue;
      ++count;
      sum += value;
    }
    const bool counts = pick(2) == 0;
    const int result = (counts ? count : sum) + (chance(shape_.fault) ? 1 : 0);
    return std::string(R"(["aggregate",)") + (counts ? R"("count",null)" : R"("sum","c")") +
           R"(,{"ge":["c",)" + std::to_string(least) + "]}," +
           (!counts && count == 0 ? "null" : std::to_string(result)) + "]";
  }

  const StatesShape shape_;
  std::mt19937_64 random_;
  std::vector<std::size_t> session_saw_;  // By session: the state that it must not fall behind.
  std::vector<State> states_;
  std::vector<std::vector<int>> changed_;  // changed_[i]: the keys that state i + 1 changed.
  std::vector<int> gone_;                  // Keys that the transaction at hand deleted.
  int deleted_ = 0;
};

constexpr Level kStatesLevels[] = {Level::Si, Level::SessionSi, Level::Serializable,
                                   Level::SessionSerializable};

History history_of_states(const std::string& text) {
  auto history = parse_history(text, {.format = Format::Native});
  EXPECT_TRUE(history.ok()) << history.error().to_string() << '\n' << text;
  return *std::move(history);
}

TEST(Z3StatesTest, AgreesWithTheOracleOnSmallHistories) {
  std::size_t judged = 0;
  for (std::uint64_t seed = 1; seed <= 50 / kSlowdown; ++seed) {
    StatesShape shape;
    shape.tombstones = seed % 3 == 0;
    shape.fault = 0.1;
    const std::string text = StatesStore(seed, shape).history();
    const History history = history_of_states(text);
    std::size_t ways = 0;
    any_sources(history, Evidence::Observed, [&](const Sources&) { return ++ways > 200; });
    if (ways > 200) continue;
    ++judged;
    const LevelSet right = allowed_levels(history);
    for (const Level level : kStatesLevels) {
      EXPECT_EQ(z3_states_allow(history, level), right.has(level))
          << "seed " << seed << ", " << info(level).name << '\n'
          << text;
    }
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_GE(judged, 20 / kSlowdown);
}

TEST(Z3StatesTest, TheEngineAgreesOnMediumHistories) {
  std::map<Outcome, std::size_t> outcomes;
  const std::uint64_t seeds = kSlowdown == 1 ? 6 : 3;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    StatesShape shape;
    shape.txns = 20 + static_cast<int>(seed * 3 % 41);
    shape.keys = 3 + static_cast<int>(seed % 4);
    shape.sessions = 2 + static_cast<int>(seed % 7);
    shape.stale = 0.15 * static_cast<double>(seed % 3);
    shape.lost = 0.1 * static_cast<double>(seed % 2);
    shape.fault = seed % 4 == 0 ? 0.01 : 0;
    shape.predicates = seed % 3 != 0;
    shape.tombstones = seed % 5 == 0;
    const std::string text = StatesStore(seed, shape).history();
    const History history = history_of_states(text);
    for (const Level level : kStatesLevels) {
      const auto verdict = check(history, level);
      ASSERT_TRUE(verdict.ok()) << verdict.error().to_string();
      ++outcomes[verdict->outcome];
      if (verdict->outcome == Outcome::Undecided) continue;
      EXPECT_EQ(z3_states_allow(history, level), verdict->outcome == Outcome::Holds)
          << "seed " << seed << ", " << info(level).name << '\n'
          << text;
      const auto answer = certify(history, make_certificate(history, *verdict));
      ASSERT_TRUE(answer.ok()) << answer.error().to_string();
      EXPECT_TRUE(answer->accepted)
          << "seed " << seed << ", " << info(level).name << ": " << answer->reason << '\n'
          << text;
    }
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_GT(outcomes[Outcome::Holds], seeds / 2);
  if (kSlowdown == 1) {
    EXPECT_GT(outcomes[Outcome::Violated], seeds / 4);
  }
  EXPECT_LT(outcomes[Outcome::Undecided], seeds / 2);
}

}  // namespace
}  // namespace ouro::oracle
