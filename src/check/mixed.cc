#include "check/mixed.h"

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <bitset>
#include <tuple>
#include <utility>

#include "check/implied.h"
#include "check/observed/mixture.h"
#include "check/polygraph/polygraph.h"
#include "check/positions.h"

namespace ouro {
namespace {

// Whether some transaction that may take part states each level.
std::bitset<kLevelCount> stated_levels(const History& h) {
  std::bitset<kLevelCount> out;
  for (std::size_t t = 0; t < h.txn_count(); ++t) {
    if (h.status(TxnId{t}) == TxnStatus::Aborted) continue;
    out.set(static_cast<std::size_t>(level_of(h, Level::Mixed, TxnId{t})));
  }
  return out;
}

// The verdict of a level that implies that of every transaction, or is the same, as one of the
// mixture.
Verdict as_mixed(Verdict verdict) {
  verdict.level = Level::Mixed;
  if (verdict.outcome != Outcome::Holds || !verdict.schedule.empty()) return verdict;
  for (const TxnId txn : verdict.order) {
    verdict.schedule.push_back({txn, false});
    verdict.schedule.push_back({txn, true});
  }
  return verdict;
}

// The edges that the rules of rc, ra and cc force and that run backward in an order.
class ForcedEdges {
 public:
  ForcedEdges(const Observed& observed, const Mixture& mixture, const Budget& budget)
      : o_(observed),
        h_(observed.history()),
        mixture_(mixture),
        ticker_(budget, 1024, 4),
        asked_before_(h_.txn_count()) {
    note_sessions();
  }

  // `positions` are those of an order of all transactions that count.
  std::vector<Edge> backward(const std::vector<std::uint32_t>& positions) {
    positions_ = &positions;
    out_.clear();
    for (std::size_t t = 0; t < h_.txn_count() && !ticker_.stopped(); ++t) {
      if (!o_.counted(TxnId{t})) continue;
      reader_ = TxnId{t};
      switch (mixture_.rules_of(reader_).premise) {
        case Premise::None:
          break;
        case Premise::EarlierReads:
          earlier_reads();
          break;
        case Premise::DirectPast:
          direct_past();
          break;
        case Premise::WholePast:
          whole_past();
          break;
      }
    }
    return std::move(out_);
  }

 private:
  [[nodiscard]] std::uint32_t position(TxnId txn) const {
    return txn == kInitialTxn ? 0 : (*positions_)[txn.index()] + 1;
  }

  // Notes, for each session and key, who wrote it; and for each transaction the last one before it
  // whose level asks for session order.
  void note_sessions() {
    const Items& items = o_.items();
    for (std::size_t s = 0; s < h_.session_count(); ++s) {
      TxnId asks;
      for (const TxnId txn : h_.session_txns(SessionId{s})) {
        if (!o_.counted(txn)) continue;
        asked_before_[txn.index()] = asks;
        if (mixture_.rules_of(txn).sessions) asks = txn;
        for (ItemId i = items.first(txn); i < items.end(txn) && !ticker_.tick(); ++i.value) {
          if (items.is_write(i) && o_.final(i)) writers_[{SessionId{s}, items.key(i)}].push_back(i);
        }
      }
    }
  }

  // The external reads of the reader.
  template <class F>
  void for_each_read(const F& f) {
    const Items& items = o_.items();
    for (ItemId i = items.first(reader_); i < items.end(reader_) && !ticker_.tick(); ++i.value) {
      if (items.is_read(i) && o_.external(i)) f(i);
    }
  }

  // The reader knew of who did `write`. If that is behind the version that `read` returned, of the
  // same key, it must be before it. `saw` is a read by which the reader knew of it, or invalid.
  void know(ItemId write, ItemId read, ItemId saw) {
    const TxnId from = o_.txn(write);
    const TxnId to = o_.writer(read);
    if (from == to || from == reader_ || position(from) < position(to)) return;
    const Items& items = o_.items();
    Edge edge{.from = from, .to = to, .kind = EdgeKind::Forced, .key = items.key(read)};
    edge.from_op = items.op(write);
    if (o_.write(read).valid()) edge.to_op = items.op(final_write(o_, to, edge.key));
    edge.read = items.op(read);
    if (saw.valid()) edge.saw = items.op(saw);
    out_.push_back(edge);
  }

