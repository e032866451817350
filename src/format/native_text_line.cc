// Lines are read token by token straight into the builder, mostly without copies or allocations. If
// a line is refused, it is parsed once more as JSON: a fault of the JSON is reported rather than an
// error about its content.

#include "format/native_text_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/elle_models.h"
#include "format/binary_validation.h"
#include "history/decimal.h"
#include "ouro/closest.h"

namespace ouro {
namespace {

// Whether a token is an exact number that is not too large for a counter.
bool is_for_counter(const Token& token, Decimal& out) {
  constexpr std::int64_t kMost = std::int64_t{1} << 59;
  if (token.kind == TokenKind::Integer) {
    out = token.number;
  } else if (token.kind == TokenKind::Number) {
    const auto plain = plain_decimal(token.text);
    if (!plain) return false;
    out = Decimal::of(*plain);
  } else {
    return false;
  }
  return Decimal::compare(out.magnitude(), kMost) < 0;
}

constexpr std::string_view kTxnFields[] = {"session",    "status",    "invoked",  "began",
                                           "committing", "completed", "start_ts", "commit_ts",
                                           "level",      "sno",       "id",       "ops"};

constexpr std::string_view kKeyedWords[] = {"r", "w", "append", "d"};
constexpr std::string_view kRolledBack = "rolled-back";

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

bool NativeLineParser::expected(std::string_view what) {
  return fail(fmt::format("expected {}", what));
}

bool NativeLineParser::next(Token& token) {
  if (t_.next(token)) [[likely]]
    return true;
  return fail(t_.error().what);
}

Status NativeLineParser::parse(std::string_view text, std::uint64_t line) {
  line_ = line;
  t_.restart(text, readable_);
  if (document()) [[likely]]
    return {};
  std::string what = std::exchange(what_, {});
  const std::string alone(text);
  JsonTokens again(alone, file_, JsonTokens::Top::Line, line);
  if (auto fault = json_fault(again)) return *std::move(fault);
  return error_at_line(file_, line, std::move(what));
}

Status NativeLineParser::parse_ops(std::string_view text) {
  line_ = 0;
  has_ops_ = false;
  t_.restart(text, readable_);
  Token token;
  if (next(token) && ops(token) && at_end()) return {};
  std::string what = std::exchange(what_, {});
  const std::string alone(text);
  JsonTokens again(alone, file_, JsonTokens::Top::One, 1);
  if (auto fault = json_fault(again)) what = fault->what;
  Error error;
  error.file = file_;
  error.what = std::move(what);
  return error;
}

bool NativeLineParser::document() {
  Token token;
  if (!next(token)) return false;
  if (token.kind != TokenKind::OpenMap) return expected("a JSON object");
  return record() && at_end();
}

// Whether nothing follows what was parsed.
bool NativeLineParser::at_end() {
  if (t_.overran()) return fail("the line ends within its object");
  return t_.rest().find_first_not_of(" \t\r") == std::string_view::npos ||
         fail("more than one value in a line");
}

bool NativeLineParser::record() {
  Token token;
  if (!next(token)) return false;
  if (token.kind == TokenKind::Close) {
    return fail("an empty object; a transaction needs \"session\" and \"ops\"");
  }
  const std::string_view first = token.text;
  const bool header = first == "ouro";
  const bool key =
      first == "key" || first == "versions" || first == "complete" || first == "initial";
  start_ = commit_ = kNoTimestamp;
  invoked_ = began_ = committing_ = completed_ = kNoClock;
  has_session_ = has_ops_ = has_initial_ = has_versions_ = complete_ = false;
  key_name_ = Value::unobserved();
  if (!header && !key) b_.begin_txn(SessionId{0}, line_);
  while (token.kind != TokenKind::Close) {
    if (header || key) {
      const std::string field(token.text);
      if (!next(token)) return false;
      if (!(header ? header_field(field, token) : key_field(field, token))) return false;
    } else {
      const TxnField field = txn_field_of(token.text);
      if (field == TxnField::Unknown) return fail(unknown_field(token.text, kTxnFields));
      if (!next(token) || !txn_field(field, token)) return false;
    }
    if (!next(token)) return false;
  }
  if (header) return true;
  return key ? finish_key() : finish_txn();
}

bool NativeLineParser::finish_txn() {
  if (!has_session_)
    return fail("the transaction has no \"session\"; null says that it is not known");
  if (!has_ops_) return fail("the transaction has no \"ops\"");
  b_.clocks(invoked_, completed_);
  if (began_ != kNoClock || committing_ != kNoClock) b_.inner_clocks(began_, committing_);
  b_.timestamps(start_, commit_);
  return true;
}

bool NativeLineParser::finish_key() {
  if (key_name_.is_unobserved()) return fail("\"versions\" and \"initial\" need a \"key\"");
  if (!has_versions_ && !has_initial_) return fail("a \"key\" needs \"versions\" or \"initial\"");
  const KeyId key = b_.key(key_name_);
  if (has_versions_) b_.version_order(key, named_versions_, complete_, line_);
  if (has_initial_) b_.initial(key, initial_);
  return true;
}

bool NativeLineParser::header_field(std::string_view field, Token& token) {
  if (field == "ouro") {
    if (line_ != 1) return fail("the header must be the first line");
    if (token.kind != TokenKind::Integer) return expected("\"ouro\":1");
    if (token.number != 1) {
      return fail(
          fmt::format("version {} of the format is not known; this program reads 1", token.number));
    }
    return true;
  }
  if (field == "initial") {
    Value initial;
    if (!value(token, initial)) return false;
    b_.default_initial(initial);
    return true;
  }
  if (field == "info") return remarks(token);
  constexpr std::string_view kKnown[] = {"ouro", "initial", "info"};
  return fail(unknown_field(field, kKnown));
}

bool NativeLineParser::remarks(Token& token) {
  if (token.kind != TokenKind::OpenMap) return expected("\"info\" to be an object");
  for (;;) {
    if (!next(token)) return false;
    if (token.kind == TokenKind::Close) return true;
    const std::string name(token.text);
    if (!next(token)) return false;
    if (token.kind != TokenKind::String) return expected("texts in \"info\"");
    b_.remark(name, token.text);
  }
}

bool NativeLineParser::key_field(std::string_view field, Token& token) {
  if (field == "key") return name(token, key_name_);
  if (field == "versions") {
    has_versions_ = true;
    return version_order(token);
  }
  if (field == "initial") {
    has_initial_ = true;
    return value(token, initial_);
  }
  if (field == "complete") {
    complete_ = token.kind == TokenKind::True;
    return complete_ || token.kind == TokenKind::False ||
           expected("\"complete\" to be true or false");
  }
  constexpr std::string_view kKnown[] = {"key", "versions", "complete", "initial"};
  return fail(unknown_field(field, kKnown));
}

// Versions, oldest first: values, or ["id"] for what the transaction with that id left.
bool NativeLineParser::version_order(Token& token) {
  if (token.kind != TokenKind::OpenList) return expected("an array of values");
  named_versions_.clear();
  for (;;) {
    if (!next(token)) return false;
    if (token.kind == TokenKind::Close) return true;
    auto& [version, id] = named_versions_.emplace_back();
    if (token.kind != TokenKind::OpenList) {
      if (!value(token, version)) return false;
      continue;
    }
    if (!next(token)) return false;
    if (!name(token, id)) {
      return fail("expected a value, or [\"id\"] for the transaction that wrote the version");
    }
    if (!next(token)) return false;
    if (token.kind != TokenKind::Close) {
      return fail("expected one \"id\" of a transaction in the array that stands for a version");
    }
  }
}

// ---- transactions ----

NativeLineParser::TxnField NativeLineParser::txn_field_of(std::string_view name) {
  for (std::size_t i = 0; i < std::size(kTxnFields); ++i) {
    if (name == kTxnFields[i]) return static_cast<TxnField>(i);
  }
  return TxnField::Unknown;
}

bool NativeLineParser::txn_field(TxnField field, Token& token) {
  Value named;
  switch (field) {
    case TxnField::Ops:
      return ops(token);
    case TxnField::Session:
      if (token.kind == TokenKind::Nil) {
        b_.set_session(b_.unknown_session());
      } else if (name(token, named)) {
        b_.set_session(b_.session(named));
      } else {
        return fail("expected \"session\" to be an integer, a string or null");
      }
      has_session_ = true;
      return true;
    case TxnField::Status:
      return status(token);
    case TxnField::Invoked:
      return clock(token, invoked_);
    case TxnField::Began:
      return clock(token, began_);
    case TxnField::Committing:
      return clock(token, committing_);
    case TxnField::Completed:
      return clock(token, completed_);
    case TxnField::StartTs:
      return timestamp(token, start_);
    case TxnField::CommitTs:
      return timestamp(token, commit_);
    case TxnField::Level:
      return level(token);
    case TxnField::Sno:
      return sno(token);
    default:
      if (!name(token, named)) return fail("expected \"id\" to be an integer or a string");
      b_.name(named);
      return true;
  }
}

bool NativeLineParser::level(const Token& token) {
  if (token.kind != TokenKind::String) return expected("\"level\" to be the name of a level");
  const auto level = find_level(token.text);
  if (level && *level != Level::Mixed) {
    b_.level(*level);
    return true;
  }
  return fail(unknown_level(token.text));
}

bool NativeLineParser::sno(const Token& token) {
  if (token.kind != TokenKind::Integer) return expected("\"sno\" to be a 64-bit integer");
  if (token.number == kNoSno) return refuse_reserved("sno");
  b_.sno(token.number);
  return true;
}

bool NativeLineParser::status(const Token& token) {
  if (token.kind != TokenKind::String) return expected("\"status\" to be a string");
  const std::string_view word = token.text;
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

bool NativeLineParser::clock(const Token& token, std::int64_t& out) {
  if (token.kind != TokenKind::Integer) return expected("a clock to be a 64-bit integer");
  out = token.number;
  return out != kNoClock || refuse_reserved("clock");
}

// The smallest 64-bit number means that there is no clock or timestamp.
bool NativeLineParser::refuse_reserved(std::string_view what) {
  return fail(fmt::format("a {} of {} means that there is none; leave it out", what, kNoClock));
}

bool NativeLineParser::timestamp(Token& token, Timestamp& out) {
  constexpr std::string_view kExpected = "a timestamp to be an integer or [physical, logical]";
  if (token.kind == TokenKind::Integer) [[likely]] {
    out = {token.number, 0};
    return out != kNoTimestamp || refuse_reserved("timestamp");
  }
  if (token.kind != TokenKind::OpenList) return expected(kExpected);
  for (std::int64_t* part : {&out.physical, &out.logical}) {
    if (!next(token)) return false;
    if (token.kind != TokenKind::Integer) return expected(kExpected);
    *part = token.number;
  }
  if (!next(token)) return false;
  if (token.kind != TokenKind::Close) return expected(kExpected);
  return out != kNoTimestamp || refuse_reserved("timestamp");
}

// ---- operations ----

bool NativeLineParser::ops(const Token& open) {
  if (std::exchange(has_ops_, true)) return fail("\"ops\" appears twice");
  part_depth_ = 0;
  if (open.kind != TokenKind::OpenList) return expected("\"ops\" to be an array");
  return list_of_ops();
}

// Operations up to the end of their list.
bool NativeLineParser::list_of_ops() {
  for (Token token;;) {
    while (short_ops()) {
    }
    if (!next(token)) return false;
    if (token.kind == TokenKind::Close) return true;
    if (token.kind != TokenKind::OpenList) return expected("an operation like [\"r\",\"x\",1]");
    if (!op(token)) return false;
  }
}

// Takes the next operations that are short, up to a number; returns whether there may be more. With
// many keys, to look one up is to wait for memory: so all are asked for before the first is needed.
bool NativeLineParser::short_ops() {
  std::array<JsonTokens::ShortOp, 16> taken;
  std::size_t count = 0;
  while (count < taken.size() && t_.take_short_list("rwd", taken[count])) {
    b_.prefetch_key(taken[count++].key);
  }
  for (std::size_t i = 0; i < count; ++i) {
    const JsonTokens::ShortOp& op = taken[i];
    const Value value = op.is_null ? Value::null() : Value::small(op.value);
    add_op(word_of({&op.letter, 1}), b_.key(Value::small(op.key)), true, false, value);
  }
  return count == taken.size();
}

NativeLineParser::Word NativeLineParser::word_of(std::string_view text) {
  if (text.size() == 1) {
    return text[0] == 'r'   ? Word::Read
           : text[0] == 'w' ? Word::Write
           : text[0] == 'd' ? Word::Delete
                            : Word::Other;
  }
  return text == "append" ? Word::Append : Word::Other;
}

bool NativeLineParser::op(Token& token) {
  if (!next(token)) return false;
  if (token.kind == TokenKind::Close) return fail("an empty operation");
  if (token.kind != TokenKind::String) return expected("an operation's name");
  const Word word = word_of(token.text);
  if (word != Word::Other) [[likely]]
    return keyed_op(word, token);
  if (token.text == "cas") return cas_op(token);
  if (token.text == "inc") return inc_op(token);
  if (token.text == "add") return add_element_op(token);
  if (token.text == kRolledBack) return rolled_back_op(token);
  for (const std::string_view known : {"scan", "select", "aggregate", "update", "delete"}) {
    if (token.text != known) continue;
    const bool changes = known == "update" || known == "delete";
    return changes ? change_op(known, token) : predicate_op(known, token);
  }
  if (token.text.empty()) return fail("an empty operation");
  return fail(
      fmt::format("unknown operation '{}'; expected r, w, append, d, cas, inc, add, scan, "
                  "select, aggregate, update, delete or rolled-back",
                  token.text));
}

bool NativeLineParser::keyed_op(Word word, Token& token) {
  if (!next(token)) return false;
  const std::string_view spelled = kKeyedWords[static_cast<std::size_t>(word)];
  if (token.kind == TokenKind::Close) {
    return fail(fmt::format("operation '{}' without a key", spelled));
  }
  Value key;
  if (!name(token, key)) return fail("expected a key: an integer or a string");
  Value result = Value::unobserved();
  if (!next(token)) return false;
  const bool has_value = token.kind != TokenKind::Close;
  const bool is_list = token.kind == TokenKind::OpenList;
  bool is_set = false;
  if (has_value && word == Word::Read && token.kind == TokenKind::OpenMap) {
    if (!row_or_set(token, result, is_set) || !next(token)) return false;
    if (token.kind != TokenKind::Close) return fail("too many parts in an operation 'r'");
    if (is_set) return read_set(b_.key(key));
  } else if (has_value) {
    if (is_list && word != Word::Read) return fail("only a read may have a list");
    if (is_list ? !list(token, values_) : !value(token, result)) return false;
    if (!next(token)) return false;
    if (token.kind != TokenKind::Close) {
      return fail(fmt::format("too many parts in an operation '{}'", spelled));
    }
  }
  return add_op(word, b_.key(key), has_value, is_list, result);
}

// Adds a read of the set in values_.
bool NativeLineParser::read_set(KeyId set) {
  std::vector<Value> sorted = values_;
  for (const Value element : sorted) {
    if (!is_element(element)) return expected("integers and strings in a set");
  }
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    return fail("a set has an element twice");
  }
  b_.read_set(set, values_);
  return true;
}

bool NativeLineParser::is_element(Value value) {
  return value.kind() == ValueKind::Integer || value.kind() == ValueKind::Wide ||
         value.kind() == ValueKind::Text;
}

// ["add", set, element]
bool NativeLineParser::add_element_op(Token& token) {
  constexpr std::string_view kParts =
      "[\"add\",\"s\",1]: a set, and an element, which is an integer or a string";
  Value set, element;
  if (!next(token)) return false;
  if (token.kind == TokenKind::Close || !name(token, set)) return expected(kParts);
  if (!next(token)) return false;
  if (token.kind == TokenKind::Close || !name(token, element)) return expected(kParts);
  b_.add_element(b_.key(set), element);
  if (!next(token)) return false;
  return token.kind == TokenKind::Close || fail("too many parts in an operation 'add'");
}

// ["inc", counter, delta] or ["inc", counter, delta, result]
bool NativeLineParser::inc_op(Token& token) {
  constexpr std::string_view kParts =
      "[\"inc\",\"c\",1] or [\"inc\",\"c\",1,5]: a counter, a number to add, and what it is then";
  Value counter;
  if (!next(token)) return false;
  if (token.kind == TokenKind::Close || !name(token, counter)) return expected(kParts);
  Decimal delta;
  if (!next(token)) return false;
  if (!is_for_counter(token, delta)) return expected(kParts);
  const KeyId key = b_.key(counter);
  if (!next(token)) return false;
  if (token.kind != TokenKind::Close) {
    Decimal result;
    if (is_for_counter(token, result)) {
      b_.read(key, b_.decimal((result - delta).text()));
    } else if (token.kind != TokenKind::Nil) {
      return expected(kParts);
    }
    if (!next(token)) return false;
  }
  b_.inc(key, b_.decimal(delta.text()));
  return token.kind == TokenKind::Close || fail("too many parts in an operation 'inc'");
}

// ["rolled-back", [operation, …]]
bool NativeLineParser::rolled_back_op(Token& token) {
  constexpr std::string_view kParts = "[\"rolled-back\",[[\"w\",\"x\",1]]]: a list of operations";
  if (!next(token)) return false;
  if (token.kind != TokenKind::OpenList) return expected(kParts);
  if (part_depth_ >= kMaxPredicateDepth) return fail("rolled-back parts are nested too deeply");
  ++part_depth_;
  b_.begin_undone();
  if (!list_of_ops()) return false;
  b_.end_undone();
  --part_depth_;
  if (!next(token)) return false;
  return token.kind == TokenKind::Close || expected(kParts);
}

// ["cas", key, expected, new, true|false]
bool NativeLineParser::cas_op(Token& token) {
  constexpr std::string_view kCasShape =
      "[\"cas\",\"x\",1,2,true]: a key, what was expected, what was "
      "to be written, and whether it was";
  Value name_of_key, desired, expected_value;
  for (Value* part : {&name_of_key, &expected_value, &desired}) {
    if (!next(token)) return false;
    if (token.kind == TokenKind::Close || token.kind == TokenKind::OpenList)
      return expected(kCasShape);
    if (part == &name_of_key ? !name(token, *part) : !value(token, *part)) return false;
  }
  if (!next(token)) return false;
  const bool succeeded = token.kind == TokenKind::True;
  if (!succeeded && token.kind != TokenKind::False) return expected(kCasShape);
  if (!succeeded && b_.sees_undone(b_.key(name_of_key))) {
    return fail(
        "a compare-and-set that failed behind a write of its key in the same rolled-back part is "
        "not supported; leave it out");
  }
  b_.cas(b_.key(name_of_key), expected_value, desired, succeeded);
  if (!next(token)) return false;
  return token.kind == TokenKind::Close || fail("too many parts in an operation 'cas'");
}

bool NativeLineParser::add_op(Word word, KeyId key, bool has_value, bool is_list, Value value) {
  switch (word) {
    case Word::Read:
      is_list ? b_.read_list(key, values_) : b_.read(key, value);
      return true;
    case Word::Write:
      if (!has_value) return fail("a write without a value; null deletes");
      b_.write(key, value);
      return true;
    case Word::Append:
      if (!has_value) return fail("an append without an element");
      b_.append(key, value);
      return true;
    default:
      b_.remove(key, has_value ? value : Value::null());
      return true;
  }
}

}  // namespace ouro
