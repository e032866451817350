#include "check/predicates/predicate_bounds.h"

#include <limits>

#include "history/number.h"
#include "history/value_order.h"

namespace ouro {
namespace {

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

bool is_integer(Value value) { return value.kind() == ValueKind::Integer; }

// Narrows `bounds` to where the comparison `node` may be true. Comparisons with anything but
// integers set no bounds, though one with null is never true: evaluating the predicate settles
// that.
void add_bounds(const History& history, const PredicateNode& node, std::vector<Bounds>& bounds) {
  if (!info(node.kind).compares) return;
  const auto operands = history.operands(node);
  Value lower;
  Value upper;
  switch (node.kind) {
    case PredicateKind::Eq:
      lower = upper = operands[0];
      break;
    case PredicateKind::Lt:
    case PredicateKind::Le:
      upper = operands[0];
      break;
    case PredicateKind::Gt:
    case PredicateKind::Ge:
      lower = operands[0];
      break;
    case PredicateKind::Between:
      lower = operands[0];
      upper = operands[1];
      break;
    default:
      return;
  }
  const auto usable = [&](Value bound) { return bound.is_null() || is_integer(bound); };
  if ((lower.is_null() && upper.is_null()) || !usable(lower) || !usable(upper)) return;
  const auto less = [&](Value a, Value b) { return compare_values(history, a, b) < 0; };
  for (Bounds& known : bounds) {
    if (known.column != node.column) continue;
    if (known.lower.is_null() || (!lower.is_null() && less(known.lower, lower)))
      known.lower = lower;
    if (known.upper.is_null() || (!upper.is_null() && less(upper, known.upper)))
      known.upper = upper;
    return;
  }
  bounds.push_back({node.column, lower, upper});
}

}  // namespace

double Bounds::width() const {
  if (lower.is_null() || upper.is_null()) return std::numeric_limits<double>::infinity();
  return static_cast<double>(upper.number()) - static_cast<double>(lower.number());
}

std::vector<Bounds> bounds_of(const History& history, PredicateId predicate) {
  std::vector<Bounds> bounds;
  std::vector<PredicateId> open{predicate};
  while (!open.empty()) {
    const PredicateNode& node = history.predicate(open.back());
    open.pop_back();
    if (node.kind != PredicateKind::And) {
      add_bounds(history, node, bounds);
      continue;
    }
    for (const std::uint32_t child : history.children(node)) open.push_back(PredicateId{child});
  }
  return bounds;
}

bool bounds_suffice(const History& history, PredicateId predicate,
                    std::span<const Bounds> bounds) {
  if (bounds.size() != 1 || !bounds[0].column.valid()) return false;
  const bool lower = !bounds[0].lower.is_null();
  const bool upper = !bounds[0].upper.is_null();
  switch (history.predicate(predicate).kind) {
    case PredicateKind::Le:
      return upper;
    case PredicateKind::Ge:
      return lower;
    case PredicateKind::Eq:
    case PredicateKind::Between:
      return lower && upper;
    default:
      return false;
  }
}

std::optional<std::int64_t> index_number(const History& history, Value cell) {
  if (is_integer(cell)) return cell.number();
  if (!is_number(cell.kind())) return std::nullopt;
  const Number number = Number::of(history, cell);
  if (number.is_finite()) return number.exact.floor();
  return number.number < 0 ? kLeast : kMost;
}

std::int64_t lower_number(const Bounds& bounds) {
  return bounds.lower.is_null() ? kLeast : bounds.lower.number();
}

std::int64_t upper_number(const Bounds& bounds) {
  return bounds.upper.is_null() ? kMost : bounds.upper.number();
}

}  // namespace ouro
