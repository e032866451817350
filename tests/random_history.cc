// Random small histories: a store that runs transactions one after the other, and reads that
// return older, newer, stray or plainly wrong values now and then.

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "ouro/history_builder.h"
#include "tests/small_histories.h"

namespace ouro::oracle {
namespace {

using Values = std::vector<std::int64_t>;
constexpr std::int64_t kInitial = 0;
constexpr std::int64_t kThinAir = 999;

using Positions = std::uint64_t;  // A set of transactions, by when the store runs them.

struct PlannedOp {
  bool is_write = false;
  std::size_t key = 0;
  std::int64_t value = 0;  // Of a write.
};

struct PlannedTxn {
  std::size_t session = 0;
  TxnStatus status = TxnStatus::Committed;
  bool takes_effect = true;
  std::vector<PlannedOp> ops;
  std::size_t position = 0;  // When the store runs it.
  Positions sees = 0;
};

class Generator {
 public:
  Generator(std::uint64_t seed, const RandomShape& shape) : random_(seed), shape_(shape) {}
  History make();

 private:
  std::size_t below(std::size_t limit) { return random_() % limit; }
  bool chance(double probability) {
    return static_cast<double>(below(1'000'000)) < probability * 1'000'000;
  }

  void plan();
  void plan_ops(PlannedTxn& txn, std::vector<std::size_t>& writers);
  void plan_visibility();
  void run(const PlannedTxn& txn);
  void compare_and_set(const PlannedTxn& txn, const PlannedOp& op, std::int64_t desired,
                       Values& own, Positions sees);
  std::int64_t register_value(const PlannedTxn& txn, const PlannedOp& op, const Values& own,
                              Positions sees);
  void read(const PlannedTxn& txn, const PlannedOp& op, const Values& own, Positions sees);
  // The key's versions that `sees` installed: the elements of a list, or a register's values,
  // the newest last.
  [[nodiscard]] Values state(Positions sees, std::size_t key) const;
  std::int64_t stray_register(const PlannedTxn& reader, std::size_t key);
  std::int64_t wrong_register(std::size_t key);
  void spoil(Values& list);
  KeyId key_id(std::size_t key) {
    return builder_.key(std::string(1, static_cast<char>('x' + key)));
  }
  // A value as the history has it.
  [[nodiscard]] Value shown(std::int64_t value) const {
    constexpr std::int64_t kFew = 3;
    return Value::small(shape_.repeats && value < kThinAir ? value % kFew : value);
  }

