// Which Ouro this is.
#pragma once

#include <string_view>

namespace ouro {

// "0.1.0"
[[nodiscard]] std::string_view version();

}  // namespace ouro
