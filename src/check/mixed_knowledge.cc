#include "check/mixed_knowledge.h"

#include <algorithm>

namespace ouro {

MixedKnowledge::MixedKnowledge(const Observed& observed, const Mixture& mixture,
                               const std::vector<Level>& levels, const Budget& budget)
    : o_(observed),
      h_(observed.history()),
      mixture_(mixture),
      levels_(levels),
      ticker_(budget, 1024, 4),
      asked_before_(h_.txn_count()) {
  note_sessions();
}

std::vector<Edge> MixedKnowledge::backward(const Positions& positions) {
  positions_ = &positions;
  follows_overwrites_ = false;
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

std::optional<Missed> MixedKnowledge::missed(const Positions& positions) {
  positions_ = &positions;
  follows_overwrites_ = true;
  out_.clear();
  for (std::size_t t = 0; t < h_.txn_count() && !ticker_.stopped(); ++t) {
    if (!o_.counted(TxnId{t}) || !rules(levels_[t]).is(LevelFamily::Parallel)) continue;
    reader_ = TxnId{t};
    whole_past();
    if (out_.empty()) continue;
    const Edge& forced = out_.front();
    Missed missed{.overwritten = {.from = reader_,
                                  .to = forced.from,
                                  .kind = EdgeKind::ReadWrite,
                                  .key = forced.key,
                                  .from_op = forced.read,
                                  .to_op = forced.from_op},
                  .source = forced.to,
                  .known = {}};
    for (TxnId txn = forced.from; txn != reader_; txn = missed.known.back().to) {
      missed.known.push_back(step_from(txn));
    }
    return missed;
  }
  return std::nullopt;
}

// Notes, for each session and key, who wrote it; and for each transaction the last one before it
// whose level asks for session order.
void MixedKnowledge::note_sessions() {
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

// Calls f with each external read of the reader.
template <class F>
void MixedKnowledge::for_each_read(const F& f) {
  const Items& items = o_.items();
  for (ItemId i = items.first(reader_); i < items.end(reader_) && !ticker_.tick(); ++i.value) {
    if (items.is_read(i) && o_.external(i)) f(i);
  }
}

// The reader knew of who did `write`. If that is behind the version that `read` returned, of the
// same key, it must be before it. `saw` is a read by which the reader knew of it, or invalid.
void MixedKnowledge::know(ItemId write, ItemId read, ItemId saw) {
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

void MixedKnowledge::earlier_reads() {
  const Items& items = o_.items();
  for_each_read([&](ItemId read) {
    for_each_read([&](ItemId saw) {
      if (items.op(saw) >= items.op(read) || o_.writer(saw) == kInitialTxn) return;
      const ItemId write = final_write(o_, o_.writer(saw), items.key(read));
      if (write.valid()) know(write, read, saw);
    });
  });
}

void MixedKnowledge::direct_past() {
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

void MixedKnowledge::whole_past() {
  const Items& items = o_.items();
  reads_.clear();
  for_each_read([&](ItemId read) { reads_[items.key(read)].push_back(read); });
  past_.clear();
  queue_.assign(1, reader_);
  past_[reader_] = {};
  for (std::size_t at = 0; at < queue_.size() && !ticker_.stopped(); ++at) {
    const TxnId txn = queue_[at];
    for (ItemId i = items.first(txn); i < items.end(txn) && !ticker_.tick(); ++i.value) {
      if (items.is_read(i) && o_.external(i)) visit(o_.writer(i), {txn, {}});
      if (!items.is_write(i) || !o_.final(i)) continue;
      if (follows_overwrites_ && !rules(levels_[txn.index()]).lost_updates) visit_overwritten(i);
      if (txn == reader_) continue;
      const auto reads = reads_.find(items.key(i));
      if (reads == reads_.end()) continue;
      for (const ItemId read : reads->second) know(i, read, seen_by(txn));
    }
    visit_session(txn);
  }
}

void MixedKnowledge::visit(TxnId txn, Step step) {
  if (txn == kInitialTxn || !txn.valid()) return;
  if (past_.try_emplace(txn, step).second) queue_.push_back(txn);
}

// Whoever precedes a transaction in session order, where a level asks for that.
void MixedKnowledge::visit_session(TxnId txn) {
  const TxnId asks = asked_before_[txn.index()];
  visit(asks, {txn, {}});
  if (!mixture_.rules_of(txn).sessions) return;
  const auto session = h_.session_txns(h_.session(txn));
  const auto first =
      asks.valid() ? std::upper_bound(session.begin(), session.end(), asks) : session.begin();
  for (auto other = first; other != session.end() && *other < txn; ++other) {
    if (ticker_.tick()) return;
    if (o_.counted(*other)) visit(*other, {txn, {}});
  }
}

// Whoever wrote, before `write`, another version of its key.
void MixedKnowledge::visit_overwritten(ItemId write) {
  const TxnId txn = o_.txn(write);
  const KeyId key = o_.items().key(write);
  for (const ItemId other : o_.items_of(key)) {
    if (ticker_.tick()) return;
    if (!o_.items().is_write(other) || !o_.final(other) || !o_.counted(o_.txn(other))) continue;
    if (position(o_.txn(other)) < position(txn)) visit(o_.txn(other), {txn, key});
  }
}

// The first read of the reader that returned a write of `writer`; invalid if there is none.
ItemId MixedKnowledge::seen_by(TxnId writer) const {
  const Items& items = o_.items();
  for (ItemId i = items.first(reader_); i < items.end(reader_); ++i.value) {
    if (items.is_read(i) && o_.external(i) && o_.writer(i) == writer) return i;
  }
  return {};
}

// The step by which the reader came to know of `known`.
Edge MixedKnowledge::step_from(TxnId known) const {
  const Items& items = o_.items();
  const Step step = past_.at(known);
  Edge edge{.from = known, .to = step.next, .kind = EdgeKind::Session};
  if (step.key.valid()) {
    edge.kind = EdgeKind::WriteWrite;
    edge.key = step.key;
    edge.from_op = items.op(final_write(o_, known, step.key));
    edge.to_op = items.op(final_write(o_, step.next, step.key));
    return edge;
  }
  for (ItemId i = items.first(step.next); i < items.end(step.next); ++i.value) {
    if (!items.is_read(i) || !o_.external(i) || o_.writer(i) != known) continue;
    edge.kind = EdgeKind::WriteRead;
    edge.key = items.key(i);
    edge.from_op = items.op(o_.write(i));
    edge.to_op = items.op(i);
    return edge;
  }
  return edge;
}

}  // namespace ouro
