// Checks the violations that a certificate names: one by one, from the raw history; wrong results
// of predicate reads all at once, as each of them is about the whole database.

#include <absl/container/flat_hash_set.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "certify/clock.h"
#include "certify/rows.h"
#include "certify/timestamps.h"
#include "certify/undone.h"
#include "certify/values.h"
#include "history/columns.h"

namespace ouro::recheck {
namespace {

class Claims {
 public:
  Claims(const History& history, const Certificate& certificate)
      : h_(history),
        rules_(rules_of(certificate.verdict.level)),
        clock_drift_(certificate.clock_drift),
        clock_(history, rules_) {
    const auto& claims = certificate.verdict.anomalies;
    const bool asked = std::any_of(claims.begin(), claims.end(), [](const Anomaly& claim) {
      return claim.kind == AnomalyKind::ResultSetMismatch;
    });
    if (asked) wrong_results_ = wrong_results();
  }

  std::string complaint(const Anomaly& anomaly) const {
    const std::string name(info(anomaly.kind).name);
    for (const TxnId txn : anomaly.txns) {
      if (!txn.valid() || txn.index() >= h_.txn_count()) return name + " of unknown transactions";
    }
    for (const OpId op : anomaly.ops) {
      if (!op.valid() || op.index() >= h_.op_count()) return name + " of unknown operations";
    }
    return is_true(anomaly) ? "" : name + " that the history does not show";
  }

 private:
  [[nodiscard]] bool is_true(const Anomaly& anomaly) const {
    const auto& txns = anomaly.txns;
    const auto& ops = anomaly.ops;
    switch (anomaly.kind) {
      case AnomalyKind::SnapshotMismatch:
      case AnomalyKind::Internal:
      case AnomalyKind::NonRepeatableRead:
        return !ops.empty() && wrong_read(ops[0]) == anomaly.kind;
      case AnomalyKind::ResultSetMismatch:
        return !ops.empty() && wrong_results_.contains(ops[0]);
      case AnomalyKind::WriteConflict:
        return ops.size() == 2 && rules_.family == Family::Snapshot && conflict(ops[0], ops[1]);
      case AnomalyKind::DuplicateTimestamp:
        return ops.size() == 2 && tie(ops[0], ops[1]);
      case AnomalyKind::SessionInversion:
        return txns.size() == 2 && rules_.sessions && breaks_session(txns[0], txns[1]);
      case AnomalyKind::RealTimeInversion:
        return txns.size() == 2 && rules_.real_time && breaks_real_time(txns[0], txns[1]);
      case AnomalyKind::MissingTimestamp:
        return txns.size() == 1 && clock_.takes_part(txns[0]) && !clock_.is_known(txns[0]);
      case AnomalyKind::InvertedTimestamps:
        return txns.size() == 1 && clock_.is_known(txns[0]) && clock_.is_inverted(txns[0]);
      default:
        return false;
    }
  }

  // ---- pairs of transactions ----