  std::mt19937_64 random_;
  const RandomShape& shape_;
  std::vector<PlannedTxn> txns_;
  std::vector<std::size_t> run_order_;  // Transactions as the store runs them.
  bool has_clocks_ = false;
  // The oracle tries everything that each of them may have read.
  static constexpr std::size_t kMostFailed = 2;
  std::size_t failed_ = 0;
  HistoryBuilder builder_;
};

History Generator::make() {
  plan();
  if (!shape_.lists) builder_.default_initial(Value::small(kInitial));
  has_clocks_ = chance(shape_.clocks);
  for (const PlannedTxn& txn : txns_) run(txn);
  return *std::move(builder_).freeze();
}

void Generator::plan() {
  txns_.resize(shape_.min_txns + below(shape_.max_txns - shape_.min_txns + 1));
  std::vector<std::size_t> writers(shape_.keys, 0);
  std::int64_t value = 0;
  for (PlannedTxn& txn : txns_) {
    txn.session = below(shape_.sessions);
    if (chance(shape_.aborted)) {
      txn.status = TxnStatus::Aborted;
      txn.takes_effect = false;
    } else if (chance(shape_.unknown)) {
      txn.status = TxnStatus::Unknown;
      txn.takes_effect = chance(0.5);
    }
    plan_ops(txn, writers);
    for (PlannedOp& op : txn.ops) op.value = op.is_write ? ++value : 0;
  }
  run_order_.resize(txns_.size());
  std::iota(run_order_.begin(), run_order_.end(), std::size_t{0});
  if (chance(shape_.shuffle)) {
    for (std::size_t i = run_order_.size(); i > 1; --i) {
      std::swap(run_order_[i - 1], run_order_[below(i)]);
    }
  }
  plan_visibility();
}

Positions first(std::size_t count) { return (Positions{1} << count) - 1; }

void Generator::plan_visibility() {
  for (std::size_t position = 0; position < run_order_.size(); ++position) {
    PlannedTxn& txn = txns_[run_order_[position]];
    txn.position = position;
    txn.sees = first(position);
    if (chance(shape_.lag)) {
      txn.sees = first(position - std::min(position, 1 + below(3)));
    } else if (chance(shape_.fork)) {
      txn.sees = 0;
      for (std::size_t i = 0; i < position; ++i) {
        const PlannedTxn& other = txns_[run_order_[i]];
        if (other.session == txn.session || chance(0.5)) txn.sees |= other.sees | Positions{1} << i;
      }
    }
  }
}

void Generator::plan_ops(PlannedTxn& txn, std::vector<std::size_t>& writers) {
  const std::size_t count = 1 + below(shape_.max_ops);
  std::vector<bool> writes(shape_.keys, false);
  while (txn.ops.size() < count) {
    const std::size_t key = below(shape_.keys);
    const bool may_write = writes[key] || writers[key] < shape_.writers_per_key;
    if (!may_write || chance(shape_.read_share)) {
      txn.ops.push_back({false, key});
      continue;
    }
    if (chance(shape_.rmw)) txn.ops.push_back({false, key});
    txn.ops.push_back({true, key});
    if (!writes[key]) ++writers[key];
    writes[key] = true;
  }
}

Values Generator::state(Positions sees, std::size_t key) const {
  Values out;
  for (std::size_t i = 0; i < run_order_.size(); ++i) {
    const PlannedTxn& txn = txns_[run_order_[i]];
    if ((sees >> i & 1) == 0 || !txn.takes_effect) continue;
    Values written;
    for (const PlannedOp& op : txn.ops) {
      if (op.is_write && op.key == key) written.push_back(op.value);
    }
    if (!shape_.lists && written.size() > 1) written.erase(written.begin(), written.end() - 1);
    out.insert(out.end(), written.begin(), written.end());
  }
  return out;
}

void Generator::run(const PlannedTxn& txn) {
  builder_.begin_txn(builder_.session("s" + std::to_string(txn.session + 1)));
  builder_.status(txn.status);
  if (has_clocks_ && !chance(0.1)) {
    const auto noise = static_cast<std::size_t>(10 * shape_.clock_noise) + 1;
    const auto invoked = static_cast<std::int64_t>(txn.position * 10 + below(noise));
    builder_.clocks(invoked, invoked + static_cast<std::int64_t>(below(noise)));
  }
  const bool creeps = chance(shape_.creep);
  Positions sees = txn.sees;
  std::vector<Values> own(shape_.keys);
  for (std::size_t i = 0; i < txn.ops.size(); ++i) {
    const PlannedOp& op = txn.ops[i];
    if (creeps) sees |= Positions{1} << below(txns_.size());
    if (!op.is_write && shape_.cas > 0 && chance(shape_.cas)) {
      const bool updates =
          i + 1 < txn.ops.size() && txn.ops[i + 1].is_write && txn.ops[i + 1].key == op.key;
      if (updates) {
        compare_and_set(txn, op, txn.ops[++i].value, own[op.key], sees);
        continue;
      }
      if (failed_ < kMostFailed) {
        ++failed_;
        compare_and_set(txn, op, 0, own[op.key], sees);
        continue;
      }
    }
    if (!op.is_write) {
      read(txn, op, own[op.key], sees);
      continue;
    }
    own[op.key].push_back(op.value);
    const Value value = shown(op.value);
    shape_.lists ? builder_.append(key_id(op.key), value) : builder_.write(key_id(op.key), value);
  }
}

// With `desired` zero it failed: what it expected is then some other value or, in a store with
// faults, now and then the very value that it read.
void Generator::compare_and_set(const PlannedTxn& txn, const PlannedOp& op, std::int64_t desired,
                                Values& own, Positions sees) {
  std::int64_t value = register_value(txn, op, own, sees);
  if (desired == 0) {
    const std::int64_t other = stray_register(txn, op.key);
    const bool faulty = shape_.lag + shape_.fork + shape_.creep + shape_.stray + shape_.wrong > 0;
    if (other != value || !faulty || !chance(0.2)) value = other == value ? kThinAir : other;
    builder_.cas(key_id(op.key), shown(value), Value::small(kThinAir + 1), false);
    return;
  }
  builder_.cas(key_id(op.key), shown(value), shown(desired), true);
  own.push_back(desired);
}

std::int64_t Generator::register_value(const PlannedTxn& txn, const PlannedOp& op,
                                       const Values& own, Positions sees) {
  const bool stray = chance(shape_.stray);
  const bool wrong = chance(shape_.wrong);
  const Values versions = state(sees, op.key);
  std::int64_t value = versions.empty() ? kInitial : versions.back();
  if (stray) value = stray_register(txn, op.key);
  if (!own.empty()) value = own.back();
  if (wrong) value = wrong_register(op.key);
  return value;
}

void Generator::read(const PlannedTxn& txn, const PlannedOp& op, const Values& own,
                     Positions sees) {
  const KeyId key = key_id(op.key);
  const bool unheard = txn.status != TxnStatus::Committed && chance(0.5);
  if (unheard || chance(0.01)) {
    builder_.read(key, Value::unobserved());
    return;
  }
  if (shape_.lists) {
    const bool stray = chance(shape_.stray);
    const bool wrong = chance(shape_.wrong);
    Values list = state(stray ? first(below(txns_.size() + 1)) : sees, op.key);
    for (const std::int64_t value : own) {
      if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
    }
    if (wrong) spoil(list);
    std::vector<Value> values;
    for (const std::int64_t value : list) values.push_back(Value::small(value));
    list.empty() && chance(0.3) ? builder_.read(key, Value::null())
                                : builder_.read_list(key, values);
    return;
  }
  builder_.read(key, shown(register_value(txn, op, own, sees)));
}

// The last write of the key by any other transaction that may have committed, or the initial.
std::int64_t Generator::stray_register(const PlannedTxn& reader, std::size_t key) {
  Values candidates{kInitial};
  for (const PlannedTxn& txn : txns_) {
    if (&txn == &reader || txn.status == TxnStatus::Aborted) continue;
    for (auto op = txn.ops.rbegin(); op != txn.ops.rend(); ++op) {
      if (!op->is_write || op->key != key) continue;
      candidates.push_back(op->value);
      break;
    }
  }
  return candidates[below(candidates.size())];
}

// Any write of the key: maybe aborted, overwritten, or the reader's own; or of nobody.
std::int64_t Generator::wrong_register(std::size_t key) {
  Values candidates{kInitial, kThinAir};
  for (const PlannedTxn& txn : txns_) {
    for (const PlannedOp& op : txn.ops) {
      if (op.is_write && op.key == key) candidates.push_back(op.value);
    }
  }
  return candidates[below(candidates.size())];
}

void Generator::spoil(Values& list) {
  const std::size_t at = list.empty() ? 0 : below(list.size());
  switch (list.empty() ? 0 : below(5)) {
    case 0:
      list.push_back(kThinAir);
      break;
    case 1:
      list.push_back(list[at]);
      break;
    case 2:
      std::swap(list[at], list.back());
      break;
    case 3:
      list.pop_back();
      break;
    default:
      list.erase(list.begin() + static_cast<std::ptrdiff_t>(at));
  }
}

}  // namespace

History random_history(std::uint64_t seed, const RandomShape& shape) {
  return Generator(seed, shape).make();
}

RandomShape mixed_shape(std::uint64_t seed) {
  std::mt19937_64 random(seed * 0x9e3779b97f4a7c15u + 1);
  const auto pick = [&random](std::initializer_list<double> choices) {
    return choices.begin()[random() % choices.size()];
  };
  RandomShape shape;
  shape.min_txns = 2 + random() % 4;
  shape.max_txns = shape.min_txns + random() % 4;
  shape.max_ops = 2 + random() % 4;
  shape.keys = 1 + random() % 3;
  shape.sessions = 1 + random() % 4;
  shape.writers_per_key = shape.keys > 2 ? 3 : 4;
  shape.lists = random() % 3 == 0;
  shape.read_share = pick({0.4, 0.55, 0.7});
  shape.rmw = pick({0, 0.3, 0.8});
  shape.shuffle = pick({0, 0.5});
  shape.lag = pick({0, 0, 0.3, 0.8});
  shape.fork = pick({0, 0.5, 0.9});
  shape.creep = pick({0, 0, 0.5});
  shape.stray = pick({0, 0, 0.05, 0.3});
  shape.wrong = pick({0, 0, 0, 0.05});
  shape.aborted = pick({0, 0.1});
  shape.unknown = pick({0, 0.2});
  shape.cas = !shape.lists && seed % 4 == 0 ? 0.5 : 0;
  if (random() % 4 != 0) return shape;
  // Short transactions on two keys at sites that disagree: what tells psi from si, and cc from pc.
  shape.min_txns = 4;
  shape.max_txns = 6;
  shape.max_ops = 3;
  shape.keys = 2;
  shape.writers_per_key = 2;
  shape.lag = shape.wrong = 0;
  shape.fork = 0.9;
  shape.rmw = 0;
  return shape;
}

RandomShape repeating_shape(std::uint64_t seed) {
  RandomShape shape = mixed_shape(seed);
  shape.lists = false;
  shape.repeats = true;
  shape.max_txns = std::min<std::size_t>(shape.max_txns, 5);
  shape.min_txns = std::min(shape.min_txns, shape.max_txns);
  shape.max_ops = std::min<std::size_t>(shape.max_ops, 3);
  shape.writers_per_key = std::min<std::size_t>(shape.writers_per_key, 3);
  return shape;
}

}  // namespace ouro::oracle
