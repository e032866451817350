#include "tests/value_oracle.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace ouro::oracle {
namespace {

__extension__ using Wide = __int128;

bool is_number(Value value) {
  return value.kind() == ValueKind::Integer || value.kind() == ValueKind::Wide;
}

Wide number(const History& history, Value value) {
  const std::string digits = history.text(value);
  Wide size = 0;
  for (const char digit : digits) {
    if (digit != '-') size = size * 10 + (digit - '0');
  }
  return digits[0] == '-' ? -size : size;
}

}  // namespace

std::optional<int> compared_values(const History& history, Value a, Value b) {
  if (is_number(a) && is_number(b)) {
    const Wide one = number(history, a);
    const Wide two = number(history, b);
    return one < two ? -1 : one > two ? 1 : 0;
  }
  if (a.kind() != ValueKind::Text || b.kind() != ValueKind::Text) return std::nullopt;
  return history.string(a).compare(history.string(b));
}

bool in_range(const History& history, const PredicateRead& scan, KeyId key) {
  const Value name = history.key_name(key);
  const auto behind = [&](Value a, Value b) {
    const auto order = compared_values(history, a, b);
    return order ? *order > 0 : is_number(b);
  };
  return (scan.lower.is_null() || !behind(scan.lower, name)) &&
         (scan.upper.is_null() || !behind(name, scan.upper));
}

std::string aggregated(const History& history, const PredicateRead& read,
                       const std::vector<KeyVersion>& rows) {
  std::vector<Value> values;
  for (const KeyVersion& row : rows) {
    const Value value =
        read.column.valid() ? history.cell(row.value, read.column) : history.key_name(row.key);
    if (!value.is_null()) values.push_back(value);
  }
  if (read.aggregate == AggregateKind::Count) return std::to_string(values.size());
  if (values.empty()) return "null";
  if (read.aggregate == AggregateKind::Sum) {
    if (!std::all_of(values.begin(), values.end(), is_number)) return "null";
    Wide sum = 0;
    for (const Value value : values) sum += number(history, value);
    const auto small = static_cast<std::int64_t>(sum);
    if (small != sum) throw std::logic_error("the oracle adds small numbers only");
    return std::to_string(small);
  }
  const bool least = read.aggregate == AggregateKind::Min;
  Value best = values[0];
  for (const Value value : values) {
    // Numbers are before texts.
    const int order = compared_values(history, value, best).value_or(is_number(value) ? -1 : 1);
    if (least ? order < 0 : order > 0) best = value;
  }
  return history.text(best);
}

std::optional<bool> truth_of(const History& history, PredicateId predicate, KeyId key, Value row) {
  const PredicateNode& node = history.predicate(predicate);
  std::vector<std::optional<bool>> parts;
  if (node.kind == PredicateKind::And || node.kind == PredicateKind::Or ||
      node.kind == PredicateKind::Not) {
    for (const std::uint32_t child : history.children(node)) {
      parts.push_back(truth_of(history, PredicateId{child}, key, row));
    }
  }
  const auto any = [&](std::optional<bool> wanted) {
    return std::find(parts.begin(), parts.end(), wanted) != parts.end();
  };
  const Value left = !node.column.valid() ? history.key_name(key) : history.cell(row, node.column);
  const auto compared = [&](std::size_t operand, auto good) -> std::optional<bool> {
    const auto order = compared_values(history, left, history.operands(node)[operand]);
    if (!order) return std::nullopt;
    return good(*order);
  };
  switch (node.kind) {
    case PredicateKind::True:
      return true;
    case PredicateKind::And:
      if (any(false)) return false;
      return any(std::nullopt) ? std::nullopt : std::optional(true);
    case PredicateKind::Or:
      if (any(true)) return true;
      return any(std::nullopt) ? std::nullopt : std::optional(false);
    case PredicateKind::Not:
      return parts[0] ? std::optional(!*parts[0]) : std::nullopt;
    case PredicateKind::IsNull:
      return left.is_null();
    case PredicateKind::Eq:
      return compared(0, [](int order) { return order == 0; });
    case PredicateKind::Ne:
      return compared(0, [](int order) { return order != 0; });
    case PredicateKind::Lt:
      return compared(0, [](int order) { return order < 0; });
    case PredicateKind::Le:
      return compared(0, [](int order) { return order <= 0; });
    case PredicateKind::Gt:
      return compared(0, [](int order) { return order > 0; });
    case PredicateKind::Ge:
      return compared(0, [](int order) { return order >= 0; });
    case PredicateKind::Between:
      parts = {compared(0, [](int order) { return order >= 0; }),
               compared(1, [](int order) { return order <= 0; })};
      if (any(false)) return false;
      return any(std::nullopt) ? std::nullopt : std::optional(true);
    case PredicateKind::In:
      for (std::size_t i = 0; i < history.operands(node).size(); ++i) {
        parts.push_back(compared(i, [](int order) { return order == 0; }));
      }
      if (any(true)) return true;
      return any(std::nullopt) ? std::nullopt : std::optional(false);
  }
  return std::nullopt;
}

}  // namespace ouro::oracle
