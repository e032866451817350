// Statements that were rolled back to a savepoint within a transaction, and updates and deletes by
// predicate.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "ouro/certificate.h"
#include "ouro/check.h"
#include "ouro/explain.h"
#include "ouro/format.h"
#include "tests/certifying.h"
#include "tests/this_build.h"

namespace ouro {
namespace {

// "holds"; or the name of the first anomaly; or the error.
std::string judged_undone(std::string_view text, Level level = Level::Serializable,
                          Evidence evidence = Evidence::Observed) {
  const auto history = parse_history(text, {}, "h.jsonl");
  if (!history.ok()) return history.error().to_string();
  CheckOptions options;
  options.evidence = evidence;
  const auto verdict = check(*history, level, options);
  if (!verdict.ok()) return verdict.error().to_string();
  EXPECT_EQ(oracle::complaint_about_proof(*history, *verdict), "") << text;
  if (verdict->outcome == Outcome::Holds) return "holds";
  return verdict->anomalies.empty() ? "nothing"
                                    : std::string(info(verdict->anomalies[0].kind).name);
}

std::string printed_as(const History& history, Format format) {
  std::string out;
  EXPECT_TRUE(print_history(history, format, out).ok());
  return out;
}

// ---- rolled back ----

TEST(UndoneTest, ReadsCountAndWritesDoNot) {
  // The part saw its own write, and the transaction does not see it any more behind it.
  const std::string_view right =
      R"({"session":"a","ops":[["w","x",1],["rolled-back",[["r","x",1],["w","x",2],["r","x",2]]],["r","x",1]]}
{"session":"b","ops":[["r","x",1]]}
)";
  for (const Level level : oracle::all_levels()) EXPECT_EQ(judged_undone(right, level), "holds");
  // The read within the part is one of the transaction.
  const std::string_view skew =
      R"({"session":"a","ops":[["rolled-back",[["r","x",null],["w","q",7]]],["w","y",1]]}
{"session":"b","ops":[["r","y",null],["w","x",1]]}
)";
  EXPECT_EQ(judged_undone(skew, Level::Serializable), "forbidden cycle");
  EXPECT_EQ(judged_undone(skew, Level::Si), "holds");
}

TEST(UndoneTest, NobodyMayReadWhatWasRolledBack) {
  const std::string_view others =
      R"({"session":"a","ops":[["w","y",1],["rolled-back",[["w","x",2]]]]}
{"session":"b","ops":[["r","x",2]]}
)";
  const std::string_view itself =
      R"({"session":"a","ops":[["rolled-back",[["w","x",2]]],["r","x",2]]}
)";
  const std::string_view list =
      R"({"session":"a","ops":[["append","l",1],["rolled-back",[["append","l",2],["r","l",[1,2]]]],["r","l",[1]]]}
{"session":"b","ops":[["r","l",[1,2]]]}
)";
  const std::string_view deleted =
      R"({"key":"x","initial":5}
{"session":"a","ops":[["rolled-back",[["d","x"],["r","x",null]]],["r","x",5]]}
{"session":"b","ops":[["r","x",null]]}
)";
  for (const Level level : oracle::all_levels()) {
    for (const std::string_view text : {others, itself, list, deleted}) {
      EXPECT_EQ(judged_undone(text, level), "aborted read") << text;
    }
  }
  const auto history = parse_history(others);
  const auto verdict = check(*history, Level::Serializable);
  EXPECT_NE(describe(*history, *verdict).find("T2 read x=2, which T1 wrote and then rolled back."),
            std::string::npos)
      << describe(*history, *verdict);
}

TEST(UndoneTest, ReadsSeeWhatTheirPartWrote) {
  for (const std::string_view ops : {
           R"(["rolled-back",[["w","x",2],["r","x",null]]])",
           R"(["w","x",1],["rolled-back",[["w","x",2],["r","x",1]]])",
           R"(["rolled-back",[["w","x",2],["rolled-back",[["w","x",3]]],["r","x",3]]])",
           R"(["append","l",1],["rolled-back",[["append","l",2],["r","l",[1]]]])",
       }) {
    const std::string text =
        R"({"session":"a","start_ts":1,"commit_ts":2,"ops":[)" + std::string(ops) + "]}\n";
    for (const Level level : oracle::all_levels()) {
      EXPECT_EQ(judged_undone(text, level), "internal inconsistency") << text;
    }
    EXPECT_EQ(judged_undone(text, Level::Si, Evidence::Timestamps), "internal inconsistency");
  }
  for (
      const std::string_view ops : {
          R"(["rolled-back",[["w","x",2],["rolled-back",[["r","x",2],["w","x",3],["r","x",3]]],["r","x",2]]],["r","x",null])",
          R"(["rolled-back",[["w","x",2]]],["rolled-back",[["r","x",null]]])",
          R"(["append","l",1],["rolled-back",[["append","l",2],["r","l",[1,2]]]],["append","l",3],["r","l",[1,3]])",
          R"(["rolled-back",[["cas","x",null,2,true],["r","x",2]]],["cas","x",null,4,true])",
      }) {
    const std::string text =
        R"({"session":"a","start_ts":1,"commit_ts":2,"ops":[)" + std::string(ops) + "]}\n";
    for (const Level level : oracle::all_levels()) {
      EXPECT_EQ(judged_undone(text, level), "holds") << text;
    }
    EXPECT_EQ(judged_undone(text, Level::Si, Evidence::Timestamps), "holds");
  }
}

