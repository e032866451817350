// The layout: a list of sessions, each a list of transactions, each with `events` and `success`; an
// event has `write`, `variable`, `value` and `success`. The column of a dash or name tells what it
// belongs to.
#include "format/dbcop_yaml.h"

#include <optional>
#include <utility>
#include <vector>

#include "format/text_scanner.h"
#include "format/zero_initial.h"
#include "ouro/history_builder.h"

namespace ouro {
namespace {

constexpr std::size_t kNoColumn = static_cast<std::size_t>(-1);

// An event as far as it was read.
struct YamlEvent {
  std::optional<bool> write, success;
  std::optional<std::uint64_t> variable, value;
  std::uint32_t line = 0;
};

class YamlReader {
 public:
  YamlReader(std::string_view text, std::string_view file, HistoryBuilder& builder)
      : scan_(text, file), b_(builder) {}

  Status parse() {
    if (scan_.take("---")) {
      if (auto status = end_of_line(); !status.ok()) return status;
    }
    while (!scan_.at_end()) {
      if (auto status = line(); !status.ok()) return status;
    }
    if (auto status = end_txn(); !status.ok()) return status;
    if (sessions_ == 0) return scan_.error("no sessions; the file is empty");
    initial_.apply(b_);
    return {};
  }

 private:
  // One line: dashes, each of which begins a session, transaction or event, then a name and a
  // value.
  Status line() {
    std::size_t column = 0;
    bool after_dash = false;
    while (scan_.take(' ')) ++column;
    for (; scan_.peek() == '-'; after_dash = true) {
      if (auto status = dash(column); !status.ok()) return status;
      scan_.advance();
      ++column;
      if (scan_.peek() != ' ' && scan_.peek() != '\n' && scan_.peek() != '\r') {
        return scan_.expected("a space behind '-'");
      }
      while (scan_.take(' ')) ++column;
    }
    if (scan_.peek() >= 'a' && scan_.peek() <= 'z') {
      if (auto status = field(column); !status.ok()) return status;
    } else if (after_dash) {
      scan_.take("[]");  // An empty session.
    }
    return end_of_line();
  }

  Status end_of_line() {
    scan_.skip_blanks();
    if (scan_.peek() == '#') scan_.skip_line();
    if (scan_.at_end() || scan_.take('\n')) return {};
    return scan_.expected("the end of the line (dbcop's own YAML only: one item a line)");
  }

  Status dash(std::size_t column) {
    if (session_column_ == kNoColumn) session_column_ = column;
    if (column == session_column_) {
      if (auto status = end_txn(); !status.ok()) return status;
      session_ = b_.session(static_cast<std::int64_t>(sessions_++));
      txn_column_ = kNoColumn;
      return {};
    }
    if (column < session_column_) return misplaced();
    if (txn_column_ == kNoColumn) txn_column_ = column;
    if (column == txn_column_) {
      if (auto status = end_txn(); !status.ok()) return status;
      txn_line_ = scan_.line();
      b_.begin_txn(session_, txn_line_);
      in_txn_ = true;
      return {};
    }
    if (!in_events_ || column < txn_field_column_) return misplaced();
    if (event_column_ == kNoColumn) event_column_ = column;
    if (column != event_column_) return misplaced();
    if (auto status = end_event(); !status.ok()) return status;
    events_owed_ = false;
    event_.emplace();
    event_->line = scan_.short_line();
    event_field_column_ = kNoColumn;
    return {};
  }

  [[nodiscard]] Error misplaced() const {
    return scan_.error(
        "this stands in a column where nothing can begin; indent it like its siblings");
  }

  Status field(std::size_t column) {
    const std::string_view rest = scan_.rest();
    const std::string_view name = rest.substr(0, rest.find_first_of(": \n\r"));
    if (!in_txn_)
      return scan_.error("a name outside of a transaction; a session begins with '- -'");
    if (event_ && event_field_column_ == kNoColumn && column > event_column_) {
      event_field_column_ = column;
    }
    if (txn_field_column_ == kNoColumn) txn_field_column_ = column;
    const bool of_event = event_ && column == event_field_column_;
    if (!of_event && column != txn_field_column_) return misplaced();
    scan_.take(name);
    scan_.skip_blanks();
    if (!scan_.take(':')) return scan_.expected("':' behind a name");
    scan_.skip_blanks();
    return of_event ? event_field(name) : txn_field(name);
  }

  Status txn_field(std::string_view name) {
    if (auto status = end_event(); !status.ok()) return status;
    in_events_ = false;
    if (name == "success") return boolean(txn_success_, name);
    if (name != "events") return unknown(name, "'events' or 'success'");
    if (std::exchange(has_events_, true)) return scan_.error("'events' appears twice");
    in_events_ = events_owed_ = !scan_.take("[]");
    return {};
  }

