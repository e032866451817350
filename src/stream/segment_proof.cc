#include "stream/segment_proof.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace ouro::segments {

std::vector<KeptValue> keys_of(const History& history, const Verdict& verdict) {
  std::vector<KeyId> keys;
  const auto add_edges = [&](const std::vector<Edge>& edges) {
    for (const Edge& edge : edges) keys.push_back(edge.key);
  };
  const auto add_refutation = [&](const Refutation& refutation) {
    for (const Choice& choice : refutation.choices) keys.push_back(choice.key);
    for (const RefutationStep& step : refutation.steps) add_edges(step.cycle);
  };
  const auto add_anomalies = [&](const std::vector<Anomaly>& anomalies) {
    for (const Anomaly& anomaly : anomalies) {
      for (const OpId op : anomaly.ops) keys.push_back(history.op(op).key);
      add_edges(anomaly.edges);
    }
  };
  add_anomalies(verdict.anomalies);
  add_refutation(verdict.refutation);
  for (const SourceCase& each : verdict.cases) {
    for (const ReadSource& source : each.sources) keys.push_back(source.key);
    add_anomalies(each.anomalies);
    add_refutation(each.refutation);
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  std::vector<KeptValue> out;
  for (const KeyId key : keys) {
    if (key.valid()) out.emplace_back(history, history.key_name(key));
  }
  return out;
}

SegmentProof::SegmentProof(const SegmentNeeds& needs)
    : end_(needs.end),
      places_(needs.places.begin(), needs.places.end()),
      read_(needs.read.begin(), needs.read.end()),
      about_(needs.keys.begin(), needs.keys.end()),
      asked_(needs.asked.begin(), needs.asked.end()) {}

void SegmentProof::add(const History& piece) {
  if (!begun_) copier_.say_initial(piece, piece.default_initial());
  begun_ = true;
  for (std::size_t k = 0; k < piece.key_count(); ++k) {
    const KeyId key{k};
    keys_.try_emplace(KeptValue(piece, piece.key_name(key)), keys_.size());
    if (piece.initial(key) != piece.default_initial()) {
      copier_.say_initial(piece, key, piece.initial(key));
    }
  }
  for (std::size_t t = 0; t < piece.txn_count(); ++t) add_txn(piece, TxnId{t});
  txns_ += piece.txn_count();
  ops_ += piece.op_count();
}

void SegmentProof::add_txn(const History& piece, TxnId txn) {
  if (places_.contains(txns_ + txn.index())) {
    add_whole(piece, txn);
  } else {
    add_some(piece, txn);
  }
}

void SegmentProof::begin(const History& piece, TxnId txn) {
  const auto source = std::shared_ptr<const History>(std::shared_ptr<const History>(), &piece);
  copier_.begin({source, txn});
  copier_.add_clocks({source, txn});
  txn_of_.push_back(txns_ + txn.index());
}

void SegmentProof::add_whole(const History& piece, TxnId txn) {
  begin(piece, txn);
  for (OpId id = piece.first_op(txn); id < piece.end_op(txn); ++id.value) {
    copier_.add_op(piece, id);
    op_of_.push_back(ops_ + id.index());
  }
}

// Of a transaction that is not of the segment, only the operations that matter: what the others
// rest on is not here.
void SegmentProof::add_some(const History& piece, TxnId txn) {
  const bool behind = txns_ + txn.index() >= end_ && piece.status(txn) == TxnStatus::Committed;
  absl::flat_hash_set<KeyId> written;
  bool begun = false;
  for (OpId id = piece.first_op(txn); id < piece.end_op(txn); ++id.value) {
    const Op op = piece.op(id);
    const bool writes = is_write(op.kind);
    if (matters(piece, op, behind && !written.contains(op.key))) {
      if (!std::exchange(begun, true)) begin(piece, txn);
      HistoryBuilder& builder = copier_.builder();
      const KeyId key = builder.key(KeptValue(piece, piece.key_name(op.key)).in(builder));
      const OpKind kind = op.kind == OpKind::CasWrite  ? OpKind::Write
                          : op.kind == OpKind::CasRead ? OpKind::Read
                                                       : op.kind;
      builder.add(kind, key, KeptValue(piece, op.value).in(builder));
      op_of_.push_back(ops_ + id.index());
    }
    if (writes) written.insert(op.key);
  }
}

// `behind`: the transaction is behind the segment, committed, and did not write the key before.
bool SegmentProof::matters(const History& piece, const Op& op, bool behind) {
  const bool writes = is_write(op.kind);
  if (!writes && !(is_read(op.kind) && !op.value.is_unobserved())) return false;
  const KeptVersion version{KeptValue(piece, piece.key_name(op.key)), KeptValue(piece, op.value)};
  if (about_.contains(version.first)) return true;
  return writes ? read_.contains(version) : behind && asked_.erase(version) > 0;
}

Result<Verdict> SegmentProof::find(Level level, const CheckOptions& options) {
  const auto part = copier_.freeze();
  if (!part.ok()) return part.error();
  for (std::size_t k = 0; k < part->key_count(); ++k) {
    key_of_.push_back(keys_.at(KeptValue(*part, part->key_name(KeyId{k}))));
  }
  auto verdict = check(*part, level, options);
  if (verdict.ok() && verdict->outcome == Outcome::Violated) lift(*verdict);
  return verdict;
}

// ---- ids ----

void SegmentProof::lift(TxnId& txn) const {
  if (txn.valid() && txn != kInitialTxn) txn = TxnId{txn_of_[txn.index()]};
}

void SegmentProof::lift(OpId& op) const {
  if (op.valid()) op = OpId{op_of_[op.index()]};
}

void SegmentProof::lift(KeyId& key) const {
  if (key.valid()) key = KeyId{key_of_[key.index()]};
}

void SegmentProof::lift(std::vector<Edge>& edges) const {
  for (Edge& edge : edges) {
    for (TxnId* txn : {&edge.from, &edge.to}) lift(*txn);
    for (OpId* op : {&edge.from_op, &edge.to_op, &edge.read, &edge.saw}) lift(*op);
    lift(edge.key);
  }
}

void SegmentProof::lift(Anomaly& anomaly) const {
  for (TxnId& txn : anomaly.txns) lift(txn);
  for (OpId& op : anomaly.ops) lift(op);
  lift(anomaly.edges);
  lift(anomaly.support);
}

void SegmentProof::lift(Refutation& refutation) const {
  for (Choice& choice : refutation.choices) {
    lift(choice.key);
    lift(choice.first);
    lift(choice.second);
    lift(choice.read);
  }
  for (RefutationStep& step : refutation.steps) lift(step.cycle);
}

void SegmentProof::lift(Verdict& verdict) const {
  for (Anomaly& anomaly : verdict.anomalies) lift(anomaly);
  lift(verdict.refutation);
  for (SourceCase& each : verdict.cases) {
    for (ReadSource& source : each.sources) {
      lift(source.read);
      lift(source.key);
      lift(source.writer);
    }
    for (Anomaly& anomaly : each.anomalies) lift(anomaly);
    lift(each.refutation);
  }
}

}  // namespace ouro::segments
