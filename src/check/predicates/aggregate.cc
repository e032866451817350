#include "check/predicates/aggregate.h"

#include <algorithm>
#include <string_view>

#include "check/predicates/total.h"
#include "history/value_order.h"

namespace ouro {
namespace {

// What is aggregated, row by row; nulls are left out.
std::vector<Value> aggregated_values(const History& history, const PredicateRead& read,
                                     const std::vector<KeyVersion>& rows) {
  std::vector<Value> values;
  for (const KeyVersion& row : rows) {
    const Value value =
        read.column.valid() ? history.cell(row.value, read.column) : history.key_name(row.key);
    if (!value.is_null()) values.push_back(value);
  }
  return values;
}

Total total(const History& history, const PredicateRead& read, const std::vector<Value>& values) {
  Total total(read.aggregate == AggregateKind::Avg);
  for (const Value value : values) total.add(history, value);
  return total;
}

}  // namespace

std::string aggregate(const History& history, const PredicateRead& read,
                      const std::vector<KeyVersion>& rows) {
  const std::vector<Value> values = aggregated_values(history, read, rows);
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
      return total(history, read, values).text();
  }
}

bool aggregate_fits(const History& history, const PredicateRead& read,
                    const std::vector<KeyVersion>& rows, std::string_view recorded) {
  if (adds_up(read.aggregate)) {
    return total(history, read, aggregated_values(history, read, rows)).fits(recorded);
  }
  return aggregate(history, read, rows) == recorded;
}

}  // namespace ouro