  Status event_field(std::string_view name) {
    if (name == "write") return boolean(event_->write, name);
    if (name == "success") return boolean(event_->success, name);
    if (name == "variable") return number(event_->variable, name);
    if (name == "value") return number(event_->value, name);
    return unknown(name, "'write', 'variable', 'value' or 'success'");
  }

  [[nodiscard]] Error unknown(std::string_view name, std::string_view known) const {
    return scan_.error(fmt::format("unknown name '{}'; expected {}", name, known));
  }

  Status boolean(std::optional<bool>& out, std::string_view name) {
    if (out) return scan_.error(fmt::format("'{}' appears twice", name));
    if (scan_.take("true")) {
      out = true;
    } else if (scan_.take("false")) {
      out = false;
    } else {
      return scan_.expected(fmt::format("true or false for '{}'", name));
    }
    return {};
  }

  Status number(std::optional<std::uint64_t>& out, std::string_view name) {
    if (out) return scan_.error(fmt::format("'{}' appears twice", name));
    std::uint64_t number = 0;
    if (!scan_.number(number))
      return scan_.expected(fmt::format("an unsigned integer for '{}'", name));
    out = number;
    return {};
  }

  // Adds the operation of the event to the builder. Whether the transaction committed may not be
  // known yet, so writes of 0 are only noted.
  Status end_event() {
    if (!event_) return {};
    const YamlEvent event = *event_;
    event_.reset();
    if (!event.write || !event.success || !event.variable || !event.value) {
      return scan_.error(
          fmt::format("the event of line {} lacks one of write, variable, value and "
                      "success",
                      event.line));
    }
    if (!*event.success) return {};
    const KeyId key = b_.key(b_.unsigned_integer(*event.variable));
    const Value value = b_.unsigned_integer(*event.value);
    *event.write ? b_.write(key, value, event.line) : b_.read(key, value, event.line);
    if (*event.write && value == Value::small(0)) zero_writes_.push_back(key);
    return {};
  }

  Status end_txn() {
    if (!in_txn_) return {};
    if (auto status = end_event(); !status.ok()) return status;
    if (!has_events_ || !txn_success_) {
      return scan_.error(
          fmt::format("the transaction of line {} lacks 'events' or 'success'", txn_line_));
    }
    if (events_owed_)
      return scan_.error("'events:' without events; write 'events: []' if there are none");
    if (!*txn_success_) b_.status(TxnStatus::Aborted);
    for (const KeyId key : zero_writes_) {
      if (*txn_success_) initial_.committed_write(key, Value::small(0));
    }
    zero_writes_.clear();
    in_txn_ = in_events_ = has_events_ = false;
    txn_success_.reset();
    txn_field_column_ = event_column_ = kNoColumn;
    return {};
  }

  TextScanner scan_;
  HistoryBuilder& b_;
  ZeroInitial initial_;
  std::size_t sessions_ = 0;
  SessionId session_;
  std::uint64_t txn_line_ = 0;
  bool in_txn_ = false;
  bool has_events_ = false;
  bool in_events_ = false;    // Events may begin here.
  bool events_owed_ = false;  // `events:` was read, but no event yet.
  std::optional<bool> txn_success_;
  std::optional<YamlEvent> event_;
  std::vector<KeyId> zero_writes_;  // Keys to which the transaction writes 0.
  // In which columns the dashes and names of each kind are; kNoColumn: not known yet.
  std::size_t session_column_ = kNoColumn;
  std::size_t txn_column_ = kNoColumn;
  std::size_t txn_field_column_ = kNoColumn;
  std::size_t event_column_ = kNoColumn;
  std::size_t event_field_column_ = kNoColumn;
};

}  // namespace

bool detect_dbcop_yaml(std::string_view head) {
  TextScanner scan(head, "");
  scan.take("---");
  for (scan.skip_space(); scan.peek() == '#'; scan.skip_space()) scan.skip_line();
  if (!scan.take("- ") && !scan.take("-\n")) return false;
  const std::size_t events = scan.rest().find("events:");
  if (events == std::string_view::npos) return false;
  // Only dashes, empty sessions and white space may come before.
  return scan.rest().substr(0, events).find_first_not_of("- []\r\n") == std::string_view::npos;
}

Result<History> read_dbcop_yaml(Input& input, unsigned) {
  const auto text = input.read_all();
  if (!text.ok()) return text.error();
  HistoryBuilder builder;
  builder.file(input.name(), PlaceUnit::Line);
  YamlReader reader(*text, input.name(), builder);
  if (auto status = reader.parse(); !status.ok()) return status.error();
  return std::move(builder).freeze();
}

}  // namespace ouro
