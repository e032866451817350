// The standard library's table under the name of Abseil's.
#pragma once

#include <functional>
#include <memory>
#include <unordered_set>

#include "absl/hash/hash.h"

namespace absl {
template <class Key, class Hasher = Hash<Key>, class Same = Equal<Key>>
using flat_hash_set = std::unordered_set<Key, Hasher, Same>;
}  // namespace absl