  void earlier_reads() {
    const Items& items = o_.items();
    for_each_read([&](ItemId read) {
      for_each_read([&](ItemId saw) {
        if (items.op(saw) >= items.op(read) || o_.writer(saw) == kInitialTxn) return;
        const ItemId write = final_write(o_, o_.writer(saw), items.key(read));
        if (write.valid()) know(write, read, saw);
      });
    });
  }

  void direct_past() {
    const Items& items = o_.items();
    for_each_read([&](ItemId read) {
      for_each_read([&](ItemId saw) {
        if (o_.writer(saw) == kInitialTxn) return;
        const ItemId write = final_write(o_, o_.writer(saw), items.key(read));
        if (write.valid()) know(write, read, saw);
      });
      const auto writers = writers_.find({h_.session(reader_), items.key(read)});
      if (writers == writers_.end()) return;
      for (const ItemId write : writers->second) {
        if (o_.txn(write) >= reader_ || ticker_.tick()) break;
        know(write, read, {});
      }
    });
  }

  void whole_past() {
    const Items& items = o_.items();
    reads_.clear();
    for_each_read([&](ItemId read) { reads_[items.key(read)].push_back(read); });
    past_.clear();
    queue_.assign(1, reader_);
    past_.insert(reader_);
    for (std::size_t at = 0; at < queue_.size() && !ticker_.stopped(); ++at) {
      const TxnId txn = queue_[at];
      for (ItemId i = items.first(txn); i < items.end(txn) && !ticker_.tick(); ++i.value) {
        if (items.is_read(i) && o_.external(i)) visit(o_.writer(i));
        if (txn == reader_ || !items.is_write(i) || !o_.final(i)) continue;
        const auto reads = reads_.find(items.key(i));
        if (reads == reads_.end()) continue;
        for (const ItemId read : reads->second) know(i, read, seen_by(txn));
      }
      visit_session(txn);
    }
  }
  void visit(TxnId txn) {
    if (txn != kInitialTxn && txn.valid() && past_.insert(txn).second) queue_.push_back(txn);
  }
  // Whoever precedes a transaction in session order, where a level asks for that.
  void visit_session(TxnId txn) {
    const TxnId asks = asked_before_[txn.index()];
    visit(asks);
    if (!mixture_.rules_of(txn).sessions) return;
    const auto session = h_.session_txns(h_.session(txn));
    const auto first =
        asks.valid() ? std::upper_bound(session.begin(), session.end(), asks) : session.begin();
    for (auto other = first; other != session.end() && *other < txn; ++other) {
      if (ticker_.tick()) return;
      if (o_.counted(*other)) visit(*other);
    }
  }
  // The first read of the reader that returned a write of `writer`; invalid if there is none.
  [[nodiscard]] ItemId seen_by(TxnId writer) const {
    const Items& items = o_.items();
    for (ItemId i = items.first(reader_); i < items.end(reader_); ++i.value) {
      if (items.is_read(i) && o_.external(i) && o_.writer(i) == writer) return i;
    }
    return {};
  }

