// Parts of vectors.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace ouro {

// The elements of `vector` from `first` to `end`. (Not every standard library makes a span of two
// iterators.)
template <class T>
[[nodiscard]] std::span<const T> slice(const std::vector<T>& vector,
                                       typename std::vector<T>::const_iterator first,
                                       typename std::vector<T>::const_iterator end) {
  return {vector.data() + (first - vector.begin()), static_cast<std::size_t>(end - first)};
}

}  // namespace ouro
