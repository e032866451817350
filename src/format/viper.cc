#include "format/viper.h"

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <fmt/format.h>

#include <utility>
#include <vector>

#include "format/input.h"
#include "format/json_tokens.h"
#include "format/log_folder.h"
#include "ouro/history_builder.h"

namespace ouro {
namespace {

class ViperReader {
 public:
  // Adds the transactions of one log. REQUIRES: the capacity of `text` exceeds its size by
  // Input::kPadding.
  Status log(const std::string& text, std::string_view file, const LogFile& log) {
    b_.file(file, PlaceUnit::Line);
    session_ = session_of(log, b_);
    readable_ = text.data() + text.size() + Input::kPadding;
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

  // The parts of one operation, as far as it has them.
  struct Mop {
    Word word = Word::Read;
    Value key, value, read_value;  // `read_value`: what an insert or delete found.
    bool success = false;
    Value lower, upper;  // Of a range, whose rows are in rows_.
  };

  Status parse_line(std::string_view text, std::string_view file, std::uint64_t line) {
    what_.clear();
    line_ = line;
    bool initial = false;
    // "isInitial" may come after the operations, so look for it first.
    bool ok = text.find("isInitial") == text.npos || (start(text) && look_for_initial(initial));
    ok = ok && start(text) && txn(initial);
    if (ok && t_.overran()) ok = fail("the line ends within its object");
    if (ok && t_.rest().find_first_not_of(" \t\r") != std::string_view::npos) {
      ok = fail("more than one value in a line");
    }
    if (ok) return {};
    const std::string alone(text);
    JsonTokens again(alone, file, JsonTokens::Top::Line, line);
    if (auto fault = json_fault(again)) return *std::move(fault);
    return error_at_line(file, line, what_);
  }

  // All of these return false after an error, whose text is in what_. Those that take a token parse
  // the value that begins with it.

  bool next(Token& token) { return t_.next(token) || fail(t_.error().what); }
  bool start(std::string_view text) {
    t_.restart(text, readable_);
    Token token;
    return next(token) && (token.kind == TokenKind::OpenMap || fail("expected a JSON object"));
  }

  bool txn(bool initial) {
    if (!initial) b_.begin_txn(session_, line_);
    has_initial_ |= initial;
    bool has_value = false;
    std::int64_t invoked = kNoClock;
    std::int64_t began = kNoClock;
    std::int64_t committing = kNoClock;
    std::int64_t completed = kNoClock;
    Token token;
    for (;;) {
      if (!next(token)) return false;
      if (token.kind == TokenKind::Close) break;
      const std::string name(token.text);
      if (!next(token)) return false;
      bool ok = true;
      if (name == "value") {
        if (std::exchange(has_value, true)) return fail("\"value\" appears twice");
        ok = mops(token, initial);
      } else if (name == "preBeginTS") {
        ok = clock(token, invoked);
      } else if (name == "postCommitTS") {
        ok = clock(token, completed);
      } else if (name == "postBeginTS") {
        ok = clock(token, began);
      } else if (name == "preCommitTS") {
        ok = clock(token, committing);
      } else if (name == "isInitial" || name == "isFinal") {
        ok = is_bool(token) || fail(fmt::format("expected true or false for \"{}\"", name));
      } else {
        return fail(
            fmt::format("unknown field '{}'; expected value, isInitial, isFinal, preBeginTS, "
                        "postBeginTS, preCommitTS or postCommitTS",
                        name));
      }
      if (!ok) return false;
    }
    if (!has_value) return fail("the transaction has no \"value\", its operations");
    if (!initial) b_.clocks(invoked, completed);
    if (!initial) b_.inner_clocks(began, committing);
    return true;
  }

  bool look_for_initial(bool& initial) {
    for (Token token;;) {
      if (!next(token)) return false;
      if (token.kind == TokenKind::Close) return true;
      const bool wanted = token.text == "isInitial";
      if (!next(token)) return false;
      if (wanted && !is_bool(token)) return fail("expected true or false for \"isInitial\"");
      if (wanted) initial = token.kind == TokenKind::True;
      if (!t_.skip(token)) return fail(t_.error().what);
    }
  }

  static bool is_bool(const Token& token) {
    return token.kind == TokenKind::True || token.kind == TokenKind::False;
  }

  bool clock(const Token& token, std::int64_t& out) {
    out = token.number;
    return token.kind == TokenKind::Integer || fail("expected a time: a 64-bit integer");
  }

  bool mops(Token& token, bool initial) {
    if (token.kind != TokenKind::OpenList) return fail("expected \"value\": an array");
    for (;;) {
      if (!next(token)) return false;
      if (token.kind == TokenKind::Close) return true;
      if (token.kind != TokenKind::OpenList) {
        return fail(
            "expected an operation like [\"r\",key,value,false]; logs with an object per "
            "operation are not supported");
      }
      Mop mop;
      rows_.clear();
      if (!parse_mop(mop)) return false;
      if (initial ? !add_initial(mop) : !add(mop)) return false;
    }
  }

  bool parse_mop(Mop& mop) {
    std::size_t count = 0;
    std::string word;
    std::size_t wanted = 0;
    for (Token token;; ++count) {
      if (!next(token)) return false;
      if (token.kind == TokenKind::Close) break;
      if (count == 0) {
        if (token.kind != TokenKind::String) return fail("expected an operation's name");
        word = token.text;
        if (!parse_word(word, mop.word, wanted)) return false;
      } else if (count >= wanted) {
        return fail(fmt::format("too many parts in an operation '{}'; expected {}", word, wanted));
      } else if (!parse_part(token, count, wanted, mop)) {
        return false;
      }
    }
    if (count == 0) return fail("an empty operation");
    return count == wanted ||
           fail(fmt::format("operation '{}' has {} parts; expected {}", word, count, wanted));
  }

  // Parses part number `count`, from 1, of an operation of `wanted` parts, the word included.
  bool parse_part(Token& token, std::size_t count, std::size_t wanted, Mop& mop) {
    if (mop.word == Word::Range) {
      return count == 1   ? bound(token, mop.lower)
             : count == 2 ? bound(token, mop.upper)
                          : rows(token);
    }
    if (count == 1) return name(token, mop.key);
    if (count == 2) return value(token, mop.value);
    if (count == 3 && wanted == 6) return value(token, mop.read_value);
    if (!is_bool(token)) return fail("expected true or false");
    // The booleans are isDead, which is ignored, since the value tells; and, last and not for
    // reads, whether the operation succeeded.
    const bool last = count + 1 == wanted && mop.word != Word::Read;
    if (last) mop.success = token.kind == TokenKind::True;
    return true;
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

  bool rows(Token& token) {
    const auto odd = [this] { return fail("expected rows like [{\"id\":1,\"sk\":1,\"val\":5}]"); };
    if (token.kind != TokenKind::OpenList) return odd();
    for (;;) {
      if (!next(token)) return false;
      if (token.kind == TokenKind::Close) return true;
      if (token.kind != TokenKind::OpenMap) return odd();
      Value id = Value::unobserved();
      Value sort_key = Value::unobserved();
      Value version = Value::unobserved();
      for (;;) {
        if (!next(token)) return false;
        if (token.kind == TokenKind::Close) break;
        const bool is_id = token.text == "id";
        const bool is_sort_key = token.text == "sk";
        if (!is_id && !is_sort_key && token.text != "val") return odd();
        if (!next(token)) return false;
        if (!(is_id         ? name(token, id)
              : is_sort_key ? name(token, sort_key)
                            : value(token, version))) {
          return false;
        }
      }
      if (id.is_unobserved() || version.is_unobserved()) return odd();
      if (!sort_key.is_unobserved() && sort_key != id) {
        return fail(
            "a row's \"sk\" differs from its \"id\": ranges over other columns are not supported");
      }
      rows_.push_back({b_.key(id), version});
    }
  }

  bool scalar(const Token& token, Value& out, std::string_view expected) {
    if (token.kind == TokenKind::Integer) {
      out = b_.integer(token.number);
    } else if (token.kind == TokenKind::String) {
      out = b_.text(token.text);
    } else if (const auto large = unsigned_of(token)) {
      out = b_.unsigned_integer(*large);
    } else {
      return fail(fmt::format("expected {}", expected));
    }
    return true;
  }

  bool name(const Token& token, Value& out) {
    return scalar(token, out, "a key: an integer or a string");
  }

  bool bound(const Token& token, Value& out) {
    if (token.kind == TokenKind::String && token.text == "nil") {
      out = Value::null();
      return true;
    }
    return scalar(token, out, "a bound: a key or \"nil\"");
  }

  bool value(const Token& token, Value& out) {
    if (!scalar(token, out, "a value: an integer")) return false;
    if (out.kind() == ValueKind::Text) return fail("expected a value: an integer");
    if (out == Value::small(0)) out = Value::null();
    return true;
  }

  bool fail(std::string what) {
    if (what_.empty()) what_ = std::move(what);
    return false;
  }

  HistoryBuilder b_;
  JsonTokens t_{std::string_view("", 0), ""};
  const char* readable_ = nullptr;  // The end of the memory that may be read.
  std::string what_;                // The first error in the line; empty: none.
  std::uint64_t line_ = 0;
  SessionId session_;
  bool has_initial_ = false;
  std::vector<KeyVersion> rows_;   // Of the range being parsed.
  std::vector<KeyVersion> reads_;  // What all transactions read and wrote: for initial values.
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
