#include "online/feed.h"

#include <algorithm>
#include <cmath>
#include <queue>
#include <random>
#include <unordered_map>
#include <utility>

#include "ouro/history_builder.h"

namespace ouro::bench {
namespace {

constexpr std::size_t kSessions = 4096;
constexpr std::int64_t kShortest = 500'000;  // Of a transaction, in nanoseconds, …
constexpr std::int64_t kLongest = 2'000'000;

struct PlannedOp {
  bool write = false;
  std::uint64_t key = 0;
  std::int64_t value = 0;
};

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
    if (!options.tpcc) return {i % 2 == 1, below(options.keys), 0};
    constexpr std::uint64_t kTable = std::uint64_t{1} << 40;
    const std::uint64_t district = below(100);
    if (i == 0) return {false, kTable + district / 10, 0};
    if (i == 1) return {false, 2 * kTable + district, 0};
    if (i == 2) return {false, 3 * kTable + district * 3000 + below(3000), 0};
    if (i == 3) return {true, 4 * kTable + ++orders, 0};
    return {i % 2 == 0, 5 * kTable + below(1'000'000), 0};
  }

  void commit_until(std::int64_t time) {
    while (!running.empty() && running.top()->commit <= time) {
      Planned* const txn = running.top();
      running.pop();
      for (const PlannedOp& op : txn->ops) {
        if (!op.write) continue;
        committed(op.key) = op.value;
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
    const bool serial = options.level >= Level::Serializable;
    txn->start = clock;
    txn->commit = serial ? clock : clock + kShortest + static_cast<std::int64_t>(below(kLongest));
    commit_until(txn->start);
    for (std::uint32_t i = 0; i < options.ops; ++i) {
      PlannedOp op = pick(i);
      const bool again = std::any_of(txn->ops.begin(), txn->ops.end(),
                                     [&](const PlannedOp& other) { return other.key == op.key; });
      if (again) continue;
      if (op.write && !busy.emplace(op.key, txn).second) op.write = false;
      op.value = op.write ? ++values : committed(op.key);
      if (!op.write && options.wrong_share > 0 && chance(options.wrong_share)) --op.value;
      txn->ops.push_back(op);
    }
    running.push(txn);
  }

  FeedOptions options;
  std::mt19937_64 random;
  std::vector<std::int64_t> session_arrival;
  std::vector<std::int64_t> dense;
  std::unordered_map<std::uint64_t, std::int64_t> sparse;
  std::unordered_map<std::uint64_t, Planned*> busy;
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
  builder.default_initial(Value::small(0));
  for (std::uint64_t t = 0; t < kTxns && s.loaded < s.dense.size(); ++t) {
    builder.begin_txn(builder.session("loader"));
    const auto at = static_cast<std::int64_t>(s.loaded);  // Before all others.
    builder.timestamps({at, 0}, {at, 0});
    for (std::uint64_t i = 0; i < kWrites && s.loaded < s.dense.size(); ++i) {
      s.dense[s.loaded] = ++s.values;
      builder.write(builder.key(static_cast<std::int64_t>(s.loaded++)), Value::small(s.values));
    }
  }
  return {StreamTime(0), std::make_shared<const History>(*std::move(builder).freeze())};
}

Delivery Feed::next() {
  State& s = *state_;
  HistoryBuilder builder;
  builder.default_initial(Value::small(0));
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
      const KeyId key = builder.key(static_cast<std::int64_t>(op.key));
      if (op.write) {
        builder.write(key, Value::small(op.value));
      } else {
        builder.read(key, Value::small(op.value));
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
