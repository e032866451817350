#include "check/timeline/examples.h"

#include <algorithm>
#include <array>

#include "history/columns.h"

namespace ouro {
namespace {

// A violation, and what one pass over the history finds out about it.
struct ExampleSearch {
  Violation violation;
  // Whose writes are looked at; invalid: none.
  KeyId key;
  std::vector<OpId> partners;  // Of a write conflict: a write of each that it conflicts with.
  OpId source;                 // Of a wrong read: the write that it returned.
};

// Whether `first` commits while `other` is running: after its begin and before its commit.
bool overlaps(const Timeline& timeline, TxnId first, TxnId other) {
  return other != first && timeline.has(other) && timeline.begin(other) < timeline.commit(first) &&
         timeline.commit(first) < timeline.commit(other);
}

void look_at_write(const History& history, const Timeline& timeline, TxnId txn, const Op& op,
                   ExampleSearch& search) {
  const Violation& v = search.violation;
  if (v.kind == AnomalyKind::WriteConflict) {
    const bool again = !search.partners.empty() && history.first_op(txn) <= search.partners.back();
    if (!again && overlaps(timeline, v.txn, txn)) search.partners.push_back(op.id);
    return;
  }
  if (op.value != history.op(v.op).value || txn == v.txn) return;
  // If several wrote the value, one that is on the timeline explains it better.
  const bool known = search.source.valid();
  if (!known || (!timeline.has(history.txn_of(search.source)) && timeline.has(txn))) {
    search.source = op.id;
  }
}

void look_through(const History& history, const Timeline& timeline,
                  std::vector<ExampleSearch>& searches) {
  const auto keys = columns_of(history).op_key;
  std::vector<bool> wanted(history.key_count(), false);
  for (const ExampleSearch& search : searches) {
    if (search.key.valid()) wanted[search.key.index()] = true;
  }
  for (std::size_t t = 0; t < history.txn_count(); ++t) {
    const TxnId txn{t};
    for (OpId id = history.first_op(txn); id < history.end_op(txn); ++id.value) {
      const KeyId key = keys[id.index()];
      if (!key.valid() || !wanted[key.index()]) continue;
      const Op op = history.op(id);
      if (!is_write(op.kind)) continue;
      for (ExampleSearch& search : searches) {
        if (search.key == op.key) look_at_write(history, timeline, txn, op, search);
      }
    }
  }
}

Anomaly anomaly_of(const History& history, const Violation& v, OpId partner) {
  Anomaly anomaly{.kind = v.kind, .txns = {v.txn}, .ops = {}, .edges = {}};
  anomaly.expected = v.expected;
  const auto involve = [&](TxnId txn) {
    if (!txn.valid()) return;
    if (std::find(anomaly.txns.begin(), anomaly.txns.end(), txn) == anomaly.txns.end()) {
      anomaly.txns.push_back(txn);
    }
  };
  involve(v.other);
  for (const OpId op : {v.op, v.other_op, partner}) {
    if (!op.valid()) continue;
    anomaly.ops.push_back(op);
    involve(history.txn_of(op));
  }
  return anomaly;
}

}  // namespace

std::vector<Anomaly> anomalies_of(const History& history, const Timeline& timeline,
                                  std::vector<Violation> violations, std::size_t examples) {
  std::vector<ExampleSearch> searches;
  for (Violation& v : violations) {
    const bool look =
        v.kind == AnomalyKind::WriteConflict || v.kind == AnomalyKind::SnapshotMismatch;
    // An open read does not say what it returned, so nobody can be said to have written that.
    const bool tells = look && !is_open_read(history.op(v.op).kind);
    const KeyId key = tells ? history.op(v.op).key : KeyId{};
    searches.push_back({std::move(v), key, {}, {}});
  }
  if (std::any_of(searches.begin(), searches.end(),
                  [](const ExampleSearch& search) { return search.key.valid(); })) {
    look_through(history, timeline, searches);
  }
  std::vector<Anomaly> out;
  std::array<std::size_t, kAnomalyKindCount> taken{};
  for (ExampleSearch& search : searches) {
    std::size_t& count = taken[static_cast<std::size_t>(search.violation.kind)];
    if (search.violation.kind != AnomalyKind::WriteConflict) {
      ++count;
      out.push_back(anomaly_of(history, search.violation, search.source));
      continue;
    }
    std::sort(search.partners.begin(), search.partners.end(), [&](OpId a, OpId b) {
      return timeline.commit(history.txn_of(a)) < timeline.commit(history.txn_of(b));
    });
    for (const OpId partner : search.partners) {
      if (count++ < examples) out.push_back(anomaly_of(history, search.violation, partner));
    }
  }
  return out;
}

}  // namespace ouro
