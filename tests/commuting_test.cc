// Counters and sets: engines, certificates and two brute-force oracles must agree on random small
// histories.
//
// The first oracle is the definition: it runs the transactions one after the other in every order,
// or begins and commits them in every order, and compares what reads return. The second tries every
// way to say which increments each read of a counter saw, and asks the oracle of registers, which
// knows all levels.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "ouro/check.h"
#include "ouro/format.h"
#include "ouro/history_builder.h"
#include "tests/certifying.h"
#include "tests/oracle.h"

namespace ouro {
namespace {

// A transaction of the tests. Counters are 0 and 1, and there is one set and one register.
struct Step {
  enum class Kind { Inc, Count, Add, Elements, Write, Read } kind = Kind::Inc;
  int counter = 0;
  int number = 0;  // What is added, written or read; of a register, 0 is the initial value.
  std::set<int> elements;
};
struct Plan {
  int session = 0;
  TxnStatus status = TxnStatus::Committed;
  int invoked = 0;
  int completed = 0;
  std::vector<Step> steps;
};
using Plans = std::vector<Plan>;

// ---- as native text ----

// With `cents`, what counters hold is printed in hundreds.
std::string text_of(const Step& step, bool cents = false) {
  const std::string counter = "\"c" + std::to_string(step.counter) + "\"";
  const bool counts = step.kind == Step::Kind::Inc || step.kind == Step::Kind::Count;
  std::string number = std::to_string(step.number);
  if (cents && counts) {
    number = (step.number < 0 ? "-0.0" : "0.0") + std::to_string(std::abs(step.number));
  }
  std::string set;
  switch (step.kind) {
    case Step::Kind::Inc:
      return "[\"inc\"," + counter + "," + number + "]";
    case Step::Kind::Count:
      return "[\"r\"," + counter + "," + number + "]";
    case Step::Kind::Add:
      return "[\"add\",\"s\"," + number + "]";
    case Step::Kind::Elements:
      for (const int element : step.elements) {
        set += (set.empty() ? "" : ",") + std::to_string(element);
      }
      return "[\"r\",\"s\",{\"set\":[" + set + "]}]";
    case Step::Kind::Write:
      return "[\"w\",\"x\"," + number + "]";
    case Step::Kind::Read:
      return "[\"r\",\"x\"," + number + "]";
  }
  return "";
}

std::string text_of(const Plans& plans, bool cents = false) {
  std::string out = "{\"ouro\":1,\"initial\":0}\n";
  for (const Plan& plan : plans) {
    out += "{\"session\":" + std::to_string(plan.session);
    if (plan.status == TxnStatus::Aborted) out += ",\"status\":\"aborted\"";
    if (plan.status == TxnStatus::Unknown) out += ",\"status\":\"unknown\"";
    out += ",\"invoked\":" + std::to_string(plan.invoked);
    if (plan.status != TxnStatus::Unknown)
      out += ",\"completed\":" + std::to_string(plan.completed);
    out += ",\"ops\":[";
    for (const Step& step : plan.steps)
      out += (out.back() == '[' ? "" : ",") + text_of(step, cents);
    out += "]}\n";
  }
  return out;
}

// ---- by running ----

struct State {
  std::map<int, int> counters;
  std::set<int> set;
  int value = 0;
};

// Runs a transaction that sees `state`. Returns whether its reads return what they did.
bool run(const Plan& plan, State state) {
  for (const Step& step : plan.steps) {
    switch (step.kind) {
      case Step::Kind::Inc:
        state.counters[step.counter] += step.number;
        break;
      case Step::Kind::Count:
        if (state.counters[step.counter] != step.number) return false;
        break;
      case Step::Kind::Add:
        state.set.insert(step.number);
        break;
      case Step::Kind::Elements:
        if (state.set != step.elements) return false;
        break;
      case Step::Kind::Write:
        state.value = step.number;
        break;
      case Step::Kind::Read:
        if (state.value != step.number) return false;
        break;
    }
  }
  return true;
}

void install(const Plan& plan, State& state) {
  for (const Step& step : plan.steps) {
    if (step.kind == Step::Kind::Inc) state.counters[step.counter] += step.number;
    if (step.kind == Step::Kind::Add) state.set.insert(step.number);
    if (step.kind == Step::Kind::Write) state.value = step.number;
  }
}

// Whether both write something that conflicts: a counter, the register, or the same element.
bool conflict(const Plan& a, const Plan& b) {
  for (const Step& one : a.steps) {
    for (const Step& two : b.steps) {
      if (one.kind != two.kind) continue;
      if (one.kind == Step::Kind::Inc && one.counter == two.counter) return true;
      if (one.kind == Step::Kind::Add && one.number == two.number) return true;
      if (one.kind == Step::Kind::Write) return true;
    }
  }
  return false;
}

bool precedes(const Plans& plans, std::size_t a, std::size_t b, Level level) {
  const bool session = oracle::has_sessions(level) && plans[a].session == plans[b].session && a < b;
  const bool time = oracle::has_real_time(level) && plans[a].status != TxnStatus::Unknown &&
                    plans[a].completed < plans[b].invoked;
  return session || time;
}

// Tries all orders of begins and commits of the transactions in `left`; at serializable levels
// they are at one moment.
class Runner {
 public:
  Runner(const Plans& plans, Level level, std::vector<std::size_t> who)
      : plans_(plans),
        level_(level),
        who_(std::move(who)),
        begun_(plans.size()),
        done_(plans.size()) {}

