#include "check/predicates/aggregate.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>

#include "history/value_order.h"

namespace ouro {
namespace {

__extension__ using Sum = __int128;  // Holds the sum of 2³² numbers of 64 bits, and more.

// REQUIRES: `value` is an integer, of any size.
Sum number(const History& history, Value value) {
  if (value.kind() == ValueKind::Integer) return value.number();
  const std::string_view digits = history.string(value);
  Sum magnitude = 0;
  for (const char digit : digits.substr(digits.starts_with('-') ? 1 : 0)) {
    magnitude = magnitude * 10 + (digit - '0');
  }
  return digits.starts_with('-') ? -magnitude : magnitude;
}

std::string sum(const History& history, const std::vector<Value>& values) {
  Sum total = 0;
  for (const Value value : values) {
    if (value.kind() != ValueKind::Integer && value.kind() != ValueKind::Wide) return "null";
    total += number(history, value);
  }
  // Histories have integers of more than 64 bits as strings of their digits.
  const bool fits = total >= std::numeric_limits<std::int64_t>::min() &&
                    total <= std::numeric_limits<std::uint64_t>::max();
  return fits ? fmt::format("{}", total) : fmt::format("\"{}\"", total);
}

}  // namespace

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
