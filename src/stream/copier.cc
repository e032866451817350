#include "stream/copier.h"

#include <utility>
#include <vector>

namespace ouro::stream {

void Copier::add(const Source& source) {
  const History& h = *source.history;
  const TxnId txn = source.txn;
  const Place place = h.place(txn);
  if (!place.file.empty() && file_ != place.file) {
    file_ = std::string(place.file);
    builder_.file(file_, place.unit);
  }
  builder_.begin_txn(builder_.session(copy(h, h.session_name(h.session(txn)))), place.position);
  builder_.status(h.status(txn));
  if (!h.txn_name(txn).is_null()) builder_.name(copy(h, h.txn_name(txn)));
  if (h.invoked(txn) || h.completed(txn)) {
    builder_.clocks(h.invoked(txn).value_or(kNoClock), h.completed(txn).value_or(kNoClock));
  }
  builder_.timestamps(h.start_ts(txn).value_or(kNoTimestamp),
                      h.commit_ts(txn).value_or(kNoTimestamp));
  for (OpId op = h.first_op(txn); op < h.end_op(txn); ++op.value) add_op(h, op);
}

void Copier::add_op(const History& h, OpId id) {
  const Op op = h.op(id);
  if (is_predicate_read(op.kind)) return;
  const auto lines = h.columns().op_line;
  const std::uint32_t line = lines.empty() ? 0 : lines[id.index()];
  const KeyId key = builder_.key(copy(h, h.key_name(op.key)));
  if (op.kind == OpKind::Write) {
    builder_.write(key, copy(h, op.value), line);
  } else if (op.kind == OpKind::Delete) {
    builder_.remove(key, copy(h, op.value), line);
  } else if (op.kind == OpKind::Append) {
    builder_.append(key, copy(h, op.value), line);
  } else if (op.value.is_list()) {
    std::vector<Value> list;
    if (op.value.length() > 0) {
      for (const Value element : h.list(op.value)) list.push_back(copy(h, element));
    }
    builder_.read_list(key, list, line);
  } else {
    builder_.read(key, copy(h, op.value), line);
  }
}

Value Copier::copy(const History& h, Value value) {
  switch (value.kind()) {
    case ValueKind::Text:
      return builder_.text(h.string(value));
    case ValueKind::Wide:
      return copy_wide(h.string(value));
    case ValueKind::Row:
      return copy_row(h, value);
    default:
      return value;
  }
}

// Rows have no rows inside.
Value Copier::copy_row(const History& h, Value row) {
  std::vector<HistoryBuilder::NamedCell> cells;
  for (const Cell& cell : h.row(row)) {
    Value value = cell.value;
    if (value.kind() == ValueKind::Text) value = builder_.text(h.string(value));
    if (value.kind() == ValueKind::Wide) value = copy_wide(h.string(value));
    cells.emplace_back(h.column_name(cell.column), value);
  }
  return builder_.row(cells);
}

Value Copier::copy_wide(std::string_view digits) {
  const bool negative = digits.starts_with('-');
  std::uint64_t number = 0;
  for (const char digit : digits.substr(negative ? 1 : 0)) {
    number = number * 10 + static_cast<std::uint64_t>(digit - '0');
  }
  if (!negative) return builder_.unsigned_integer(number);
  return builder_.integer(static_cast<std::int64_t>(0 - number));
}

}  // namespace ouro::stream