  bool any() {
    if (finished_ == who_.size()) return true;
    const bool serial = oracle::is_serial_level(level_);
    for (const std::size_t t : who_) {
      if (done_[t]) continue;
      if (!begun_[t]) {
        if (!may_begin(t) || !run(plans_[t], state_)) continue;
        begun_[t] = true;
        open_.push_back(t);
        const bool found = serial ? commit(t) : any();
        open_.erase(std::find(open_.begin(), open_.end(), t));
        begun_[t] = false;
        if (found) return true;
      } else if (commit(t)) {
        return true;
      }
    }
    return false;
  }

 private:
  [[nodiscard]] bool may_begin(std::size_t t) const {
    return std::all_of(who_.begin(), who_.end(), [&](std::size_t other) {
      return other == t || done_[other] || !precedes(plans_, other, t, level_);
    });
  }
  bool commit(std::size_t t) {
    // Whoever began, and has not committed, must not write the same: it would have overlapped.
    for (const std::size_t other : open_) {
      if (other != t && conflict(plans_[t], plans_[other])) return false;
    }
    const State before = state_;
    install(plans_[t], state_);
    done_[t] = true;
    ++finished_;
    const bool removed = std::find(open_.begin(), open_.end(), t) != open_.end();
    if (removed) open_.erase(std::find(open_.begin(), open_.end(), t));
    const bool found = any();
    if (removed) open_.push_back(t);
    --finished_;
    done_[t] = false;
    state_ = before;
    return found;
  }

