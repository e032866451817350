#include "format/viper.h"

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <fmt/format.h>
#include <simdjson.h>

#include <utility>
#include <vector>

#include "format/input.h"
#include "format/json_diagnosis.h"
#include "format/log_folder.h"
#include "ouro/history_builder.h"

namespace ouro {
namespace {

using simdjson::ondemand::json_type;
using Json = simdjson::ondemand::value;

class ViperReader {
 public:
  // Adds the transactions of one log. REQUIRES: Input::kPadding bytes of capacity behind `text`.
  Status log(const std::string& text, std::string_view file, const LogFile& log) {
    b_.file(file, PlaceUnit::Line);
    session_ = session_of(log, b_);
    std::uint64_t line = 1;
    for (std::size_t at = 0; at < text.size(); ++line) {
      std::size_t end = text.find('\n', at);
      if (end == std::string::npos) end = text.size();
      const std::string_view content(text.data() + at, end - at);
      at = end + 1;
      if (content.find_first_not_of(" \t\r") == std::string_view::npos) continue;
      if (auto status = parse_line(content, file, line); !status.ok()) return status;
    }
    return {};
  }

  Result<History> finish() {
    if (!has_initial_) {
      absl::flat_hash_map<KeyId, Value> initial;
      for (const KeyVersion& read : reads_) {
        if (!written_.contains({read.key, read.value})) initial.try_emplace(read.key, read.value);
      }
      for (const auto& [key, value] : initial) {
        if (!value.is_null()) b_.initial(key, value);
      }
    }
    return std::move(b_).freeze();
  }

 private:
  enum class Word { Read, Write, Insert, Delete, Range };

  // What a micro-operation's array held. Numbers are parts, by position.
  struct Mop {
    Word word = Word::Read;
    Value key, value, read_value;
    bool success = false;
    Value lower, upper;
  };

  Status parse_line(std::string_view text, std::string_view file, std::uint64_t line) {
    what_.clear();
    line_ = line;
    simdjson::ondemand::document document;
    simdjson::ondemand::object object;
    auto code =
        parser_.iterate(text.data(), text.size(), text.size() + Input::kPadding).get(document);
    if (code == simdjson::SUCCESS) code = document.get_object().get(object);
    const char* rest = nullptr;
    bool ok = code == simdjson::SUCCESS ? txn(object) : fail(code, "a JSON object");
    if (ok && document.current_location().get(rest) != simdjson::OUT_OF_BOUNDS) {
      ok = fail("more than one value in a line");
    }
    if (ok) return {};
    if (const auto fault = diagnose_json(text)) {
      return error_at_line(file, line,
                           fmt::format("column {}: {}", fault->offset + 1, fault->what));
    }
    return error_at_line(file, line, what_);
  }

  // All of these return false after a complaint.

  // Whether the transaction is the initial one may come behind its operations, so look first.
  bool txn(simdjson::ondemand::object object) {
    bool initial = false;
    if (!look_for_initial(object, initial)) return false;
    if (const auto code = object.reset().error()) return fail(code, "a transaction");
    if (!initial) b_.begin_txn(session_, line_);
    has_initial_ |= initial;
    bool has_value = false;
    std::int64_t invoked = kNoClock;
    std::int64_t completed = kNoClock;
    for (auto field : object) {
      std::string_view name;
      Json json;
      if (const auto code = field.unescaped_key().get(name)) return fail(code, "a field name");
      const std::string kept(name);
      if (const auto code = field.value().get(json)) return fail(code, "a value");
      bool ok = true;
      bool ignored = false;
      std::int64_t time = 0;
      if (kept == "value") {
        if (std::exchange(has_value, true)) return fail("\"value\" appears twice");
        ok = mops(json, initial);
      } else if (kept == "preBeginTS") {
        ok = clock(json, invoked);
      } else if (kept == "postCommitTS") {
        ok = clock(json, completed);
      } else if (kept == "postBeginTS" || kept == "preCommitTS") {
        ok = clock(json, time);
      } else if (kept == "isInitial" || kept == "isFinal") {
        const auto code = json.get_bool().get(ignored);
        ok = code == simdjson::SUCCESS || fail(code, fmt::format("true or false for \"{}\"", kept));
      } else {
        return fail(
            fmt::format("unknown field '{}'; expected value, isInitial, isFinal, preBeginTS, "
                        "postBeginTS, preCommitTS or postCommitTS",
                        kept));
      }
      if (!ok) return false;
    }
    if (!has_value) return fail("the transaction has no \"value\", its operations");
    if (!initial) b_.clocks(invoked, completed);
    return true;
  }

