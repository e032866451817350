#include "ouro/result.h"

#include <fmt/format.h>

namespace ouro {

std::string Error::to_string() const {
  if (file.empty()) return what;
  if (line) return fmt::format("{}:{}: {}", file, *line, what);
  if (offset) return fmt::format("{}: byte {}: {}", file, *offset, what);
  return fmt::format("{}: {}", file, what);
}

}  // namespace ouro
