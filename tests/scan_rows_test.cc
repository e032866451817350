// Scans that return many more rows than there are operations: their rows become reads only where an
// order does not fit them (check/observed/listed_rows.h). Small histories against the oracle,
// larger ones by their certificates.

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "check/observed/listed_rows.h"
#include "ouro/certificate.h"
#include "ouro/check.h"
#include "ouro/format.h"
#include "ouro/generate.h"
#include "tests/observed.h"
#include "tests/oracle.h"
#include "tests/this_build.h"

namespace ouro {
namespace {

std::string why_refused(const History& history, const Verdict& verdict) {
  const auto answer = certify(history, make_certificate(history, verdict));
  if (!answer.ok()) return answer.error().to_string();
  return answer->accepted ? "" : answer->reason;
}

// A store of a dozen keys, all 7 at first. It gives every transaction some committed state, mostly
// the last; and now and then a row of another state, or none, or one that nobody committed.
class WideStore {
 public:
  explicit WideStore(std::uint64_t seed) : random_(seed) {
    State first;
    for (int key = 0; key < kKeys; ++key) first[key] = 7;
    states_.push_back(first);
    faults_ = pick(2) == 0;
  }

  std::string history() {
    std::string out = R"({"ouro":1,"initial":7})" "\n";
    const int txns = 3 + pick(2);
    for (int t = 0; t < txns; ++t) {
      State state = states_[pick(3) > 0 ? states_.size() - 1 : pick(states_.size())];
      State wrote;
      std::string ops = scan(state);
      for (int i = pick(3); i > 0; --i) ops += "," + op(state, wrote);
      const int status = pick(10);
      const char* word = status == 0 ? "aborted" : status == 1 ? "unknown" : "committed";
      out += R"({"session":)" + std::to_string(pick(3)) + R"(,"status":")" + word +
             R"(","ops":[)" + ops + "]}\n";
      for (const auto& [key, value] : wrote) ever_.push_back({key, value});
      if (status == 0) continue;
      State next = states_.back();
      for (const auto& [key, value] : wrote) next[key] = value;
      states_.push_back(next);
    }
    return out;
  }

 private:
  static constexpr int kKeys = 12;
  using State = std::map<int, int>;  // By key; zero: no row.

  int pick(std::size_t below) { return static_cast<int>(random_() % below); }

  std::string op(State& state, State& wrote) {
    const int key = pick(kKeys);
    switch (pick(5)) {
      case 0:
        return scan(state);
      case 1:
        return R"(["r",)" + std::to_string(key) + "," +
               (state[key] == 0 ? "null" : std::to_string(state[key])) + "]";
      case 2:
        state[key] = wrote[key] = 0;
        return R"(["d",)" + std::to_string(key) + "]";
      default:
        // Some values repeat.
        state[key] = wrote[key] = pick(6) == 0 ? 7 : 100 + ++last_;
        return R"(["w",)" + std::to_string(key) + "," + std::to_string(state[key]) + "]";
    }
  }
  std::string scan(const State& state) {
    const int first = pick(3) == 0 ? pick(3) : 0;
    std::string rows;
    for (const auto& [key, held] : state) {
      int value = held;
      if (faults_ && pick(60) == 0) {
        const int what = pick(3);
        value = what == 0 ? 0 : what == 1 ? states_[pick(states_.size())].at(key) : value;
        const bool met = !ever_.empty() && ever_[pick(ever_.size())].first == key;
        if (what == 2 && met) value = 100 + last_;
      }
      if (key < first || value == 0) continue;
      rows += (rows.empty() ? "[" : ",[") + std::to_string(key) + "," + std::to_string(value) + "]";
    }
    return R"(["scan",)" + std::to_string(first) + ",11,[" + rows + "]]";
  }

  std::mt19937_64 random_;
  std::vector<State> states_;
  std::vector<std::pair<int, int>> ever_;
  bool faults_ = false;
  int last_ = 0;
};

