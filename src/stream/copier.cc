#include "stream/copier.h"

#include <utility>
#include <vector>

#include "history/columns.h"
#include "history/undone.h"

namespace ouro::stream {

void Copier::add(const Source& source) {
  const History& h = *source.history;
  begin(source);
  add_clocks(source);
  for (OpId op = h.first_op(source.txn); op < h.end_op(source.txn); ++op.value) add_op(h, op);
}

void Copier::begin(const Source& source) {
  const History& h = *source.history;
  const TxnId txn = source.txn;
  const Place place = h.place(txn);
  if (!place.file.empty() && file_ != place.file) {
    file_ = std::string(place.file);
    builder_.file(file_, place.unit);
  }
  const SessionId session = h.has_session(txn)
                                ? builder_.session(copy(h, h.session_name(h.session(txn))))
                                : builder_.unknown_session();
  builder_.begin_txn(session, place.position);
  builder_.status(h.status(txn));
  if (!h.txn_name(txn).is_null()) builder_.name(copy(h, h.txn_name(txn)));
  builder_.timestamps(h.start_ts(txn).value_or(kNoTimestamp),
                      h.commit_ts(txn).value_or(kNoTimestamp));
  if (const auto level = h.level(txn)) builder_.level(*level);
  if (const auto sno = h.sno(txn)) builder_.sno(*sno);
}

void Copier::add_clocks(const Source& source) {
  const History& h = *source.history;
  const TxnId txn = source.txn;
  if (h.invoked(txn) || h.completed(txn)) {
    builder_.clocks(h.invoked(txn).value_or(kNoClock), h.completed(txn).value_or(kNoClock));
  }
  if (h.began(txn) || h.committing(txn)) {
    builder_.inner_clocks(h.began(txn).value_or(kNoClock), h.committing(txn).value_or(kNoClock));
  }
}

void Copier::add_op(const History& h, OpId id) {
  const Op op = h.op(id);
  builder_.follow_parts(h, id);
  if (is_predicate_read(op.kind)) return add_predicate_read(h, op);
  const auto lines = columns_of(h).op_line;
  const std::uint32_t line = lines.empty() ? 0 : lines[id.index()];
  const KeyId key = this->key(h, op.key);
  if (op.value.is_list()) {
    std::vector<Value> list;
    if (op.value.length() > 0) {
      for (const Value element : h.list(op.value)) list.push_back(copy(h, element));
    }
    for (const Value own : undone_appends_seen(h, id)) list.push_back(copy(h, own));
    builder_.read_list(key, list, line);
  } else {
    builder_.add(op.kind, key, copy(h, op.value), line);
  }
}

void Copier::add_predicate_read(const History& h, const Op& op) {
  const PredicateRead& read = h.predicate_read(op.id);
  const std::vector<KeyVersion> rows = copy(h, h.rows(read));
  const std::vector<KeyVersion> versions = copy(h, h.version_set(read));
  const HistoryBuilder::Rows result{
      .rows = rows, .has_version_set = read.has_version_set, .version_set = versions};
  if (op.kind == OpKind::Scan) {
    builder_.scan(copy(h, read.lower), copy(h, read.upper), result);
  } else if (op.kind == OpKind::Select) {
    builder_.select(copy(h, read.predicate), result);
  } else {
    builder_.aggregate(read.aggregate, copy(h, read.column), copy(h, read.predicate),
                       copy(h, read.result), result);
  }
}

std::vector<KeyVersion> Copier::copy(const History& h, std::span<const KeyVersion> rows) {
  std::vector<KeyVersion> out;
  for (const KeyVersion& row : rows) {
    out.push_back({key(h, row.key), copy(h, row.value)});
  }
  return out;
}

KeyId Copier::key(const History& h, KeyId id) {
  const KeyId key = builder_.key(copy(h, h.key_name(id)));
  if (initials_ == nullptr) return key;
  const auto own = initials_->own().find(name_of(h, h.key_name(id)));
  if (own == initials_->own().end()) return key;
  builder_.initial(key, copy(initials_->view(), own->second.value));
  return key;
}

ColumnId Copier::copy(const History& h, ColumnId column) {
  return column.valid() ? builder_.column(h.column_name(column)) : column;
}

// Lists all nodes so that children come after their parent, and then builds them from the end, so
// that children exist before their parent.
PredicateId Copier::copy(const History& h, PredicateId predicate) {
  std::vector<PredicateId> all{predicate};
  std::vector<std::size_t> first_child;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const PredicateNode& node = h.predicate(all[i]);
    first_child.push_back(all.size());
    if (!info(node.kind).has_children) continue;
    for (const std::uint32_t child : h.children(node)) all.emplace_back(child);
  }
  std::vector<PredicateId> made(all.size());
  for (std::size_t i = all.size(); i-- > 0;) {
    const PredicateNode& node = h.predicate(all[i]);
    if (node.kind == PredicateKind::True) {
      made[i] = builder_.always();
    } else if (info(node.kind).has_children) {
      made[i] = builder_.combine(node.kind, std::span(made).subspan(first_child[i], node.count));
    } else {
      std::vector<Value> operands;
      for (const Value operand : h.operands(node)) operands.push_back(copy(h, operand));
      made[i] = builder_.compare(node.kind, copy(h, node.column), operands);
    }
  }
  return made[0];
}

Value Copier::copy(const History& h, Value value) {
  return value.kind() == ValueKind::Row ? copy_row(h, value) : copy_scalar(h, value);
}

// A row's cells are never rows themselves.
Value Copier::copy_row(const History& h, Value row) {
  std::vector<HistoryBuilder::NamedCell> cells;
  for (const Cell& cell : h.row(row)) {
    cells.emplace_back(h.column_name(cell.column), copy_scalar(h, cell.value));
  }
  return builder_.row(cells);
}

// Zeros at the end of a decimal are copied, too: only results of averages have them.
Value Copier::copy_scalar(const History& h, Value value) {
  switch (value.kind()) {
    case ValueKind::Text:
      return builder_.text(h.string(value));
    case ValueKind::Wide:
    case ValueKind::Decimal:
      return builder_.precise_decimal(h.string(value));
    case ValueKind::Float:
      return builder_.floating(h.floating(value));
    default:
      return value;
  }
}

}  // namespace ouro::stream