// A list that a part read without all that it appended is told, too.
TEST(UndoneTest, WrongListsOfPartsAreTold) {
  const auto history = parse_history(
      R"({"session":"a","ops":[["append","l",1],["rolled-back",[["append","l",2],["append","l",3],["r","l",[1,2]]]]]}
)");
  for (const Evidence evidence : {Evidence::Observed, Evidence::Versions}) {
    const auto verdict = check(*history, Level::Serializable, {.evidence = evidence});
    ASSERT_EQ(verdict->outcome, Outcome::Violated);
    EXPECT_NE(describe(*history, *verdict).find("[1,2]"), std::string::npos);
  }
}

TEST(UndoneTest, CountersAndSetsMayStandBesideThem) {
  const std::string_view text =
      R"({"session":"a","ops":[["inc","c",2],["rolled-back",[["w","x",2],["r","x",2]]],["add","s",1],["r","x",null]]}
{"session":"b","ops":[["r","c",2],["rolled-back",[["r","x",null]]],["r","s",{"set":[1]}]]}
)";
  EXPECT_EQ(judged_undone(text), "holds");
  const auto history = parse_history(text);
  EXPECT_NE(
      printed_as(*history, Format::Native).find(R"(["rolled-back",[["w","x",2],["r","x",2]]])"),
      std::string::npos);
}

