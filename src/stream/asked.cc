#include "stream/asked.h"

#include <algorithm>
#include <optional>

#include "check/predicates/aggregate.h"
#include "check/predicates/predicate_bounds.h"
#include "history/access.h"
#include "history/value_order.h"

namespace ouro::stream {

const Asked::Own* Judge::own(const RowKey& key) const {
  const auto at =
      std::lower_bound(asked_.own.begin(), asked_.own.end(), key.id,
                       [](const Asked::Own& own, KeyId wanted) { return own.key < wanted; });
  return at != asked_.own.end() && at->key == key.id ? &*at : nullptr;
}

Seen Judge::seen(const RowKey& key) const {
  const Asked::Own* const mine = asked_.own.empty() ? nullptr : own(key);
  return mine != nullptr ? mine->seen : table_.seen(key, begin_);
}

bool Judge::selects(const RowKey& key, const Seen& seen) const {
  if (!seen.alive || key.list) return false;
  const History& all = table_.store().view();
  if (has_condition(asked_.kind)) {
    return evaluate(all, asked_.read.predicate, key.id, seen.value) == Truth::True;
  }
  const Value name = all.key_name(key.id);
  const auto less = [&](Value a, Value b) { return compare_values(all, a, b) < 0; };
  const auto& [lower, upper] = std::pair(asked_.read.lower, asked_.read.upper);
  return (lower.is_null() || !less(name, lower)) && (upper.is_null() || !less(upper, name));
}

bool Judge::wrong(const RowKey& key, const Seen& seen, bool selected) const {
  if (key.list) return false;
  auto at =
      std::lower_bound(asked_.returned.begin(), asked_.returned.end(), Asked::Returned{key.id, 0});
  std::size_t count = 0;
  bool same = false;
  for (; at != asked_.returned.end() && at->key == key.id; ++at) {
    // A read may list a deleted row that it met, with the value that the deletion wrote. That does
    // not count as a row.
    if (!seen.alive && at->print == seen.print) continue;
    ++count;
    same = at->print == seen.print;
  }
  return selected ? count != 1 || !same : count > 0;
}

template <class Visit>
void Judge::for_candidates(const Visit& visit) const {
  if (asked_.kind == OpKind::Scan) {
    return table_.for_range(asked_.read.lower, asked_.read.upper, visit);
  }
  Bounds keys;
  std::optional<Bounds> narrowest;
  for (const Bounds& bounds : bounds_of(table_.store().view(), asked_.read.predicate)) {
    if (!bounds.column.valid()) {
      keys = bounds;
    } else if (!narrowest || bounds.width() < narrowest->width()) {
      narrowest = bounds;
    }
  }
  const bool open = keys.lower.is_null() || keys.upper.is_null();
  std::vector<KeyId> found;
  std::vector<KeyId> added;
  if (!open || !narrowest || !table_.find(*narrowest, begin_, found)) {
    return table_.for_range(keys.lower, keys.upper, visit);
  }
  for (const Asked::Own& own : asked_.own) {
    if (!std::binary_search(found.begin(), found.end(), own.key)) added.push_back(own.key);
  }
  found.insert(found.end(), added.begin(), added.end());
  for (const KeyId key : found) visit(table_.at(key));
}

std::uint32_t Judge::wrong_keys() const {
  std::uint32_t count = 0;
  for_candidates([&](const RowKey& key) {
    const Seen now = seen(key);
    if (selects(key, now) && wrong(key, now, true)) ++count;
  });
  // Keys that came back but should not have.
  KeyId last;
  for (const Asked::Returned& row : asked_.returned) {
    if (row.key == last) continue;
    last = row.key;
    const RowKey& key = table_.at(row.key);
    const Seen now = seen(key);
    if (!selects(key, now) && wrong(key, now, false)) ++count;
  }
  return count;
}

std::vector<KeyVersion> Judge::selected() const {
  std::vector<KeyVersion> rows;
  for_candidates([&](const RowKey& key) {
    const Seen now = seen(key);
    if (selects(key, now)) rows.push_back({key.id, now.value});
  });
  const auto by_name = [&](const KeyVersion& a, const KeyVersion& b) {
    return table_.less(a.key, b.key);
  };
  if (!std::is_sorted(rows.begin(), rows.end(), by_name)) {
    std::sort(rows.begin(), rows.end(), by_name);
  }
  return rows;
}

std::string Judge::aggregated() const {
  return aggregate(table_.store().view(), asked_.read, selected());
}

bool Judge::gives(std::string_view recorded) const {
  return aggregate_fits(table_.store().view(), asked_.read, selected(), recorded);
}

}  // namespace ouro::stream
