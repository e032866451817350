// Any bytes as dbcop's JSON: a history or an error, never a crash.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "ouro/format.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto history =
      ouro::parse_history(bytes, {.format = ouro::Format::DbcopJson, .threads = 1});
  if (!history.ok() && history.error().what.empty()) std::abort();
  return 0;
}
