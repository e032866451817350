#include "tests/value_oracle.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

namespace ouro::oracle {
namespace {

__extension__ using Wide = __int128;

bool is_number(Value value) { return ouro::is_number(value.kind()); }

// A number, in units of 10^-18. Digits behind that are only known to be there.
struct Quantity {
  int beyond = 0;  // -1: minus infinity, 1: infinity, 2: not a number.
  bool negative = false;
  Wide units = 0;  // Without its sign.
  bool more = false;
  double number = 0;  // Of a float.
};

constexpr int kPlaces = 18;

// From plain digits like -12.5.
Quantity quantity(const std::string& digits) {
  Quantity out;
  int behind = -1;
  for (const char c : digits) {
    if (c == '-') {
      out.negative = true;
    } else if (c == '.') {
      behind = 0;
    } else if (behind < kPlaces) {
      if (out.units > (Wide{1} << 120))
        throw std::logic_error("the oracle knows short numbers only");
      out.units = out.units * 10 + (c - '0');
      behind += behind >= 0 ? 1 : 0;
    } else {
      out.more |= c != '0';
    }
  }
  for (int i = behind < 0 ? 0 : behind; i < kPlaces; ++i) out.units *= 10;
  if (out.units == 0 && !out.more) out.negative = false;
  return out;
}

Quantity float_quantity(const std::string& digits) {
  Quantity out;
  const double number = std::stod(digits);
  if (std::isfinite(number)) {
    if (std::fabs(number) > 1e18) throw std::logic_error("the oracle knows short numbers only");
    char text[2000];
    std::snprintf(text, sizeof(text), "%.1074f", number);
    out = quantity(text);
  } else {
    out.beyond = std::isnan(number) ? 2 : number < 0 ? -1 : 1;
  }
  out.number = number;
  return out;
}

Quantity quantity(const History& history, Value value) {
  if (value.kind() == ValueKind::Integer) return quantity(std::to_string(value.number()));
  const std::string digits(history.string(value));
  return value.kind() == ValueKind::Float ? float_quantity(digits) : quantity(digits);
}

int compared(const Quantity& a, const Quantity& b) {
  if (a.beyond != 0 || b.beyond != 0) return a.beyond - b.beyond;
  if (a.negative != b.negative) return a.negative ? -1 : 1;
  int order = a.units < b.units ? -1 : a.units > b.units ? 1 : a.more - b.more;
  if (order == 0 && a.more) order = a.number < b.number ? -1 : a.number > b.number ? 1 : 0;
  return a.negative ? -order : order;
}

double rounded(const Quantity& quantity, bool floating) {
  if (floating) return quantity.number;
  const double size = static_cast<double>(static_cast<long double>(quantity.units) / 1e18L);
  return quantity.negative ? -size : size;
}

// The value of a term: a value of the history, or a number, exact or not.
struct Term {
  Value value;
  std::optional<Quantity> number;
  bool floating = false;
};

Term calculated(PredicateKind kind, const Term& a, const Term& b) {
  Term out;
  if (!a.number || !b.number) return out;
  out.floating = a.floating || b.floating;
  if (out.floating) {
    const double one = rounded(*a.number, a.floating);
    const double two = rounded(*b.number, b.floating);
    const double result = kind == PredicateKind::Add        ? one + two
                          : kind == PredicateKind::Subtract ? one - two
                                                            : one * two;
    char digits[64];
    std::snprintf(digits, sizeof(digits), "%.17g", result);
    out.number = float_quantity(digits);
    return out;
  }
  Wide one = a.number->negative ? -a.number->units : a.number->units;
  Wide two = b.number->negative ? -b.number->units : b.number->units;
  Wide result = kind == PredicateKind::Add ? one + two : one - two;
  if (kind == PredicateKind::Multiply) {
    int zeros = 0;  // So many the product has too many.
    for (; one % 10 == 0 && one != 0 && zeros < kPlaces; one /= 10) ++zeros;
    for (; two % 10 == 0 && two != 0 && zeros < kPlaces; two /= 10) ++zeros;
    if (zeros < kPlaces && one != 0 && two != 0) throw std::logic_error("too many digits");
    result = one * two;
  }
  out.number.emplace();
  out.number->negative = result < 0;
  out.number->units = result < 0 ? -result : result;
  return out;
}

Term term_of(const History& history, PredicateId id, KeyId key, Value row) {
  const PredicateNode& node = history.predicate(id);
  Term out;
  if (node.kind == PredicateKind::Constant || node.kind == PredicateKind::Column) {
    out.value = node.kind == PredicateKind::Constant ? history.operands(node)[0]
                : node.column.valid()                ? history.cell(row, node.column)
                                                     : history.key_name(key);
    if (is_number(out.value)) out.number = quantity(history, out.value);
    out.floating = out.value.kind() == ValueKind::Float;
    return out;
  }
  out = term_of(history, PredicateId{history.children(node)[0]}, key, row);
  for (const std::uint32_t child : history.children(node).subspan(1)) {
    out = calculated(node.kind, out, term_of(history, PredicateId{child}, key, row));
  }
  if (!out.number) out = {};
  return out;
}

// Below zero, zero or above; nothing if the sides do not compare.
std::optional<int> compared_terms(const History& history, const Term& left, const Term& right) {
  if (left.number && right.number) return compared(*left.number, *right.number);
  if (left.number || right.number) return std::nullopt;
  return compared_values(history, left.value, right.value);
}

// As SQL's LIKE, for texts in which all characters are bytes.
bool is_like(const std::string& text, const std::string& pattern) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] == '%') {
    return is_like(text, pattern.substr(1)) || (!text.empty() && is_like(text.substr(1), pattern));
  }
  if (text.empty()) return false;
  if (pattern[0] == '_') return is_like(text.substr(1), pattern.substr(1));
  const std::size_t at = pattern[0] == '\\' && pattern.size() > 1 ? 1 : 0;
  return pattern[at] == text[0] && is_like(text.substr(1), pattern.substr(at + 1));
}

