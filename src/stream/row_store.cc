#include "stream/row_store.h"

#include <algorithm>

#include "history/columns.h"

namespace ouro::stream {

void RowStore::refresh() {
  HistoryColumns c = columns_of(History());  // No transaction, no session.
  c.key_name = key_name_;
  c.predicate_nodes = nodes_;
  c.predicate_children = children_;
  c.predicate_operands = operands_;
  c.text_bytes = text_bytes_;
  c.text_end = text_end_;
  c.cells = cells_;
  c.row_end = row_end_;
  c.column_name = column_name_;
  view_ = history_of(c, nullptr);
  stale_ = false;
}

void RowStore::read_from(const History& source) {
  source_ = &source;
  columns_of_source_.clear();
  for (std::size_t i = 0; i < columns_of(source).column_name.size(); ++i) {
    columns_of_source_.push_back(column(source.column_name(ColumnId{i})));
  }
}

ColumnId RowStore::column(std::string_view name) {
  const auto [at, added] =
      column_of_name_.try_emplace(std::string(name), ColumnId{column_name_.size()});
  if (added) column_name_.push_back(add_text(ValueKind::Text, name));
  return at->second;
}

Value RowStore::add_text(ValueKind kind, std::string_view text) {
  stale_ = true;
  text_bytes_.insert(text_bytes_.end(), text.begin(), text.end());
  text_end_.push_back(text_bytes_.size());
  return Value::from(kind, text_end_.size() - 1);
}

Value RowStore::add_row(std::vector<Cell>& cells) {
  stale_ = true;
  std::sort(cells.begin(), cells.end(),
            [](const Cell& a, const Cell& b) { return a.column < b.column; });
  cells_.insert(cells_.end(), cells.begin(), cells.end());
  row_end_.push_back(cells_.size());
  return Value::from(ValueKind::Row, row_end_.size() - 1);
}

KeyId RowStore::keep_key(Value name) {
  stale_ = true;
  key_name_.push_back(name);
  return KeyId{key_name_.size() - 1};
}

KeyId RowStore::add_key(Value name) { return keep_key(add(name)); }

// A row's cells are never rows themselves.
Value RowStore::add(Value value) {
  if (is_pooled_text(value.kind())) {
    return add_text(value.kind(), source_->string(value));
  }
  if (value.kind() != ValueKind::Row) return value;
  std::vector<Cell> cells;
  for (const Cell& cell : source_->row(value)) {
    Value inner = cell.value;
    if (is_pooled_text(inner.kind())) {
      inner = add_text(inner.kind(), source_->string(inner));
    }
    cells.push_back({translated(cell.column), inner});
  }
  return add_row(cells);
}

// Copies the tree level by level; the children of a node get the next free numbers.
PredicateId RowStore::add(PredicateId predicate) {
  const std::size_t base = nodes_.size();
  std::vector<PredicateId> all{predicate};
  for (std::size_t i = 0; i < all.size(); ++i) {
    PredicateNode node = source_->predicate(all[i]);
    if (info(node.kind).has_children) {
      const auto children = source_->children(node);
      node.first = static_cast<std::uint32_t>(children_.size());
      for (const std::uint32_t child : children) {
        children_.push_back(static_cast<std::uint32_t>(base + all.size()));
        all.emplace_back(child);
      }
    } else if (info(node.kind).compares) {
      const auto operands = source_->operands(node);
      node.first = static_cast<std::uint32_t>(operands_.size());
      node.column = translated(node.column);
      for (const Value operand : operands) operands_.push_back(add(operand));
    }
    nodes_.push_back(node);
  }
  stale_ = true;
  return PredicateId{base};
}

void RowStore::clear_predicates() {
  nodes_.clear();
  children_.clear();
  operands_.clear();
  stale_ = true;
}

// ---- as bytes ----

void RowStore::encode(Value value, Encoder& out) {
  const History& all = view();
  out.number(value.kind());
  if (is_pooled_text(value.kind())) {
    out.text(all.string(value));
  } else if (value.kind() == ValueKind::Row) {
    const auto cells = all.row(value);
    out.number<std::uint64_t>(cells.size());
    for (const Cell& cell : cells) {
      out.number(cell.column);
      out.number(cell.value.kind());
      const bool text = is_pooled_text(cell.value.kind());
      if (text) {
        out.text(all.string(cell.value));
      } else {
        out.number(cell.value);
      }
    }
  } else {
    out.number(value);
  }
}

Value RowStore::decode(Decoder& in) {
  const auto kind = in.number<ValueKind>();
  if (is_pooled_text(kind)) return add_text(kind, in.text());
  if (kind != ValueKind::Row) return in.number<Value>();
  std::vector<Cell> cells;
  const auto count = in.number<std::uint64_t>();
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    const auto column = in.number<ColumnId>();
    const auto inner = in.number<ValueKind>();
    const bool text = is_pooled_text(inner);
    cells.push_back({column, text ? add_text(inner, in.text()) : in.number<Value>()});
  }
  return add_row(cells);
}

KeyId RowStore::decode_key(Decoder& in) { return keep_key(decode(in)); }

void RowStore::encode_columns(Encoder& out) {
  const History& all = view();
  out.number<std::uint64_t>(column_name_.size());
  for (const Value name : column_name_) out.text(all.string(name));
}

void RowStore::decode_columns(Decoder& in) {
  const auto count = in.number<std::uint64_t>();
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) column(in.text());
}

std::size_t RowStore::bytes() const {
  const auto all = [](const auto&... parts) {
    return ((parts.capacity() * sizeof(parts[0])) + ... + 0);
  };
  return all(key_name_, nodes_, children_, operands_, text_bytes_, text_end_, cells_, row_end_,
             column_name_);
}

}  // namespace ouro::stream