  const Observed& o_;
  const History& h_;
  const Mixture& mixture_;
  BudgetTicker ticker_;
  // By transaction: the last one before it in its session whose level asks for session order.
  std::vector<TxnId> asked_before_;
  absl::flat_hash_map<std::pair<SessionId, KeyId>, std::vector<ItemId>> writers_;
  const std::vector<std::uint32_t>* positions_ = nullptr;
  TxnId reader_;
  absl::flat_hash_map<KeyId, std::vector<ItemId>> reads_;  // Of the reader.
  absl::flat_hash_set<TxnId> past_;
  std::vector<TxnId> queue_;
  std::vector<Edge> out_;
};

void add_cycle(Verdict& verdict, AnomalyKind kind, std::vector<Edge> edges) {
  verdict.outcome = Outcome::Violated;
  ++verdict.counts[static_cast<std::size_t>(kind)];
  Anomaly anomaly{.kind = kind, .txns = {}, .ops = {}, .edges = std::move(edges)};
  for (const Edge& edge : anomaly.edges) {
    if (edge.from != kInitialTxn) anomaly.txns.push_back(edge.from);
  }
  verdict.anomalies.push_back(std::move(anomaly));
}

// Decides for given levels, none of which is parallel-si.
Verdict decide_mixture(const Observed& observed, Mixture& mixture, const Budget& budget,
                       const CheckOptions& options) {
  ForcedEdges forced(observed, mixture, budget);
  const auto place = [](const Edge& edge) { return std::tie(edge.from, edge.to); };
  for (;;) {
    Verdict verdict = check_mixture(observed, mixture, budget, options);
    if (budget.exhausted()) return Verdict{.level = Level::Mixed};
    if (verdict.outcome != Outcome::Holds) return verdict;
    const auto more = forced.backward(positions_of(observed.history(), verdict).commit);
    if (budget.exhausted()) return Verdict{.level = Level::Mixed};
    if (more.empty()) return verdict;
    const auto impossible = std::find_if(more.begin(), more.end(),
                                         [](const Edge& edge) { return edge.to == kInitialTxn; });
    if (impossible != more.end()) {
      Edge first{.from = kInitialTxn,
                 .to = impossible->from,
                 .kind = EdgeKind::WriteWrite,
                 .key = impossible->key};
      first.to_op = impossible->from_op;
      verdict = Verdict{.level = Level::Mixed};
      add_cycle(verdict, AnomalyKind::ForbiddenCycle, {first, *impossible});
      return verdict;
    }
    mixture.forced.insert(mixture.forced.end(), more.begin(), more.end());
    std::stable_sort(mixture.forced.begin(), mixture.forced.end(),
                     [&](const Edge& a, const Edge& b) { return place(a) < place(b); });
    const auto end =
        std::unique(mixture.forced.begin(), mixture.forced.end(),
                    [&](const Edge& a, const Edge& b) { return place(a) == place(b); });
    mixture.forced.erase(end, mixture.forced.end());
  }
}

// The levels of all transactions, with `parallel` in place of those of LevelFamily::Parallel.
Mixture mixture_of(const History& h, Level parallel, bool& has_parallel) {
  Mixture out;
  for (std::size_t t = 0; t < h.txn_count(); ++t) {
    const Level level = level_of(h, Level::Mixed, TxnId{t});
    const bool replaced = rules(level).is(LevelFamily::Parallel);
    out.levels.push_back(replaced ? parallel : level);
    has_parallel |= replaced && h.status(TxnId{t}) != TxnStatus::Aborted;
  }
  return out;
}

// Whether levels ask for what clients recorded of begins and commits, which is not judged here.
bool asks_for_inner_clocks(const History& h) {
  if (!h.has_inner_clocks()) return false;
  const auto stated = stated_levels(h);
  return std::any_of(levels().begin(), levels().end(), [&](const LevelInfo& level) {
    return stated[static_cast<std::size_t>(level.level)] && rules(level.level).begins_apart() &&
           rules(level.level).clocks();
  });
}

}  // namespace

std::optional<Verdict> decide_alike(const History& history,
                                    const std::function<Verdict(Level)>& decide) {
  const auto stated = stated_levels(history);
  for (const LevelInfo& level : levels()) {
    const bool only = stated.count() == 1 && stated[static_cast<std::size_t>(level.level)];
    if (only) return as_mixed(decide(level.level));
  }
  for (const LevelInfo& level : levels()) {
    const bool above = std::all_of(levels().begin(), levels().end(), [&](const LevelInfo& other) {
      return !stated[static_cast<std::size_t>(other.level)] ||
             implied_in(history, level.level, other.level, Evidence::Observed);
    });
    if (!above) continue;
    Verdict verdict = decide(level.level);
    if (verdict.outcome != Outcome::Holds) return std::nullopt;
    return as_mixed(std::move(verdict));
  }
  return std::nullopt;
}

Verdict check_mixed(const Observed& observed, const Budget& budget, const CheckOptions& options) {
  const History& h = observed.history();
  bool parallel = false;
  Mixture mixture = mixture_of(h, Level::SessionSi, parallel);
  Verdict verdict = decide_mixture(observed, mixture, budget, options);
  if (parallel && verdict.outcome == Outcome::Violated) {
    mixture = mixture_of(h, Level::Causal, parallel);
    verdict = decide_mixture(observed, mixture, budget, options);
    if (verdict.outcome == Outcome::Holds) {
      verdict = Verdict{.level = Level::Mixed};
      verdict.reason = "it depends on what transactions at parallel-si see";
    }
  }
  if (verdict.outcome == Outcome::Holds && asks_for_inner_clocks(h)) {
    verdict = Verdict{.level = Level::Mixed};
    verdict.reason =
        "when begins were answered and commits asked for is not judged at mixed levels";
  }
  return verdict;
}

}  // namespace ouro
