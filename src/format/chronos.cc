#include "format/chronos.h"

#include <algorithm>
#include <string>

#include "base/count_lines.h"
#include "format/array_cutter.h"
#include "format/blocks.h"
#include "format/chronos_block.h"
#include "format/chronos_uses.h"
#include "history/access.h"
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
    if (block.offset >= cutter.closed_at()) {
      const std::size_t at = block.bytes.find_first_not_of(" \t\r\n");
      if (at == std::string::npos) return {};
      const std::uint64_t line =
          block.first_line + count_lines(block.bytes.data(), &block.bytes[at]);
      return error_at_line(name, line, "expected nothing behind the array");
    }
    return parse_chronos_block(block, name, part);
  };
  const auto cut = [&cutter](std::string_view bytes) { return cutter.cut(bytes); };
  if (auto status = parse_blocks(input, cut, parse, threads, builder); !status.ok()) {
    return status.error();
  }

  ChronosUses uses;
  for (OpId id{0}; id.index() < builder.op_count(); ++id.value) uses.add(builder.op(id));
  if (uses.first_list().valid()) {
    for (OpId id{0}; uses.reads_null() && id.index() < builder.op_count(); ++id.value) {
      const Op op = builder.op(id);
      if (is_read(op.kind) && op.value.is_null()) builder.set_value(id, Value::list(0, 0));
    }
  } else {
    builder.default_initial(uses.initial());
  }
  auto history = std::move(builder).freeze();
  if (history.ok() && uses.first_list().valid() && uses.first_register().valid()) {
    const OpId later = std::max(uses.first_list(), uses.first_register());
    return error_at_line(name, history->place(later).position,
                         "lists and registers in one history; Chronos checks either");
  }
  return history;
}

}  // namespace ouro
