// Two shapes: the sessions alone, or an object with the workload's parameters, remarks and the
// sessions as "data". Events come as {"Read":{"variable":…,"version":…}} or ["r",…,…].
#include "format/dbcop_json.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <optional>
#include <string>

#include "format/json_diagnosis.h"
#include "ouro/history_builder.h"

namespace ouro {
namespace {

using simdjson::ondemand::json_type;
using Json = simdjson::ondemand::value;

class DbcopJsonReader {
 public:
  DbcopJsonReader(const std::string& text, std::string_view file, HistoryBuilder& builder)
      : text_(text), file_(file), b_(builder) {}

  Status parse() {
    const auto code = parser_.iterate(text_.data(), text_.size(), text_.capacity()).get(document_);
    if (code != simdjson::SUCCESS) what_ = simdjson::error_message(code);
    bool ok = code == simdjson::SUCCESS && document();
    const char* rest = nullptr;
    if (ok && document_.current_location().get(rest) != simdjson::OUT_OF_BOUNDS) {
      ok = fail("more than one value in the file");
    }
    if (ok) return {};
    if (const auto fault = diagnose_json(text_)) {
      return error_at_line(file_, line_of(fault->offset), fault->what);
    }
    return error_at_line(file_, line_of(offset_), what_);
  }

 private:
  // All of these return false after a complaint.
  bool document() {
    json_type type;
    if (const auto code = document_.type().get(type)) return fail(code, "an array or an object");
    if (type == json_type::array) {
      simdjson::ondemand::array array;
      if (const auto code = document_.get_array().get(array)) return fail(code, "sessions");
      return sessions(array);
    }
    simdjson::ondemand::object object;
    if (const auto code = document_.get_object().get(object)) {
      return fail(code, "an array of sessions, or an object with \"data\"");
    }
    bool has_data = false;
    for (auto field : object) {
      std::string_view name;
      Json json;
      if (const auto code = field.unescaped_key().get(name)) return fail(code, "a field name");
      const std::string kept(name);
      if (const auto code = field.value().get(json)) return fail(code, "a value");
      if (kept == "data") {
        if (has_data) return fail("\"data\" appears twice");
        has_data = true;
        simdjson::ondemand::array array;
        if (const auto code = json.get_array().get(array)) return fail(code, "\"data\": sessions");
        if (!sessions(array)) return false;
      } else if (kept == "params" ? !parameters(json) : !remark(kept, json)) {
        return false;
      }
    }
    return has_data || fail("the object has no \"data\", the array of sessions");
  }

  bool parameters(Json json) {
    simdjson::ondemand::object object;
    if (const auto code = json.get_object().get(object)) return fail(code, "\"params\": an object");
    for (auto field : object) {
      std::string_view name;
      std::uint64_t number = 0;
      if (const auto code = field.unescaped_key().get(name)) return fail(code, "a field name");
      const std::string kept(name);
      if (const auto code = field.value().get_uint64().get(number)) {
        return fail(code, fmt::format("an unsigned integer for \"{}\"", kept));
      }
      b_.remark(kept, std::to_string(number));
    }
    return true;
  }

  bool remark(const std::string& name, Json json) {
    if (name != "info" && name != "start" && name != "end") {
      return fail(
          fmt::format("unknown field '{}'; expected params, info, start, end or data", name));
    }
    std::string_view text;
    if (const auto code = json.get_string().get(text)) {
      return fail(code, fmt::format("a string for \"{}\"", name));
    }
    if (!text.empty()) b_.remark(name, text);
    return true;
  }

  bool sessions(simdjson::ondemand::array array) {
    std::int64_t number = 0;
    for (auto element : array) {
      simdjson::ondemand::array txns;
      if (const auto code = element.get_array().get(txns)) {
        return fail(code, "a session: an array of transactions");
      }
      const SessionId session = b_.session(number++);
      for (auto txn_element : txns) {
        simdjson::ondemand::object object;
        if (const auto code = txn_element.get_object().get(object)) {
          return fail(code, "a transaction: {\"events\":[…],\"committed\":true}");
        }
        if (!txn(session, object)) return false;
      }
    }
    return true;
  }

  bool txn(SessionId session, simdjson::ondemand::object object) {
    b_.begin_txn(session, line_here());
    bool has_events = false;
    std::optional<bool> committed;
    for (auto field : object) {
      std::string_view name;
      if (const auto code = field.unescaped_key().get(name)) return fail(code, "a field name");
      if (name == "events" && !has_events) {
        has_events = true;
        simdjson::ondemand::array array;
        if (const auto code = field.value().get_array().get(array))
          return fail(code, "\"events\": an array");
        for (auto element : array) {
          Json json;
          if (const auto code = element.get(json)) return fail(code, "an event");
          if (!event(json)) return false;
        }
      } else if (name == "committed" && !committed) {
        bool value = false;
        if (const auto code = field.value().get_bool().get(value)) {
          return fail(code, "true or false for \"committed\"");
        }
        committed = value;
      } else {
        return fail(
            fmt::format("unexpected field '{}'; a transaction has \"events\" and "
                        "\"committed\", once each",
                        name));
      }
    }
    if (!has_events || !committed) return fail("the transaction lacks \"events\" or \"committed\"");
    if (!*committed) b_.status(TxnStatus::Aborted);
    return true;
  }

