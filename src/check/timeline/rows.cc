#include "check/timeline/rows.h"

#include <algorithm>
#include <numeric>

#include "check/predicates/predicate_bounds.h"
#include "history/value_order.h"

namespace ouro {
Rows::Rows(const History& history, const ListKeys& lists) : h_(history) {
  for (std::size_t k = 0; k < history.key_count(); ++k) {
    if (lists.number(KeyId{k}) == ListKeys::kRegister) keys_.push_back(KeyId{k});
  }
  std::sort(keys_.begin(), keys_.end(),
            [&](KeyId a, KeyId b) { return less(h_.key_name(a), h_.key_name(b)); });
  place_.assign(history.key_count(), kNone);
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    const Value initial = history.initial(keys_[i]);
    place_[keys_[i].index()] = static_cast<RowNumber>(i);
    rows_.push_back({initial, !initial.is_null()});
  }
}

bool Rows::less(Value a, Value b) const { return compare_values(h_, a, b) < 0; }

void Rows::set(KeyId key, Row row) {
  const RowNumber place = place_[key.index()];
  for (auto& [column, index] : indexes_) index_row(index, column, place, false);
  rows_[place] = row;
  for (auto& [column, index] : indexes_) index_row(index, column, place, true);
}

// ---- indexes ----

// Adds a row to the index of a column, or removes it.
void Rows::index_row(ColumnIndex& index, ColumnId column, RowNumber place, bool add) const {
  if (!rows_[place].alive) return;
  const auto number = index_number(h_, h_.cell(rows_[place].value, column));
  if (!number) return;
  if (add) {
    index.insert({*number, place});
  } else {
    index.erase({*number, place});
  }
}

Rows::ColumnIndex& Rows::index_of(ColumnId column) {
  const auto [at, added] = indexes_.try_emplace(column);
  if (!added) return at->second;
  for (RowNumber place = 0; place < rows_.size(); ++place)
    index_row(at->second, column, place, true);
  return at->second;
}

// The numbers of the first row from `lower` to `upper`, both included, and of the row behind the
// last; null: open.
std::pair<Rows::RowNumber, Rows::RowNumber> Rows::range(Value lower, Value upper) const {
  const auto first = std::partition_point(keys_.begin(), keys_.end(), [&](KeyId key) {
    return !lower.is_null() && less(h_.key_name(key), lower);
  });
  const auto end = std::partition_point(first, keys_.end(), [&](KeyId key) {
    return upper.is_null() || !less(upper, h_.key_name(key));
  });
  return {static_cast<RowNumber>(first - keys_.begin()),
          static_cast<RowNumber>(end - keys_.begin())};
}

// ---- what a predicate leaves ----

// The numbers of rows within the bounds of a column, sorted.
std::vector<Rows::RowNumber> Rows::lookup(const Bounds& bounds) {
  const ColumnIndex& index = index_of(bounds.column);
  const std::int64_t upper = upper_number(bounds);
  std::vector<RowNumber> places;
  for (auto at = index.lower_bound({lower_number(bounds), 0});
       at != index.end() && at->first <= upper; ++at) {
    places.push_back(at->second);
  }
  std::sort(places.begin(), places.end());
  return places;
}

// The numbers of rows, sorted, that may be selected: all others are not.
std::vector<Rows::RowNumber> Rows::candidates(OpKind kind, const PredicateRead& read) {
  std::pair<RowNumber, RowNumber> keys{0, static_cast<RowNumber>(keys_.size())};
  if (kind == OpKind::Scan) {
    keys = range(read.lower, read.upper);
  } else {
    // How many rows the bounds of a column leave is unknown, so the narrowest are taken; but not if
    // the bounds of the key are known to leave few.
    const Bounds* best = nullptr;
    const std::vector<Bounds> all = bounds_of(h_, read.predicate);
    for (const Bounds& bounds : all) {
      if (!bounds.column.valid()) {
        keys = range(bounds.lower, bounds.upper);
      } else if (best == nullptr || bounds.width() < best->width()) {
        best = &bounds;
      }
    }
    if (best != nullptr && keys.first < keys.second &&
        keys.second - keys.first > keys_.size() / 8) {
      return lookup(*best);
    }
  }
  std::vector<RowNumber> places(keys.first < keys.second ? keys.second - keys.first : 0);
  std::iota(places.begin(), places.end(), keys.first);
  return places;
}

std::vector<KeyVersion> Rows::selected(OpKind kind, const PredicateRead& read) {
  std::vector<KeyVersion> out;
  for (const RowNumber place : candidates(kind, read)) {
    const Row& row = rows_[place];
    ++looked_at_;
    if (!row.alive) continue;
    const bool match = kind == OpKind::Scan ||
                       evaluate(h_, read.predicate, keys_[place], row.value) == Truth::True;
    if (match) out.push_back({keys_[place], row.value});
  }
  return out;
}

std::string rows_text(const History& history, const std::vector<KeyVersion>& rows) {
  std::string out = "[";
  for (const KeyVersion& row : rows) {
    if (out.size() > 1) out += ',';
    out += '[' + history.text(history.key_name(row.key)) + ',' + history.text(row.value) + ']';
  }
  return out + ']';
}

std::vector<KeyVersion> Rows::returned(const PredicateRead& read) const {
  std::vector<KeyVersion> out;
  for (const KeyVersion& version : h_.rows(read)) {
    if (!has(version.key)) continue;
    const Row& current = row(version.key);
    if (!current.alive && current.value == version.value) continue;
    out.push_back(version);
  }
  const auto place_of = [&](const KeyVersion& v) { return place_[v.key.index()]; };
  std::sort(out.begin(), out.end(), [&](const KeyVersion& a, const KeyVersion& b) {
    return std::pair(place_of(a), a.value) < std::pair(place_of(b), b.value);
  });
  return out;
}

}  // namespace ouro
