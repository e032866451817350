#include "format/chronos_block.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>
#include <vector>

#include "base/count_lines.h"
#include "format/json_tokens.h"
#include "history/access.h"

namespace ouro {
namespace {

constexpr std::string_view kShape =
    "a transaction like {\"tid\":1,\"sid\":1,\"sts\":{\"p\":1,\"l\":0},\"cts\":{\"p\":2,\"l\":0},"
    "\"ops\":[{\"t\":\"w\",\"k\":1,\"v\":1}]}";

// Whether `text` is an integer as JSON writes it: no needless zeros, no plus sign.
bool is_decimal(std::string_view text) {
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  if (digits.empty() || (digits[0] == '0' && text.size() > 1)) return false;
  return digits.find_first_not_of("0123456789") == std::string_view::npos;
}

// The functions return false after an error, which error() has. Those that take a token parse the
// value that begins with it.
class BlockParser {
 public:
  BlockParser(const Block& block, std::string_view file, HistoryBuilder& builder)
      : t_(block.bytes, file, part_of(block), block.first_line, block.first_column),
        first_(block.offset == 0),
        b_(builder) {}

  bool run() {
    Token token;
    if (first_) {
      if (!next(token)) return false;
      if (token.kind != TokenKind::OpenList) {
        return fail(token,
                    fmt::format("expected an array of transactions, found {}", token.describe()));
      }
    }
    for (;;) {
      if (!next(token)) return false;
      if (token.kind == TokenKind::End) return true;
      if (token.kind != TokenKind::Close && !txn(token)) return false;
    }
  }

  [[nodiscard]] Error& error() { return error_; }

 private:
  static JsonTokens::Top part_of(const Block& block) {
    if (block.offset == 0) return block.last ? JsonTokens::Top::One : JsonTokens::Top::Start;
    return block.last ? JsonTokens::Top::Rest : JsonTokens::Top::Middle;
  }

  enum Field : unsigned { kTid = 1, kSid = 2, kStart = 4, kCommit = 8, kOps = 16, kSno = 32 };
  // What the "v" of an operation is. The elements of a List are in elements_.
  enum class Result : std::uint8_t { Missing, Null, Scalar, List };

  bool next(Token& token) {
    if (t_.next(token)) [[likely]]
      return true;
    error_ = t_.error();
    return false;
  }
  bool fail(const Token& at, std::string_view what) {
    error_ = t_.error_at(at, what);
    return false;
  }

  bool txn(const Token& open) {
    if (open.kind != TokenKind::OpenMap) {
      return fail(open, fmt::format("expected {}, found {}", kShape, open.describe()));
    }
    const Token start = open;
    b_.begin_txn(SessionId{0}, t_.line(open));
    start_ = commit_ = kNoTimestamp;
    unsigned seen = 0;
    for (Token name;;) {
      if (!next(name)) return false;
      if (name.kind == TokenKind::Close) break;
      const unsigned which = field_of(name.text);
      if ((seen & which) != 0) return fail(name, fmt::format("\"{}\" appears twice", name.text));
      seen |= which;
      if (!field(which)) return false;
    }
    constexpr std::pair<unsigned, std::string_view> kNeeded[] = {
        {kSid, "sid"}, {kStart, "sts"}, {kCommit, "cts"}, {kOps, "ops"}};
    for (const auto& [which, name] : kNeeded) {
      if ((seen & which) == 0) {
        return fail(start, fmt::format("the transaction has no \"{}\"; expected {}", name, kShape));
      }
    }
    b_.timestamps(start_, commit_);
    return true;
  }

  static unsigned field_of(std::string_view name) {
    if (name.size() != 3) return 0;
    if (name == "ops") return kOps;
    if (name == "tid") return kTid;
    if (name == "sno") return kSno;
    if (name == "sid") return kSid;
    if (name == "sts") return kStart;
    if (name == "cts") return kCommit;
    return 0;
  }

  bool field(unsigned which) {
    Token token;
    if (!next(token)) return false;
    Value value;
    switch (which) {
      case kOps:
        return ops(token);
      case kStart:
        return timestamp(token, start_);
      case kCommit:
        return timestamp(token, commit_);
      case kTid:
        if (!name(token, "\"tid\"", value)) return false;
        b_.name(value);
        return true;
      case kSid:
        if (!name(token, "\"sid\"", value)) return false;
        b_.set_session(b_.session(value));
        return true;
      case kSno:
        return sno(token);
      default:
        if (t_.skip(token)) return true;
        error_ = t_.error();
        return false;
    }
  }

