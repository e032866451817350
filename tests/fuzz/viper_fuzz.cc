// Any bytes as one log of Viper: a history or an error, never a crash.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "format/viper.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const auto history = ouro::parse_viper_log(bytes, "J1.log");
  if (!history.ok() && history.error().what.empty()) std::abort();
  return 0;
}
