// Any bytes as one log of Cobra: transactions or an error, never a crash.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "format/cobra.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  ouro::HistoryBuilder builder;
  const auto status = ouro::parse_cobra_log(bytes, "T1.log", builder.session(1), builder);
  if (!status.ok()) return 0;
  if (!std::move(builder).freeze().ok()) std::abort();
  return 0;
}
