#include "check/outcomes.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "ouro/certificate.h"
#include "ouro/check.h"
#include "ouro/format.h"

namespace ouro {
namespace {

// A store that runs one transaction after the other and records them as they commit. Values repeat,
// rows are deleted, and of some transactions nobody heard whether they took effect.
class SerialStore {
 public:
  explicit SerialStore(std::uint64_t seed) : random_(seed) {}

  History history(int txns, int keys) {
    std::string text;
    for (int t = 0; t < txns; ++t) text += line(keys) + "\n";
    auto out = parse_history(text, {.format = Format::Native});
    EXPECT_TRUE(out.ok()) << out.error().to_string();
    return *std::move(out);
  }

 private:
  using State = std::map<int, int>;  // By key: the only column of its row.

  int pick(int below) { return static_cast<int>(random_() % static_cast<std::uint64_t>(below)); }
  static std::string row(int value) { return R"({"c":)" + std::to_string(value) + "}"; }

  std::string line(int keys) {
    State state = state_;
    std::string ops;
    for (int i = 1 + pick(4); i > 0; --i) ops += (ops.empty() ? "" : ",") + op(state, keys);
    const int fate = pick(14);
    const char* status = fate == 0 ? "aborted" : fate == 1 ? "unknown" : "committed";
    if (fate > 1 || (fate == 1 && pick(2) == 0)) state_ = state;
    return R"({"session":)" + std::to_string(pick(5)) + R"(,"status":")" + status +
           R"(","ops":[)" + ops + "]}";
  }

  std::string op(State& state, int keys) {
    const int key = pick(keys);
    const std::string name = std::to_string(key);
    switch (pick(10)) {
      case 0:
      case 1:
      case 2:
        state[key] = pick(3);
        return R"(["w",)" + name + "," + row(state[key]) + "]";
      case 3:
        state.erase(key);
        return R"(["d",)" + name + "]";
      case 4:
      case 5:
        return R"(["r",)" + name + "," + (state.contains(key) ? row(state[key]) : "null") + "]";
      case 6:
        return R"(["select",{"ge":["c",1]},)" + rows(state, 1) + "]";
      case 7:
        return R"(["scan",null,null,)" + rows(state, 0) + "]";
      default:
        return R"(["aggregate","sum","c",true,)" + sum(state) + "]";
    }
  }
  static std::string rows(const State& state, int least) {
    std::string out;
    for (const auto& [key, value] : state) {
      if (value < least) continue;
      out += (out.empty() ? "[" : ",[") + std::to_string(key) + "," + row(value) + "]";
    }
    return "[" + out + "]";
  }
  static std::string sum(const State& state) {
    int out = 0;
    for (const auto& [_, value] : state) out += value;
    return state.empty() ? "null" : std::to_string(out);
  }

  std::mt19937_64 random_;
  State state_;
};

TEST(OutcomesTest, AreFoundInWhatASerialStoreRecorded) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    constexpr int kTxns[] = {40, 80, 150, 300};
    constexpr int kKeys[] = {4, 8, 20};
    const History history = SerialStore(seed).history(kTxns[seed % 4], kKeys[seed % 3]);
    for (const Level level : {Level::Serializable, Level::Si}) {
      const auto verdict = check(history, level, {.work_limit = 300'000'000});
      ASSERT_TRUE(verdict.ok()) << verdict.error().to_string();
      EXPECT_EQ(verdict->outcome, Outcome::Holds)
          << "seed " << seed << ' ' << info(level).name << ": " << verdict->reason;
      const auto answer = certify(history, make_certificate(history, *verdict));
      ASSERT_TRUE(answer.ok()) << answer.error().to_string();
      EXPECT_TRUE(answer->accepted) << "seed " << seed << ": " << answer->reason;
    }
  }
}

}  // namespace
}  // namespace ouro
