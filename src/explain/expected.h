// Finds the story that an expectation names.
#pragma once

#include <span>
#include <string_view>

#include "ouro/explain.h"

namespace ouro {

// The first story that `wanted` may mean: a name, id or group, with or without the suffix of a
// variant. Null if there is none.
[[nodiscard]] const Story* find_story(std::span<const Explanation> explanations,
                                      std::string_view wanted);

}  // namespace ouro
