// There are two shapes: an array of sessions, or an object with the parameters of the workload,
// remarks, and the sessions as "data". An event is {"Read":{"variable":…,"version":…}} or
// ["r",…,…].
#include "format/dbcop_json.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

#include "format/json_tokens.h"
#include "ouro/history_builder.h"

namespace ouro {
namespace {

// Goes through the tokens once. Functions that take a token parse the value that begins with it.
// All return false after an error, whose text is in what_.
class DbcopJsonReader {
 public:
  DbcopJsonReader(const std::string& text, std::string_view file, HistoryBuilder& builder)
      : text_(text), file_(file), t_(text, file), b_(builder) {}

  Status parse() {
    Token token;
    if (next(token) && document(token) && next(token)) return {};
    JsonTokens again(text_, file_);
    if (auto fault = json_fault(again)) return *std::move(fault);
    return error_at_line(file_, t_.line(last_), what_);
  }

 private:
  bool next(Token& token) {
    if (!t_.next(token)) return fail(t_.error().what);
    last_ = token;
    return true;
  }

  // Calls f(name, token) with the first token of each member's value. REQUIRES: a map was opened.
  template <class F>
  bool members(const F& f) {
    for (Token token;;) {
      if (!next(token)) return false;
      if (token.kind == TokenKind::Close) return true;
      const std::string name(token.text);
      if (!next(token) || !f(name, token)) return false;
    }
  }
  // Calls f(token) with the first token of each element. REQUIRES: a list was opened.
  template <class F>
  bool elements(const F& f) {
    for (Token token;;) {
      if (!next(token)) return false;
      if (token.kind == TokenKind::Close) return true;
      if (!f(token)) return false;
    }
  }

  bool document(const Token& token) {
    if (token.kind == TokenKind::OpenList) return sessions();
    if (token.kind != TokenKind::OpenMap) {
      return fail("expected an array of sessions, or an object with \"data\"");
    }
    bool has_data = false;
    const auto field = [&](const std::string& name, const Token& value) {
      if (name != "data") return name == "params" ? parameters(value) : remark(name, value);
      if (std::exchange(has_data, true)) return fail("\"data\" appears twice");
      if (value.kind != TokenKind::OpenList) return fail("expected \"data\": sessions");
      return sessions();
    };
    if (!members(field)) return false;
    return has_data || fail("the object has no \"data\", the array of sessions");
  }

  bool parameters(const Token& token) {
    if (token.kind != TokenKind::OpenMap) return fail("expected \"params\": an object");
    return members([&](const std::string& name, const Token& value) {
      const auto number = unsigned_of(value);
      if (!number) return fail(fmt::format("expected an unsigned integer for \"{}\"", name));
      b_.remark(name, std::to_string(*number));
      return true;
    });
  }

  bool remark(const std::string& name, const Token& token) {
    if (name != "info" && name != "start" && name != "end") {
      return fail(
          fmt::format("unknown field '{}'; expected params, info, start, end or data", name));
    }
    if (token.kind != TokenKind::String) {
      return fail(fmt::format("expected a string for \"{}\"", name));
    }
    if (!token.text.empty()) b_.remark(name, token.text);
    return true;
  }

  bool sessions() {
    std::int64_t number = 0;
    return elements([&](const Token& token) {
      if (token.kind != TokenKind::OpenList) {
        return fail("expected a session: an array of transactions");
      }
      const SessionId session = b_.session(number++);
      return elements([&](const Token& open) {
        if (open.kind == TokenKind::OpenMap) return txn(session, open);
        return fail("expected a transaction: {\"events\":[…],\"committed\":true}");
      });
    });
  }

  bool txn(SessionId session, const Token& open) {
    b_.begin_txn(session, t_.line(open));
    bool has_events = false;
    std::optional<bool> committed;
    const auto field = [&](const std::string& name, const Token& value) {
      if (name == "events" && !has_events) {
        has_events = true;
        if (value.kind != TokenKind::OpenList) return fail("expected \"events\": an array");
        return elements([&](const Token& token) { return event(token); });
      }
      if (name == "committed" && !committed) {
        committed = value.kind == TokenKind::True;
        return *committed || value.kind == TokenKind::False ||
               fail("expected true or false for \"committed\"");
      }
      return fail(
          fmt::format("unexpected field '{}'; a transaction has \"events\" and "
                      "\"committed\", once each",
                      name));
    };
    if (!members(field)) return false;
    if (!has_events || !committed) return fail("the transaction lacks \"events\" or \"committed\"");
    if (!*committed) b_.status(TxnStatus::Aborted);
    return true;
  }

