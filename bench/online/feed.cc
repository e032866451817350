#include "online/feed.h"

#include <algorithm>
#include <cmath>
#include <queue>
#include <random>
#include <set>
#include <unordered_map>
#include <utility>

#include "ouro/history_builder.h"

namespace ouro::bench {
namespace {

constexpr std::size_t kSessions = 4096;
constexpr std::int64_t kShortest = 500'000;  // Of a transaction, in nanoseconds, …
constexpr std::int64_t kLongest = 2'000'000;

// Rows are made of a number each, by which they are planned. Selects ask for a range of `c1`.
constexpr std::int64_t kSpread = 1'000;
constexpr std::int64_t kWidth = 10;
std::int64_t c1_of(std::int64_t number) { return number * 7'919 % kSpread; }

Value row_of(HistoryBuilder& builder, std::int64_t number) {
  const HistoryBuilder::NamedCell cells[] = {{"c0", Value::small(number)},
                                             {"c1", Value::small(c1_of(number))}};
  return builder.row(cells);
}

struct PlannedOp {
  bool write = false;
  std::uint64_t key = 0;
  std::int64_t value = 0;
  bool selects = false;
  std::int64_t lower = 0;
  std::vector<std::pair<std::uint64_t, std::int64_t>> rows;
};

void add_select(HistoryBuilder& builder, const PlannedOp& op) {
  std::vector<KeyVersion> found;
  for (const auto& [key, number] : op.rows) {
    found.push_back({builder.key(static_cast<std::int64_t>(key)), row_of(builder, number)});
  }
  const Value bounds[] = {Value::small(op.lower), Value::small(op.lower + kWidth)};
  builder.select(builder.compare(PredicateKind::Between, builder.column("c1"), bounds),
                 {.rows = found});
}

struct Planned {
  std::int64_t start = 0;
  std::int64_t commit = 0;
  std::int64_t arrival = 0;
  std::uint32_t session = 0;
  std::vector<PlannedOp> ops;
};

struct ByCommit {
  bool operator()(const Planned* a, const Planned* b) const { return a->commit > b->commit; }
};
struct ByArrival {
  bool operator()(const Planned* a, const Planned* b) const { return a->arrival > b->arrival; }
};

}  // namespace

struct Feed::State {
  explicit State(const FeedOptions& o) : options(o), random(o.seed), session_arrival(kSessions) {
    if (!o.tpcc) dense.resize(o.keys);
  }

  std::uint64_t below(std::uint64_t limit) { return random() % limit; }
  bool chance(double share) { return static_cast<double>(random() >> 11) * 0x1p-53 < share; }

  std::int64_t& committed(std::uint64_t key) { return options.tpcc ? sparse[key] : dense[key]; }

  // Half reads; in TPC-C's form rows of 10 warehouses, customers and stock, and orders that are
  // new.
  PlannedOp pick(std::uint32_t i) {
    if (!options.tpcc) return {.write = i % 2 == 1, .key = below(options.keys)};
    constexpr std::uint64_t kTable = std::uint64_t{1} << 40;
    const std::uint64_t district = below(100);
    if (i == 0) return {.write = false, .key = kTable + district / 10};
    if (i == 1) return {.write = false, .key = 2 * kTable + district};
    if (i == 2) return {.write = false, .key = 3 * kTable + district * 3000 + below(3000)};
    if (i == 3) return {.write = true, .key = 4 * kTable + ++orders};
    return {.write = i % 2 == 0, .key = 5 * kTable + below(1'000'000)};
  }

  void commit(std::uint64_t key, std::int64_t value) {
    std::int64_t& held = committed(key);
    if (options.predicate_share > 0) {
      by_c1.erase({c1_of(held), key});
      by_c1.insert({c1_of(value), key});
    }
    held = value;
  }

  // Before the transaction writes anything, so that it sees nothing of its own.
  PlannedOp select() {
    PlannedOp op{.selects = true};
    op.lower = static_cast<std::int64_t>(below(kSpread));
    for (auto at = by_c1.lower_bound({op.lower, 0});
         at != by_c1.end() && at->first <= op.lower + kWidth; ++at) {
      op.rows.emplace_back(at->second, committed(at->second));
    }
    return op;
  }

  void commit_until(std::int64_t time) {
    while (!running.empty() && running.top()->commit <= time) {
      Planned* const txn = running.top();
      running.pop();
      for (const PlannedOp& op : txn->ops) {
        if (!op.write) continue;
        commit(op.key, op.value);
        busy.erase(op.key);
      }
      deliver(txn);
    }
  }

  void deliver(Planned* txn) {
    std::int64_t delay = 0;
    if (options.delay_deviation_ms > 0 || options.delay_mean_ms > 0) {
      std::normal_distribution<double> normal(options.delay_mean_ms, options.delay_deviation_ms);
      delay = static_cast<std::int64_t>(std::max(0.0, normal(random)) * 1e6);
    }
    if (chance(options.late_share)) {
      delay += static_cast<std::int64_t>(below(options.late_ms * 1'000'000 + 1));
    }
    std::int64_t& last = session_arrival[txn->session];
    last = txn->arrival = std::max(last + 1, txn->commit + delay);
    on_the_way.push(txn);
  }

