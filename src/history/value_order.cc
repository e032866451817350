#include "history/value_order.h"

#include <algorithm>
#include <string_view>

namespace ouro {
namespace {

// Values of different ranks are ordered by rank; only values of one rank are comparable in SQL.
int rank(Value value) {
  switch (value.kind()) {
    case ValueKind::Null:
    case ValueKind::Unobserved:
      return 0;
    case ValueKind::Integer:
    case ValueKind::Wide:
      return 1;
    case ValueKind::Text:
      return 2;
    default:
      return 3;
  }
}

int sign(std::strong_ordering order) { return order < 0 ? -1 : order > 0 ? 1 : 0; }

// Compares two wide integers, which are decimal digits without leading zeros.
int compare_wide(std::string_view a, std::string_view b) {
  const bool a_negative = a.starts_with('-');
  const bool b_negative = b.starts_with('-');
  if (a_negative != b_negative) return a_negative ? -1 : 1;
  const int magnitude = a.size() != b.size() ? (a.size() < b.size() ? -1 : 1) : sign(a <=> b);
  return a_negative ? -magnitude : magnitude;
}

// A wide integer is less than every small one if it is negative, else greater.
int compare_numbers(const History& history, Value a, Value b) {
  if (a.kind() == ValueKind::Integer && b.kind() == ValueKind::Integer) {
    return sign(a.number() <=> b.number());
  }
  if (a.kind() == ValueKind::Integer) return history.string(b).starts_with('-') ? 1 : -1;
  if (b.kind() == ValueKind::Integer) return history.string(a).starts_with('-') ? -1 : 1;
  return compare_wide(history.string(a), history.string(b));
}

Truth truth(bool condition) { return condition ? Truth::True : Truth::False; }

// SQL: a comparison with null, or between a number and a string, is unknown.
bool comparable(Value a, Value b) { return rank(a) == rank(b) && rank(a) != 0; }

Truth compare(const History& history, PredicateKind kind, Value left, Value right) {
  if (!comparable(left, right)) return Truth::Unknown;
  const int order = compare_values(history, left, right);
  switch (kind) {
    case PredicateKind::Eq:
    case PredicateKind::In:
      return truth(order == 0);
    case PredicateKind::Ne:
      return truth(order != 0);
    case PredicateKind::Lt:
      return truth(order < 0);
    case PredicateKind::Le:
      return truth(order <= 0);
    case PredicateKind::Gt:
      return truth(order > 0);
    default:
      return truth(order >= 0);
  }
}

}  // namespace

int compare_values(const History& history, Value a, Value b) {
  if (rank(a) != rank(b)) return rank(a) < rank(b) ? -1 : 1;
  switch (rank(a)) {
    case 0:
      return 0;
    case 1:
      return compare_numbers(history, a, b);
    case 2:
      return sign(history.string(a) <=> history.string(b));
    default:
      return sign(a.bits() <=> b.bits());
  }
}

Truth evaluate(const History& history, PredicateId predicate, KeyId key, Value row) {
  const PredicateNode& node = history.predicate(predicate);
  const auto child = [&](std::uint32_t id) { return evaluate(history, PredicateId{id}, key, row); };
  switch (node.kind) {
    case PredicateKind::True:
      return Truth::True;
    case PredicateKind::And: {
      Truth all = Truth::True;
      for (const std::uint32_t id : history.children(node)) all = std::min(all, child(id));
      return all;
    }
    case PredicateKind::Or: {
      Truth any = Truth::False;
      for (const std::uint32_t id : history.children(node)) any = std::max(any, child(id));
      return any;
    }
    case PredicateKind::Not: {
      const Truth inner = child(history.children(node)[0]);
      return inner == Truth::Unknown ? inner : truth(inner == Truth::False);
    }
    default:
      break;
  }
  const Value left = node.column.valid() ? history.cell(row, node.column) : history.key_name(key);
  const auto operands = history.operands(node);
  switch (node.kind) {
    case PredicateKind::IsNull:
      return truth(left.is_null());
    case PredicateKind::Between:
      return std::min(compare(history, PredicateKind::Ge, left, operands[0]),
                      compare(history, PredicateKind::Le, left, operands[1]));
    case PredicateKind::In: {
      Truth any = Truth::False;
      for (const Value operand : operands) {
        any = std::max(any, compare(history, PredicateKind::In, left, operand));
      }
      return any;
    }
    default:
      return compare(history, node.kind, left, operands[0]);
  }
}

}  // namespace ouro