  bool event(const Token& token) {
    variable_ = version_ = Value::unobserved();
    bool is_write = false;
    const bool is_short = token.kind == TokenKind::OpenList;
    if (!(is_short ? short_event(is_write) : long_event(token, is_write))) return false;
    if (variable_.is_unobserved() || version_.is_unobserved()) {
      return fail("the event lacks its variable or its version");
    }
    if (is_write && version_.is_null()) return fail("a write needs a version, found null");
    const KeyId key = b_.key(variable_);
    is_write ? b_.write(key, version_) : b_.read(key, version_);
    return true;
  }

  bool short_event(bool& is_write) {
    int count = 0;
    return elements([&](const Token& part) {
      switch (count++) {
        case 0:
          if (part.kind != TokenKind::String) return fail("expected \"r\" or \"w\"");
          is_write = part.text == "w";
          return is_write || part.text == "r" ||
                 fail(fmt::format("unknown event '{}'; expected r or w", part.text));
        case 1:
          return variable(part);
        case 2:
          return version(part);
        default:
          return fail("an event has three parts, like [\"r\",0,1]");
      }
    });
  }

  bool long_event(const Token& token, bool& is_write) {
    if (token.kind != TokenKind::OpenMap) {
      return fail("expected an event: {\"Read\":{…}}, {\"Write\":{…}} or [\"r\",0,1]");
    }
    int count = 0;
    const auto field = [&](const std::string& word, const Token& details) {
      is_write = word == "Write";
      if (!is_write && word != "Read") {
        return fail(fmt::format("unknown event '{}'; expected Read or Write", word));
      }
      if (count++ != 0) return fail("an event is one Read or one Write");
      if (details.kind != TokenKind::OpenMap) {
        return fail("expected {\"variable\":…,\"version\":…}");
      }
      return members([&](const std::string& name, const Token& value) {
        if (name == "variable") return variable(value);
        if (name == "version") return version(value);
        return fail(fmt::format("unknown field '{}'; expected variable or version", name));
      });
    };
    return members(field) && (count == 1 || fail("an empty event"));
  }

  bool variable(const Token& token) {
    if (token.kind == TokenKind::String) {
      variable_ = b_.text(token.text);
      return true;
    }
    const auto number = unsigned_of(token);
    if (!number) return fail("expected a variable: an unsigned integer or a string");
    variable_ = b_.unsigned_integer(*number);
    return true;
  }

  bool version(const Token& token) {
    const auto number = unsigned_of(token);
    if (!number && token.kind != TokenKind::Nil) {
      return fail("expected a version: an unsigned integer or null");
    }
    version_ = number ? b_.unsigned_integer(*number) : Value::null();
    return true;
  }

  bool fail(std::string what) {
    what_ = std::move(what);
    return false;
  }

  const std::string& text_;
  std::string_view file_;
  JsonTokens t_;
  HistoryBuilder& b_;
  Token last_;        // The last token that was read; errors are in its line.
  std::string what_;  // The error.
  Value variable_;    // Of the event being parsed; unobserved: not seen yet.
  Value version_;
};

// Takes `c` and the white space after it; false if `text` does not begin with `c`.
bool take(std::string_view& text, char c) {
  if (text.empty() || text[0] != c) return false;
  const std::size_t next = text.find_first_not_of(" \t\r\n", 1);
  text.remove_prefix(next == std::string_view::npos ? text.size() : next);
  return true;
}

}  // namespace

bool detect_dbcop_json(std::string_view head) {
  const std::size_t start = head.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos) return false;
  std::string_view rest = head.substr(start);
  if (take(rest, '[')) {
    // The first sessions may be empty.
    while (take(rest, '[')) {
      if (take(rest, '{'))
        return rest.substr(0, 8) == "\"events\"" || rest.substr(0, 11) == "\"committed\"";
      if (!take(rest, ']') || !take(rest, ',')) return false;
    }
    return false;
  }
  if (!take(rest, '{')) return false;
  for (const std::string_view name :
       {"\"params\"", "\"info\"", "\"start\"", "\"end\"", "\"data\""}) {
    if (rest.substr(0, name.size()) == name) {
      return rest.find("\"data\"") != std::string_view::npos || head.size() >= 64 * 1024;
    }
  }
  return false;
}

Result<History> read_dbcop_json(Input& input, unsigned) {
  const auto text = input.read_all();
  if (!text.ok()) return text.error();
  HistoryBuilder builder;
  builder.file(input.name(), PlaceUnit::Line);
  DbcopJsonReader reader(*text, input.name(), builder);
  if (auto status = reader.parse(); !status.ok()) return status.error();
  return std::move(builder).freeze();
}

}  // namespace ouro
