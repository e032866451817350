// The standard library's tree under the name of Abseil's.
#pragma once

#include <map>

namespace absl {
template <class... Parameters>
using btree_map = std::map<Parameters...>;
}  // namespace absl
