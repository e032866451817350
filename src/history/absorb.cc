// Joins two builders: what one thread built goes behind what came before it.
//
// Ids and pooled values of the other builder are translated through tables that are
// filled once per distinct name, so the loop over operations does no hashing.

#include <span>
#include <vector>

#include "history/storage.h"

namespace ouro {
namespace {

// Appends `from`, an optional column of `from_count` rows, behind `to` that has `to_count` rows.
template <class T>
void append_optional(Column<T>& to, std::size_t to_count, const Column<T>& from,
                     std::size_t from_count, const T& missing) {
  if (to.empty() && from.empty()) return;
  to.resize(to_count, missing);
  to.append(from.span());
  to.resize(to_count + from_count, missing);
}

}  // namespace

void HistoryBuilder::absorb(HistoryBuilder&& other) {
  Storage& s = *storage_;
  Storage& o = *other.storage_;
  const std::size_t txns = txn_count();
  const std::size_t ops = op_count();

  // Text and Wide share a pool, and only the handle tells them apart, so translate lazily.
  std::vector<Value> texts(o.text_end.size(), Value::unobserved());
  const auto scalar = [&](Value value) {
    if (value.kind() != ValueKind::Text && value.kind() != ValueKind::Wide) return value;
    Value& known = texts[value.payload()];
    if (known.is_unobserved()) known = intern(value.kind(), o.string(value));
    return known;
  };
  std::vector<KeyId> keys(o.key_name.size());
  for (std::size_t k = 0; k < keys.size(); ++k) keys[k] = key(scalar(o.key_name[k]));
  std::vector<SessionId> sessions(o.session_name.size());
  for (std::size_t i = 0; i < sessions.size(); ++i)
    sessions[i] = session(scalar(o.session_name[i]));
  std::vector<ColumnId> columns(o.column_name.size());
  for (std::size_t i = 0; i < columns.size(); ++i) columns[i] = column(o.string(o.column_name[i]));
  std::vector<Value> rows(o.row_end.size());
  std::vector<Cell> cells;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    cells.clear();
    for (const Cell& cell : o.row(Value::from(ValueKind::Row, i))) {
      cells.push_back({columns[cell.column.index()], scalar(cell.value)});
    }
    rows[i] = intern_row(cells);
  }
  const auto translated = [&](Value value) {
    return value.kind() == ValueKind::Row ? rows[value.payload()] : scalar(value);
  };
  std::vector<Value> elements;
  const auto list = [&](KeyId key, Value value) {
    elements.clear();
    if (value.length() != 0) {
      const auto& trunk = other.interner_->trunks[value.trunk()].elements;
      for (std::uint32_t i = 0; i < value.length(); ++i) elements.push_back(translated(trunk[i]));
    }
    return intern_list(key, elements);
  };

  const auto predicate_reads = static_cast<std::int64_t>(s.predicate_reads.size());
  s.op_kind.append(o.op_kind.span());
  KeyId* op_key = s.op_key.extend(o.op_key.size());
  Value* op_value = s.op_value.extend(o.op_value.size());
  for (std::size_t i = 0; i < o.op_kind.size(); ++i) {
    const Value value = o.op_value[i];
    if (is_predicate_read(o.op_kind[i])) {
      op_key[i] = KeyId{};
      op_value[i] = Value::small(predicate_reads + value.number());
      continue;
    }
    op_key[i] = keys[o.op_key[i].index()];
    if (value.kind() <= ValueKind::Unobserved) {
      op_value[i] = value;
    } else {
      op_value[i] = value.is_list() ? list(op_key[i], value) : translated(value);
    }
  }
  append_optional(s.op_line, ops, o.op_line, o.op_kind.size(), std::uint32_t{0});

  const std::size_t added = o.txn_session.size();
  for (const std::uint32_t first : o.txn_first_op) {
    s.txn_first_op.push_back(first + static_cast<std::uint32_t>(ops));
  }
  for (const SessionId id : o.txn_session) s.txn_session.push_back(sessions[id.index()]);
  s.txn_status.append(o.txn_status.span());
  for (Value& name : o.txn_name) name = scalar(name);
  append_optional(s.txn_name, txns, o.txn_name, added, Value::null());
  append_optional(s.invoked, txns, o.invoked, added, kNoClock);
  append_optional(s.completed, txns, o.completed, added, kNoClock);
  append_optional(s.start_ts, txns, o.start_ts, added, kNoTimestamp);
  append_optional(s.commit_ts, txns, o.commit_ts, added, kNoTimestamp);
  s.txn_position.append(o.txn_position.span());
  if (s.files.size() > 1) {
    s.txn_file.resize(txns, 0);
    s.txn_file.resize(txns + added, static_cast<std::uint32_t>(s.files.size() - 1));
  }

  const auto key_version = [&](KeyVersion version) {
    return KeyVersion{keys[version.key.index()], translated(version.value)};
  };
  for (PredicateRead read : o.predicate_reads) {
    read.lower = scalar(read.lower);
    read.upper = scalar(read.upper);
    read.result = translated(read.result);
    if (read.column.valid()) read.column = columns[read.column.index()];
    if (read.predicate.valid()) {
      read.predicate.value += static_cast<std::uint32_t>(s.predicate_nodes.size());
    }
    read.first_row += static_cast<std::uint32_t>(s.row_reads.size());
    read.first_version += static_cast<std::uint32_t>(s.version_sets.size());
    s.predicate_reads.push_back(read);
  }
  for (const KeyVersion& row : o.row_reads) s.row_reads.push_back(key_version(row));
  for (const KeyVersion& version : o.version_sets) s.version_sets.push_back(key_version(version));

  const auto nodes = static_cast<std::uint32_t>(s.predicate_nodes.size());
  const auto children = static_cast<std::uint32_t>(s.predicate_children.size());
  const auto operands = static_cast<std::uint32_t>(s.predicate_operands.size());
  for (PredicateNode node : o.predicate_nodes) {
    const bool has_children = node.kind >= PredicateKind::And && node.kind <= PredicateKind::Not;
    node.first += has_children ? children : operands;
    if (node.column.valid()) node.column = columns[node.column.index()];
    s.predicate_nodes.push_back(node);
  }
  for (const std::uint32_t child : o.predicate_children)
    s.predicate_children.push_back(child + nodes);
  for (const Value operand : o.predicate_operands)
    s.predicate_operands.push_back(translated(operand));

  for (VersionOrder order : o.version_orders) {
    order.key = keys[order.key.index()];
    order.first += static_cast<std::uint32_t>(s.versions.size());
    s.version_orders.push_back(order);
  }
  for (const Value version : o.versions) s.versions.push_back(translated(version));
  for (const auto& [id, value] : other.interner_->initial) {
    interner_->initial[keys[id.index()]] = translated(value);
  }
  if (!o.default_initial.is_null()) s.default_initial = translated(o.default_initial);
  for (Remark& remark : o.remarks) s.remarks.push_back(std::move(remark));
}

}  // namespace ouro
