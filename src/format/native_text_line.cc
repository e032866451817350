#include "format/native_text_line.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "base/edit_distance.h"
#include "format/binary_validation.h"
#include "format/json_diagnosis.h"

namespace ouro {
namespace {

using simdjson::ondemand::json_type;

constexpr std::array<std::pair<std::string_view, PredicateKind>, 12> kPredicateWords{{
    {"and", PredicateKind::And},
    {"or", PredicateKind::Or},
    {"not", PredicateKind::Not},
    {"eq", PredicateKind::Eq},
    {"ne", PredicateKind::Ne},
    {"lt", PredicateKind::Lt},
    {"le", PredicateKind::Le},
    {"gt", PredicateKind::Gt},
    {"ge", PredicateKind::Ge},
    {"between", PredicateKind::Between},
    {"in", PredicateKind::In},
    {"is_null", PredicateKind::IsNull},
}};

constexpr std::string_view kTxnFields[] = {"session",  "status",    "invoked", "completed",
                                           "start_ts", "commit_ts", "id",      "ops"};

std::string unknown_field(std::string_view name, std::span<const std::string_view> known) {
  const std::string_view guess = closest(name, known);
  if (!guess.empty()) return fmt::format("unknown field '{}'; did you mean '{}'?", name, guess);
  return fmt::format("unknown field '{}'; expected one of {}", name, fmt::join(known, ", "));
}

}  // namespace

bool NativeLineParser::fail(std::string what) {
  if (what_.empty()) what_ = std::move(what);
  return false;
}

bool NativeLineParser::fail(simdjson::error_code code, std::string_view expected) {
  if (code == simdjson::INCORRECT_TYPE || code == simdjson::NUMBER_OUT_OF_RANGE ||
      code == simdjson::NUMBER_ERROR || code == simdjson::INDEX_OUT_OF_BOUNDS) {
    return fail(fmt::format("expected {}", expected));
  }
  return fail(fmt::format("expected {} ({})", expected, simdjson::error_message(code)));
}

Status NativeLineParser::parse(std::string_view text, std::uint64_t line) {
  line_ = line;
  what_.clear();
  simdjson::ondemand::document document;
  simdjson::ondemand::object object;
  bool ok = false;
  auto code =
      parser_.iterate(text.data(), text.size(), text.size() + Input::kPadding).get(document);
  if (code == simdjson::SUCCESS) code = document.get_object().get(object);
  if (code == simdjson::SUCCESS) {
    const char* rest = nullptr;
    ok = record(object) && (document.current_location().get(rest) == simdjson::OUT_OF_BOUNDS ||
                            fail("more than one value in a line"));
  } else {
    fail(code, "a JSON object");
  }
  if (ok) return {};
  if (const auto fault = diagnose_json(text)) {
    return error_at_line(file_, line, fmt::format("column {}: {}", fault->offset + 1, fault->what));
  }
  return error_at_line(file_, line, what_);
}

bool NativeLineParser::record(simdjson::ondemand::object object) {
  Record kind = Record::Txn;
  bool first = true;
  start_ = commit_ = kNoTimestamp;
  invoked_ = completed_ = kNoClock;
  has_session_ = has_ops_ = has_initial_ = has_versions_ = complete_ = false;
  key_name_ = Value::unobserved();
  for (auto field : object) {
    std::string_view field_name;
    Json value;
    if (const auto code = field.unescaped_key().get(field_name)) return fail(code, "a field name");
    if (const auto code = field.value().get(value)) return fail(code, "a value");
    if (first) {
      if (field_name == "ouro") {
        kind = Record::Header;
      } else if (field_name == "key" || field_name == "versions" || field_name == "complete" ||
                 field_name == "initial") {
        kind = Record::Key;
      } else {
        b_.begin_txn(SessionId{0}, line_);
      }
    }
    first = false;
    const bool ok = kind == Record::Txn      ? txn_field(field_name, value)
                    : kind == Record::Header ? header_field(field_name, value)
                                             : key_field(field_name, value);
    if (!ok) return false;
  }
  if (first) return fail("an empty object; a transaction needs \"session\" and \"ops\"");
  if (kind == Record::Txn) return finish_txn();
  return kind == Record::Header || finish_key();
}

bool NativeLineParser::finish_txn() {
  if (!has_session_) return fail("the transaction has no \"session\"");
  if (!has_ops_) return fail("the transaction has no \"ops\"");
  b_.clocks(invoked_, completed_);
  b_.timestamps(start_, commit_);
  return true;
}

bool NativeLineParser::finish_key() {
  if (key_name_.is_unobserved()) return fail("\"versions\" and \"initial\" need a \"key\"");
  if (!has_versions_ && !has_initial_) return fail("a \"key\" needs \"versions\" or \"initial\"");
  const KeyId key = b_.key(key_name_);
  if (has_versions_) b_.version_order(key, values_, complete_);
  if (has_initial_) b_.initial(key, initial_);
  return true;
}

bool NativeLineParser::header_field(std::string_view field, Json json) {
  if (field == "ouro") {
    if (line_ != 1) return fail("the header must be the first line");
    std::int64_t version = 0;
    if (const auto code = json.get_int64().get(version)) return fail(code, "\"ouro\":1");
    if (version != 1) {
      return fail(
          fmt::format("version {} of the format is not known; this program reads 1", version));
    }
    return true;
  }
  if (field == "initial") {
    Value initial;
    if (!value(json, initial)) return false;
    b_.default_initial(initial);
    return true;
  }
  if (field == "info") return remarks(json);
  constexpr std::string_view kKnown[] = {"ouro", "initial", "info"};
  return fail(unknown_field(field, kKnown));
}

bool NativeLineParser::remarks(Json json) {
  simdjson::ondemand::object object;
  if (const auto code = json.get_object().get(object))
    return fail(code, "\"info\" to be an object");
  for (auto field : object) {
    std::string_view name;
    std::string_view text;
    if (const auto code = field.unescaped_key().get(name)) return fail(code, "a name");
    const std::string kept(name);
    if (const auto code = field.value().get_string().get(text)) {
      return fail(code, "texts in \"info\"");
    }
    b_.remark(kept, text);
  }
  return true;
}

bool NativeLineParser::key_field(std::string_view field, Json json) {
  if (field == "key") return name(json, key_name_);
  if (field == "versions") {
    has_versions_ = true;
    return list(json, values_);
  }
  if (field == "initial") {
    has_initial_ = true;
    return value(json, initial_);
  }
  if (field == "complete") {
    const auto code = json.get_bool().get(complete_);
    return code == simdjson::SUCCESS || fail(code, "\"complete\" to be true or false");
  }
  constexpr std::string_view kKnown[] = {"key", "versions", "complete", "initial"};
  return fail(unknown_field(field, kKnown));
}

bool NativeLineParser::txn_field(std::string_view field, Json json) {
  if (field == "ops") return ops(json);
  if (field == "session") {
    Value session;
    if (!name(json, session)) return fail("expected \"session\" to be an integer or a string");
    b_.set_session(b_.session(session));
    has_session_ = true;
    return true;
  }
  if (field == "status") return status(json);
  if (field == "invoked") return clock(json, invoked_);
  if (field == "completed") return clock(json, completed_);
  if (field == "start_ts") return timestamp(json, start_);
  if (field == "commit_ts") return timestamp(json, commit_);
  if (field == "id") {
    Value id;
    if (!name(json, id)) return fail("expected \"id\" to be an integer or a string");
    b_.name(id);
    return true;
  }
  return fail(unknown_field(field, kTxnFields));
}

bool NativeLineParser::status(Json json) {
  std::string_view word;
  if (const auto code = json.get_string().get(word)) return fail(code, "\"status\" to be a string");
  if (word == "committed") {
    b_.status(TxnStatus::Committed);
  } else if (word == "aborted") {
    b_.status(TxnStatus::Aborted);
  } else if (word == "unknown") {
    b_.status(TxnStatus::Unknown);
  } else {
    return fail(fmt::format("unknown status '{}'; expected committed, aborted or unknown", word));
  }
  return true;
}

bool NativeLineParser::clock(Json json, std::int64_t& out) {
  const auto code = json.get_int64().get(out);
  return code == simdjson::SUCCESS || fail(code, "a clock to be a 64-bit integer");
}

bool NativeLineParser::timestamp(Json json, Timestamp& out) {
  constexpr std::string_view kExpected = "a timestamp to be an integer or [physical, logical]";
  json_type type;
  if (const auto code = json.type().get(type)) return fail(code, kExpected);
  out.logical = 0;
  if (type != json_type::array) {
    const auto code = json.get_int64().get(out.physical);
    return code == simdjson::SUCCESS || fail(code, kExpected);
  }
  simdjson::ondemand::array array;
  if (const auto code = json.get_array().get(array)) return fail(code, kExpected);
  int count = 0;
  for (auto part : array) {
    if (count == 2) return fail(fmt::format("expected {}", kExpected));
    const auto code = part.get_int64().get(count == 0 ? out.physical : out.logical);
    if (code) return fail(code, kExpected);
    ++count;
  }
  return count == 2 || fail(fmt::format("expected {}", kExpected));
}

bool NativeLineParser::ops(Json json) {
  if (std::exchange(has_ops_, true)) return fail("\"ops\" appears twice");
  simdjson::ondemand::array array;
  if (const auto code = json.get_array().get(array)) return fail(code, "\"ops\" to be an array");
  for (auto element : array) {
    simdjson::ondemand::array op_array;
    if (const auto code = element.get_array().get(op_array)) {
      return fail(code, "an operation like [\"r\",\"x\",1]");
    }
    if (!op(op_array)) return false;
  }
  return true;
}

// An operation with a key is read part by part as it comes; the rest, which is rare, in pieces.
bool NativeLineParser::op(simdjson::ondemand::array array) {
  enum class Word { None, Read, Write, Append, Delete };
  Word kind = Word::None;
  std::string_view word;
  Value key;
  Value result = Value::unobserved();
  bool is_list = false;
  int count = 0;
  for (auto element : array) {
    Json json;
    if (const auto code = element.get(json)) return fail(code, "a value");
    if (count == 0) {
      if (const auto code = json.get_string().get(word)) return fail(code, "an operation's name");
      kind = word == "r"        ? Word::Read
             : word == "w"      ? Word::Write
             : word == "append" ? Word::Append
             : word == "d"      ? Word::Delete
                                : Word::None;
      if (kind == Word::None) break;
    } else if (count == 1) {
      if (!name(json, key)) return fail("expected a key: an integer or a string");
    } else if (count == 2) {
      json_type type;
      if (const auto code = json.type().get(type)) return fail(code, "a value");
      is_list = type == json_type::array;
      if (is_list && kind != Word::Read) return fail("only a read may have a list");
      if (is_list ? !list(json, values_) : !value(json, result)) return false;
    } else {
      return fail(fmt::format("too many parts in an operation '{}'", word));
    }
    ++count;
  }
  if (kind == Word::None) {
    if (word.empty()) return fail("an empty operation");
    return predicate_op(word, array);
  }
  if (count < 2) return fail(fmt::format("operation '{}' without a key", word));
  const KeyId id = b_.key(key);
  switch (kind) {
    case Word::Read:
      is_list ? b_.read_list(id, values_) : b_.read(id, result);
      return true;
    case Word::Write:
      if (count < 3) return fail("a write without a value; null deletes");
      b_.write(id, result);
      return true;
    case Word::Append:
      if (count < 3) return fail("an append without an element");
      b_.append(id, result);
      return true;
    default:
      b_.remove(id, count < 3 ? Value::null() : result);
      return true;
  }
}

bool NativeLineParser::predicate_op(std::string_view given, simdjson::ondemand::array& array) {
  const std::string word(given);
  if (word != "scan" && word != "select" && word != "aggregate") {
    return fail(fmt::format(
        "unknown operation '{}'; expected r, w, append, d, scan, select or aggregate", word));
  }
  if (const auto code = array.reset().error()) return fail(code, "an operation");
  // What comes after the word, in order.
  enum class Part { Lower, Upper, Kind, Column, Predicate, Result, Rows, VersionSet };
  using enum Part;
  const std::vector<Part> shape = word == "scan" ? std::vector{Lower, Upper, Rows, VersionSet}
                                  : word == "select"
                                      ? std::vector{Predicate, Rows, VersionSet}
                                      : std::vector{Kind, Column, Predicate, Result, VersionSet};
  Value lower, upper, result;
  AggregateKind kind = AggregateKind::Count;
  ColumnId aggregated;
  PredicateId condition;
  HistoryBuilder::Rows rows;
  rows_.clear();
  std::size_t count = 0;
  for (auto element : array) {
    Json json;
    if (const auto code = element.get(json)) return fail(code, "a value");
    if (count++ == 0) continue;
    if (count - 2 >= shape.size()) return fail(fmt::format("too many parts in '{}'", word));
    bool ok = true;
    switch (shape[count - 2]) {
      case Lower:
        ok = scalar(json, lower);
        break;
      case Upper:
        ok = scalar(json, upper);
        break;
      case Kind:
        ok = aggregate_kind(json, kind);
        break;
      case Column:
        ok = column_or_rows(json, aggregated);
        break;
      case Predicate:
        ok = predicate(json, 0, condition);
        break;
      case Result:
        ok = scalar(json, result);
        break;
      case Rows:
        ok = key_versions(json, rows_);
        break;
      case VersionSet:
        ok = version_set(json, rows);
        break;
    }
    if (!ok) return false;
  }
  if (count < shape.size()) return fail(fmt::format("operation '{}' has too few parts", word));
  rows.rows = rows_;
  if (word == "scan") {
    b_.scan(lower, upper, rows);
  } else if (word == "select") {
    b_.select(condition, rows);
  } else {
    b_.aggregate(kind, aggregated, condition, result, rows);
  }
  return true;
}

bool NativeLineParser::aggregate_kind(Json json, AggregateKind& out) {
  std::string_view word;
  if (const auto code = json.get_string().get(word)) return fail(code, "count, sum, min or max");
  if (word == "count") {
    out = AggregateKind::Count;
  } else if (word == "sum") {
    out = AggregateKind::Sum;
  } else if (word == "min") {
    out = AggregateKind::Min;
  } else if (word == "max") {
    out = AggregateKind::Max;
  } else {
    return fail(fmt::format("unknown aggregate '{}'; expected count, sum, min or max", word));
  }
  return true;
}

// ---- values ----

bool NativeLineParser::scalar(Json json, Value& out) {
  json_type type;
  if (const auto code = json.type().get(type)) return fail(code, "a value");
  switch (type) {
    case json_type::number: {
      std::int64_t number = 0;
      if (json.get_int64().get(number) == simdjson::SUCCESS) {
        out = b_.integer(number);
        return true;
      }
      std::uint64_t large = 0;
      if (const auto code = json.get_uint64().get(large)) {
        return fail(code, "an integer of at most 64 bits; write other numbers as strings");
      }
      out = b_.unsigned_integer(large);
      return true;
    }
    case json_type::string: {
      std::string_view text;
      if (const auto code = json.get_string().get(text)) return fail(code, "a string");
      out = b_.text(text);
      return true;
    }
    case json_type::null:
      out = Value::null();
      return null(json);
    default:
      return fail("expected an integer, a string or null");
  }
}

bool NativeLineParser::name(Json json, Value& out) {
  return scalar(json, out) && (!out.is_null() || fail("expected a name: an integer or a string"));
}

bool NativeLineParser::value(Json json, Value& out) {
  json_type type;
  if (const auto code = json.type().get(type)) return fail(code, "a value");
  return type == json_type::object ? row(json, out) : scalar(json, out);
}

bool NativeLineParser::row(Json json, Value& out) {
  simdjson::ondemand::object object;
  if (const auto code = json.get_object().get(object)) return fail(code, "an object of columns");
  std::vector<HistoryBuilder::NamedCell> cells;
  for (auto field : object) {
    std::string_view column_name;
    Json cell_json;
    Value cell;
    if (const auto code = field.unescaped_key().get(column_name)) return fail(code, "a column");
    if (const auto code = field.value().get(cell_json)) return fail(code, "a value");
    if (!scalar(cell_json, cell)) return false;
    for (const auto& [known, unused] : cells) {
      if (known == column_name) return fail(fmt::format("column '{}' appears twice", column_name));
    }
    cells.emplace_back(column_name, cell);
  }
  out = b_.row(cells);
  return true;
}

bool NativeLineParser::list(Json json, std::vector<Value>& out) {
  out.clear();
  simdjson::ondemand::array array;
  if (const auto code = json.get_array().get(array)) return fail(code, "a list");
  for (auto element : array) {
    Json element_json;
    Value element_value;
    if (const auto code = element.get(element_json)) return fail(code, "a value");
    if (!value(element_json, element_value)) return false;
    out.push_back(element_value);
  }
  return true;
}

bool NativeLineParser::key_versions(Json json, std::vector<KeyVersion>& out) {
  constexpr std::string_view kExpected = "rows like [[\"k1\",1],[\"k2\",{\"c\":3}]]";
  out.clear();
  simdjson::ondemand::array array;
  if (const auto code = json.get_array().get(array)) return fail(code, kExpected);
  for (auto element : array) {
    simdjson::ondemand::array pair;
    if (const auto code = element.get_array().get(pair)) return fail(code, kExpected);
    Value key;
    Value version;
    int count = 0;
    for (auto part : pair) {
      Json part_json;
      if (const auto code = part.get(part_json)) return fail(code, kExpected);
      if (count == 2) return fail(fmt::format("expected {}", kExpected));
      if (count == 0 ? !name(part_json, key) : !value(part_json, version)) return false;
      ++count;
    }
    if (count != 2) return fail(fmt::format("expected {}", kExpected));
    out.push_back({b_.key(key), version});
  }
  return true;
}

bool NativeLineParser::version_set(Json json, HistoryBuilder::Rows& rows) {
  simdjson::ondemand::object object;
  if (const auto code = json.get_object().get(object)) return fail(code, "{\"versions\":[…]}");
  for (auto field : object) {
    std::string_view field_name;
    Json field_json;
    if (const auto code = field.unescaped_key().get(field_name)) return fail(code, "a name");
    if (const auto code = field.value().get(field_json)) return fail(code, "a value");
    if (field_name != "versions") return fail(fmt::format("unknown field '{}'", field_name));
    if (!key_versions(field_json, versions_)) return false;
    rows.has_version_set = true;
    rows.version_set = versions_;
  }
  return true;
}

// ---- predicates ----

bool NativeLineParser::predicate(Json json, std::uint32_t depth, PredicateId& out) {
  constexpr std::string_view kExpected =
      "a predicate: true, or one of and, or, not, eq, ne, lt, le, gt, ge, between, in, is_null";
  if (depth >= kMaxPredicateDepth) return fail("the predicate is nested too deeply");
  json_type type;
  if (const auto code = json.type().get(type)) return fail(code, kExpected);
  if (type == json_type::boolean) {
    bool always = false;
    if (const auto code = json.get_bool().get(always)) return fail(code, kExpected);
    if (!always) return fail(fmt::format("expected {}", kExpected));
    out = b_.always();
    return true;
  }
  simdjson::ondemand::object object;
  if (const auto code = json.get_object().get(object)) return fail(code, kExpected);
  int count = 0;
  for (auto field : object) {
    std::string_view word;
    Json operand;
    if (const auto code = field.unescaped_key().get(word)) return fail(code, kExpected);
    if (const auto code = field.value().get(operand)) return fail(code, kExpected);
    if (count++ != 0) return fail("a predicate has one operator; use \"and\" for several");
    bool known = false;
    for (const auto& [name, kind] : kPredicateWords) {
      if (name != word) continue;
      known = true;
      const bool combines = kind <= PredicateKind::Not;
      if (combines ? !combination(kind, operand, depth, out) : !comparison(kind, operand, out)) {
        return false;
      }
    }
    if (!known) return fail(fmt::format("unknown operator '{}'; expected {}", word, kExpected));
  }
  return count == 1 || fail(fmt::format("expected {}", kExpected));
}

bool NativeLineParser::combination(PredicateKind kind, Json json, std::uint32_t depth,
                                   PredicateId& out) {
  std::vector<PredicateId> children;
  if (kind == PredicateKind::Not) {
    children.emplace_back();
    if (!predicate(json, depth + 1, children[0])) return false;
  } else {
    simdjson::ondemand::array array;
    if (const auto code = json.get_array().get(array)) return fail(code, "a list of predicates");
    for (auto element : array) {
      Json child;
      if (const auto code = element.get(child)) return fail(code, "a predicate");
      if (!predicate(child, depth + 1, children.emplace_back())) return false;
    }
  }
  out = b_.combine(kind, children);
  return true;
}

// ["column", operand…], for `in` ["column", [operand…]], for `is_null` the column alone.
bool NativeLineParser::comparison(PredicateKind kind, Json json, PredicateId& out) {
  ColumnId compared;
  std::vector<Value> operands;
  if (kind == PredicateKind::IsNull) {
    if (!column(json, compared)) return false;
    out = b_.compare(kind, compared, operands);
    return true;
  }
  simdjson::ondemand::array array;
  if (const auto code = json.get_array().get(array)) return fail(code, "[\"column\", value]");
  std::size_t count = 0;
  for (auto element : array) {
    Json part;
    if (const auto code = element.get(part)) return fail(code, "a value");
    if (count++ == 0) {
      if (!column(part, compared)) return false;
    } else if (kind == PredicateKind::In) {
      if (count > 2 || !list(part, operands)) return fail("expected [\"column\", [value, …]]");
    } else if (!scalar(part, operands.emplace_back())) {
      return false;
    }
  }
  const std::size_t wanted = kind == PredicateKind::Between ? 3 : 2;
  if (count != wanted) {
    return fail(fmt::format("a comparison needs a column and {} value(s)", wanted - 1));
  }
  out = b_.compare(kind, compared, operands);
  return true;
}

bool NativeLineParser::null(Json json) {
  bool is_null = false;
  const auto code = json.is_null().get(is_null);
  return (code == simdjson::SUCCESS && is_null) || fail(simdjson::TAPE_ERROR, "null");
}

bool NativeLineParser::column_or_rows(Json json, ColumnId& out) {
  json_type type;
  if (const auto code = json.type().get(type)) return fail(code, "a column's name or null");
  return type == json_type::null ? null(json) : column(json, out);
}

bool NativeLineParser::column(Json json, ColumnId& out) {
  std::string_view word;
  if (const auto code = json.get_string().get(word)) return fail(code, "a column's name");
  if (word != "@key") out = b_.column(word);
  return true;
}

}  // namespace ouro