  bool sno(const Token& token) {
    std::int64_t number = kNoSno;
    if (!integer(token, number) || number == kNoSno) {
      return fail(token, fmt::format("expected \"sno\" to be a 64-bit integer, found {}",
                                     token.describe()));
    }
    b_.sno(number);
    return true;
  }

  bool timestamp(const Token& open, Timestamp& out) {
    constexpr std::string_view kTimestamp = "a timestamp like {\"p\":1691,\"l\":0}";
    if (open.kind != TokenKind::OpenMap) {
      return fail(open, fmt::format("expected {}, found {}", kTimestamp, open.describe()));
    }
    const Token start = open;
    out = {kNoClock, 0};
    for (Token token;;) {
      if (!next(token)) return false;
      if (token.kind == TokenKind::Close) break;
      std::int64_t* part = token.text == "p"   ? &out.physical
                           : token.text == "l" ? &out.logical
                                               : nullptr;
      if (!next(token)) return false;
      if (part == nullptr) {
        if (!t_.skip(token)) return skip_failed();
      } else if (!integer(token, *part)) {
        return fail(token, fmt::format("expected a 64-bit integer in {}, found {}", kTimestamp,
                                       token.describe()));
      }
    }
    if (out.physical != kNoClock) return true;
    return fail(start, fmt::format("expected {}: \"p\" is missing", kTimestamp));
  }

  bool skip_failed() {
    error_ = t_.error();
    return false;
  }

  static bool integer(const Token& token, std::int64_t& out) {
    if (token.kind == TokenKind::Integer) {
      out = token.number;
      return true;
    }
    if (token.kind != TokenKind::String || !is_decimal(token.text)) return false;
    const char* last = token.text.data() + token.text.size();
    return std::from_chars(token.text.data(), last, out).ec == std::errc{};
  }

  bool ops(const Token& open) {
    if (open.kind != TokenKind::OpenList) {
      return fail(open, fmt::format("expected \"ops\" to be an array, found {}", open.describe()));
    }
    for (Token token;;) {
      for (JsonTokens::ShortOp simple; t_.take_short_map("wra", simple);) {
        if (!short_op(simple)) return false;
      }
      if (!next(token)) return false;
      if (token.kind == TokenKind::Close) return true;
      if (token.kind != TokenKind::OpenMap) {
        return fail(token,
                    fmt::format("expected an operation like {{\"t\":\"w\",\"k\":1,\"v\":1}}, "
                                "found {}",
                                token.describe()));
      }
      if (!op(token)) return false;
    }
  }

  bool short_op(const JsonTokens::ShortOp& op) {
    Token open;
    open.at = op.at;
    return add(open, op.letter, b_.key(Value::small(op.key)),
               op.is_null ? Value::null() : Value::small(op.value),
               op.is_null ? Result::Null : Result::Scalar);
  }

  bool op(const Token& open) {
    const Token start = open;
    char kind = '\0';
    bool has_key = false;
    Value key;
    Value value;
    Result result = Result::Missing;
    for (Token token;;) {
      if (!next(token)) return false;
      if (token.kind == TokenKind::Close) break;
      const char field = token.text.size() == 1 ? token.text[0] : '\0';
      if (!next(token)) return false;
      if (field == 'k') {
        if (!name(token, "a key", key)) return false;
        has_key = true;
      } else if (field == 'v') {
        if (!op_value(token, value, result)) return false;
      } else if (field == 't') {
        kind = kind_of(token);
        if (kind == '\0') {
          return fail(token,
                      fmt::format("expected \"t\" to be w, r or a, found {}", token.describe()));
        }
      } else if (!t_.skip(token)) {
        return skip_failed();
      }
    }
    if (kind == '\0') return fail(start, "the operation has no \"t\"; expected w, r or a");
    if (!has_key) return fail(start, "the operation has no \"k\", its key");
    return add(start, kind, b_.key(key), value, result);
  }

