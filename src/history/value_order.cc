#include "history/value_order.h"

#include <algorithm>
#include <compare>
#include <optional>
#include <string_view>

#include "history/number.h"

namespace ouro {
namespace {

// Values of different ranks are ordered by rank; only values of one rank are comparable in SQL.
enum Rank : int { kNothing, kBoolean, kNumber, kText, kOther };
Rank rank(Value value) {
  switch (value.kind()) {
    case ValueKind::Null:
    case ValueKind::Unobserved:
      return kNothing;
    case ValueKind::Boolean:
      return kBoolean;
    case ValueKind::Integer:
    case ValueKind::Wide:
    case ValueKind::Decimal:
    case ValueKind::Float:
      return kNumber;
    case ValueKind::Text:
      return kText;
    default:
      return kOther;
  }
}

int sign(std::strong_ordering order) { return order < 0 ? -1 : order > 0 ? 1 : 0; }

// Numbers by size, exactly. Not-a-number equals itself and is greater than all others.
int compare_numbers(const History& history, Value a, Value b) {
  if (a.kind() == ValueKind::Integer && b.kind() == ValueKind::Integer) {
    return sign(a.number() <=> b.number());
  }
  return Number::compare(Number::of(history, a), Number::of(history, b));
}

Truth truth(bool condition) { return condition ? Truth::True : Truth::False; }

// SQL: a comparison with null, or between different kinds like a number and a string, is unknown.
bool comparable(Value a, Value b) { return rank(a) == rank(b) && rank(a) != kNothing; }

// What a comparison says of its sides, by their order.
Truth judge(PredicateKind kind, int order) {
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

Truth compare(const History& history, PredicateKind kind, Value left, Value right) {
  if (!comparable(left, right)) return Truth::Unknown;
  return judge(kind, rank(left) == kNumber ? compare_numbers(history, left, right)
                                           : compare_values(history, left, right));
}

Truth compare_terms(const History& history, PredicateKind kind, const TermValue& left,
                    const TermValue& right) {
  if (left.number && right.number) {
    return judge(kind, Number::compare(*left.number, *right.number));
  }
  if (left.number || right.number) return Truth::Unknown;
  return compare(history, kind, left.value, right.value);
}

// The bytes of the character that `text` begins with.
std::size_t character_bytes(std::string_view text) {
  std::size_t count = 1;
  while (count < text.size() && (static_cast<unsigned char>(text[count]) & 0xc0) == 0x80) ++count;
  return count;
}

// Whether `text` is like `pattern`. After each % the rest of the pattern is tried at the earliest
// place first; only the last % can be wrong about its place, so there is one place to go back to.
bool is_like(std::string_view text, std::string_view pattern) {
  std::size_t t = 0;
  std::size_t p = 0;
  std::size_t after_percent = std::string_view::npos;
  std::size_t tried = 0;
  while (t < text.size() || p < pattern.size()) {
    if (p < pattern.size() && pattern[p] == '%') {
      after_percent = ++p;
      tried = t;
      continue;
    }
    if (p < pattern.size() && t < text.size()) {
      const bool any = pattern[p] == '_';
      const bool escaped = pattern[p] == '\\' && p + 1 < pattern.size();
      const std::size_t at = escaped ? p + 1 : p;
      if (any || pattern[at] == text[t]) {
        t += any ? character_bytes(text.substr(t)) : 1;
        p = at + 1;
        continue;
      }
    }
    if (after_percent == std::string_view::npos || tried >= text.size()) return false;
    tried += character_bytes(text.substr(tried));
    t = tried;
    p = after_percent;
  }
  return true;
}

}  // namespace

TermValue value_of_term(const History& history, PredicateId term, KeyId key, Value row) {
  const PredicateNode& node = history.predicate(term);
  TermValue out;
  if (info(node.kind).compares) {
    const bool constant = node.kind == PredicateKind::Constant;
    out.value = constant              ? history.operands(node)[0]
                : node.column.valid() ? history.cell(row, node.column)
                                      : history.key_name(key);
    if (is_number(out.value.kind())) out.number = Number::of(history, out.value);
    return out;
  }
  for (const std::uint32_t child : history.children(node)) {
    const TermValue part = value_of_term(history, PredicateId{child}, key, row);
    if (!part.number) return {};
    if (!out.number) {
      out.number = part.number;
    } else if (node.kind == PredicateKind::Add) {
      out.number = *out.number + *part.number;
    } else if (node.kind == PredicateKind::Subtract) {
      out.number = *out.number - *part.number;
    } else {
      out.number = *out.number * *part.number;
    }
  }
  return out;
}

int compare_values(const History& history, Value a, Value b) {
  if (rank(a) != rank(b)) return rank(a) < rank(b) ? -1 : 1;
  switch (rank(a)) {
    case kNothing:
      return 0;
    case kNumber: {
      const int order = compare_numbers(history, a, b);
      const auto is_float = [](Value value) { return value.kind() == ValueKind::Float; };
      return order != 0 ? order : sign(is_float(a) <=> is_float(b));
    }
    case kText:
      return sign(history.string(a).compare(history.string(b)) <=> 0);
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
    case PredicateKind::EqTerms:
    case PredicateKind::NeTerms:
    case PredicateKind::LtTerms:
    case PredicateKind::LeTerms:
    case PredicateKind::GtTerms:
    case PredicateKind::GeTerms: {
      const auto sides = history.children(node);
      return compare_terms(history, info(node.kind).plain,
                           value_of_term(history, PredicateId{sides[0]}, key, row),
                           value_of_term(history, PredicateId{sides[1]}, key, row));
    }
    default:
      break;
  }
  const Value left = node.column.valid() ? history.cell(row, node.column) : history.key_name(key);
  const auto operands = history.operands(node);
  switch (node.kind) {
    case PredicateKind::IsNull:
      return truth(left.is_null());
    case PredicateKind::Like:
      if (left.kind() != ValueKind::Text) return Truth::Unknown;
      return truth(is_like(history.string(left), history.string(operands[0])));
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