// Predicate reads within a part see what it wrote before, and those behind it do not.
TEST(UndoneTest, PredicateReadsSeeWhatTheirPartWrote) {
  const auto says = [](const std::string& ops, Level level, Evidence evidence) {
    const std::string text =
        R"({"session":"a","start_ts":1,"commit_ts":2,"ops":[["w","p",{"v":1}]]}
{"session":"b","start_ts":3,"commit_ts":4,"ops":[)" +
        ops + "]}\n";
    return judged_undone(text, level, evidence);
  };
  const std::vector<std::string> right = {
      R"(["rolled-back",[["w","q",{"v":2}],["select",{"gt":["v",0]},[["p",{"v":1}],["q",{"v":2}]]]]],["select",{"gt":["v",0]},[["p",{"v":1}]]])",
      R"(["rolled-back",[["d","p"],["scan",null,null,[]],["aggregate","count",null,true,0]]],["scan",null,null,[["p",{"v":1}]]])",
      R"(["rolled-back",[["w","p",{"v":5}],["rolled-back",[["w","q",{"v":2}],["aggregate","sum","v",true,7]]],["aggregate","sum","v",true,5]]],["aggregate","sum","v",true,1])",
      R"(["rolled-back",[["update",{"eq":["v",1]},{"v":3},[["p",{"v":1}]]],["select",{"eq":["v",3]},[["p",{"v":3}]]]]],["r","p",{"v":1}])",
      R"(["rolled-back",[["delete",true,[["p",{"v":1}]]],["aggregate","max","v",true,null]]],["aggregate","max","v",true,1])",
  };
  const std::vector<std::string> wrong = {
      R"(["rolled-back",[["w","q",{"v":2}],["select",{"gt":["v",0]},[["p",{"v":1}]]]]])",
      R"(["rolled-back",[["w","q",{"v":2}]]],["select",{"gt":["v",0]},[["p",{"v":1}],["q",{"v":2}]]])",
      R"(["rolled-back",[["d","p"],["scan",null,null,[["p",{"v":1}]]]]])",
      R"(["rolled-back",[["d","p"]]],["scan",null,null,[]],["r","p",{"v":1}])",
      R"(["rolled-back",[["w","p",{"v":5}],["aggregate","sum","v",true,1]]],["r","p",{"v":1}])",
      R"(["r","p",{"v":1}],["rolled-back",[["w","p",{"v":5}]]],["aggregate","sum","v",true,5])",
  };
  for (const Level level : {Level::SessionSi, Level::Serializable}) {
    for (const Evidence evidence : {Evidence::Observed, Evidence::Versions, Evidence::Timestamps}) {
      for (const auto& ops : right) EXPECT_EQ(says(ops, level, evidence), "holds") << ops;
      for (const auto& ops : wrong) EXPECT_NE(says(ops, level, evidence), "holds") << ops;
    }
  }
  for (const Level level : oracle::all_levels()) {
    for (const auto& ops : right) {
      EXPECT_EQ(says(ops, level, Evidence::Observed), "holds") << info(level).name << ops;
    }
  }
}

TEST(UndoneTest, CountersAndSetsMayStandWithinThem) {
  const std::string others = R"({"session":"a","ops":[["inc","c",5],["add","s",1]]}
)";
  const auto says = [&](const std::string& ops, const std::string& behind = "") {
    return others + R"({"session":"b","ops":[["r","c",5],)" + ops + "]}\n" + behind;
  };
  const std::string sees = R"({"session":"c","ops":[["r","c",7],["r","s",{"set":[1]}]]}
)";
  const std::string right = says(
      R"(["inc","c",2],["rolled-back",[["inc","c",10],["r","c",17],["rolled-back",[["inc","c",100,117]]],["inc","c",1,18]]],["r","c",7])",
      sees);
  const std::string sets = says(
      R"(["rolled-back",[["add","s",2],["r","s",{"set":[1,2]}]]],["r","s",{"set":[1]}],["inc","c",2])",
      sees);
  const std::string wrong[] = {
      says(R"(["rolled-back",[["inc","c",10],["r","c",5]]])"),
      says(R"(["rolled-back",[["inc","c",10]]],["r","c",15])"),
      says(R"(["rolled-back",[["add","s",2],["r","s",{"set":[1]}]]])"),
      says(R"(["rolled-back",[["add","s",2]]])",
           R"({"session":"c","ops":[["r","s",{"set":[1,2]}]]})"),
      says(R"(["rolled-back",[["inc","c",2]]])", R"({"session":"c","ops":[["r","c",7]]})"),
  };
  for (const Level level : oracle::all_levels()) {
    EXPECT_EQ(judged_undone(right, level), "holds") << info(level).name;
    EXPECT_EQ(judged_undone(sets, level), "holds") << info(level).name;
    for (const std::string& text : wrong) {
      EXPECT_NE(judged_undone(text, level), "holds") << info(level).name << text;
    }
  }
  for (const std::string& text : {right, sets}) {
    const auto history = parse_history(text);
    ASSERT_TRUE(history.ok()) << history.error().to_string();
    const std::string native = printed_as(*history, Format::Native);
    EXPECT_EQ(printed_as(*parse_history(native), Format::Native), native);
    EXPECT_NE(native.find(text.substr(0, text.find('\n'))), std::string::npos) << native;
    const auto binary = parse_history(printed_as(*history, Format::NativeBinary));
    ASSERT_TRUE(binary.ok()) << binary.error().to_string();
    EXPECT_EQ(printed_as(*binary, Format::Native), native);
  }
}

TEST(UndoneTest, FormatsKeepThem) {
  const std::string text =
      R"({"ouro":1,"initial":null}
{"session":"a","ops":[["w","x",1],["rolled-back",[["w","x",2],["rolled-back",[["d","x"],["r","x",null]]],["r","x",2]]],["rolled-back",[["append","l",4],["r","l",[4]]]],["r","x",1]]}
{"session":"b","status":"aborted","ops":[["rolled-back",[["r","x",1],["d","x",9]]]]}
)";
  const auto history = parse_history(text);
  ASSERT_TRUE(history.ok()) << history.error().to_string();
  EXPECT_EQ(printed_as(*history, Format::Native), text);
  const auto binary = parse_history(printed_as(*history, Format::NativeBinary));
  ASSERT_TRUE(binary.ok()) << binary.error().to_string();
  EXPECT_EQ(printed_as(*binary, Format::Native), text);
}

TEST(UndoneTest, ErrorsSayWhatToDo) {
  const auto error = [](std::string_view ops) {
    return judged_undone(R"({"session":1,"ops":[)" + std::string(ops) + "]}");
  };
  EXPECT_EQ(error(R"(["rolled-back",["w","x",1]])"),
            "h.jsonl:1: expected an operation like [\"r\",\"x\",1]");
  EXPECT_EQ(error(R"(["rolled-back"])"),
            "h.jsonl:1: expected [\"rolled-back\",[[\"w\",\"x\",1]]]: a list of operations");
  EXPECT_EQ(error(R"(["rolled-back",[["w","x",1],["cas","x",2,3,false]]])"),
            "h.jsonl:1: a compare-and-set that failed behind a write of its key in the same "
            "rolled-back part is not supported; leave it out");
  EXPECT_EQ(error(R"(["inc","c",1],["rolled-back",[["w","c",1]]])"),
            "h.jsonl:1: c is a counter, so it can be incremented and read, and nothing else; use "
            "another key");
}