  bool look_for_initial(simdjson::ondemand::object& object, bool& initial) {
    for (auto field : object) {
      std::string_view name;
      if (const auto code = field.unescaped_key().get(name)) return fail(code, "a field name");
      if (name != "isInitial") continue;
      if (const auto code = field.value().get_bool().get(initial)) {
        return fail(code, "true or false for \"isInitial\"");
      }
    }
    return true;
  }

  bool clock(Json json, std::int64_t& out) {
    const auto code = json.get_int64().get(out);
    return code == simdjson::SUCCESS || fail(code, "a time: a 64-bit integer");
  }

  bool mops(Json json, bool initial) {
    simdjson::ondemand::array array;
    if (const auto code = json.get_array().get(array)) return fail(code, "\"value\": an array");
    for (auto element : array) {
      simdjson::ondemand::array parts;
      if (const auto code = element.get_array().get(parts)) {
        return fail(code,
                    "an operation like [\"r\",key,value,false]; logs with an object per "
                    "operation are not supported");
      }
      Mop mop;
      rows_.clear();
      if (!parse_mop(parts, mop)) return false;
      if (initial ? !add_initial(mop) : !add(mop)) return false;
    }
    return true;
  }

  bool parse_mop(simdjson::ondemand::array parts, Mop& mop) {
    std::size_t count = 0;
    std::string word;
    std::size_t wanted = 0;
    bool ignored = false;
    for (auto element : parts) {
      Json json;
      if (const auto code = element.get(json)) return fail(code, "a value");
      bool ok = true;
      if (count == 0) {
        std::string_view name;
        if (const auto code = json.get_string().get(name)) return fail(code, "an operation's name");
        word = name;
        ok = parse_word(word, mop.word, wanted);
      } else if (count >= wanted) {
        return fail(fmt::format("too many parts in an operation '{}'; expected {}", word, wanted));
      } else if (mop.word == Word::Range) {
        ok = count == 1 ? bound(json, mop.lower) : count == 2 ? bound(json, mop.upper) : rows(json);
      } else if (count == 1) {
        ok = name(json, mop.key);
      } else if (count == 2) {
        ok = value(json, mop.value);
      } else if (count == 3 && wanted == 6) {
        ok = value(json, mop.read_value);
      } else {
        // isDead does not matter, the value tells; succ comes last where there is one.
        const bool last = count + 1 == wanted && mop.word != Word::Read;
        ok = boolean(json, last ? mop.success : ignored);
      }
      if (!ok) return false;
      ++count;
    }
    if (count == 0) return fail("an empty operation");
    return count == wanted ||
           fail(fmt::format("operation '{}' has {} parts; expected {}", word, count, wanted));
  }

  bool parse_word(std::string_view word, Word& out, std::size_t& parts) {
    constexpr std::pair<std::string_view, Word> kWords[] = {{"r", Word::Read},
                                                            {"w", Word::Write},
                                                            {"i", Word::Insert},
                                                            {"d", Word::Delete},
                                                            {"range", Word::Range}};
    for (const auto& [name, known] : kWords) {
      if (name != word) continue;
      out = known;
      parts = known == Word::Insert || known == Word::Delete ? 6 : known == Word::Range ? 5 : 4;
      return true;
    }
    return fail(fmt::format("unknown operation '{}'; expected r, w, i, d or range", word));
  }

  bool add(const Mop& mop) {
    if (mop.word == Word::Range) {
      b_.scan(mop.lower, mop.upper, {.rows = rows_, .has_version_set = false, .version_set = {}});
      reads_.insert(reads_.end(), rows_.begin(), rows_.end());
      return true;
    }
    const KeyId key = b_.key(mop.key);
    if (mop.word != Word::Write) {
      const Value seen = mop.word == Word::Read ? mop.value : mop.read_value;
      b_.read(key, seen);
      reads_.push_back({key, seen});
    }
    if (mop.word == Word::Read || !mop.success) return true;
    mop.word == Word::Delete ? b_.remove(key, mop.value) : b_.write(key, mop.value);
    written_.insert({key, mop.value});
    return true;
  }

  bool add_initial(const Mop& mop) {
    if (mop.word == Word::Range) {
      for (const KeyVersion& row : rows_) b_.initial(row.key, row.value);
      return true;
    }
    if (mop.word == Word::Read || mop.word == Word::Delete) {
      return fail("the initial transaction may hold writes, inserts and ranges only");
    }
    if (mop.success) b_.initial(b_.key(mop.key), mop.value);
    return true;
  }

