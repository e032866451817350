// Text of strangers, made fit for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace ouro {

// `text` with each byte that would not print as itself as "\x1b": control characters, also those of
// Unicode, and what is not UTF-8. A line break is "\x0a".
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace ouro