  // Whether both are writes of the same key, by different transactions whose moments are known.
  [[nodiscard]] bool write_one_key(OpId a, OpId b) const {
    const Op one = h_.op(a);
    const Op two = h_.op(b);
    const TxnId first = h_.txn_of(a);
    const TxnId second = h_.txn_of(b);
    return ouro::is_write(one.kind) && ouro::is_write(two.kind) && one.key == two.key &&
           first != second && clock_.is_known(first) && clock_.is_known(second);
  }
  [[nodiscard]] bool conflict(OpId a, OpId b) const {
    if (!write_one_key(a, b)) return false;
    const TxnId first = h_.txn_of(a);
    const TxnId second = h_.txn_of(b);
    return !clock_.sees(first, second) && !clock_.sees(second, first);
  }
  [[nodiscard]] bool tie(OpId a, OpId b) const {
    return write_one_key(a, b) && clock_.commit_ts(h_.txn_of(a)) == clock_.commit_ts(h_.txn_of(b));
  }
  [[nodiscard]] bool breaks_session(TxnId later, TxnId earlier) const {
    if (h_.session(later) != h_.session(earlier)) return false;
    const auto all = h_.session_txns(h_.session(later));
    const auto at = std::find(all.begin(), all.end(), earlier);
    return std::find(at, all.end(), later) != all.end() && later != earlier &&
           clock_.is_known(later) && clock_.is_known(earlier) && !clock_.sees(later, earlier);
  }
  [[nodiscard]] bool breaks_real_time(TxnId later, TxnId earlier) const {
    if (!clock_.is_known(later) || !clock_.is_known(earlier)) return false;
    const auto before = [&](std::optional<std::int64_t> answered,
                            std::optional<std::int64_t> asked) {
      return answered && asked && precedes_in_time(*answered, *asked, clock_drift_);
    };
    const auto completed = h_.completed(earlier);
    if (!rules_.commit_to_commit && before(completed, h_.invoked(later)) &&
        !clock_.sees(later, earlier)) {
      return true;
    }
    if (rules_.commit_to_commit && before(completed, h_.invoked(later)) &&
        !(clock_.commit(earlier) < clock_.commit(later))) {
      return true;
    }
    if (rules_.family != Family::Snapshot || !clock_.writes(later)) return false;
    const auto asked = earliest_commit(h_, later);
    return (before(completed, asked) && !(clock_.commit(earlier) < clock_.commit(later))) ||
           (before(latest_begin(h_, earlier), asked) &&
            !(clock_.begin(earlier) < clock_.commit(later)));
  }

  // ---- reads ----

  [[nodiscard]] static std::span<const Value> elements(const History& history, Value list) {
    return list.is_list() && list.length() > 0 ? history.list(list) : std::span<const Value>{};
  }

  [[nodiscard]] bool is_list(KeyId key) const {
    const HistoryColumns& c = columns_of(h_);
    for (std::size_t i = 0; i < h_.op_count(); ++i) {
      if (c.op_key[i] != key || is_predicate_read(c.op_kind[i])) continue;
      const bool appends = c.op_kind[i] == OpKind::Append || c.op_kind[i] == OpKind::UndoneAppend;
      if (appends || c.op_value[i].is_list()) return true;
    }
    return false;
  }

  // What is wrong with a read of one key; nothing if it is right, or no such read.
  [[nodiscard]] std::optional<AnomalyKind> wrong_read(OpId id) const {
    const Op read = h_.op(id);
    const TxnId txn = h_.txn_of(id);
    if (clock_.is_known(txn) && contradicted_write(h_, txn, id).valid()) {
      return AnomalyKind::Internal;
    }
    const bool judged = ouro::is_read(read.kind) || is_open_read(read.kind);
    if (!judged || read.value.is_unobserved() || !clock_.is_known(txn)) {
      return {};
    }
    std::optional<Value> earlier;  // What the transaction read last.
    std::vector<Value> own;        // What it wrote after that.
    for (OpId op = h_.first_op(txn); op < id; ++op.value) {
      const Op before = h_.op(op);
      if (before.key != read.key || is_predicate_read(before.kind)) continue;
      if (ouro::is_write(before.kind)) {
        own.push_back(before.value);
      } else if (ouro::is_read(before.kind) && !before.value.is_unobserved()) {
        earlier = before.value;
        own.clear();
      }
    }
    return is_list(read.key) ? wrong_list(txn, read, earlier, own)
                             : wrong_register(txn, read, earlier, own);
  }

  [[nodiscard]] std::optional<AnomalyKind> wrong_register(TxnId txn, const Op& read,
                                                          std::optional<Value> earlier,
                                                          const std::vector<Value>& own) const {
    const auto fits = [&](Value there) { return (there == read.value) != is_open_read(read.kind); };
    if (!own.empty()) {
      if (fits(own.back())) return {};
      return AnomalyKind::Internal;
    }
    if (earlier) {
      if (fits(*earlier)) return {};
      return AnomalyKind::NonRepeatableRead;
    }
    Value held = h_.initial(read.key);
    std::optional<Clock::Moment> latest;
    for_each_write(txn, read.key, [&](TxnId writer, Value value) {
      const Clock::Moment moment = clock_.commit(writer);
      if (latest && moment < *latest) return;
      latest = moment;
      held = value;
    });
    if (fits(held)) return {};
    return AnomalyKind::SnapshotMismatch;
  }

