#include "format/awdit_text.h"

#include "format/text_scanner.h"
#include "ouro/history_builder.h"

namespace ouro {
namespace {

constexpr std::string_view kExpected = "a line 'r key value' or 'w key value', or a line of - or =";

// Takes `r key value` or `w key value`; false if the text is something else.
bool operation(TextScanner& scan, bool& is_read, std::uint64_t& key, std::uint64_t& value) {
  is_read = scan.take('r');
  if (!is_read && !scan.take('w')) return false;
  for (std::uint64_t* number : {&key, &value}) {
    if (scan.peek() != ' ' && scan.peek() != '\t') return false;
    scan.skip_blanks();
    if (!scan.number(*number)) return false;
  }
  scan.skip_blanks();
  return scan.at_end() || scan.peek() == '\n' || scan.peek() == '-' || scan.peek() == '=';
}

}  // namespace

bool detect_awdit_text(std::string_view head) {
  TextScanner scan(head, "");
  scan.skip_space();
  while (scan.take('-') || scan.take('=')) scan.skip_space();
  bool is_read = false;
  std::uint64_t key = 0;
  std::uint64_t value = 0;
  return operation(scan, is_read, key, value);
}

Result<History> read_awdit_text(Input& input, unsigned) {
  const auto text = input.read_all();
  if (!text.ok()) return text.error();
  HistoryBuilder builder;
  builder.file(input.name(), PlaceUnit::Line);
  TextScanner scan(*text, input.name());
  std::int64_t session = -1;
  bool in_session = false;
  bool in_txn = false;
  for (scan.skip_space(); !scan.at_end(); scan.skip_space()) {
    if (scan.take('-')) {
      in_txn = false;
      continue;
    }
    if (scan.take('=')) {
      in_txn = in_session = false;
      continue;
    }
    if (!in_session) ++session;
    if (!in_txn) builder.begin_txn(builder.session(session), scan.line());
    in_session = in_txn = true;
    const std::uint32_t line = scan.short_line();
    bool is_read = false;
    std::uint64_t key = 0;
    std::uint64_t value = 0;
    if (!operation(scan, is_read, key, value)) return scan.expected(kExpected);
    const KeyId id = builder.key(builder.unsigned_integer(key));
    const Value number = builder.unsigned_integer(value);
    is_read ? builder.read(id, number, line) : builder.write(id, number, line);
  }
  if (builder.txn_count() == 0) return scan.error("no transactions; the file is empty");
  return std::move(builder).freeze();
}

}  // namespace ouro
