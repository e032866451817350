#include "format/chronos.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/count_lines.h"
#include "format/array_cutter.h"
#include "format/blocks.h"
#include "format/chronos_block.h"
#include "history/access.h"
#include "ouro/history_builder.h"

namespace ouro {
namespace {

// Whether the history has lists or registers, and what decides the initial value. See chronos.h.
struct Survey {
  OpId first_list;      // The first append or read of a list.
  OpId first_register;  // The first write, or read of something that is neither a list nor null.
  bool reads_null = false;
  bool reads_initial_zero = false;  // 0 is read from a key to which nobody writes 0.
};

Survey survey_of(const HistoryBuilder& builder) {
  enum Zero : std::uint8_t { kRead = 1, kWritten = 2 };
  Survey survey;
  std::vector<std::uint8_t> zero;  // By key: what is done with 0 there.
  const Value nothing = Value::small(0);
  for (OpId id{0}; id.index() < builder.op_count(); ++id.value) {
    const Op op = builder.op(id);
    const bool read = is_read(op.kind);
    if (op.value == nothing && !is_append(op.kind)) {
      if (op.key.index() >= zero.size()) zero.resize(op.key.index() + 1, 0);
      zero[op.key.index()] |= read ? kRead : kWritten;
    }
    if (read && op.value.is_null()) {
      survey.reads_null = true;
      continue;
    }
    OpId& first = shows_list(op.kind, op.value) ? survey.first_list : survey.first_register;
    if (!first.valid()) first = id;
  }
  for (const std::uint8_t use : zero) survey.reads_initial_zero |= use == kRead;
  return survey;
}

}  // namespace

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

  const Survey survey = survey_of(builder);
  if (survey.first_list.valid()) {
    for (OpId id{0}; survey.reads_null && id.index() < builder.op_count(); ++id.value) {
      const Op op = builder.op(id);
      if (is_read(op.kind) && op.value.is_null()) builder.set_value(id, Value::list(0, 0));
    }
  } else if (survey.reads_initial_zero && !survey.reads_null) {
    builder.default_initial(Value::small(0));
  }
  auto history = std::move(builder).freeze();
  if (history.ok() && survey.first_list.valid() && survey.first_register.valid()) {
    const OpId later = std::max(survey.first_list, survey.first_register);
    return error_at_line(name, history->place(later).position,
                         "lists and registers in one history; Chronos checks either");
  }
  return history;
}

}  // namespace ouro