TEST(ScanRowsTest, SmallHistoriesAgreeWithTheOracleAtAllLevels) {
  const int count = 800 / static_cast<int>(kSlowdown);
  int judged = 0;
  int left_out = 0;
  std::map<Outcome, int> outcomes;
  for (int seed = 1; seed <= count; ++seed) {
    const std::string text = WideStore(static_cast<std::uint64_t>(seed)).history();
    const auto parsed = parse_history(text, {.format = Format::Native});
    ASSERT_TRUE(parsed.ok()) << parsed.error().to_string() << '\n' << text;
    std::size_t ways = 0;
    oracle::any_sources(*parsed, Evidence::Observed,
                        [&](const oracle::Sources&) { return ++ways > 200; });
    if (ways > 200) continue;
    ++judged;
    left_out += first_rows(*parsed, 1, Budget()).all() ? 0 : 1;
    const oracle::LevelSet allowed = oracle::allowed_levels(*parsed);
    for (const LevelInfo& level : levels()) {
      if (!decidable(level.level)) continue;
      const auto verdict = check(*parsed, level.level);
      ASSERT_TRUE(verdict.ok()) << verdict.error().to_string() << '\n' << text;
      ++outcomes[verdict->outcome];
      ASSERT_EQ(verdict->outcome == Outcome::Holds, allowed.has(level.level))
          << "seed " << seed << ' ' << level.name << '\n'
          << text;
      ASSERT_EQ(why_refused(*parsed, *verdict), "") << "seed " << seed << ' ' << level.name << '\n'
                                                    << text;
    }
  }
  EXPECT_GT(judged, count / 2);
  EXPECT_GT(left_out, judged / 2);
  EXPECT_GT(outcomes[Outcome::Holds], judged);
  EXPECT_GT(outcomes[Outcome::Violated], judged);
  EXPECT_EQ(outcomes[Outcome::Undecided], 0);
}

// An unknown transaction is the only one that can have removed a row that a scan did not list; the
// certificate says so.
TEST(ScanRowsTest, AnUnknownDeleteThatAScanNeedsCounts) {
  constexpr char kText[] = R"({"ouro":1,"initial":7}
{"session":0,"ops":[["r",0,7],["r",1,7]]}
{"session":1,"status":"unknown","ops":[["d",1]]}
{"session":2,"ops":[["scan",0,1,[[0,7]]],["w",0,8]]}
)";
  const auto history = parse_history(kText, {.format = Format::Native});
  ASSERT_TRUE(history.ok()) << history.error().to_string();
  for (const LevelInfo& level : levels()) {
    if (!decidable(level.level)) continue;
    const auto verdict = check(*history, level.level);
    ASSERT_TRUE(verdict.ok()) << verdict.error().to_string();
    EXPECT_EQ(verdict->outcome, Outcome::Holds) << level.name;
    EXPECT_EQ(why_refused(*history, *verdict), "") << level.name;
  }
}

// Replaces a row of some scan in the middle of `text`: drops it, or gives it an older value.
void spoil_row(std::string& text, std::uint64_t seed) {
  std::size_t rows = text.size() / 3 + seed * 97 % (text.size() / 3);
  do {
    rows = text.find('[', text.find(R"(["scan",)", rows) + 1);
  } while (rows < text.size() && text[rows + 1] != '[');
  ASSERT_LT(rows, text.size());
  const std::size_t row = rows + 1;
  const std::size_t end = text.find(']', row) + 1;
  if (seed % 2 == 0) {
    text.erase(row, end - row + (text[end] == ',' ? 1 : 0));
    return;
  }
  const std::size_t comma = text.find(',', row);
  const int value = std::stoi(text.substr(comma + 1));
  text.replace(comma + 1, end - comma - 2, std::to_string(value > 1 ? value - 1 : value + 1));
}

TEST(ScanRowsTest, VerdictsOfLargerHistoriesAreProven) {
  std::map<Outcome, int> outcomes;
  const std::uint64_t seeds = kSlowdown == 1 ? 12 : 4;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    GenerateOptions options;
    options.store = seed % 3 == 0 ? Level::StrictSerializable : Level::SessionSi;
    options.workload = WorkloadKind::RangeBalanced;
    options.keys = 300;
    options.txns = 100;
    options.seed = seed;
    options.abort_share = 0.03;
    options.unknown_share = seed % 2 == 0 ? 0.03 : 0;
    const auto made = generate(options);
    ASSERT_TRUE(made.ok()) << made.error().to_string();
    std::string text;
    ASSERT_TRUE(print_history(*made, Format::Native, text).ok());
    if (seed % 4 != 0) spoil_row(text, seed);
    const auto history = parse_history(text, {.format = Format::Native});
    ASSERT_TRUE(history.ok()) << history.error().to_string();
    EXPECT_FALSE(first_rows(*history, 1, Budget()).all());
    for (const Level level : {Level::Si, Level::SessionSi, Level::SessionSerializable,
                              Level::Prefix, Level::Causal}) {
      const auto verdict = check(*history, level);
      ASSERT_TRUE(verdict.ok()) << verdict.error().to_string();
      ++outcomes[verdict->outcome];
      EXPECT_EQ(why_refused(*history, *verdict), "") << "seed " << seed << ' ' << info(level).name;
    }
  }
  EXPECT_GT(outcomes[Outcome::Holds], static_cast<int>(seeds) / 2);
  EXPECT_GT(outcomes[Outcome::Violated], static_cast<int>(seeds) / 2);
  EXPECT_EQ(outcomes[Outcome::Undecided], 0);
}

}  // namespace
}  // namespace ouro