  const Plans& plans_;
  const Level level_;
  const std::vector<std::size_t> who_;
  std::vector<bool> begun_;
  std::vector<bool> done_;
  std::vector<std::size_t> open_;
  std::size_t finished_ = 0;
  State state_;
};

// Some unknown transactions may have committed.
bool runs(const Plans& plans, Level level) {
  std::vector<std::size_t> sure, unknown;
  for (std::size_t t = 0; t < plans.size(); ++t) {
    if (plans[t].status == TxnStatus::Committed) sure.push_back(t);
    if (plans[t].status == TxnStatus::Unknown) unknown.push_back(t);
  }
  for (std::size_t chosen = 0; chosen < std::size_t{1} << unknown.size(); ++chosen) {
    std::vector<std::size_t> who = sure;
    for (std::size_t i = 0; i < unknown.size(); ++i) {
      if ((chosen >> i & 1) != 0) who.push_back(unknown[i]);
    }
    if (Runner(plans, level, who).any()) return true;
  }
  return false;
}

// ---- by registers ----

// A read of a counter, and which other transactions it may have seen.
struct Question {
  std::size_t txn = 0;
  std::size_t step = 0;
  std::vector<std::size_t> others;
  std::vector<std::size_t> answers;  // Sets of `others` that give the number.
};

int added(const Plan& plan, int counter, std::size_t steps) {
  int sum = 0;
  for (std::size_t i = 0; i < steps; ++i) {
    const Step& step = plan.steps[i];
    if (step.kind == Step::Kind::Inc && step.counter == counter) sum += step.number;
  }
  return sum;
}
bool increments(const Plan& plan, int counter) {
  return std::any_of(plan.steps.begin(), plan.steps.end(), [&](const Step& step) {
    return step.kind == Step::Kind::Inc && step.counter == counter;
  });
}

std::vector<Question> questions(const Plans& plans) {
  std::vector<Question> out;
  for (std::size_t t = 0; t < plans.size(); ++t) {
    if (plans[t].status == TxnStatus::Aborted) continue;
    for (std::size_t i = 0; i < plans[t].steps.size(); ++i) {
      const Step& step = plans[t].steps[i];
      if (step.kind != Step::Kind::Count) continue;
      Question question{t, i, {}, {}};
      for (std::size_t other = 0; other < plans.size(); ++other) {
        if (other == t || plans[other].status == TxnStatus::Aborted) continue;
        if (increments(plans[other], step.counter)) question.others.push_back(other);
      }
      for (std::size_t set = 0; set < std::size_t{1} << question.others.size(); ++set) {
        int sum = added(plans[t], step.counter, i);
        for (std::size_t k = 0; k < question.others.size(); ++k) {
          const Plan& other = plans[question.others[k]];
          if ((set >> k & 1) != 0) sum += added(other, step.counter, other.steps.size());
        }
        if (sum == step.number) question.answers.push_back(set);
      }
      out.push_back(std::move(question));
    }
  }
  return out;
}

// The history of registers if each question has the answer of that number.
History as_registers(const Plans& plans, const std::vector<Question>& asked,
                     const std::vector<std::size_t>& answers) {
  HistoryBuilder b;
  const auto row = [&](std::size_t txn, int counter) {
    return b.key("row " + std::to_string(txn) + " of " + std::to_string(counter));
  };
  const auto element = [&](int number) { return b.key("element " + std::to_string(number)); };
  std::set<int> all;
  for (const Plan& plan : plans) {
    for (const Step& step : plan.steps) {
      if (step.kind == Step::Kind::Add) all.insert(step.number);
      all.insert(step.elements.begin(), step.elements.end());
    }
  }
  for (std::size_t t = 0; t < plans.size(); ++t) {
    const Plan& plan = plans[t];
    b.begin_txn(b.session(plan.session));
    b.status(plan.status);
    b.clocks(plan.invoked, plan.status == TxnStatus::Unknown ? kNoClock : plan.completed);
    for (std::size_t i = 0; i < plan.steps.size(); ++i) {
      const Step& step = plan.steps[i];
      if (step.kind == Step::Kind::Inc) {
        b.write(row(t, step.counter), b.integer(static_cast<std::int64_t>(i) + 1));
        b.write(b.key("counter " + std::to_string(step.counter)),
                b.integer(static_cast<std::int64_t>(t)));
      } else if (step.kind == Step::Kind::Add) {
        b.write(element(step.number), b.integer(1));
      } else if (step.kind == Step::Kind::Write) {
        b.write(b.key("x"), b.integer(step.number));
      } else if (step.kind == Step::Kind::Read) {
        b.read(b.key("x"), step.number == 0 ? Value::null() : b.integer(step.number));
      }
      // What is absent comes first: at read-committed, rows of one read have no order.
      if (step.kind == Step::Kind::Elements) {
        for (const bool there : {false, true}) {
          for (const int number : all) {
            if (step.elements.contains(number) != there) continue;
            b.read(element(number), there ? b.integer(1) : Value::null());
          }
        }
      }
      if (step.kind != Step::Kind::Count || plan.status == TxnStatus::Aborted) continue;
      const auto question = std::find_if(
          asked.begin(), asked.end(), [&](const Question& q) { return q.txn == t && q.step == i; });
      if (question->answers.empty()) {  // Wrong, if the transaction counts.
        b.read(b.key("nowhere"), b.integer(1));
        continue;
      }
      const std::size_t seen =
          question->answers[answers[static_cast<std::size_t>(question - asked.begin())]];
      for (const bool there : {false, true}) {
        for (std::size_t k = 0; k < question->others.size(); ++k) {
          if (((seen >> k & 1) != 0) != there) continue;
          const std::size_t other = question->others[k];
          std::size_t last = 0;
          for (std::size_t j = 0; j < plans[other].steps.size(); ++j) {
            const Step& theirs = plans[other].steps[j];
            if (theirs.kind == Step::Kind::Inc && theirs.counter == step.counter) last = j + 1;
          }
          b.read(row(other, step.counter),
                 there ? b.integer(static_cast<std::int64_t>(last)) : Value::null());
        }
      }
    }
  }
  return *std::move(b).freeze();
}

oracle::LevelSet levels_by_registers(const Plans& plans) {
  const auto asked = questions(plans);
  oracle::LevelSet out;
  std::vector<std::size_t> answers(asked.size(), 0);
  for (;;) {
    std::size_t next = 0;
    const auto found = oracle::allowed_levels(as_registers(plans, asked, answers));
    for (const Level level : oracle::all_levels()) {
      if (found.has(level)) out.add(level);
    }
    for (; next < asked.size(); ++next) {
      if (++answers[next] < asked[next].answers.size()) break;
      answers[next] = 0;
    }
    if (next == asked.size()) return out;
  }
}

// ---- random histories ----

Plans random_plans(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::size_t limit) { return static_cast<int>(random() % limit); };
  const bool repeats = below(4) == 0;
  const bool lag = below(2) == 0;
  Plans plans;
  std::vector<State> states(1);  // After each transaction that takes effect.
  int element = 0;
  int value = 0;
  const int txns = 2 + below(3);
  for (int t = 0; t < txns; ++t) {
    Plan plan;
    plan.session = below(3);
    const int luck = below(20);
    plan.status = luck == 0   ? TxnStatus::Aborted
                  : luck <= 2 ? TxnStatus::Unknown
                              : TxnStatus::Committed;
    plan.invoked = 10 * t - below(25);
    plan.completed = 10 * t + 1 + below(25);
    const std::size_t seen = lag ? states.size() - 1 - random() % states.size() : states.size() - 1;
    State state = states[seen];
    const int steps = 1 + below(3);
    for (int i = 0; i < steps; ++i) {
      Step step;
      step.kind = static_cast<Step::Kind>(below(3) == 0 ? below(6) : below(2));
      step.counter = below(4) == 0 ? 1 : 0;
      const bool wrong = below(12) == 0;
      switch (step.kind) {
        case Step::Kind::Inc:
          step.number = below(5) == 0 ? -1 : 1 + below(2);
          break;
        case Step::Kind::Count:
          step.number = state.counters[step.counter] + (wrong ? 1 - below(3) : 0);
          break;
        case Step::Kind::Add:
          step.number = repeats ? 1 + below(2) : ++element;
          break;
        case Step::Kind::Elements:
          step.elements = state.set;
          if (wrong && !step.elements.empty()) step.elements.erase(step.elements.begin());
          break;
        case Step::Kind::Write:
          step.number = ++value;
          break;
        case Step::Kind::Read:
          step.number = state.value;
          break;
      }
      plan.steps.push_back(step);
      install({.steps = {step}}, state);
    }
    if (plan.status == TxnStatus::Committed ||
        (plan.status == TxnStatus::Unknown && below(2) == 0)) {
      states.push_back(states.back());
      install(plan, states.back());
    }
    plans.push_back(std::move(plan));
  }
  return plans;
}

bool repeats_elements(const Plans& plans) {
  std::set<int> all;
  for (const Plan& plan : plans) {
    for (const Step& step : plan.steps) {
      if (step.kind == Step::Kind::Add && !all.insert(step.number).second) return true;
    }
  }
  return false;
}

TEST(CommutingTest, EnginesCertificatesAndOraclesAgree) {
  const std::uint64_t count = 1500;
  std::map<Level, std::array<int, 2>, InListOrder> outcomes;
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    const Plans plans = random_plans(seed);
    const std::string text = text_of(plans);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text);
    const auto history = parse_history(text);
    ASSERT_TRUE(history.ok()) << history.error().to_string();
    const oracle::LevelSet expected = levels_by_registers(plans);
    const bool repeats = repeats_elements(plans);
    for (const Level level : oracle::all_levels()) {
      if (repeats && level == Level::ReadCommitted) continue;
      const auto verdict = check(*history, level);
      ASSERT_TRUE(verdict.ok()) << verdict.error().to_string();
      ASSERT_NE(verdict->outcome, Outcome::Undecided) << verdict->reason;
      ASSERT_EQ(verdict->outcome == Outcome::Holds, expected.has(level)) << info(level).name;
      ASSERT_EQ(oracle::complaint_about_proof(*history, *verdict), "");
      ++outcomes[level][verdict->outcome == Outcome::Holds ? 1 : 0];
    }
    for (const Level level : {Level::Si, Level::SessionSi, Level::StrongSi, Level::Serializable,
                              Level::SessionSerializable, Level::StrictSerializable}) {
      ASSERT_EQ(runs(plans, level), expected.has(level)) << info(level).name;
    }
  }
  for (const auto& [level, both] : outcomes) {
    EXPECT_GT(both[0], 20) << info(level).name;
    EXPECT_GT(both[1], 20) << info(level).name;
  }
}