// Random histories with rolled-back parts, and the same without them: their writes are those of a
// transaction that aborted, and reads of what they wrote are left out. Both must be judged alike,
// unless such a read was wrong.
class UndoneGenerator {
 public:
  explicit UndoneGenerator(std::uint64_t seed) : random_(seed), noise_(seed % 3 == 0 ? 0.1 : 0) {
    for (int t = 1; t <= 4; ++t) txn(t);
  }
  std::string with, without;
  bool wrong = false;    // A read does not return what its part wrote.
  bool unclear = false;  // The same, of a transaction that may not count.

 private:
  using State = std::map<std::string, std::vector<std::string>>;
  std::size_t below(std::size_t limit) { return random_() % limit; }
  bool chance(double share) { return static_cast<double>(below(10'000)) < share * 10'000; }
  static bool is_list(const std::string& key) { return key == "l"; }

  static std::string joined(const std::vector<std::string>& parts) {
    std::string out;
    for (const std::string& part : parts) out += (out.empty() ? "" : ",") + part;
    return out;
  }
  static std::string text_of(const std::string& key, const std::vector<std::string>& value) {
    if (is_list(key)) return "[" + joined(value) + "]";
    return value.empty() ? "null" : value.back();
  }

  void txn(int number) {
    const std::size_t snapshot = chance(0.3) ? below(states_.size()) : states_.size() - 1;
    base_ = states_[snapshot];
    own_ = {{}};
    ops_ = {{}};
    wrong_here_ = false;
    plain_.clear();
    void_.clear();
    for (std::size_t i = 2 + below(5); i > 0; --i) op();
    while (own_.size() > 1) close();
    const std::string stamps = ",\"start_ts\":" + std::to_string(10 * snapshot + 5) +
                               ",\"commit_ts\":" + std::to_string(10 * number);
    const std::string status = chance(0.15) ? ",\"status\":\"unknown\"" : "";
    if (!status.empty() && wrong_here_) unclear = true;
    const std::string head =
        "{\"session\":\"s" + std::to_string(below(2)) + "\"" + status + stamps + ",\"ops\":[";
    with += head + joined(ops_[0]) + "]}\n";
    without += head + joined(plain_) + "]}\n";
    if (!void_.empty()) {
      without += "{\"session\":\"v" + std::to_string(number) +
                 "\",\"status\":\"aborted\",\"ops\":[" + joined(void_) + "]}\n";
    }
    wrong |= wrong_here_;
    State next = states_.back();
    for (const auto& [key, values] : own_[0]) {
      auto& now = next[key];
      if (!is_list(key)) now.clear();
      now.insert(now.end(), values.begin(), values.end());
    }
    states_.push_back(next);
  }

  void close() {
    const std::string part = "[\"rolled-back\",[" + joined(ops_.back()) + "]]";
    ops_.pop_back();
    own_.pop_back();
    ops_.back().push_back(part);
  }

  // What the transaction sees, with the parts from the outermost up to `depth`.
  std::vector<std::string> seen(const std::string& key, std::size_t depth) {
    std::vector<std::string> value = base_[key];
    for (std::size_t d = 0; d < depth; ++d) {
      const auto at = own_[d].find(key);
      if (at == own_[d].end()) continue;
      if (!is_list(key)) value.clear();
      value.insert(value.end(), at->second.begin(), at->second.end());
    }
    return value;
  }

  void op() {
    if (own_.size() < 3 && chance(0.25)) {
      own_.emplace_back();
      ops_.emplace_back();
    } else if (own_.size() > 1 && chance(0.25)) {
      close();
    }
    const std::string key = chance(0.3) ? "l" : chance(0.5) ? "x" : "y";
    if (chance(0.5)) return write(key);
    std::vector<std::string> value = seen(key, own_.size());
    if (chance(noise_)) value = noise(key, value);
    const std::string text = "[\"r\",\"" + key + "\"," + text_of(key, value) + "]";
    ops_.back().push_back(text);
    std::vector<std::string> undone;
    bool any = false;
    for (std::size_t d = 1; d < own_.size(); ++d) {
      const auto at = own_[d].find(key);
      if (at == own_[d].end()) continue;
      any = true;
      undone.insert(undone.end(), at->second.begin(), at->second.end());
    }
    if (!any) {
      plain_.push_back(text);
    } else if (!is_list(key)) {
      wrong_here_ |= value.empty() || value.back() != undone.back();
    } else if (value.size() < undone.size() ||
               !std::equal(undone.begin(), undone.end(), value.end() - std::ssize(undone))) {
      wrong_here_ = true;
    } else {
      value.resize(value.size() - undone.size());
      plain_.push_back("[\"r\",\"l\"," + text_of(key, value) + "]");
    }
  }

  // Something that was written, or undone, or nothing at all.
  std::vector<std::string> noise(const std::string& key, std::vector<std::string> value) {
    if (!is_list(key)) return {std::to_string(below(static_cast<std::size_t>(next_) + 1))};
    if (appended_.empty() || chance(0.3)) return {};
    const std::string& element = appended_[below(appended_.size())];
    if (std::find(value.begin(), value.end(), element) == value.end()) value.push_back(element);
    return value;
  }

  void write(const std::string& key) {
    const std::string value = std::to_string(++next_);
    if (is_list(key)) appended_.push_back(value);
    const std::string text =
        std::string(is_list(key) ? "[\"append\",\"" : "[\"w\",\"") + key + "\"," + value + "]";
    ops_.back().push_back(text);
    (own_.size() == 1 ? plain_ : void_).push_back(text);
    auto& values = own_.back()[key];
    if (!is_list(key)) values.clear();
    values.push_back(value);
  }

  std::mt19937_64 random_;
  const double noise_;
  int next_ = 0;
  bool wrong_here_ = false;
  std::vector<State> states_{1};  // After each commit.
  State base_;
  std::vector<State> own_;                     // By depth: what was written there.
  std::vector<std::vector<std::string>> ops_;  // By depth.
  std::vector<std::string> plain_, void_;
  std::vector<std::string> appended_;
};

TEST(UndoneTest, RolledBackPartsAreLikeTransactionsThatAborted) {
  std::map<std::string, int> seen;
  for (std::uint64_t seed = 1; seed <= 800 / kSlowdown; ++seed) {
    const UndoneGenerator made(seed);
    const auto history = parse_history(made.with);
    const auto plain = parse_history(made.without);
    ASSERT_TRUE(history.ok()) << history.error().to_string() << "\n" << made.with;
    ASSERT_TRUE(plain.ok()) << plain.error().to_string() << "\n" << made.without;
    const auto binary = parse_history(printed_as(*history, Format::NativeBinary));
    ASSERT_TRUE(binary.ok()) << binary.error().to_string() << "\n" << made.with;
    ASSERT_EQ(printed_as(*binary, Format::Native), printed_as(*history, Format::Native));
    const auto compare = [&](Level level, Evidence evidence) {
      CheckOptions options;
      options.evidence = evidence;
      const auto verdict = check(*history, level, options);
      const auto other = check(*plain, level, options);
      ASSERT_EQ(verdict.ok(), other.ok()) << made.with << made.without;
      if (!verdict.ok()) return;
      const Outcome expected = made.wrong ? Outcome::Violated : other->outcome;
      ASSERT_EQ(verdict->outcome, expected) << "seed " << seed << " " << info(level).name << "\n"
                                            << made.with << made.without;
      ASSERT_EQ(oracle::complaint_about_proof(*history, *verdict), "") << "seed " << seed << "\n"
                                                                       << made.with;
      ASSERT_NE(describe(*history, *verdict), "");
      ++seen[verdict->outcome == Outcome::Holds ? "holds" : "violated"];
    };
    for (const Level level : oracle::all_levels()) {
      ASSERT_NO_FATAL_FAILURE(compare(level, Evidence::Observed));
    }
    for (const Level level : oracle::kSnapshotAndSerialLevels) {
      ASSERT_NO_FATAL_FAILURE(compare(level, Evidence::Timestamps));
    }
  }
  const int many = 1000 / static_cast<int>(kSlowdown);
  EXPECT_GT(seen["holds"], many);
  EXPECT_GT(seen["violated"], many);
}

// Rows, with parts that write some of them, and behind each part a write of all these rows. Without
// savepoints, the writes of the part would be overwritten in any case, so nobody could tell.
class RewrittenParts {
 public:
  explicit RewrittenParts(std::uint64_t seed) : random_(seed), noise_(seed % 3 == 0 ? 8 : 0) {
    for (int t = 1; t <= 4; ++t) txn(t);
  }
  std::string with, without;

 private:
  using State = std::map<std::string, int>;  // No row: not there.

  int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }
  static void add(std::string& list, const std::string& part) {
    list += (list.empty() ? "" : ",") + part;
  }

  void txn(int number) {
    const int snapshot = below(3) == 0 ? below(static_cast<int>(states_.size()))
                                       : static_cast<int>(states_.size()) - 1;
    State state = states_[static_cast<std::size_t>(snapshot)];
    State next = states_.back();
    std::string parted, plain;
    for (int i = 1 + below(3); i > 0; --i) {
      if (below(2) == 0) {
        std::string part;
        State inside = state;
        std::set<std::string> keys;
        for (int j = 1 + below(4); j > 0; --j) {
          add(part, below(2) == 0 ? write(inside, keys) : read(inside));
        }
        add(parted, "[\"rolled-back\",[" + part + "]]");
        add(plain, part);
        for (const std::string& key : keys) {
          next[key] = state[key] = ++last_;
          for (std::string* out : {&parted, &plain}) add(*out, write_of(key, last_));
        }
      } else {
        const std::string op = read(state);
        for (std::string* out : {&parted, &plain}) add(*out, op);
      }
    }
    const std::string head = "{\"session\":" + std::to_string(below(2)) +
                             ",\"start_ts\":" + std::to_string(10 * snapshot + 5) +
                             ",\"commit_ts\":" + std::to_string(10 * number) + ",\"ops\":[";
    with += head + parted + "]}\n";
    without += head + plain + "]}\n";
    states_.push_back(next);
  }

  static std::string write_of(const std::string& key, int value) {
    return "[\"w\",\"" + key + "\",{\"v\":" + std::to_string(value) + "}]";
  }
  std::string write(State& state, std::set<std::string>& keys) {
    const std::string key = below(2) == 0 ? "p" : "q";
    keys.insert(key);
    if (below(4) == 0) {
      state.erase(key);
      return "[\"d\",\"" + key + "\"]";
    }
    state[key] = ++last_;
    return write_of(key, last_);
  }

  std::string read(const State& state) {
    const int least = last_ / 2;
    std::string all, large;
    int sum = 0;
    int count = 0;
    for (const auto& [key, value] : state) {
      if (noise_ > 0 && below(noise_) == 0) continue;
      const std::string row = "[\"" + key + "\",{\"v\":" + std::to_string(value) + "}]";
      add(all, row);
      if (value >= least) add(large, row);
      sum += value;
      ++count;
    }
    switch (below(4)) {
      case 0:
        return "[\"scan\",null,null,[" + all + "]]";
      case 1:
        return "[\"select\",{\"ge\":[\"v\"," + std::to_string(least) + "]},[" + large + "]]";
      case 2:
        return R"(["aggregate","count",null,true,)" + std::to_string(count) + "]";
      default:
        return R"(["aggregate","sum","v",true,)" +
               (count == 0 ? std::string("null") : std::to_string(sum)) + "]";
    }
  }

  std::mt19937_64 random_;
  const int noise_;
  int last_ = 0;
  std::vector<State> states_{1};
};

TEST(UndoneTest, PredicateReadsOfPartsAreJudgedAsIfWhatTheyWroteWereOverwritten) {
  std::map<std::string, int> seen;
  for (std::uint64_t seed = 1; seed <= 400 / kSlowdown; ++seed) {
    const RewrittenParts made(seed);
    const auto parted = parse_history(made.with);
    const auto plain = parse_history(made.without);
    ASSERT_TRUE(parted.ok() && plain.ok()) << made.with << made.without;
    const auto binary = parse_history(printed_as(*parted, Format::NativeBinary));
    ASSERT_TRUE(binary.ok()) << binary.error().to_string() << made.with;
    for (const Evidence evidence : {Evidence::Observed, Evidence::Versions, Evidence::Timestamps}) {
      for (const Level level : oracle::all_levels()) {
        if (!decidable(level, evidence)) continue;
        const auto one = check(*parted, level, {.evidence = evidence});
        const auto other = check(*plain, level, {.evidence = evidence});
        const std::string where =
            std::string(info(level).name) + " by " + std::string(name(evidence)) + "\n" + made.with;
        ASSERT_TRUE(one.ok() && other.ok()) << where;
        ASSERT_EQ(name(one->outcome), name(other->outcome)) << where << one->reason;
        ++seen[std::string(name(one->outcome))];
        if (one->outcome == Outcome::Undecided) continue;
        ASSERT_EQ(oracle::complaint_about_proof(*parted, *one), "") << where;
        if (one->outcome == Outcome::Violated) {
          EXPECT_NE(describe(*parted, *one), "");
        }
      }
    }
  }
  EXPECT_GT(seen["holds"], 1000 / static_cast<int>(kSlowdown));
  EXPECT_GT(seen["violated"], 1000 / static_cast<int>(kSlowdown));
}

// ---- updates and deletes by predicate ----
TEST(ChangeTest, AreASelectAndWrites) {
  const std::string changes =
      R"({"session":"a","ops":[["w","k1",{"price":4,"sold":false}],["w","k2",{"price":15.5}]]}
{"session":"b","ops":[["update",{"lt":["price",10]},{"price":{"+":["price",0.5]},"sold":true,"note":"cheap","was":{"col":"price"}},[["k1",{"price":4,"sold":false}]]],["delete",{"gt":["price",15]},[["k2",{"price":15.5}]]],["update",{"eq":["price",99]},{"price":1},0]]}
)";
  const std::string plain =
      R"({"ouro":1,"initial":null}
{"session":"a","ops":[["w","k1",{"price":4,"sold":false}],["w","k2",{"price":15.5}]]}
{"session":"b","ops":[["select",{"lt":["price",10]},[["k1",{"price":4,"sold":false}]]],["w","k1",{"price":4.5,"sold":true,"note":"cheap","was":4}],["select",{"gt":["price",15]},[["k2",{"price":15.5}]]],["d","k2"],["select",{"eq":["price",99]},[]]]}
)";
  const auto history = parse_history(changes);
  ASSERT_TRUE(history.ok()) << history.error().to_string();
  EXPECT_EQ(printed_as(*history, Format::Native), plain);
}

