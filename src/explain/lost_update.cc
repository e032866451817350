#include "explain/lost_update.h"

#include <algorithm>

#include "base/level_rules.h"
#include "history/access.h"
#include "history/moment.h"

namespace ouro {
namespace {

bool is_named(const Anomaly& anomaly, TxnId txn) {
  return std::find(anomaly.txns.begin(), anomaly.txns.end(), txn) != anomaly.txns.end();
}

// The update of the key by the transaction, if it did one and the key is a register or a list.
std::optional<Update> update_of(const History& history, TxnId txn, KeyId key) {
  for (OpId id = history.first_op(txn); id < history.end_op(txn); ++id.value) {
    if (history.op(id).key != key) continue;
    const auto update = update_at(history, id);
    if (!update) return std::nullopt;
    const OpKind write = history.op(update->write).kind;
    const bool list = history.op(id).value.is_list() && is_append(write);
    return list || writes_register(write) ? update : std::nullopt;
  }
  return std::nullopt;
}

// Whether two reads of a key returned the same.
bool is_same(const History& history, Value one, Value other) {
  if (!one.is_list() || !other.is_list()) return one == other;
  const auto a = history.list(one);
  const auto b = history.list(other);
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

// Who wrote and who updated one version of one key, and when.
class SameValue {
 public:
  SameValue(const History& history, KeyId key, Value value, Level level)
      : h_(history),
        key_(key),
        value_(value),
        written_(last_of(history, value)),
        snapshots_(rules(level).begins_apart()) {
    for (std::size_t t = 0; t < h_.txn_count(); ++t) look_at(TxnId{t});
    const auto earlier = [](const auto& a, const auto& b) { return a.commit < b.commit; };
    std::sort(writes_.begin(), writes_.end(), earlier);
    std::sort(updates_.begin(), updates_.end(), earlier);
  }

  struct AnUpdate {
    Update update;
    TxnId txn;
    Moment begin;
    Moment commit;
  };

  // By commit.
  [[nodiscard]] const std::vector<AnUpdate>& updates() const { return updates_; }

  // The write of the version that a transaction with this begin read: the last one before; the
  // first one, if it read what did not exist yet. Invalid: nobody wrote it.
  [[nodiscard]] OpId source(const Moment& begin) const {
    const auto after = std::partition_point(writes_.begin(), writes_.end(),
                                            [&](const AWrite& w) { return w.commit < begin; });
    if (after != writes_.begin()) return std::prev(after)->op;
    return writes_.empty() || h_.initial(key_) == value_ ? OpId{} : writes_.front().op;
  }

  // What its last writer wrote: of a list the last element; of an empty one, nothing.
  [[nodiscard]] static Value last_of(const History& history, Value value) {
    if (!value.is_list()) return value;
    const auto elements = history.list(value);
    return elements.empty() ? Value::unobserved() : elements.back();
  }

 private:
  struct AWrite {
    OpId op;
    Moment commit;
  };

  void look_at(TxnId txn) {
    OpId last;  // Its last write of the key.
    bool touches = false;
    for (OpId id = h_.first_op(txn); id < h_.end_op(txn); ++id.value) {
      const Op op = h_.op(id);
      if (op.key != key_) continue;
      touches = true;
      if (is_write(op.kind)) last = id;
    }
    if (!touches || !last.valid()) return;
    const TxnMoments moments = moments_of(h_, txn, true, txn.value, snapshots_);
    if (!moments.known()) return;
    if (h_.op(last).value == written_) writes_.push_back({last, moments.commit});
    const auto update = update_of(h_, txn, key_);
    if (!update || !is_same(h_, h_.op(update->read).value, value_)) return;
    updates_.push_back({*update, txn, moments.begin, moments.commit});
  }

  const History& h_;
  const KeyId key_;
  const Value value_;
  const Value written_;   // What who made this version wrote.
  const bool snapshots_;  // Whether transactions begin before they commit.
  std::vector<AWrite> writes_;
  std::vector<AnUpdate> updates_;
};

}  // namespace

std::optional<Update> update_at(const History& history, OpId read) {
  const Op op = history.op(read);
  if (!is_read(op.kind) || op.value.is_unobserved()) return std::nullopt;
  const TxnId txn = history.txn_of(read);
  for (OpId id = history.first_op(txn); id < read; ++id.value) {
    if (history.op(id).key == op.key) return std::nullopt;
  }
  for (OpId id{read.index() + 1}; id < history.end_op(txn); ++id.value) {
    const Op write = history.op(id);
    if (write.key == op.key && is_write(write.kind)) return Update{read, id};
  }
  return std::nullopt;
}

std::optional<LostUpdate> lost_update_in(const History& history, const Anomaly& anomaly,
                                         Level level) {
  const bool conflict = anomaly.kind == AnomalyKind::WriteConflict;
  if (!conflict && anomaly.kind != AnomalyKind::SnapshotMismatch) return std::nullopt;
  if (anomaly.ops.empty() || !history.op(anomaly.ops[0]).key.valid()) return std::nullopt;
  const TxnId first = history.txn_of(anomaly.ops[0]);
  const KeyId key = history.op(anomaly.ops[0]).key;
  const auto update = update_of(history, first, key);
  if (!update) return std::nullopt;
  const SameValue same(history, key, history.op(update->read).value, level);
  const auto& all = same.updates();
  const auto own =
      std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.txn == first; });
  if (own == all.end()) return std::nullopt;
  const OpId source = same.source(own->begin);
  const SameValue::AnUpdate* other = nullptr;
  for (const auto& each : all) {
    if (each.txn == first || same.source(each.begin) != source) continue;
    const bool named = is_named(anomaly, each.txn);
    if (conflict && !named) continue;
    if (other == nullptr || (named && !is_named(anomaly, other->txn))) other = &each;
  }
  if (other == nullptr) return std::nullopt;
  return LostUpdate{*update, other->update, source};
}

std::optional<LostUpdate> lost_update_among(const History& history, std::span<const OpId> ops,
                                            OpId shown) {
  const KeyId key = history.op(shown).key;
  const auto own = key.valid() ? update_of(history, history.txn_of(shown), key) : std::nullopt;
  // Any write will do, not only the first one.
  const auto is_told = [&](const Update& update) {
    const TxnId txn = history.txn_of(update.read);
    return std::binary_search(ops.begin(), ops.end(), update.read) &&
           std::any_of(ops.begin(), ops.end(), [&](OpId id) {
             const Op op = history.op(id);
             return id >= update.write && op.key == key && is_write(op.kind) &&
                    history.txn_of(id) == txn;
           });
  };
  if (!own || !is_told(*own)) return std::nullopt;
  for (const OpId id : ops) {
    const Op op = history.op(id);
    if (id == own->read || op.key != key || !is_read(op.kind)) continue;
    if (!is_same(history, op.value, history.op(own->read).value)) continue;
    const auto other = update_at(history, id);
    if (other && is_told(*other)) return LostUpdate{*own, *other, OpId{}};
  }
  return std::nullopt;
}

}  // namespace ouro
