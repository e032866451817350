#include "check/predicates/possible_result.h"

#include <algorithm>

#include "history/value_order.h"

namespace ouro {

RowPart row_part(const History& history, const PredicateRead& read, const KeyVersion& row) {
  if (evaluate(history, read.predicate, row.key, row.value) != Truth::True) return {};
  if (!read.column.valid()) return {true, Value::null()};  // Rows are counted, or keys, which stay.
  const Value cell = history.cell(row.value, read.column);
  if (cell.is_null()) return {};
  return {true, read.aggregate == AggregateKind::Count ? Value::null() : cell};
}

PossibleResult::PossibleResult(const History& history, OpId read)
    : h_(history),
      read_(history.predicate_read(read)),
      select_(history.op(read).kind == OpKind::Select) {
  const Total nothing(read_.aggregate == AggregateKind::Avg);
  sums_.try_emplace(nothing.summary(), nothing);
}

void PossibleResult::add(std::span<const RowPart> parts, KeyId key) {
  const auto counts = [](const RowPart& part) { return part.counts; };
  const bool some = std::any_of(parts.begin(), parts.end(), counts);
  const bool all = std::all_of(parts.begin(), parts.end(), counts);
  least_ += all ? 1 : 0;
  most_ += some ? 1 : 0;
  impossible_ |= parts.empty() || (select_ && all);
  if (select_ || impossible_) return;
  switch (read_.aggregate) {
    case AggregateKind::Count:
      return;
    case AggregateKind::Sum:
    case AggregateKind::Avg:
      return add_sums(parts, key);
    case AggregateKind::Min:
    case AggregateKind::Max:
      return add_extremes(parts, key, all);
  }
}

// An aggregate of keys has the key as its value, here and below.
void PossibleResult::add_sums(std::span<const RowPart> parts, KeyId key) {
  constexpr std::size_t kMost = 1 << 8;
  if (many_) return;
  const auto value = [&](const RowPart& part) {
    return read_.column.valid() ? part.value : h_.key_name(key);
  };
  if (parts.size() == 1 && sums_.size() == 1) {
    if (parts[0].counts) sums_.begin()->second.add(h_, value(parts[0]));
    return;  // It does not matter that the only sum has another summary now.
  }
  absl::flat_hash_map<std::string, Total> next;
  for (const auto& [summary, total] : sums_) {
    for (const RowPart& part : parts) {
      Total with = total;
      if (part.counts) with.add(h_, value(part));
      next.try_emplace(with.summary(), with);
    }
    many_ |= next.size() > kMost;
    if (many_) return;
  }
  sums_ = std::move(next);
}

void PossibleResult::add_extremes(std::span<const RowPart> parts, KeyId key, bool all) {
  bool fits = !all;
  for (const RowPart& part : parts) {
    if (!part.counts || read_.result.is_null()) continue;
    const Value value = read_.column.valid() ? part.value : h_.key_name(key);
    const int order = compare_values(h_, value, read_.result);
    fits |= read_.aggregate == AggregateKind::Min ? order >= 0 : order <= 0;
    found_ |= order == 0;
  }
  impossible_ |= !fits;
}

bool PossibleResult::has_sum() const {
  const std::string wanted = h_.text(read_.result);
  return many_ || std::any_of(sums_.begin(), sums_.end(),
                              [&](const auto& sum) { return sum.second.fits(wanted); });
}

bool PossibleResult::has_result() const {
  if (impossible_ || select_) return !impossible_;
  switch (read_.aggregate) {
    case AggregateKind::Count: {
      const std::string wanted = h_.text(read_.result);
      for (std::size_t count = least_; count <= most_; ++count) {
        if (std::to_string(count) == wanted) return true;
      }
      return false;
    }
    case AggregateKind::Sum:
    case AggregateKind::Avg:
      return has_sum();
    case AggregateKind::Min:
    case AggregateKind::Max:
      break;
  }
  return read_.result.is_null() || found_;
}

}  // namespace ouro