// By timestamps: a first transaction writes k1 and k2, and then `ops` are done.
std::string change_judged(std::string_view ops) {
  return judged_undone(
      R"({"session":"a","start_ts":1,"commit_ts":2,"ops":[["w","k1",{"p":4}],["w","k2",{"p":9}]]})"
      "\n"
      R"({"session":"b","start_ts":3,"commit_ts":4,"ops":[)" +
          std::string(ops) + "]}\n",
      Level::Serializable, Evidence::Timestamps);
}

TEST(ChangeTest, AreJudgedByWhatTheyFoundAndWhatBecameOfIt) {
  for (
      const std::string_view right : {
          R"(["update",{"lt":["p",5]},{"p":7},[["k1",{"p":4}]]],["r","k1",{"p":7}])",
          R"(["update",{"lt":["p",5]},{"p":{"*":["p",2]}},{"new":[["k1",{"p":8}]]}],["r","k1",{"p":8}])",
          R"(["delete",{"lt":["p",5]},{"keys":["k1"]}],["r","k1",null])",
          R"(["delete",true,{"keys":["k2","k1"]}],["select",true,[]])",
          R"(["update",{"gt":["p",100]},{"p":1},0])",
          R"(["delete",{"gt":["p",100]},0])",
      }) {
    EXPECT_EQ(change_judged(right), "holds") << right;
  }
  for (const std::string_view wrong : {
           R"(["update",{"lt":["p",50]},{"p":7},[["k1",{"p":4}]]])",
           R"(["update",{"lt":["p",5]},{"p":{"*":["p",3]}},{"new":[["k1",{"p":8}]]}])",
           R"(["update",{"lt":["p",50]},{"p":7},{"new":[["k1",{"p":7}]]}])",
           R"(["delete",{"lt":["p",5]},{"keys":["k2"]}])",
           R"(["delete",{"lt":["p",5]},0])",
       }) {
    EXPECT_EQ(change_judged(wrong), "result-set mismatch") << wrong;
  }
}