// Counters of money, in cents and as decimals, are judged alike.
TEST(CommutingTest, CountersAddDecimals) {
  int violated = 0;
  for (std::uint64_t seed = 7001; seed <= 7300; ++seed) {
    const Plans plans = random_plans(seed);
    const std::string text = text_of(plans);
    const std::string cents = text_of(plans, true);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + cents);
    const auto whole = parse_history(text);
    const auto history = parse_history(cents);
    ASSERT_TRUE(history.ok()) << history.error().to_string();
    std::string printed;
    ASSERT_TRUE(print_history(*history, Format::Native, printed).ok());
    std::string again;
    ASSERT_TRUE(print_history(*parse_history(printed), Format::Native, again).ok());
    ASSERT_EQ(printed, again);
    for (const Level level : {Level::Causal, Level::Si, Level::StrictSerializable}) {
      for (const Evidence evidence : {Evidence::Observed, Evidence::Versions}) {
        const auto verdict = check(*history, level, {.evidence = evidence});
        ASSERT_TRUE(verdict.ok()) << verdict.error().to_string();
        ASSERT_EQ(verdict->outcome, check(*whole, level, {.evidence = evidence})->outcome);
        if (verdict->outcome == Outcome::Undecided) continue;
        ASSERT_EQ(oracle::complaint_about_proof(*history, *verdict), "") << info(level).name;
        violated += verdict->outcome == Outcome::Violated ? 1 : 0;
      }
    }
  }
  EXPECT_GT(violated, 100);
  const auto mixed = parse_history(R"({"key":"c","initial":0.5}
{"session":1,"ops":[["inc","c",1.25],["inc","c",1,2.75],["r","c",2.75]]}
{"session":1,"ops":[["r","c",2.75],["inc","c",-2.75,0],["r","c",0]]}
)");
  ASSERT_TRUE(mixed.ok()) << mixed.error().to_string();
  EXPECT_EQ(check(*mixed, Level::StrictSerializable)->outcome, Outcome::Holds);
  const auto large =
      parse_history(R"({"session":1,"ops":[["inc","c",500000000000000000],["r","c",0.001]]})");
  ASSERT_FALSE(large.ok());
  EXPECT_NE(large.error().what.find("too large"), std::string::npos) << large.error().what;
}

