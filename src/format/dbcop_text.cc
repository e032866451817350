#include "format/dbcop_text.h"

#include "format/text_scanner.h"
#include "ouro/history_builder.h"

namespace ouro {
namespace {

bool starts_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool continues_name(char c) { return starts_name(c) || (c >= '0' && c <= '9'); }

void skip_space_and_comments(TextScanner& scan) {
  for (scan.skip_space(); scan.rest().substr(0, 2) == "//"; scan.skip_space()) scan.skip_line();
}

// Takes a name; returns an empty text if there is none.
std::string_view take_name(TextScanner& scan) {
  const std::string_view rest = scan.rest();
  std::size_t length = 0;
  if (!rest.empty() && starts_name(rest[0])) {
    while (length < rest.size() && continues_name(rest[length])) ++length;
  }
  scan.take(rest.substr(0, length));
  return rest.substr(0, length);
}

class HistReader {
 public:
  HistReader(std::string_view text, std::string_view file, HistoryBuilder& builder)
      : scan_(text, file), b_(builder) {}

  Status parse() {
    std::int64_t session = 0;
    bool in_session = false;
    for (skip(); !scan_.at_end(); skip()) {
      if (scan_.peek() == '-') {
        if (auto status = separator(); !status.ok()) return status;
        session += in_session ? 1 : 0;
        in_session = false;
        continue;
      }
      const std::uint64_t line = scan_.line();
      if (!scan_.take('['))
        return scan_.expected("'[' to begin a transaction, or a line of dashes");
      b_.begin_txn(b_.session(session), line);
      in_session = true;
      if (auto status = txn(); !status.ok()) return status;
    }
    if (b_.txn_count() == 0) return scan_.error("no transactions; the file is empty");
    return {};
  }

 private:
  void skip() { skip_space_and_comments(scan_); }

  Status separator() {
    while (scan_.take('-')) {
    }
    scan_.skip_blanks();
    if (scan_.at_end() || scan_.peek() == '\n' || scan_.rest().substr(0, 2) == "//") return {};
    return scan_.expected("the end of the line behind the dashes");
  }

  Status txn() {
    for (skip(); !scan_.take(']'); skip()) {
      if (auto status = event(); !status.ok()) return status;
      const char next = scan_.peek();
      if (next != ']' && next != ' ' && next != '\t' && next != '\n' && next != '\r' &&
          next != '/') {
        return scan_.expected("a space or ']' behind an event");
      }
    }
    scan_.skip_blanks();
    if (scan_.take('!')) b_.status(TxnStatus::Aborted);
    return {};
  }

  Status event() {
    const std::uint32_t line = scan_.short_line();
    const std::string_view name = take_name(scan_);
    if (name.empty()) return scan_.expected("an event like x:=1, x==1 or x==?, or ']'");
    const bool is_write = scan_.take(":=");
    if (!is_write && !scan_.take("==")) return scan_.expected("':=' or '==' behind a name");
    const KeyId key = b_.key(name);
    if (!is_write && scan_.take('?')) {
      b_.read(key, Value::null(), line);
      return {};
    }
    std::uint64_t number = 0;
    if (!scan_.number(number)) return scan_.expected(is_write ? "a number" : "a number or '?'");
    const Value value = b_.unsigned_integer(number);
    is_write ? b_.write(key, value, line) : b_.read(key, value, line);
    return {};
  }

  TextScanner scan_;
  HistoryBuilder& b_;
};

}  // namespace

// Looks at the first event of the first transaction that is not empty.
bool detect_dbcop_text(std::string_view head) {
  TextScanner scan(head, "");
  for (;;) {
    skip_space_and_comments(scan);
    if (scan.take('-') || scan.take('!')) continue;
    if (!scan.take('[')) return false;
    skip_space_and_comments(scan);
    if (scan.take(']')) continue;
    return !take_name(scan).empty() && (scan.take(":=") || scan.take("=="));
  }
}

Result<History> read_dbcop_text(Input& input, unsigned) {
  const auto text = input.read_all();
  if (!text.ok()) return text.error();
  HistoryBuilder builder;
  builder.file(input.name(), PlaceUnit::Line);
  HistReader reader(*text, input.name(), builder);
  if (auto status = reader.parse(); !status.ok()) return status.error();
  return std::move(builder).freeze();
}

}  // namespace ouro