  bool rows(Json json) {
    constexpr std::string_view kExpected = "rows like [{\"id\":1,\"sk\":1,\"val\":5}]";
    simdjson::ondemand::array array;
    if (const auto code = json.get_array().get(array)) return fail(code, kExpected);
    for (auto element : array) {
      simdjson::ondemand::object object;
      if (const auto code = element.get_object().get(object)) return fail(code, kExpected);
      Value id = Value::unobserved();
      Value sort_key = Value::unobserved();
      Value version = Value::unobserved();
      for (auto field : object) {
        std::string_view field_name;
        Json part;
        if (const auto code = field.unescaped_key().get(field_name)) return fail(code, kExpected);
        const bool is_id = field_name == "id";
        const bool is_sort_key = field_name == "sk";
        if (!is_id && !is_sort_key && field_name != "val")
          return fail(fmt::format("expected {}", kExpected));
        if (const auto code = field.value().get(part)) return fail(code, kExpected);
        if (!(is_id ? name(part, id) : is_sort_key ? name(part, sort_key) : value(part, version)))
          return false;
      }
      if (id.is_unobserved() || version.is_unobserved())
        return fail(fmt::format("expected {}", kExpected));
      if (!sort_key.is_unobserved() && sort_key != id) {
        return fail(
            "a row's \"sk\" differs from its \"id\": ranges over other columns are not supported");
      }
      rows_.push_back({b_.key(id), version});
    }
    return true;
  }

  bool boolean(Json json, bool& out) {
    const auto code = json.get_bool().get(out);
    return code == simdjson::SUCCESS || fail(code, "true or false");
  }

  bool scalar(Json json, Value& out, std::string_view expected) {
    std::int64_t number = 0;
    std::uint64_t large = 0;
    std::string_view text;
    if (json.get_int64().get(number) == simdjson::SUCCESS) {
      out = b_.integer(number);
    } else if (json.get_uint64().get(large) == simdjson::SUCCESS) {
      out = b_.unsigned_integer(large);
    } else if (const auto code = json.get_string().get(text)) {
      return fail(code, expected);
    } else {
      out = b_.text(text);
    }
    return true;
  }

  bool name(Json json, Value& out) { return scalar(json, out, "a key: an integer or a string"); }

  bool bound(Json json, Value& out) {
    std::string_view text;
    if (json.get_string().get(text) == simdjson::SUCCESS) {
      out = text == "nil" ? Value::null() : b_.text(text);
      return true;
    }
    return scalar(json, out, "a bound: a key or \"nil\"");
  }

  bool value(Json json, Value& out) {
    if (!scalar(json, out, "a value: an integer")) return false;
    if (out.kind() == ValueKind::Text) return fail("expected a value: an integer");
    if (out == Value::small(0)) out = Value::null();
    return true;
  }

  bool fail(std::string what) {
    if (what_.empty()) what_ = std::move(what);
    return false;
  }
  bool fail(simdjson::error_code code, std::string_view expected) {
    if (code == simdjson::INCORRECT_TYPE || code == simdjson::NUMBER_ERROR) {
      return fail(fmt::format("expected {}", expected));
    }
    return fail(fmt::format("expected {} ({})", expected, simdjson::error_message(code)));
  }

  HistoryBuilder b_;
  simdjson::ondemand::parser parser_;
  std::string what_;
  std::uint64_t line_ = 0;
  SessionId session_;
  bool has_initial_ = false;
  std::vector<KeyVersion> rows_;
  std::vector<KeyVersion> reads_;
  absl::flat_hash_set<std::pair<KeyId, Value>> written_;
};

}  // namespace

bool detect_viper(const std::string& folder) { return has_log(folder, 'J'); }

Result<History> read_viper(const std::string& folder, unsigned) {
  const auto logs = list_logs(folder);
  if (!logs.ok()) return logs.error();
  if (logs->empty()) return error_in(folder, "no files named like J24.log, so no Viper history");
  ViperReader reader;
  for (const LogFile& log : *logs) {
    auto input = Input::open(log.path);
    if (!input.ok()) return std::move(input).error();
    const auto text = input->read_all();
    if (!text.ok()) return text.error();
    if (auto status = reader.log(*text, log.path, log); !status.ok()) return status.error();
  }
  return reader.finish();
}

Result<History> parse_viper_log(const std::string& bytes, std::string_view file) {
  ViperReader reader;
  std::string padded = bytes;
  padded.reserve(bytes.size() + Input::kPadding);
  const LogFile log{std::string(file), std::string(file), {}};
  if (auto status = reader.log(padded, file, log); !status.ok()) return status.error();
  return reader.finish();
}

}  // namespace ouro