// By version orders, of which these have none.
TEST(CommutingTest, VersionOrdersOfOthersDoNotMatter) {
  const std::uint64_t count = 400;
  int holds = 0;
  int open = 0;
  for (std::uint64_t seed = 5001; seed <= 5000 + count; ++seed) {
    const std::string text = text_of(random_plans(seed));
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text);
    const auto history = parse_history(text);
    ASSERT_TRUE(history.ok()) << history.error().to_string();
    for (const Level level : oracle::all_levels()) {
      const auto observed = check(*history, level);
      const auto verdict = check(*history, level, {.evidence = Evidence::Versions});
      ASSERT_TRUE(verdict.ok()) << verdict.error().to_string();
      if (verdict->outcome == Outcome::Undecided) {
        ++open;
        continue;
      }
      // Elsewhere version orders say less of what such reads saw.
      const bool moments = oracle::is_snapshot_level(level) || oracle::is_serial_level(level);
      if (moments && level != Level::RepeatableRead) {
        ASSERT_EQ(verdict->outcome, observed->outcome) << info(level).name;
      }
      ASSERT_EQ(oracle::complaint_about_proof(*history, *verdict), "") << info(level).name;
      holds += verdict->outcome == Outcome::Holds ? 1 : 0;
    }
  }
  EXPECT_GT(holds, 1000);
  EXPECT_LT(open, 400);
}

