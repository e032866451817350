// Any bytes as Jepsen's EDN: an error or a history, never more.
//
// A history that was read is also written again, and must be readable then.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "ouro/format.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto history =
      ouro::parse_history(bytes, {.format = ouro::Format::JepsenEdn, .threads = 1});
  if (!history.ok()) return 0;
  std::string printed;
  if (ouro::print_history(*history, ouro::Format::JepsenEdn, printed).ok() &&
      !ouro::parse_history(printed, {.format = ouro::Format::JepsenEdn, .threads = 1}).ok()) {
    __builtin_trap();
  }
  return 0;
}
