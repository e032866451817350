// Any bytes as the native binary format: an error or a history, never more.
//
// A history that was read means the same in the text format: written there and read again, it is
// written the same, but for the columns of rows, which may change places.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "ouro/format.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto history =
      ouro::parse_history(bytes, {.format = ouro::Format::NativeBinary, .threads = 1});
  if (!history.ok()) return 0;
  std::string printed;
  if (!ouro::print_history(*history, ouro::Format::Native, printed).ok()) __builtin_trap();
  const auto again = ouro::parse_history(printed, {.format = ouro::Format::Native, .threads = 1});
  if (!again.ok()) __builtin_trap();
  std::string repeated;
  if (!ouro::print_history(*again, ouro::Format::Native, repeated).ok()) __builtin_trap();
  if (repeated == printed) return 0;
  std::sort(printed.begin(), printed.end());
  std::sort(repeated.begin(), repeated.end());
  if (repeated != printed) __builtin_trap();
  return 0;
}