  bool add(const Token& start, char kind, KeyId key, Value value, Result result) {
    if (kind == 'r') {
      if (result == Result::List) {
        b_.read_list(key, elements_);
      } else {
        b_.read(key, value);
      }
      return true;
    }
    if (result == Result::List) return fail(start, "only a read may have a list");
    if (kind == 'w') {
      if (result == Result::Missing) return fail(start, "the write has no \"v\"; null deletes");
      b_.write(key, value);
      return true;
    }
    if (result != Result::Scalar) return fail(start, "the append has no \"v\", its element");
    b_.append(key, value);
    return true;
  }

  // The operation that "t" names: 'w', 'r' or 'a'; zero if it names none.
  static char kind_of(const Token& token) {
    if (token.kind != TokenKind::String || token.text.empty()) return '\0';
    const std::string_view text = token.text;
    const char first = static_cast<char>(text[0] | 0x20);
    const std::string_view word = first == 'w'   ? "write"
                                  : first == 'r' ? "read"
                                  : first == 'a' ? "append"
                                                 : "";
    if (text.size() != 1 && text.size() != word.size()) return '\0';
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (static_cast<char>(text[i] | 0x20) != word[i]) return '\0';
    }
    return first;
  }

  bool op_value(const Token& token, Value& value, Result& result) {
    if (token.kind == TokenKind::Integer) [[likely]] {
      value = b_.integer(token.number);
      result = Result::Scalar;
      return true;
    }
    if (token.kind == TokenKind::Nil) {
      value = Value::null();
      result = Result::Null;
      return true;
    }
    if (token.kind != TokenKind::OpenList) {
      result = Result::Scalar;
      return name(token, "a value", value);
    }
    result = Result::List;
    elements_.clear();
    for (Token element;;) {
      if (!next(element)) return false;
      if (element.kind == TokenKind::Close) return true;
      if (!name(element, "a value", elements_.emplace_back())) return false;
    }
  }

  bool name(const Token& token, std::string_view role, Value& out) {
    if (token.kind == TokenKind::Integer) [[likely]] {
      out = b_.integer(token.number);
      return true;
    }
    std::int64_t number = 0;
    std::uint64_t large = 0;
    if (integer(token, number)) {
      out = b_.integer(number);
    } else if (unsigned_integer(token, large)) {
      out = b_.unsigned_integer(large);
    } else if (token.kind == TokenKind::String) {
      out = b_.text(token.text);
    } else {
      return fail(token,
                  fmt::format("expected {}: an integer of at most 64 bits or a string, found {}",
                              role, token.describe()));
    }
    return true;
  }

  static bool unsigned_integer(const Token& token, std::uint64_t& out) {
    if (token.kind != TokenKind::Number && token.kind != TokenKind::String) return false;
    if (!is_decimal(token.text)) return false;
    const char* last = token.text.data() + token.text.size();
    const auto [stop, code] = std::from_chars(token.text.data(), last, out);
    return code == std::errc{} && stop == last;
  }

  JsonTokens t_;
  bool first_;  // The block begins with the array's opening bracket.
  HistoryBuilder& b_;
  Error error_;
  Timestamp start_, commit_;  // Of the transaction being parsed.
  std::vector<Value> elements_;
};

}  // namespace

Status parse_chronos_block(const Block& block, std::string_view file, HistoryBuilder& builder) {
  BlockParser parser(block, file, builder);
  if (parser.run()) return {};
  return std::move(parser.error());
}

Status parse_chronos_part(const Block& block, std::string_view file, const ArrayCutter& cutter,
                          HistoryBuilder& builder) {
  if (block.offset < cutter.closed_at()) return parse_chronos_block(block, file, builder);
  const std::size_t at = block.bytes.find_first_not_of(" \t\r\n");
  if (at == std::string::npos) return {};
  const std::uint64_t line = block.first_line + count_lines(block.bytes.data(), &block.bytes[at]);
  return error_at_line(file, line, "expected nothing behind the array");
}

void read_null_as_empty(HistoryBuilder& builder) {
  for (OpId id{0}; id.index() < builder.op_count(); ++id.value) {
    const Op op = builder.op(id);
    if (is_read(op.kind) && op.value.is_null()) builder.set_value(id, Value::list(0, 0));
  }
}

}  // namespace ouro
