#include "stream/row_index.h"

#include <algorithm>

namespace ouro::stream {

void RowIndex::change(const History& all, ColumnId column, Numbers& numbers, const Newest& row,
                      bool add) {
  if (!row.alive) return;
  const auto number = index_number(all, all.cell(row.value, column));
  if (!number) return;
  if (add) {
    entries_ += numbers.insert({*number, row.key}).second ? 1 : 0;
  } else {
    entries_ -= numbers.erase({*number, row.key});
  }
}

void RowIndex::add(const History& all, const Newest& row) {
  by_time_.insert({row.at, row.key});
  for (auto& [column, numbers] : columns_) change(all, column, numbers, row, true);
}

void RowIndex::remove(const History& all, const Newest& row) {
  by_time_.erase({row.at, row.key});
  for (auto& [column, numbers] : columns_) change(all, column, numbers, row, false);
}

bool RowIndex::find(const Bounds& bounds, const Moment& moment, std::size_t most,
                    std::vector<KeyId>& found) const {
  const Numbers& numbers = columns_.find(bounds.column)->second;
  const std::int64_t upper = upper_number(bounds);
  for (auto at = numbers.lower_bound({lower_number(bounds), KeyId{0}});
       at != numbers.end() && at->first <= upper; ++at) {
    if (found.size() == most) return false;
    found.push_back(at->second);
  }
  for (auto at = by_time_.lower_bound({moment, KeyId{0}}); at != by_time_.end(); ++at) {
    if (found.size() == most) return false;
    found.push_back(at->second);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return true;
}

}  // namespace ouro::stream