// The values that an aggregate is about.
std::vector<Value> values_of(const History& history, const PredicateRead& read,
                             const std::vector<KeyVersion>& rows) {
  std::vector<Value> values;
  for (const KeyVersion& row : rows) {
    const Value value =
        read.column.valid() ? history.cell(row.value, read.column) : history.key_name(row.key);
    if (!value.is_null()) values.push_back(value);
  }
  return values;
}

Wide signed_units(const Quantity& quantity) {
  if (quantity.beyond != 0 || quantity.more)
    throw std::logic_error("the oracle adds short numbers");
  return quantity.negative ? -quantity.units : quantity.units;
}

// Whether the sum of the values, or their average, may have been recorded as `result`.
bool adds_up(const History& history, bool average, const std::vector<Value>& values, Value result) {
  if (values.empty() || !std::all_of(values.begin(), values.end(), is_number)) {
    return result.is_null();
  }
  if (!is_number(result)) return false;
  Wide sum = 0;
  Wide sizes = 0;
  bool floats = result.kind() == ValueKind::Float;
  for (const Value value : values) {
    floats |= value.kind() == ValueKind::Float;
    const Wide units = signed_units(quantity(history, value));
    sum += units;
    sizes += units < 0 ? -units : units;
  }
  const auto count = static_cast<Wide>(values.size());
  const Quantity given = quantity(history, result);
  if (given.beyond != 0) return false;
  const Wide divisor = average ? count : 1;
  Wide unit = 1;  // Of the last digit that was recorded.
  const std::string text = history.text(result);
  const std::size_t point = text.find('.');
  const std::size_t places = point == std::string::npos ? 0 : text.size() - point - 1;
  for (std::size_t place = places; place < kPlaces; ++place) unit *= 10;
  if (floats) {  // Nobody tests at the edge of this.
    const auto size = [](Wide wide) { return static_cast<long double>(wide); };
    const long double off =
        size(sum) - size(given.negative ? -given.units : given.units) * size(divisor);
    const bool rounded = result.kind() != ValueKind::Float && (average || places > 0);
    const long double half = rounded ? size(unit * divisor) / 2 : 0;
    return std::fabs(off) <= size(count + 1) * size(sizes) * 0x1p-52L + size(divisor) + half;
  }
  const Wide off = sum - signed_units(given) * divisor;
  if (!average) return off == 0;
  return 2 * (off < 0 ? -off : off) <= divisor * unit;
}

}  // namespace

std::optional<int> compared_values(const History& history, Value a, Value b) {
  if (is_number(a) && is_number(b)) return compared(quantity(history, a), quantity(history, b));
  if (a.kind() != b.kind()) return std::nullopt;
  if (a.kind() == ValueKind::Boolean) return (a.truth() ? 1 : 0) - (b.truth() ? 1 : 0);
  if (a.kind() != ValueKind::Text) return std::nullopt;
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

bool is_aggregate(const History& history, const PredicateRead& read,
                  const std::vector<KeyVersion>& rows) {
  if (read.result.is_unobserved()) return true;
  const std::vector<Value> values = values_of(history, read, rows);
  if (read.aggregate == AggregateKind::Count) {
    return history.text(read.result) == std::to_string(values.size());
  }
  if (read.aggregate == AggregateKind::Sum || read.aggregate == AggregateKind::Avg) {
    return adds_up(history, read.aggregate == AggregateKind::Avg, values, read.result);
  }
  if (values.empty()) return read.result.is_null();
  // Booleans are before numbers, and numbers before texts; of equal ones an exact number before a
  // float.
  const auto family = [](Value value) {
    return value.kind() == ValueKind::Boolean ? 0 : is_number(value) ? 1 : 2;
  };
  const bool least = read.aggregate == AggregateKind::Min;
  Value best = values[0];
  for (const Value value : values) {
    int order = compared_values(history, value, best).value_or(family(value) - family(best));
    if (order == 0 && value != best) order = value.kind() == ValueKind::Float ? 1 : -1;
    if (least ? order < 0 : order > 0) best = value;
  }
  return best == read.result;
}

namespace {

// The truth of a comparison of terms.
std::optional<bool> compared_sides(const History& history, const PredicateNode& node, KeyId key,
                                   Value row) {
  const auto sides =
      compared_terms(history, term_of(history, PredicateId{history.children(node)[0]}, key, row),
                     term_of(history, PredicateId{history.children(node)[1]}, key, row));
  if (!sides) return std::nullopt;
  switch (node.kind) {
    case PredicateKind::EqTerms:
      return *sides == 0;
    case PredicateKind::NeTerms:
      return *sides != 0;
    case PredicateKind::LtTerms:
      return *sides < 0;
    case PredicateKind::LeTerms:
      return *sides <= 0;
    case PredicateKind::GtTerms:
      return *sides > 0;
    case PredicateKind::GeTerms:
      return *sides >= 0;
    default:
      throw std::logic_error("no predicate");
  }
}

}  // namespace

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
    case PredicateKind::Like:
      if (left.kind() != ValueKind::Text) return std::nullopt;
      return is_like(std::string(history.string(left)),
                     std::string(history.string(history.operands(node)[0])));
    default:
      break;
  }
  return compared_sides(history, node, key, row);
}

}  // namespace ouro::oracle
