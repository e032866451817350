// The part of HistoryBuilder that knows terms: comparisons of them, and updates by predicate.

#include <algorithm>
#include <cassert>
#include <iterator>
#include <limits>
#include <optional>
#include <vector>

#include "history/columns.h"
#include "history/storage.h"
#include "history/value_order.h"
#include "ouro/history_builder.h"

namespace ouro {

PredicateId HistoryBuilder::compare_terms(PredicateKind kind, PredicateId left, PredicateId right) {
  const PredicateNode column = storage_->predicate_nodes[left.index()];
  const std::optional<Value> constant = constant_of(right);
  if (column.kind == PredicateKind::Column && constant) {
    return compare(kind, column.column, std::span(&*constant, 1));
  }
  const auto of_terms = std::find_if(std::begin(kPredicateInfos), std::end(kPredicateInfos),
                                     [&](const PredicateInfo& row) { return row.plain == kind; });
  assert(of_terms != std::end(kPredicateInfos));
  const PredicateId sides[] = {left, right};
  return combine(of_terms->kind, sides);
}

std::optional<Value> HistoryBuilder::constant_of(PredicateId term) const {
  const PredicateNode& node = storage_->predicate_nodes[term.index()];
  if (node.kind != PredicateKind::Constant) return std::nullopt;
  return storage_->predicate_operands[node.first];
}

std::optional<Value> HistoryBuilder::assigned(KeyId key, Value row,
                                              std::span<const Assignment> assignments) {
  const History now = history_of(storage_->view(), nullptr);
  std::vector<Cell> cells;
  if (row.kind() == ValueKind::Row) {
    const auto known = now.row(row);
    cells.assign(known.begin(), known.end());
  }
  std::vector<TermValue> values;
  for (const Assignment& one : assignments) {
    values.push_back(value_of_term(now, one.term, key, row));
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    Value value = values[i].value;
    if (values[i].number && !is_number(value.kind())) {
      const Number& number = *values[i].number;
      value = number.floating ? floating(number.number) : decimal(number.exact.text());
      if (value.is_null()) return std::nullopt;
    }
    const auto same = [&](const Cell& cell) { return cell.column == assignments[i].column; };
    const auto at = std::find_if(cells.begin(), cells.end(), same);
    if (at == cells.end()) {
      cells.push_back({assignments[i].column, value});
    } else {
      at->value = value;
    }
  }
  return intern_row(cells);
}

PredicateId HistoryBuilder::among(PredicateId condition, std::span<const KeyId> keys) {
  std::vector<Value> names;
  for (const KeyId key : keys) names.push_back(key_name(key));
  const PredicateId both[] = {condition, compare(PredicateKind::In, {}, names)};
  return combine(PredicateKind::And, both);
}

// A number and a text do not compare, so that "not in" would be unknown of a key that is a number,
// if one of `keys` is a text. So numbers are compared with numbers, and texts with texts.
PredicateId HistoryBuilder::except(PredicateId condition, std::span<const KeyId> keys) {
  std::vector<Value> numbers, texts;
  for (const KeyId key : keys) {
    (is_number(key_name(key).kind()) ? numbers : texts).push_back(key_name(key));
  }
  const Value greatest = floating(std::numeric_limits<double>::quiet_NaN());
  const Value any_text = text("%");
  const auto not_in = [&](PredicateId kind, const std::vector<Value>& names) {
    if (names.empty()) return kind;
    const PredicateId in = compare(PredicateKind::In, {}, names);
    const PredicateId both[] = {kind, combine(PredicateKind::Not, std::span(&in, 1))};
    return combine(PredicateKind::And, both);
  };
  const PredicateId either[] = {
      not_in(compare(PredicateKind::Le, {}, std::span(&greatest, 1)), numbers),
      not_in(compare(PredicateKind::Like, {}, std::span(&any_text, 1)), texts)};
  const PredicateId both[] = {condition, combine(PredicateKind::Or, either)};
  return combine(PredicateKind::And, both);
}

PredicateId HistoryBuilder::becomes(PredicateId condition, KeyId key, Value row,
                                    std::span<const Assignment> assignments) {
  const Value name = key_name(key);
  std::vector<PredicateId> all = {condition, compare(PredicateKind::Eq, {}, std::span(&name, 1))};
  for (const Assignment& one : assignments) {
    all.push_back(has_value(one.term, cell(row, one.column)));
  }
  const auto known = storage_->row(row);
  for (const Cell& other : std::vector<Cell>(known.begin(), known.end())) {
    const auto same = [&](const Assignment& one) { return one.column == other.column; };
    if (std::any_of(assignments.begin(), assignments.end(), same)) continue;
    all.push_back(has_value(compare(PredicateKind::Column, other.column, {}), other.value));
  }
  return combine(PredicateKind::And, all);
}

// What is true if the term has this value; if the value is null, so must be the term.
PredicateId HistoryBuilder::has_value(PredicateId term, Value value) {
  if (!value.is_null()) {
    return compare_terms(PredicateKind::Eq, term,
                         compare(PredicateKind::Constant, {}, std::span(&value, 1)));
  }
  const PredicateNode node = storage_->predicate_nodes[term.index()];
  if (node.kind == PredicateKind::Column) {
    return compare(PredicateKind::IsNull, node.column, {});
  }
  if (const auto constant = constant_of(term)) {
    return constant->is_null() ? always() : combine(PredicateKind::Or, {});
  }
  return is_no_number(term);
}

// What is true if a calculation is null, since something in it is no number: null, a boolean or a
// text.
PredicateId HistoryBuilder::is_no_number(PredicateId term) {
  std::vector<PredicateId> ways;
  std::vector<std::uint32_t> open = {term.value};
  while (!open.empty()) {
    const PredicateId part{open.back()};
    const PredicateNode node = storage_->predicate_nodes[part.index()];
    open.pop_back();
    if (info(node.kind).has_children) {
      for (std::uint32_t i = 0; i < node.count; ++i) {
        open.push_back(storage_->predicate_children[node.first + i]);
      }
    } else if (const auto constant = constant_of(part)) {
      if (!is_number(constant->kind())) ways.push_back(always());
    } else {
      const Value any_text = text("%");
      const Value booleans[] = {Value::boolean(false), Value::boolean(true)};
      ways.push_back(compare(PredicateKind::Like, node.column, std::span(&any_text, 1)));
      ways.push_back(compare(PredicateKind::In, node.column, booleans));
      ways.push_back(compare(PredicateKind::IsNull, node.column, {}));
    }
  }
  return combine(PredicateKind::Or, ways);
}

}  // namespace ouro
