// The keys of a history in the order of their names, in which scans have their ranges.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/slice.h"
#include "history/value_order.h"
#include "ouro/history.h"

namespace ouro {

class SortedKeys {
 public:
  // REQUIRES: `history` outlives it.
  explicit SortedKeys(const History& history) : h_(&history), keys_(history.key_count()) {
    for (std::size_t k = 0; k < keys_.size(); ++k) keys_[k] = KeyId{k};
    std::sort(keys_.begin(), keys_.end(),
              [&](KeyId a, KeyId b) { return less(h_->key_name(a), h_->key_name(b)); });
  }

  [[nodiscard]] std::span<const KeyId> all() const { return keys_; }

  // The keys from `lower` to `upper`, both included; null: open.
  [[nodiscard]] std::span<const KeyId> between(Value lower, Value upper) const {
    const auto first = lower.is_null()
                           ? keys_.begin()
                           : std::partition_point(keys_.begin(), keys_.end(), [&](KeyId key) {
                               return less(h_->key_name(key), lower);
                             });
    const auto last =
        upper.is_null() ? keys_.end() : std::partition_point(first, keys_.end(), [&](KeyId key) {
          return !less(upper, h_->key_name(key));
        });
    return slice(keys_, first, last);
  }
  // Whether a key is one of these.
  [[nodiscard]] bool is_between(KeyId key, Value lower, Value upper) const {
    const Value name = h_->key_name(key);
    return (lower.is_null() || !less(name, lower)) && (upper.is_null() || !less(upper, name));
  }

 private:
  [[nodiscard]] bool less(Value a, Value b) const { return compare_values(*h_, a, b) < 0; }

  const History* h_;
  std::vector<KeyId> keys_;
};

}  // namespace ouro
