#include "certify/counters.h"

#include "certify/reading.h"
#include "history/columns.h"

namespace ouro::recheck {

CounterRows::CounterRows(const History& history) : h_(&history) {
  for (std::size_t c = 0; c < columns_of(history).column_name.size(); ++c) {
    const std::string_view name = history.column_name(ColumnId{c});
    if (name == "+counter") counter_ = ColumnId{c};
    if (name == "+delta") delta_ = ColumnId{c};
  }
  if (!counter_.valid() || !delta_.valid()) return;
  for (const KeyVersion& entry : columns_of(history).key_initial) note(entry.value, nullptr);
  for (std::size_t t = 0; t < history.txn_count(); ++t) {
    const TxnId txn{t};
    if (history.status(txn) == TxnStatus::Aborted) continue;
    for (OpId id = history.first_op(txn); id < history.end_op(txn); ++id.value) {
      const Op op = history.op(id);
      const Row row{op.key, txn, id};
      if (ouro::is_write(op.kind)) note(op.value, &row);
    }
  }
}

// Notes a row that a transaction wrote or, without one, that was there at the start.
void CounterRows::note(Value value, const Row* row) {
  if (value.kind() != ValueKind::Row || h_->row(value).size() != 2) return;
  const Value counter = h_->cell(value, counter_);
  const Value delta = h_->cell(value, delta_);
  if (counter.is_null() || delta.kind() != ValueKind::Integer) return;
  if (row == nullptr) {
    initial_[counter] += delta.number();
    return;
  }
  auto& rows = rows_[counter];
  if (!rows.empty() && rows.back().key == row->key) rows.back().is_last = false;
  rows.push_back(*row);
  rows.back().delta = delta.number();
}

bool CounterRows::is_read(const Op& op) const {
  if (op.kind != OpKind::Aggregate || !counter_.valid()) return false;
  const PredicateRead& read = h_->predicate_read(op.id);
  return read.aggregate == AggregateKind::Sum && read.column == delta_ &&
         h_->predicate(read.predicate).kind == PredicateKind::Eq &&
         h_->predicate(read.predicate).column == counter_;
}

Value CounterRows::counter_of(const PredicateRead& read) const {
  return h_->operands(h_->predicate(read.predicate))[0];
}

std::span<const CounterRows::Row> CounterRows::rows(const PredicateRead& read) const {
  const auto found = rows_.find(counter_of(read));
  return found == rows_.end() ? std::span<const Row>() : found->second;
}

std::int64_t CounterRows::initial(const PredicateRead& read) const {
  const auto found = initial_.find(counter_of(read));
  return found == initial_.end() ? 0 : found->second;
}

bool Reading::may_add_up(const Op& op) const {
  if (!is_counter_read(op)) return true;
  const PredicateRead& read = h_->predicate_read(op.id);
  if (read.result.kind() != ValueKind::Integer) return true;
  const TxnId txn = h_->txn_of(op.id);
  __extension__ using Wide = __int128;  // No sum of 2³² numbers of 64 bits is too large for it.
  Wide smallest = counters_.initial(read);
  Wide greatest = smallest;
  const auto add = [&](Wide low, Wide high) {
    smallest += low;
    greatest += high;
  };
  AccessId at = accesses_of(op.id).first;
  std::int64_t own = 0;
  for (const CounterRows::Row& row : counters_.rows(read)) {
    if (row.txn == txn && row.op < op.id) own = row.delta;
    if (row.txn == txn || !row.is_last) continue;
    const AccessId access = at++;
    if (!is_external(access)) {
      add(row.delta < 0 ? row.delta : 0, row.delta < 0 ? 0 : row.delta);
    } else if (source_txn(access) != kInitialTxn) {
      add(row.delta, row.delta);
    }
  }
  add(own, own);
  return smallest <= read.result.number() && read.result.number() <= greatest;
}

}  // namespace ouro::recheck
