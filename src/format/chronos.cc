#include "format/chronos.h"

#include <algorithm>
#include <string>

#include "format/array_cutter.h"
#include "format/blocks.h"
#include "format/chronos_block.h"
#include "format/chronos_uses.h"
#include "ouro/history_builder.h"

namespace ouro {
bool detect_chronos(std::string_view head) {
  const std::size_t at = head.find_first_not_of(" \t\r\n");
  if (at == std::string_view::npos || head[at] != '[') return false;
  const std::size_t object = head.find_first_not_of(" \t\r\n", at + 1);
  if (object == std::string_view::npos || head[object] != '{') return false;
  return head.find("\"sts\"") != std::string_view::npos ||
         head.find("\"cts\"") != std::string_view::npos;
}

Result<History> read_chronos(Input& input, unsigned threads) {
  HistoryBuilder builder;
  builder.file(input.name(), PlaceUnit::Line);
  const std::string name = input.name();
  ArrayCutter cutter;
  const auto parse = [&](const Block& block, HistoryBuilder& part) -> Status {
    return parse_chronos_part(block, name, cutter, part);
  };
  const auto cut = [&cutter](std::string_view bytes) { return cutter.cut(bytes); };
  if (auto status = parse_blocks(input, cut, parse, threads, builder); !status.ok()) {
    return status.error();
  }

  ChronosUses uses;
  for (OpId id{0}; id.index() < builder.op_count(); ++id.value) uses.add(builder.op(id));
  if (uses.first_list().valid()) {
    if (uses.reads_null()) read_null_as_empty(builder);
  } else {
    builder.default_initial(uses.initial());
  }
  auto history = std::move(builder).freeze();
  if (history.ok() && uses.first_list().valid() && uses.first_register().valid()) {
    const OpId later = std::max(uses.first_list(), uses.first_register());
    return error_at_line(name, history->place(later).position, kChronosMixture);
  }
  return history;
}

}  // namespace ouro
