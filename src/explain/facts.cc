#include "explain/facts.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/level_rules.h"
#include "history/real_time.h"

namespace ouro {

WriteOrders::WriteOrders(std::span<const std::size_t> writers) {
  for (const std::size_t size : writers) {
    orders_.push_back({size, std::vector<Premises>(size * size, kOpen)});
  }
}

void WriteOrders::put(std::size_t key, std::size_t first, std::size_t second, Premises premises) {
  Order& order = orders_[key];
  const auto reaches = [&](std::size_t a, std::size_t b) -> Premises {
    return a == b ? Premises{0} : at(key, a, b);
  };
  if (first == second || !open(key, first, second)) return;
  for (std::size_t a = 0; a < order.size; ++a) {
    for (std::size_t b = 0; b < order.size; ++b) {
      const Premises left = reaches(a, first);
      const Premises right = reaches(second, b);
      if (a == b || left == kOpen || right == kOpen || !open(key, a, b)) continue;
      order.before[a * order.size + b] = left | right | premises;
    }
  }
}

Facts::Facts(const Observed& observed, Level level, std::int64_t clock_drift)
    : o_(observed), txn_count_(observed.history().txn_count()), known_({}) {
  if (rules(level).sessions) add_sessions();
  if (rules(level).clocks()) add_real_time(level, clock_drift);
  add_keys();
}

void Facts::add_sessions() {
  const History& h = o_.history();
  for (std::size_t s = 0; s < h.session_count(); ++s) {
    const auto txns = h.session_txns(SessionId{s});
    for (std::size_t i = 0; i < txns.size(); ++i) {
      for (std::size_t j = i + 1; j < txns.size(); ++j) {
        if (!o_.counted(txns[i]) || !o_.counted(txns[j])) continue;
        base_.push_back({.from = txns[i], .to = txns[j], .kind = EdgeKind::Session});
      }
    }
  }
}

void Facts::add_real_time(Level level, std::int64_t clock_drift) {
  const History& h = o_.history();
  const bool inner = rules(level).begins_apart() && h.has_inner_clocks();
  const auto before = [&](std::optional<std::int64_t> answered, std::optional<std::int64_t> asked) {
    return answered && asked && completed_before(*answered, *asked, clock_drift);
  };
  for (std::size_t i = 0; i < txn_count_; ++i) {
    for (std::size_t j = 0; j < txn_count_; ++j) {
      const TxnId from{i};
      const TxnId to{j};
      if (i == j || !o_.counted(from) || !o_.counted(to)) continue;
      const auto add = [&](EdgeKind kind) {
        base_.push_back({.from = from, .to = to, .kind = kind});
      };
      if (before(h.completed(from), h.invoked(to))) add(EdgeKind::RealTime);
      if (!inner) continue;
      if (before(h.completed(from), h.committing(to))) add(EdgeKind::CommitTime);
      if (before(h.began(from), commit_asked(h, to))) add(EdgeKind::BeginTime);
    }
  }
}

void Facts::add_keys() {
  for (std::size_t k = 0; k < o_.history().key_count(); ++k) add_key(KeyId{k});
  std::vector<std::size_t> sizes;
  for (const Key& key : keys_) sizes.push_back(key.writers.size());
  known_ = WriteOrders(sizes);
  for (std::size_t k = 0; k < keys_.size(); ++k) order_writes(k);
}

void Facts::add_key(KeyId id) {
  const Items& items = o_.items();
  Key key{.key = id, .writers = {}, .initial_reads = {}};
  for (const ItemId item : o_.items_of(id)) {
    if (!items.is_write(item) || !o_.final(item) || !o_.counted(o_.txn(item))) continue;
    key.writers.push_back({o_.txn(item), items.op(item), {}});
  }
  for (const ItemId item : o_.items_of(id)) {
    if (!items.is_read(item) || !o_.external(item) || !o_.counted(o_.txn(item))) continue;
    const Read read{o_.txn(item), items.op(item)};
    const TxnId writer = o_.writer(item);
    if (writer == kInitialTxn) {
      key.initial_reads.push_back(read);
      continue;
    }
    for (Writer& known : key.writers) {
      if (known.txn == writer) known.reads.push_back(read);
    }
    base_.push_back({.from = writer,
                     .to = read.reader,
                     .kind = EdgeKind::WriteRead,
                     .key = id,
                     .from_op = items.op(o_.write(item)),
                     .to_op = read.op});
  }
  keys_.push_back(std::move(key));
}

std::size_t Facts::number(std::size_t key, TxnId writer) const {
  const auto& writers = keys_[key].writers;
  const auto at = std::find_if(writers.begin(), writers.end(),
                               [&](const Writer& known) { return known.txn == writer; });
  return static_cast<std::size_t>(at - writers.begin());
}

// A version order may show writes of two transactions in both orders. Then both edges are facts,
// but neither transaction counts as the earlier writer.
void Facts::order_by_steps(std::size_t k) {
  std::vector<std::pair<std::size_t, std::size_t>> shown;
  for (const VersionStep& step : o_.version_steps(keys_[k].key)) {
    if (!step.from.valid()) continue;
    const TxnId from = o_.txn(step.from);
    const TxnId to = o_.txn(step.to);
    shown.emplace_back(number(k, from), number(k, to));
    base_.push_back({.from = from,
                     .to = to,
                     .kind = EdgeKind::WriteWrite,
                     .key = keys_[k].key,
                     .from_op = o_.items().op(step.from),
                     .to_op = o_.items().op(step.to)});
  }
  for (const auto& [from, to] : shown) {
    const auto opposite = std::find(shown.begin(), shown.end(), std::pair(to, from));
    const std::size_t count = keys_[k].writers.size();
    if (opposite == shown.end() && from < count && to < count) known_.put(k, from, to, 0);
  }
}

void Facts::order_writes(std::size_t k) {
  const Key& key = keys_[k];
  order_by_steps(k);
  for (std::size_t w = 0; w < key.writers.size(); ++w) {
    for (const Read& read : key.writers[w].reads) {
      const std::size_t next = number(k, read.reader);
      if (next < key.writers.size()) known_.put(k, w, next, 0);
    }
  }
}

std::vector<Fact> Facts::edges(const WriteOrders& orders) const {
  std::vector<Fact> out;
  for (const Edge& edge : base_) out.push_back({edge, 0});
  for (std::size_t k = 0; k < keys_.size(); ++k) {
    const Key& key = keys_[k];
    for (std::size_t b = 0; b < key.writers.size(); ++b) {
      const Writer& newer = key.writers[b];
      const auto overwritten = [&](const Read& read, Premises premises) {
        if (read.reader == newer.txn) return;
        out.push_back({{.from = read.reader,
                        .to = newer.txn,
                        .kind = EdgeKind::ReadWrite,
                        .key = key.key,
                        .from_op = read.op,
                        .to_op = newer.write},
                       premises});
      };
      for (const Read& read : key.initial_reads) overwritten(read, 0);
      for (std::size_t a = 0; a < key.writers.size(); ++a) {
        if (a == b || !orders.ordered(k, a, b)) continue;
        const Writer& older = key.writers[a];
        const Premises premises = orders.premises(k, a, b);
        out.push_back({{.from = older.txn,
                        .to = newer.txn,
                        .kind = EdgeKind::WriteWrite,
                        .key = key.key,
                        .from_op = older.write,
                        .to_op = newer.write},
                       premises});
        for (const Read& read : older.reads) overwritten(read, premises);
      }
    }
  }
  return out;
}

}  // namespace ouro
