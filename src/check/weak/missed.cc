#include "check/weak/missed.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <vector>

#include "base/level_rules.h"
#include "check/weak/guess.h"
#include "check/weak/weak.h"

namespace ouro {
namespace {

class Missed {
 public:
  Missed(const Observed& observed, Level level, std::span<const std::uint32_t> positions,
         const Budget& budget)
      : o_(observed),
        level_(level),
        positions_(positions),
        before_(session_predecessors(observed)),
        ticker_(budget) {}

  // What the reader of an unseen change missed, if it knew of who wrote that or a later version.
  std::optional<Anomaly> look_at(const PredicateEdge& unseen) {
    const TxnId changer = o_.txn(unseen.write);
    limit_ = positions_[changer.index()];
    if (limit_ >= positions_[unseen.reader.index()]) return std::nullopt;
    key_ = o_.items().key(unseen.write);
    const TxnId known = find(unseen);
    if (!known.valid()) return std::nullopt;
    Anomaly anomaly{.kind = kind_at(rules(level_).premise), .txns = {}, .ops = {}, .edges = {}};
    anomaly.edges.push_back({.from = unseen.reader,
                             .to = known,
                             .kind = EdgeKind::ReadWrite,
                             .key = key_,
                             .from_op = unseen.read,
                             .to_op = o_.items().op(final_write(o_, known, key_))});
    for (TxnId txn = known; txn != unseen.reader; txn = anomaly.edges.back().to) {
      anomaly.edges.push_back(steps_.at(txn));
    }
    for (const Edge& edge : anomaly.edges) anomaly.txns.push_back(edge.from);
    return anomaly;
  }

  [[nodiscard]] bool stopped() { return ticker_.stopped(); }

 private:
  // Whom the reader knew of, and wrote the key at or behind the limit; invalid: nobody.
  TxnId find(const PredicateEdge& unseen) {
    steps_.clear();
    queue_.assign(1, unseen.reader);
    const Premise premise = rules(level_).premise;
    for (std::size_t at = 0; at < queue_.size(); ++at) {
      const TxnId txn = queue_[at];
      if (at > 0 && final_write(o_, txn, key_).valid()) return txn;
      if (at > 0 && premise != Premise::WholePast) continue;
      const OpId end = premise == Premise::EarlierReads ? unseen.read : o_.history().end_op(txn);
      visit_sources(txn, end);
      if (premise != Premise::EarlierReads) visit_session(txn);
      if (ticker_.stopped()) return {};
    }
    return {};
  }

  // Those that operations of `txn` before `end` read from.
  void visit_sources(TxnId txn, OpId end) {
    const Items& items = o_.items();
    for (ItemId i = items.first(txn); i < items.end(txn) && !ticker_.tick(); ++i.value) {
      if (items.op(i) >= end || !items.is_read(i) || !o_.external(i)) continue;
      const TxnId writer = o_.writer(i);
      if (writer == kInitialTxn) continue;
      visit({.from = writer,
             .to = txn,
             .kind = EdgeKind::WriteRead,
             .key = items.key(i),
             .from_op = items.op(o_.write(i)),
             .to_op = items.op(i)});
    }
  }

  // Those before `txn` in its session.
  void visit_session(TxnId txn) {
    for (TxnId other = before_[txn.index()]; other.valid() && is_behind(other);
         other = before_[other.index()]) {
      if (ticker_.tick()) return;
      visit({.from = other, .to = txn, .kind = EdgeKind::Session});
      if (rules(level_).premise == Premise::WholePast) return;  // Whose past has the others.
    }
  }

  // Whoever comes before the limit in the order wrote no version behind the change.
  [[nodiscard]] bool is_behind(TxnId txn) const { return positions_[txn.index()] >= limit_; }

  void visit(const Edge& step) {
    if (!is_behind(step.from) || step.from == queue_.front()) return;
    if (steps_.try_emplace(step.from, step).second) queue_.push_back(step.from);
  }

  const Observed& o_;
  const Level level_;
  const std::span<const std::uint32_t> positions_;
  const std::vector<TxnId> before_;
  BudgetTicker ticker_;
  KeyId key_;
  std::uint32_t limit_ = 0;                 // The position of who wrote the change.
  absl::flat_hash_map<TxnId, Edge> steps_;  // By transaction: on to one nearer to the reader.
  std::vector<TxnId> queue_;
};

}  // namespace

std::optional<Anomaly> find_missed(const Observed& observed, Level level,
                                   std::span<const PredicateEdge> unseen,
                                   std::span<const std::uint32_t> positions, const Budget& budget) {
  if (unseen.empty()) return std::nullopt;
  Missed missed(observed, level, positions, budget);
  for (const PredicateEdge& edge : unseen) {
    if (missed.stopped()) return std::nullopt;
    if (auto anomaly = missed.look_at(edge)) return anomaly;
  }
  return std::nullopt;
}

}  // namespace ouro