TEST(ChangeTest, ErrorsSayWhatToDo) {
  EXPECT_EQ(
      change_judged(R"(["update",true,{"p":1},2])"),
      "h.jsonl:2: an update that changed rows must tell which; give [[key, row as it was], …] "
      "or {\"new\":[[key, row as it is], …]} instead of their number");
  EXPECT_EQ(change_judged(R"(["delete",true,1])"),
            "h.jsonl:2: a delete that deleted rows must tell which; give [[key, row as it was], …] "
            "or {\"keys\":[key, …]} instead of their number");
  EXPECT_EQ(change_judged(R"(["update",true,{},[]])"), "h.jsonl:2: an update without assignments");
  EXPECT_EQ(change_judged(R"(["update",true,{"@key":1},[]])"),
            "h.jsonl:2: '@key' cannot be assigned to");
  EXPECT_EQ(change_judged(R"(["update",true,[]])"),
            "h.jsonl:2: expected assignments like {\"price\":7}");
  EXPECT_EQ(change_judged(R"(["delete",true])"), "h.jsonl:2: operation 'delete' has too few parts");
}

// ---- like, terms ----

// The rows k1 … that `predicate` selects, by timestamps; or what is wrong.
bool selects_row(std::string_view predicate, std::string_view row) {
  const auto text = [&](std::string_view rows) {
    return R"({"session":"a","start_ts":1,"commit_ts":2,"ops":[["w","k",)" + std::string(row) +
           "]]}\n"
           R"({"session":"b","start_ts":3,"commit_ts":4,"ops":[["select",)" +
           std::string(predicate) + "," + std::string(rows) + "]]}\n";
  };
  const std::string here = text(R"([["k",)" + std::string(row) + "]]");
  const bool found = judged_undone(here, Level::Serializable, Evidence::Timestamps) == "holds";
  const bool missed =
      judged_undone(text("[]"), Level::Serializable, Evidence::Timestamps) == "holds";
  EXPECT_NE(found, missed) << here;
  const auto history = parse_history(here);
  EXPECT_TRUE(history.ok()) << history.error().to_string();
  if (history.ok()) {
    EXPECT_EQ(printed_as(*history, Format::Native),
              printed_as(*parse_history(printed_as(*history, Format::Native)), Format::Native));
    EXPECT_EQ(
        printed_as(*history, Format::Native),
        printed_as(*parse_history(printed_as(*history, Format::NativeBinary)), Format::Native));
  }
  return found;
}

