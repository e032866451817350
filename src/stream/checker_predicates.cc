// The part of Checker that handles predicate reads.

#include "history/columns.h"
#include "stream/checker.h"

namespace ouro::stream {

// Rows are kept from the first predicate read on (enter_predicates()). Then all earlier batches are
// gone through once more, so none may have been dropped. With a memory limit they may be dropped
// soon; so rows are then kept as soon as a batch has values that are rows.
Status Checker::admit_predicates(const History& batch) const {
  const bool asks = batch.has_predicate_reads();
  if (predicates_.on() || !asks || !archive_.has_dropped()) return {};
  Error error;
  error.file = std::string(batch.file());
  error.what =
      "the first scan, select or aggregate comes after the retention of what was written before; "
      "begin with one, or with rows, or give a longer retention";
  return error;
}

void Checker::enter_predicates(const std::shared_ptr<const History>& batch,
                               const std::vector<KeyId>& changed) {
  const HistoryColumns& c = columns_of(*batch);
  if (!predicates_.on()) {
    const bool soon = options_.memory > 0 && !c.row_end.empty() && batch->txn_count() > 0 &&
                      !archive_.has_dropped();
    if (c.predicate_reads.empty() && !soon) return;
    predicates_.turn_on(window_.next(), options_.memory, now_);
  }
  predicates_.enter(batch, reader_.fingerprints());
  for (const KeyId key : changed) predicates_.set_initial(key);
  apply_predicates();
}

void Checker::check_predicates(const Arriving& txn, OpenTxn& open) {
  for (const std::uint32_t op : txn.predicate_reads) {
    open.asks = 1;
    const std::optional<bool> wrong = predicates_.add(txn.txn, txn.begin, op);
    if (!wrong) lost_ = true;
    if (!wrong.value_or(false)) continue;
    ++open.wrong;
    count_provisional(AnomalyKind::ResultSetMismatch, 1);
    ++summary_.counts[static_cast<std::size_t>(AnomalyKind::ResultSetMismatch)];
  }
  if (!txn.written.empty()) predicates_.install(txn.txn, txn.commit);
  apply_predicates();
}

void Checker::apply_predicates() {
  for (const Change& change : predicates_.take_changes(lost_)) {
    if (!count(change, AnomalyKind::ResultSetMismatch) || !change.wrong) continue;
    report_predicate(change.txn, change.op, change.begin, now_);
  }
  for (const LostRange& range : predicates_.take_lost()) doubt_predicates(range);
}

void Checker::doubt_predicates(const LostRange& range) {
  constexpr AnomalyKind kKind = AnomalyKind::ResultSetMismatch;
  for (auto at = accused_.lower_bound({Name(), range.from, 0});
       at != accused_.end() && at->first.key == Name();) {
    const auto& [key, begin, op] = at->first;
    if ((range.until && *range.until < begin) || !predicates_.may_be_gone(begin)) return;
    const auto found = reported_.find({begin.number(), op, kKind});
    const bool stands = found != reported_.end() && found->second == at->second.number;
    if (stands && predicates_.has({begin, op})) {
      ++at;
      continue;
    }
    if (stands) {
      --summary_.counts[static_cast<std::size_t>(kKind)];
      withdraw({begin.number(), op, kKind}, StreamEvent::What::Undecided);
    }
    at = accused_.erase(at);
  }
}

void Checker::excuse_predicates() {
  constexpr AnomalyKind kKind = AnomalyKind::ResultSetMismatch;
  for (auto at = accused_.begin(); at != accused_.end() && at->first.key == Name(); ++at) {
    const auto& [key, begin, op] = at->first;
    const auto found = reported_.find({begin.number(), op, kKind});
    if (found == reported_.end() || found->second != at->second.number) continue;
    predicates_.doubt({begin, op});
    --summary_.counts[static_cast<std::size_t>(kKind)];
    withdraw({begin.number(), op, kKind}, StreamEvent::What::Undecided);
  }
}

void Checker::report_predicate(Arrival txn, std::uint32_t op, const Moment& begin,
                               StreamTime arrived) {
  if (summary_.faults > 0) {
    // Some row came without timestamps, and this may be the one that the read saw.
    predicates_.doubt({begin, op});
    --summary_.counts[static_cast<std::size_t>(AnomalyKind::ResultSetMismatch)];
    ++summary_.undecided;
    return;
  }
  Predicates::Expected expected = predicates_.expected(begin, op);
  reported_[{txn, op, AnomalyKind::ResultSetMismatch}] = event_count_ + 1;
  accuse({Name(), begin, op},
         {.value = 0, .expected = {}, .open = 0, .known = 0, .number = event_count_ + 1});
  report({.kind = AnomalyKind::ResultSetMismatch,
          .txn = txn,
          .op = op,
          .other_op = {},
          .source = {},
          .witnesses = std::move(expected.writers),
          .expected = std::move(expected.text)},
         arrived);
}

}  // namespace ouro::stream