  [[nodiscard]] std::optional<AnomalyKind> wrong_list(TxnId txn, const Op& read,
                                                      std::optional<Value> earlier,
                                                      const std::vector<Value>& own) const {
    const auto shown = elements(h_, read.value);
    std::vector<Value> wanted;
    if (earlier) {
      wanted.assign(elements(h_, *earlier).begin(), elements(h_, *earlier).end());
      wanted.insert(wanted.end(), own.begin(), own.end());
      if (same_values(shown, wanted)) return {};
      return own.empty() ? AnomalyKind::NonRepeatableRead : AnomalyKind::Internal;
    }
    if (shown.size() < own.size() || !same_values(shown.last(own.size()), own)) {
      return AnomalyKind::Internal;
    }
    std::vector<std::pair<Clock::Moment, Value>> appends;
    for_each_write(txn, read.key, [&](TxnId writer, Value value) {
      appends.emplace_back(clock_.commit(writer), value);
    });
    std::stable_sort(appends.begin(), appends.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& append : appends) wanted.push_back(append.second);
    if (same_values(shown.first(shown.size() - own.size()), wanted)) return {};
    return AnomalyKind::SnapshotMismatch;
  }

  // Calls f(writer, value) for every write of `key` that `reader` sees, those of one writer in
  // program order.
  template <class F>
  void for_each_write(TxnId reader, KeyId key, const F& f) const {
    for (std::size_t i = 0; i < h_.txn_count(); ++i) {
      const TxnId txn{i};
      if (!clock_.is_known(txn) || !clock_.writes(txn) || !clock_.sees(reader, txn)) continue;
      for (OpId id = h_.first_op(txn); id < h_.end_op(txn); ++id.value) {
        const Op op = h_.op(id);
        if (op.key == key && ouro::is_write(op.kind)) f(txn, op.value);
      }
    }
  }

  // The predicate reads that did not return what they should, found by one walk through all
  // moments.
  [[nodiscard]] absl::flat_hash_set<OpId> wrong_results() const {
    std::vector<std::pair<Clock::Moment, TxnId>> moments;
    for (std::size_t i = 0; i < h_.txn_count(); ++i) {
      if (!clock_.is_known(TxnId{i})) continue;
      moments.emplace_back(clock_.begin(TxnId{i}), TxnId{i});
      moments.emplace_back(clock_.commit(TxnId{i}), TxnId{i});
    }
    std::sort(moments.begin(), moments.end());
    const RowIndex index(h_);
    Table table(h_, index);
    absl::flat_hash_set<OpId> wrong;
    for (const auto& [moment, txn] : moments) {
      for (OpId id = h_.first_op(txn); id < h_.end_op(txn); ++id.value) {
        const Op op = h_.op(id);
        if (ouro::is_write(op.kind)) {
          moment.commit ? table.apply(op) : table.apply_for_now(op);
        } else if (!moment.commit && is_predicate_read(op.kind) &&
                   !table.returned_right_within(txn, id)) {
          wrong.insert(id);
        }
      }
      if (!moment.commit) table.take_back();
    }
    return wrong;
  }

  const History& h_;
  const Rules rules_;
  const std::int64_t clock_drift_;
  const Clock clock_;
  absl::flat_hash_set<OpId> wrong_results_;  // Filled if a claim is about one.
};

}  // namespace

std::string check_timestamp_anomalies(const History& history, const Certificate& certificate) {
  if (certificate.verdict.anomalies.empty()) return "it names no violation";
  const Claims claims(history, certificate);
  for (const Anomaly& anomaly : certificate.verdict.anomalies) {
    std::string wrong = claims.complaint(anomaly);
    if (!wrong.empty()) return wrong;
  }
  return "";
}

}  // namespace ouro::recheck
