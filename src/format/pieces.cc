#include "ouro/pieces.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "format/blocks.h"
#include "format/chronos_pieces.h"
#include "format/native_text.h"
#include "format/registry.h"

namespace ouro {

struct HistoryPieces::State {
  Input input;
  std::size_t bytes;            // The least size of a piece.
  std::string header = {};      // The first line, if it is a header: it is parsed with every piece.
  std::string rest = {};        // The beginning of a line whose end was not read yet.
  std::uint64_t next_line = 1;  // The number of the line that `rest` begins.
  bool ended = false;
  std::optional<ChronosPieces> chronos = {};  // If it is one, the rest is not used.
};

namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 30;  // The longest line.

// The first line that is not blank, if it is a header; otherwise an empty text.
std::string header_of(std::string_view head) {
  const std::size_t start = head.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos) return {};
  const std::string_view line = head.substr(start, head.find('\n', start) - start);
  return line.find("\"ouro\"") == std::string_view::npos ? std::string() : std::string(line);
}

// Reads until there are at least `bytes`, ending with a line break, or the input ends. Begins with
// `rest`; what follows the last line break goes to `next_rest`.
Result<std::string> read_lines(Input& input, std::string rest, std::size_t bytes, bool& ended,
                               std::string& next_rest) {
  std::string text = std::move(rest);
  std::size_t wanted = bytes;
  for (;;) {
    const std::size_t begin = text.size();
    text.resize(begin + wanted);
    const auto got = input.read(text.data() + begin, wanted);
    if (!got.ok()) return got.error();
    text.resize(begin + *got);
    if (*got == 0) {
      ended = true;
      return text;
    }
    if (text.size() < bytes) continue;
    const std::size_t cut = text.rfind('\n');
    if (cut != std::string::npos) {
      next_rest = text.substr(cut + 1);
      text.resize(cut + 1);
      return text;
    }
    if (text.size() > kMostBytes) return error_in(input.name(), "a line is longer than 1 GB");
    wanted = text.size();
  }
}

Block block_of(std::string text, std::uint64_t line) {
  text.reserve(text.size() + Input::kPadding);
  return {std::move(text), line, 1, 0, false};
}

}  // namespace

HistoryPieces::HistoryPieces(std::unique_ptr<State> state) : state_(std::move(state)) {}
HistoryPieces::HistoryPieces(HistoryPieces&&) noexcept = default;
HistoryPieces& HistoryPieces::operator=(HistoryPieces&&) noexcept = default;
HistoryPieces::~HistoryPieces() = default;

Result<HistoryPieces> HistoryPieces::open(const std::string& path, std::size_t bytes) {
  auto input = Input::open(path);
  if (!input.ok()) return input.error();
  bytes = std::max<std::size_t>(bytes, 1);
  const Format format = detect_format(*input);
  if (format != Format::Native && format != Format::Chronos && !input->head().empty()) {
    return error_in(input->name(),
                    "only native text and the JSON of Chronos are read piece by piece; convert it "
                    "with 'ouro convert', or read it whole");
  }
  auto state = std::make_unique<State>(State{.input = *std::move(input), .bytes = bytes});
  if (format == Format::Chronos) {
    auto chronos = ChronosPieces::open(path, bytes);
    if (!chronos.ok()) return chronos.error();
    state->chronos.emplace(*std::move(chronos));
  }
  return HistoryPieces(std::move(state));
}

Result<std::shared_ptr<const History>> HistoryPieces::next() {
  State& s = *state_;
  if (s.ended) return std::shared_ptr<const History>();
  if (s.chronos) {
    auto piece = s.chronos->next();
    s.ended = !piece.ok();
    return piece;
  }
  std::string rest;
  auto text = read_lines(s.input, std::exchange(s.rest, {}), s.bytes, s.ended, rest);
  if (!text.ok()) {
    s.ended = true;
    return text.error();
  }
  s.rest = std::move(rest);
  const std::uint64_t first_line = s.next_line;
  if (first_line == 1) s.header = header_of(*text);
  s.next_line += static_cast<std::uint64_t>(std::count(text->begin(), text->end(), '\n'));

  HistoryBuilder builder;
  builder.file(s.input.name(), PlaceUnit::Line);
  Status status;
  if (first_line > 1 && !s.header.empty()) {
    status = parse_native_lines(block_of(s.header, 1), s.input.name(), builder);
  }
  if (status.ok()) {
    status = parse_native_lines(block_of(*std::move(text), first_line), s.input.name(), builder);
  }
  if (!status.ok()) {
    s.ended = true;
    return status.error();
  }
  auto history = std::move(builder).freeze();
  if (!history.ok()) {
    s.ended = true;
    return history.error();
  }
  return std::make_shared<const History>(*std::move(history));
}

}  // namespace ouro
