// Any bytes as dbcop's binary histories: a history or an error, never a crash; and a history that
// came from the format can be written in it and read back the same.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "ouro/format.h"

namespace {

std::string native(const ouro::History& history) {
  std::string out;
  if (!ouro::print_history(history, ouro::Format::Native, out).ok()) std::abort();
  return out.substr(out.find('\n'));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto history =
      ouro::parse_history(bytes, {.format = ouro::Format::DbcopBincode, .threads = 1});
  if (!history.ok()) return 0;
  std::string written;
  if (!ouro::print_history(*history, ouro::Format::DbcopBincode, written).ok()) return 0;
  const auto again =
      ouro::parse_history(written, {.format = ouro::Format::DbcopBincode, .threads = 1});
  if (!again.ok() || native(*history) != native(*again)) std::abort();
  return 0;
}
