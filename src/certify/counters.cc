#include "certify/counters.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "certify/reading.h"
#include "certify/undone.h"
#include "history/columns.h"

namespace ouro::recheck {

CounterRows::CounterRows(const History& history) : h_(&history) {
  for (std::size_t c = 0; c < columns_of(history).column_name.size(); ++c) {
    const std::string_view name = history.column_name(ColumnId{c});
    if (name == "+counter") counter_ = ColumnId{c};
    if (name == "+delta") delta_ = ColumnId{c};
  }
  if (!counter_.valid() || !delta_.valid()) return;
  for (const KeyVersion& entry : columns_of(history).key_initial) {
    if (entry.value.kind() == ValueKind::Row) note_places(history.cell(entry.value, delta_));
  }
  for (std::size_t i = 0; i < history.op_count(); ++i) {
    const Op op = history.op(OpId{i});
    if (op.value.kind() == ValueKind::Row) note_places(history.cell(op.value, delta_));
    if (is_read(op)) note_places(history.predicate_read(op.id).result);
  }
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
  const auto delta = whole(h_->cell(value, delta_));
  if (counter.is_null() || !delta) return;
  if (row == nullptr) {
    initial_[counter] += *delta;
    return;
  }
  auto& rows = rows_[counter];
  if (!rows.empty() && rows.back().key == row->key) rows.back().is_last = false;
  rows.push_back(*row);
  rows.back().delta = *delta;
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

void CounterRows::note_places(Value number) {
  if (number.kind() != ValueKind::Decimal) return;
  const std::string_view digits = h_->string(number);
  places_ = std::max(places_, digits.size() - digits.find('.') - 1);
}

std::optional<std::int64_t> CounterRows::whole(Value number) const {
  if (number.kind() == ValueKind::Integer && places_ == 0) return number.number();
  if (number.kind() != ValueKind::Integer && number.kind() != ValueKind::Decimal) return {};
  const std::string text = h_->text(number);
  const std::size_t point = std::min(text.find('.'), text.size());
  const std::size_t behind = point == text.size() ? 0 : text.size() - point - 1;
  __extension__ __int128 out = 0;
  for (const char digit : text) {
    if (digit >= '0' && digit <= '9') out = out * 10 + (digit - '0');
    if (out > (std::int64_t{1} << 60)) return {};
  }
  for (std::size_t i = behind; i < places_; ++i) {
    out *= 10;
    if (out > (std::int64_t{1} << 60)) return {};
  }
  return static_cast<std::int64_t>(text[0] == '-' ? -out : out);
}

std::int64_t CounterRows::own(OpId read) const {
  const Value counter = counter_of(h_->predicate_read(read));
  for (OpId id = read; id > h_->first_op(h_->txn_of(read));) {
    const Op op = h_->op(OpId{--id.value});
    if (op.value.kind() != ValueKind::Row || !sees_own(*h_, op, read)) continue;
    const bool mine = h_->cell(op.value, counter_) == counter && h_->row(op.value).size() == 2;
    const auto delta = whole(h_->cell(op.value, delta_));
    if (mine && delta) return *delta;
  }
  return 0;
}

bool Reading::may_add_up(const Op& op) const {
  if (!is_counter_read(op)) return true;
  const PredicateRead& read = h_->predicate_read(op.id);
  const auto result = counters_.whole(read.result);
  if (!result) return true;
  const TxnId txn = h_->txn_of(op.id);
  __extension__ using Wide = __int128;  // No sum of 2³² numbers of 64 bits is too large for it.
  Wide smallest = counters_.initial(read);
  Wide greatest = smallest;
  const auto add = [&](Wide low, Wide high) {
    smallest += low;
    greatest += high;
  };
  AccessId at = accesses_of(op.id).first;
  const std::int64_t own = counters_.own(op.id);
  for (const CounterRows::Row& row : counters_.rows(read)) {
    if (row.txn == txn || !row.is_last) continue;
    const AccessId access = at++;
    if (!is_external(access)) {
      add(row.delta < 0 ? row.delta : 0, row.delta < 0 ? 0 : row.delta);
    } else if (source_txn(access) != kInitialTxn) {
      add(row.delta, row.delta);
    }
  }
  add(own, own);
  return smallest <= *result && *result <= greatest;
}

}  // namespace ouro::recheck
