#include "certify/values.h"

#include <algorithm>

namespace ouro::recheck {
namespace {

Scalar number_of(std::int64_t number) {
  return {Scalar::Family::Number, number < 0 ? -1 : 0, static_cast<std::uint64_t>(number), {}};
}

// Decimal digits, with or without a sign.
Scalar number_of(std::string_view digits) {
  const bool negative = digits.starts_with('-');
  std::uint64_t size = 0;
  for (const char digit : digits.substr(negative ? 1 : 0)) {
    size = size * 10 + static_cast<std::uint64_t>(digit - '0');
  }
  return {Scalar::Family::Number, negative ? -1 : 0, negative ? 0 - size : size, {}};
}

// Whether a comparison is true of values less than its operand, equal to it, and greater.
struct Sides {
  bool less = false;
  bool equal = false;
  bool greater = false;
};
Sides sides_of(PredicateKind comparison) {
  switch (comparison) {
    case PredicateKind::Eq:
      return {.equal = true};
    case PredicateKind::Ne:
      return {.less = true, .greater = true};
    case PredicateKind::Lt:
      return {.less = true};
    case PredicateKind::Le:
      return {.less = true, .equal = true};
    case PredicateKind::Gt:
      return {.greater = true};
    default:
      return {.equal = true, .greater = true};
  }
}

// The truth of predicates of one row.
class Judgement {
 public:
  Judgement(const History& history, KeyId key, Value row) : h_(history), key_(key), row_(row) {}

  // Whether the truth of `predicate` is `answer`; false also if it is unknown.
  [[nodiscard]] bool answers(PredicateId predicate, bool answer) const {
    const PredicateNode& node = h_.predicate(predicate);
    const auto part = [&](std::uint32_t id) { return answers(PredicateId{id}, answer); };
    switch (node.kind) {
      case PredicateKind::True:
        return answer;
      case PredicateKind::Not:
        return answers(PredicateId{h_.children(node)[0]}, !answer);
      case PredicateKind::And:  // True if all are, false as soon as one is.
        return answer ? std::ranges::all_of(h_.children(node), part)
                      : std::ranges::any_of(h_.children(node), part);
      case PredicateKind::Or:
        return answer ? std::ranges::any_of(h_.children(node), part)
                      : std::ranges::all_of(h_.children(node), part);
      case PredicateKind::IsNull:
        return cell(node).is_null() == answer;
      default:
        return compares(node, answer);
    }
  }

 private:
  [[nodiscard]] Value cell(const PredicateNode& node) const {
    return node.column.valid() ? h_.cell(row_, node.column) : h_.key_name(key_);
  }

  [[nodiscard]] bool compares(const PredicateNode& node, bool answer) const {
    const auto operands = h_.operands(node);
    const Scalar left = scalar_of(h_, cell(node));
    const auto says = [&](const Sides& sides, Value operand) {
      const Scalar right = scalar_of(h_, operand);
      if (left.family == Scalar::Family::None || left.family != right.family) return false;
      const bool good = left < right ? sides.less : left == right ? sides.equal : sides.greater;
      return good == answer;
    };
    switch (node.kind) {
      case PredicateKind::Between: {
        const bool low = says(sides_of(PredicateKind::Ge), operands[0]);
        const bool high = says(sides_of(PredicateKind::Le), operands[1]);
        return answer ? low && high : low || high;
      }
      case PredicateKind::In: {
        const auto equal = [&](Value operand) {
          return says(sides_of(PredicateKind::Eq), operand);
        };
        return answer ? std::ranges::any_of(operands, equal) : std::ranges::all_of(operands, equal);
      }
      default:
        return says(sides_of(node.kind), operands[0]);
    }
  }

  const History& h_;
  KeyId key_;
  Value row_;
};

}  // namespace

Scalar scalar_of(const History& history, Value value) {
  switch (value.kind()) {
    case ValueKind::Null:
    case ValueKind::Unobserved:
      return {};
    case ValueKind::Integer:
      return number_of(value.number());
    case ValueKind::Wide:
      return number_of(history.string(value));
    case ValueKind::Text:
      return {Scalar::Family::Text, 0, 0, history.string(value)};
    default:
      return {Scalar::Family::Other, 0, value.bits(), {}};
  }
}

bool less(const History& history, Value a, Value b) {
  return scalar_of(history, a) < scalar_of(history, b);
}

bool in_range(const History& history, const PredicateRead& scan, KeyId key) {
  const Value name = history.key_name(key);
  if (!scan.lower.is_null() && less(history, name, scan.lower)) return false;
  return scan.upper.is_null() || !less(history, scan.upper, name);
}

bool is_settled(const History& history, PredicateId predicate, KeyId key, Value row, bool answer) {
  return Judgement(history, key, row).answers(predicate, answer);
}

}  // namespace ouro::recheck