  bool event(Json json) {
    json_type type;
    if (const auto code = json.type().get(type)) return fail(code, "an event");
    variable_ = version_ = Value::unobserved();
    bool is_write = false;
    if (!(type == json_type::array ? short_event(json, is_write) : long_event(json, is_write))) {
      return false;
    }
    if (variable_.is_unobserved() || version_.is_unobserved()) {
      return fail("the event lacks its variable or its version");
    }
    if (is_write && version_.is_null()) return fail("a write needs a version, found null");
    const KeyId key = b_.key(variable_);
    is_write ? b_.write(key, version_) : b_.read(key, version_);
    return true;
  }

  bool short_event(Json json, bool& is_write) {
    simdjson::ondemand::array array;
    if (const auto code = json.get_array().get(array)) return fail(code, "an event");
    int count = 0;
    for (auto element : array) {
      Json part;
      if (const auto code = element.get(part)) return fail(code, "a value");
      if (count == 0) {
        std::string_view word;
        if (const auto code = part.get_string().get(word)) return fail(code, "\"r\" or \"w\"");
        is_write = word == "w";
        if (!is_write && word != "r")
          return fail(fmt::format("unknown event '{}'; expected r or w", word));
      } else if (count > 2) {
        return fail("an event has three parts, like [\"r\",0,1]");
      } else if (count == 1 ? !variable(part) : !version(part)) {
        return false;
      }
      ++count;
    }
    return true;
  }

  bool long_event(Json json, bool& is_write) {
    simdjson::ondemand::object object;
    if (const auto code = json.get_object().get(object)) {
      return fail(code, "an event: {\"Read\":{…}}, {\"Write\":{…}} or [\"r\",0,1]");
    }
    int count = 0;
    for (auto field : object) {
      std::string_view word;
      if (const auto code = field.unescaped_key().get(word)) return fail(code, "Read or Write");
      is_write = word == "Write";
      if (!is_write && word != "Read")
        return fail(fmt::format("unknown event '{}'; expected Read or Write", word));
      if (count++ != 0) return fail("an event is one Read or one Write");
      simdjson::ondemand::object details;
      if (const auto code = field.value().get_object().get(details)) {
        return fail(code, "{\"variable\":…,\"version\":…}");
      }
      if (!event_details(details)) return false;
    }
    return count == 1 || fail("an empty event");
  }

  bool event_details(simdjson::ondemand::object object) {
    for (auto field : object) {
      std::string_view name;
      Json json;
      if (const auto code = field.unescaped_key().get(name)) return fail(code, "a field name");
      const bool is_variable = name == "variable";
      if (!is_variable && name != "version") {
        return fail(fmt::format("unknown field '{}'; expected variable or version", name));
      }
      if (const auto code = field.value().get(json)) return fail(code, "a value");
      if (is_variable ? !variable(json) : !version(json)) return false;
    }
    return true;
  }

  bool variable(Json json) {
    std::uint64_t number = 0;
    std::string_view name;
    if (json.get_uint64().get(number) == simdjson::SUCCESS) {
      variable_ = b_.unsigned_integer(number);
      return true;
    }
    if (const auto code = json.get_string().get(name)) {
      return fail(code, "a variable: an unsigned integer or a string");
    }
    variable_ = b_.text(name);
    return true;
  }

  bool version(Json json) {
    std::uint64_t number = 0;
    if (json.get_uint64().get(number) == simdjson::SUCCESS) {
      version_ = b_.unsigned_integer(number);
      return true;
    }
    bool is_null = false;
    if (const auto code = json.is_null().get(is_null)) return fail(code, "a version");
    if (!is_null) return fail("expected a version: an unsigned integer or null");
    version_ = Value::null();
    return true;
  }

  // ---- places ----

  [[nodiscard]] std::size_t offset_here() {
    const char* at = nullptr;
    if (document_.current_location().get(at) != simdjson::SUCCESS) return text_.size();
    return std::min(text_.size(), static_cast<std::size_t>(at - text_.data()));
  }
  // Counts on from the last call: calls come in the order of the text.
  std::uint64_t line_here() {
    const std::size_t offset = offset_here();
    if (offset < counted_) return line_;
    line_ += static_cast<std::uint64_t>(
        std::count(text_.begin() + static_cast<std::ptrdiff_t>(counted_),
                   text_.begin() + static_cast<std::ptrdiff_t>(offset), '\n'));
    counted_ = offset;
    return line_;
  }
  [[nodiscard]] std::uint64_t line_of(std::size_t offset) const {
    const auto end = text_.begin() + static_cast<std::ptrdiff_t>(std::min(offset, text_.size()));
    return 1 + static_cast<std::uint64_t>(std::count(text_.begin(), end, '\n'));
  }

  bool fail(std::string what) {
    what_ = std::move(what);
    offset_ = offset_here();
    return false;
  }
  bool fail(simdjson::error_code code, std::string_view expected) {
    if (code == simdjson::INCORRECT_TYPE || code == simdjson::NUMBER_ERROR) {
      return fail(fmt::format("expected {}", expected));
    }
    return fail(fmt::format("expected {} ({})", expected, simdjson::error_message(code)));
  }

  const std::string& text_;
  std::string_view file_;
  HistoryBuilder& b_;
  simdjson::ondemand::parser parser_;
  simdjson::ondemand::document document_;
  std::string what_;
  std::size_t offset_ = 0;
  std::size_t counted_ = 0;
  std::uint64_t line_ = 1;
  Value variable_;
  Value version_;
};

// Takes `c`, then the space behind it.
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
    // Sessions, of which some may be empty.
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