// Scans, selects and aggregates beside counters and sets do not see these, and are written as they
// were read.
TEST(CommutingTest, OtherPredicateReadsAreWrittenAsTheyWereRead) {
  const std::string text = R"({"ouro":1,"initial":null}
{"key":"c","initial":5}
{"session":"a","ops":[["add","s",1],["inc","c",1],["w",7,1]]}
{"session":"b","ops":[["scan",null,null,[[7,1]]],["scan","a","z",[]],["select",true,[[7,1]]]]}
{"session":"b","ops":[["select",{"ge":["@key",7]},[[7,1]]],["aggregate","count",null,true,1],["r","c",6]]}
)";
  const auto history = parse_history(text);
  ASSERT_TRUE(history.ok()) << history.error().to_string();
  std::string written;
  ASSERT_TRUE(print_history(*history, Format::Native, written).ok());
  EXPECT_EQ(written, text);
  for (const Level level : {Level::StrictSerializable, Level::ReadCommitted}) {
    const auto verdict = check(*history, level);
    ASSERT_TRUE(verdict.ok());
    EXPECT_EQ(verdict->outcome, Outcome::Holds);
    const auto answer = certify(*history, make_certificate(*history, *verdict));
    EXPECT_TRUE(answer.ok() && answer->accepted);
  }
}

TEST(CommutingTest, NativeTextIsWrittenAsItWasRead) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const std::string text = text_of(random_plans(seed));
    SCOPED_TRACE(text);
    const auto history = parse_history(text);
    ASSERT_TRUE(history.ok()) << history.error().to_string();
    std::string written, again;
    ASSERT_TRUE(print_history(*history, Format::Native, written).ok());
    const auto reread = parse_history(written);
    ASSERT_TRUE(reread.ok()) << reread.error().to_string() << "\n" << written;
    ASSERT_TRUE(print_history(*reread, Format::Native, again).ok());
    EXPECT_EQ(written, again);
    EXPECT_EQ(written.find("+counter"), std::string::npos) << written;
    EXPECT_EQ(written.find("∋"), std::string::npos) << written;
    std::string binary;
    ASSERT_TRUE(print_history(*history, Format::NativeBinary, binary).ok());
    const auto from_binary = parse_history(binary);
    ASSERT_TRUE(from_binary.ok()) << from_binary.error().to_string();
    ASSERT_TRUE(print_history(*from_binary, Format::Native, again).ok());
    EXPECT_EQ(written, again);
  }
}

}  // namespace
}  // namespace ouro
