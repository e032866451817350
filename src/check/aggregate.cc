#include "check/aggregate.h"

#include <algorithm>

#include "history/value_order.h"

namespace ouro {
namespace {

std::string sum(const std::vector<Value>& values) {
  std::int64_t total = 0;
  for (const Value value : values) {
    if (value.kind() != ValueKind::Integer ||
        __builtin_add_overflow(total, value.number(), &total)) {
      return "no number";
    }
  }
  return std::to_string(total);
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
      return sum(values);
  }
}

}  // namespace ouro
