#include <string>

#include "format/blocks.h"
#include "format/native_text.h"
#include "format/native_text_line.h"

namespace ouro {
namespace {

bool blank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

}  // namespace

Status parse_native_lines(const Block& block, std::string_view file, HistoryBuilder& builder) {
  const std::string_view text = block.bytes;
  NativeLineParser parser(builder, file, text.data() + text.size() + Input::kPadding);
  std::uint64_t line = block.first_line;
  for (std::size_t at = 0; at < text.size(); ++line) {
    std::size_t end = text.find('\n', at);
    if (end == std::string_view::npos) end = text.size();
    const std::string_view content = text.substr(at, end - at);
    at = end + 1;
    if (blank(content)) continue;
    if (auto status = parser.parse(content, line); !status.ok()) return status;
  }
  return {};
}

bool detect_native_text(std::string_view head) {
  const std::size_t start = head.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos || head[start] != '{') return false;
  const std::string_view line = head.substr(start, head.find('\n', start) - start);
  if (line.find("\"ouro\"") != std::string_view::npos) return true;
  const bool txn = line.find("\"ops\"") != std::string_view::npos &&
                   line.find("\"session\"") != std::string_view::npos;
  const bool key = line.find("\"key\"") != std::string_view::npos &&
                   (line.find("\"versions\"") != std::string_view::npos ||
                    line.find("\"initial\"") != std::string_view::npos);
  return txn || key;
}

Result<History> read_native_text(Input& input, unsigned threads) {
  HistoryBuilder builder;
  builder.file(input.name(), PlaceUnit::Line);
  const std::string name = input.name();
  const auto parse = [&name](const Block& block, HistoryBuilder& part) {
    return parse_native_lines(block, name, part);
  };
  if (auto status = parse_blocks(input, cut_at_line, parse, threads, builder); !status.ok()) {
    return status.error();
  }
  return std::move(builder).freeze();
}

}  // namespace ouro
