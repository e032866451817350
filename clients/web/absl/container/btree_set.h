// The standard library's tree under the name of Abseil's.
#pragma once

#include <set>

namespace absl {
template <class... Parameters>
using btree_set = std::set<Parameters...>;
}  // namespace absl
