#include "tests/ordinary_data.h"

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "ouro/explain.h"
#include "ouro/format.h"

namespace ouro::oracle {
namespace {

// What the keys hold; a register or row that is absent is not listed.
struct State {
  std::map<std::string, int> registers;  // x, y and z.
  std::map<std::string, int> rows;       // p and q, with one column.
  std::set<int> set;
  int counter = 0;
  std::vector<int> list;
};

std::string with_commas(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : ",") + part;
  return out;
}

template <class Numbers>
std::string array_of(const Numbers& numbers) {
  std::vector<std::string> parts;
  for (const int number : numbers) parts.push_back(std::to_string(number));
  return "[" + with_commas(parts) + "]";
}

class OrdinaryData {
 public:
  explicit OrdinaryData(std::uint64_t seed) : random_(seed), lag_(below(3) == 0 ? 0 : 4) {}

  std::string text() {
    std::vector<State> states(1);
    std::string out;
    for (std::size_t txns = 3 + below(3); states.size() <= txns;) {
      const bool aborted = below(10) == 0;
      // What the transaction writes, and what it sees: the same, if it reads the latest state.
      State left = states.back();
      const std::size_t behind = below(std::min(lag_ + 1, states.size()));
      State seen = states[states.size() - 1 - behind];
      std::vector<std::string> ops;
      for (std::size_t count = 1 + below(3); ops.size() < count;) ops.push_back(op(left, seen));
      out += R"({"session":)" + std::to_string(below(4)) +
             (aborted ? R"(,"status":"aborted")" : "") + R"(,"ops":[)" + with_commas(ops) + "]}\n";
      states.push_back(aborted ? states.back() : left);
    }
    return out;
  }

 private:
  std::size_t below(std::size_t limit) { return random_() % limit; }

  std::string op(State& left, State& seen) {
    const std::string key = std::array{"x", "y", "z"}[below(3)];
    const std::string row = std::array{"p", "q"}[below(2)];
    const int value = 1 + static_cast<int>(below(2));
    const std::string number = std::to_string(value);
    switch (below(14)) {
      case 0:
        left.registers.erase(key);
        seen.registers.erase(key);
        return R"(["d",")" + key + R"("])";
      case 1:
      case 2:
      case 3:
        left.registers[key] = seen.registers[key] = value;
        return R"(["w",")" + key + R"(",)" + number + "]";
      case 4:
        left.rows[row] = seen.rows[row] = value;
        return R"(["w",")" + row + R"(",{"v":)" + number + "}]";
      case 5:
        left.set.insert(value);
        seen.set.insert(value);
        return R"(["add","s",)" + number + "]";
      case 6:
        left.counter += value;
        seen.counter += value;
        return R"(["inc","c",)" + number + "]";
      case 7:
        left.list.push_back(value);
        seen.list.push_back(value);
        return R"(["append","l",)" + number + "]";
      case 8:
        return R"(["r","s",{"set":)" + array_of(seen.set) + "}]";
      case 9:
        return R"(["r","c",)" + std::to_string(seen.counter) + "]";
      case 10:
        return R"(["r","l",)" + array_of(seen.list) + "]";
      case 11:
        return R"(["scan","x","z",[)" + rows_of(seen.registers) + "]]";
      case 12:
        return R"(["select",{"ge":["v",2]},[)" + large_rows(seen) + "]]";
      default:
        return R"(["r",")" + key + R"(",)" + held(seen, key) + "]";
    }
  }

  static std::string held(const State& state, const std::string& key) {
    const auto at = state.registers.find(key);
    return at == state.registers.end() ? "null" : std::to_string(at->second);
  }

  static std::string rows_of(const std::map<std::string, int>& all) {
    std::vector<std::string> rows;
    for (const auto& [key, value] : all) {
      rows.push_back(R"([")" + key + R"(",)" + std::to_string(value) + "]");
    }
    return with_commas(rows);
  }

  static std::string large_rows(const State& state) {
    std::vector<std::string> rows;
    for (const auto& [key, value] : state.rows) {
      if (value >= 2) rows.push_back(R"([")" + key + R"(",{"v":)" + std::to_string(value) + "}]");
    }
    return with_commas(rows);
  }

  std::mt19937_64 random_;
  const std::size_t lag_;
};

}  // namespace

History ordinary_data(std::uint64_t seed) { return *parse_history(OrdinaryData(seed).text()); }

History random_part(const History& history, Evidence evidence, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<TxnId> txns;
  std::vector<OpId> ops;
  for (std::size_t t = 0; t < history.txn_count(); ++t) {
    if (random() % 4 == 0) continue;
    txns.emplace_back(t);
    for (OpId id = history.first_op(TxnId{t}); id < history.end_op(TxnId{t}); ++id.value) {
      if (random() % 8 != 0) ops.push_back(id);
    }
  }
  return excerpt(history, txns, ops, evidence);
}

}  // namespace ouro::oracle