TEST(TermsTest, LikeMatchesPatterns) {
  const auto like = [](std::string_view text, std::string_view pattern) {
    return selects_row(R"({"like":["t",")" + std::string(pattern) + R"("]})",
                       R"({"t":")" + std::string(text) + R"("})");
  };
  EXPECT_TRUE(like("abc", "a%"));
  EXPECT_TRUE(like("abc", "%c"));
  EXPECT_TRUE(like("abcabd", "%ab_"));
  EXPECT_TRUE(like("", "%"));
  EXPECT_TRUE(like("aé", "a_"));
  EXPECT_TRUE(like("5%", "5\\\\%"));
  EXPECT_FALSE(like("55", "5\\\\%"));
  EXPECT_FALSE(like("abc", "ab"));
  EXPECT_FALSE(like("abc", "A%"));
  EXPECT_FALSE(like("", "_"));
  EXPECT_FALSE(selects_row(R"({"like":["n","1%"]})", R"({"n":12})"));
  EXPECT_FALSE(selects_row(R"({"not":{"like":["n","1%"]}})", R"({"n":12})"));
}

TEST(TermsTest, ColumnsCompareAndCalculate) {
  const std::string_view row = R"({"a":2,"b":3.5,"t":"x","f":{"@float":0.5}})";
  for (const std::string_view yes : {
           R"({"lt":["a",{"col":"b"}]})",
           R"({"eq":[{"+":["a",1.5]},{"col":"b"}]})",
           R"({"eq":[{"*":["a","b"]},7]})",
           R"({"eq":[{"-":["b",{"*":["a",2]}]},-0.5]})",
           R"({"ge":[{"+":["f",0.5]},{"@float":1}]})",
           R"({"eq":["t",{"const":"x"}]})",
           R"({"ne":["@key",{"col":"t"}]})",
           R"({"lt":[1,{"col":"a"}]})",
           R"({"gt":["b",{"@float":3.4}]})",
       }) {
    EXPECT_TRUE(selects_row(yes, row)) << yes;
  }
  for (const std::string_view no : {
           R"({"gt":["a",{"col":"b"}]})",
           R"({"eq":[{"+":["a","t"]},2]})",
           R"({"ne":[{"+":["a","none"]},2]})",
           R"({"not":{"eq":["a",{"col":"t"}]}})",
           R"({"lt":["a",{"col":"none"}]})",
       }) {
    EXPECT_FALSE(selects_row(no, row)) << no;
  }
}

TEST(TermsTest, ErrorsSayWhatToDo) {
  const auto error = [](std::string_view predicate) {
    return judged_undone(R"({"session":1,"ops":[["select",)" + std::string(predicate) + ",[]]]}");
  };
  EXPECT_EQ(error(R"({"like":["a",1]})"), "h.jsonl:1: the pattern of \"like\" must be a string");
  EXPECT_EQ(error(R"({"eq":[{"-":["a",1,2]},1]})"), "h.jsonl:1: '-' needs two terms");
  EXPECT_EQ(error(R"({"eq":[{"+":["a"]},1]})"), "h.jsonl:1: '+' needs at least two terms");
  EXPECT_NE(error(R"({"eq":["a",{"c":1}]})").find("unknown term 'c'"), std::string::npos);
  EXPECT_NE(error(R"({"+":[true,true]})").find("unknown operator '+'"), std::string::npos);
  EXPECT_NE(error(R"({"":["a"]})").find("unknown operator ''"), std::string::npos);
  EXPECT_EQ(error(R"({"eq":["a"]})"), "h.jsonl:1: a comparison needs a column and 1 value(s)");
}

}  // namespace
}  // namespace ouro