  void begin_next() {
    auto* const txn = new Planned;
    const auto gap = static_cast<std::int64_t>(1'000'000'000 / options.rate);
    clock += gap;
    txn->session = static_cast<std::uint32_t>(begun++ % kSessions);
    const bool serial = implies(options.level, Level::Serializable);
    txn->start = clock;
    txn->commit = serial ? clock : clock + kShortest + static_cast<std::int64_t>(below(kLongest));
    commit_until(txn->start);
    std::uint32_t selects = 0;
    for (std::uint32_t i = 0; i < options.ops && options.predicate_share > 0; ++i) {
      if (!chance(options.predicate_share)) continue;
      txn->ops.push_back(select());
      ++selects;
    }
    for (std::uint32_t i = selects; i < options.ops; ++i) {
      PlannedOp op = pick(i);
      const bool again = std::any_of(txn->ops.begin(), txn->ops.end(), [&](const PlannedOp& other) {
        return !other.selects && other.key == op.key;
      });
      if (again) continue;
      if (op.write && !busy.emplace(op.key, txn).second) op.write = false;
      op.value = op.write ? ++values : committed(op.key);
      if (!op.write && options.wrong_share > 0 && chance(options.wrong_share)) --op.value;
      txn->ops.push_back(std::move(op));
    }
    running.push(txn);
  }

  FeedOptions options;
  std::mt19937_64 random;
  std::vector<std::int64_t> session_arrival;
  std::vector<std::int64_t> dense;
  std::unordered_map<std::uint64_t, std::int64_t> sparse;
  std::unordered_map<std::uint64_t, Planned*> busy;
  std::set<std::pair<std::int64_t, std::uint64_t>> by_c1;
  std::priority_queue<Planned*, std::vector<Planned*>, ByCommit> running;
  std::priority_queue<Planned*, std::vector<Planned*>, ByArrival> on_the_way;
  std::int64_t clock = 1'000'000'000;
  std::int64_t values = 0;
  std::uint64_t begun = 0;
  std::uint64_t orders = 0;
  std::uint64_t loaded = 0;
};

Feed::Feed(const FeedOptions& options) : state_(std::make_unique<State>(options)) {}
Feed::~Feed() {
  for (auto* queue : {&state_->on_the_way}) {
    for (; !queue->empty(); queue->pop()) delete queue->top();
  }
  for (; !state_->running.empty(); state_->running.pop()) delete state_->running.top();
}

Delivery Feed::next_load() {
  constexpr std::uint64_t kTxns = 100;
  constexpr std::uint64_t kWrites = 100;
  State& s = *state_;
  if (s.loaded >= s.dense.size()) return {};
  HistoryBuilder builder;
  const bool rows = s.options.predicate_share > 0;
  if (!rows) builder.default_initial(Value::small(0));
  for (std::uint64_t t = 0; t < kTxns && s.loaded < s.dense.size(); ++t) {
    builder.begin_txn(builder.session("loader"));
    const auto at = static_cast<std::int64_t>(s.loaded);  // Before all others.
    builder.timestamps({at, 0}, {at, 0});
    for (std::uint64_t i = 0; i < kWrites && s.loaded < s.dense.size(); ++i) {
      s.commit(s.loaded, ++s.values);
      const Value value = rows ? row_of(builder, s.values) : Value::small(s.values);
      builder.write(builder.key(static_cast<std::int64_t>(s.loaded++)), value);
    }
  }
  return {StreamTime(0), std::make_shared<const History>(*std::move(builder).freeze())};
}

Delivery Feed::next() {
  State& s = *state_;
  HistoryBuilder builder;
  const bool rows = s.options.predicate_share > 0;
  if (!rows) builder.default_initial(Value::small(0));
  Delivery delivery;
  for (std::size_t count = 0; count < s.options.batch; ++count) {
    // Nothing that begins later can arrive before what is next.
    while (s.begun < s.options.txns &&
           (s.on_the_way.empty() || s.on_the_way.top()->arrival > s.clock)) {
      s.begin_next();
    }
    if (s.begun == s.options.txns) s.commit_until(s.clock + 2 * kLongest);
    if (s.on_the_way.empty()) break;
    const std::unique_ptr<Planned> txn(s.on_the_way.top());
    s.on_the_way.pop();
    builder.begin_txn(builder.session(static_cast<std::int64_t>(txn->session)));
    builder.timestamps({txn->start, 0}, {txn->commit, 0});
    for (const PlannedOp& op : txn->ops) {
      if (op.selects) {
        add_select(builder, op);
        continue;
      }
      const KeyId key = builder.key(static_cast<std::int64_t>(op.key));
      const Value value = rows ? row_of(builder, op.value) : Value::small(op.value);
      if (op.write) {
        builder.write(key, value);
      } else {
        builder.read(key, value);
      }
    }
    delivery.at = StreamTime(txn->arrival);
  }
  if (builder.txn_count() > 0) {
    delivery.batch = std::make_shared<const History>(*std::move(builder).freeze());
  }
  return delivery;
}

}  // namespace ouro::bench
