// Any bytes as one log of Cobra: transactions or an error, never a crash.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "format/cobra.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  ouro::HistoryBuilder builder;
  builder.file("T1.log", ouro::PlaceUnit::Byte);
  const auto status = ouro::parse_cobra_log(bytes, "T1.log", builder.session(1), builder);
  if (!status.ok()) return 0;
  // What a log cannot show while it is read, like clocks that run backward, names its place, too.
  const auto history = std::move(builder).freeze();
  if (!history.ok() && !history.error().offset.has_value()) std::abort();
  return 0;
}
