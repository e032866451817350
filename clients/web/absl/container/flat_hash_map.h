// The standard library's table under the name of Abseil's.
#pragma once

#include <functional>
#include <memory>
#include <unordered_map>

#include "absl/hash/hash.h"

namespace absl {
template <class Key, class T, class Hasher = Hash<Key>, class Same = Equal<Key>>
class flat_hash_map : public std::unordered_map<Key, T, Hasher, Same> {
 public:
  using std::unordered_map<Key, T, Hasher, Same>::unordered_map;
  void prefetch(const Key&) const {}
};
}  // namespace absl
