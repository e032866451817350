#include "check/predicates/aggregate.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>

#include "history/value_order.h"

namespace ouro {
namespace {

std::string sum(const History& history, const std::vector<Value>& values) {
  WideSum total = 0;
  for (const Value value : values) {
    if (!is_integer_value(value)) return "null";
    total += integer_of(history, value);
  }
  return sum_text(total);
}

}  // namespace

bool is_integer_value(Value value) {
  return value.kind() == ValueKind::Integer || value.kind() == ValueKind::Wide;
}

WideSum integer_of(const History& history, Value value) {
  if (value.kind() == ValueKind::Integer) return value.number();
  const std::string_view digits = history.string(value);
  WideSum magnitude = 0;
  for (const char digit : digits.substr(digits.starts_with('-') ? 1 : 0)) {
    magnitude = magnitude * 10 + (digit - '0');
  }
  return digits.starts_with('-') ? -magnitude : magnitude;
}

// Histories have integers of more than 64 bits as strings of their digits.
std::string sum_text(WideSum sum) {
  const bool fits = sum >= std::numeric_limits<std::int64_t>::min() &&
                    sum <= std::numeric_limits<std::uint64_t>::max();
  return fits ? fmt::format("{}", sum) : fmt::format("\"{}\"", sum);
}

std::string aggregate(const History& history, const PredicateRead& read,
                      const std::vector<KeyVersion>& rows) {
  std::vector<Value> values;
  for (const KeyVersion& row : rows) {
    const Value value =
        read.column.valid() ? history.cell(row.value, read.column) : history.key_name(row.key);
    if (!value.is_null()) values.push_back(value);
  }
  if (read.aggregate == AggregateKind::Count) {
    return std::to_string(read.column.valid() ? values.size() : rows.size());
  }
  if (values.empty()) return "null";
  const auto less = [&](Value a, Value b) { return compare_values(history, a, b) < 0; };
  switch (read.aggregate) {
    case AggregateKind::Min:
      return history.text(*std::min_element(values.begin(), values.end(), less));
    case AggregateKind::Max:
      return history.text(*std::max_element(values.begin(), values.end(), less));
    default:
      return sum(history, values);
  }
}

}  // namespace ouro
