// The tokens of JSON and EDN.
//
// JSON and EDN differ mostly in spelling, so both give the same kinds of tokens, and formats that
// exist in both are parsed by the same code: `{"a":[1]}` and `{:a [1]}` are both OpenMap, a name,
// OpenList, Integer, Close, Close, End. Tokens are read one by one. Nothing is allocated for a
// token, and nesting costs a few bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "format/input.h"

namespace ouro {

enum class TokenKind : std::uint8_t {
  End,  // The end of the text.
  OpenMap,
  OpenList,  // An array, a vector or a list.
  OpenSet,   // EDN only.
  Close,
  Nil,
  True,
  False,
  Integer,  // Fits into a signed 64-bit number.
  Number,   // Any other number: larger, a fraction, or with an exponent.
  String,
  Keyword,    // EDN only. The text has the colon.
  Symbol,     // EDN only.
  Character,  // EDN only.
};

struct Token {
  TokenKind kind = TokenKind::End;
  // Of a String, the content; of a Keyword, Symbol, Character or Number, what is written. Valid
  // until the next token is read.
  std::string_view text;
  std::int64_t number = 0;   // Of an Integer.
  const char* at = nullptr;  // The first byte of the token in the source.

  [[nodiscard]] bool opens() const {
    return kind >= TokenKind::OpenMap && kind <= TokenKind::OpenSet;
  }
  // The token as a name: `:type`, `"type"` and `type` all give "type". Empty if it is no name.
  [[nodiscard]] std::string_view word() const;
  // "a map", "the number 7": for messages.
  [[nodiscard]] std::string describe() const;
};

// The number, if the token is an integer from 0 to 2^64 - 1; nothing if it is something else.
[[nodiscard]] std::optional<std::uint64_t> unsigned_of(const Token& token);

class TokenReader {
 public:
  // `file` is named in errors; `first_line` and `first_column` are those of the first byte.
  // REQUIRES: `text` is followed by a zero byte (as in std::string) and outlives the reader.
  TokenReader(std::string_view text, std::string_view file, std::uint64_t first_line,
              std::uint64_t first_column)
      : at_(text.data()),
        end_(text.data() + text.size()),
        readable_(end_ + 1),
        counted_to_(text.data()),
        file_(file),
        line_(first_line),
        begin_(text.data()),
        first_line_(first_line),
        first_column_(first_column) {}
  virtual ~TokenReader() = default;
  TokenReader(const TokenReader&) = delete;
  TokenReader& operator=(const TokenReader&) = delete;

  // Reads the next token. False: the text has a fault, which error() has.
  virtual bool next(Token& token) = 0;
  // The text after the last token; empty if that is beyond the end.
  [[nodiscard]] std::string_view rest() const {
    return at_ < end_ ? std::string_view(at_, static_cast<std::size_t>(end_ - at_))
                      : std::string_view();
  }
  // Whether tokens were read from beyond the end of the text; see JsonTokens::restart().
  [[nodiscard]] bool overran() const { return at_ > end_; }
  // How many collections are open.
  [[nodiscard]] virtual std::size_t depth() const = 0;

  // Reads tokens until only `depth` collections are open.
  bool skip_to(std::size_t depth);
  // Skips the rest of the value that began with `token`, which was the last token read.
  bool skip(const Token& token) { return !token.opens() || skip_to(depth() - 1); }

  // The line of `token`. REQUIRES: calls are made in the order of the tokens. Cost: all calls
  // together are linear in the text.
  [[nodiscard]] std::uint64_t line(const Token& token);
  // An error at `at`, with line and column.
  [[nodiscard]] Error error_at(const char* at, std::string_view what) const;
  [[nodiscard]] Error error_at(const Token& token, std::string_view what) const {
    return error_at(token.at, what);
  }
  [[nodiscard]] const Error& error() const { return error_; }

 protected:
  void start_at(std::string_view text, const char* readable) {
    at_ = begin_ = counted_to_ = text.data();
    end_ = text.data() + text.size();
    readable_ = readable;
  }
  bool fail(const char* at, std::string_view what);
  // Fails with "expected X, found Y"; Y is the byte at at_.
  bool fail_expected(std::string_view expected);
  // Whether `text` is UTF-8; fails if not.
  bool check_utf8(std::string_view text);
  // Whether strings may have control characters that are not escaped.
  enum class Controls : std::uint8_t { Allowed, Forbidden };
  // Reads the string whose opening quote is at at_.
  bool string(Token& token, Controls controls) {
    const char* start = at_ + 1;
    const char* stop = start;
    while (kPlain[static_cast<unsigned char>(*stop)]) ++stop;
    if (*stop != '"') [[unlikely]]
      return odd_string(token, controls);
    token.kind = TokenKind::String;
    token.text = {start, static_cast<std::size_t>(stop - start)};
    at_ = stop + 1;
    return true;
  }

  std::string_view end_name_ = "the end of the input";  // What messages call the end.
  const char* at_;                                      // The next byte.
  const char* end_;
  const char* readable_;  // The end of the memory that may be read, after end_.

 private:
  // Bytes of strings that need no further check: ASCII without controls, quotes and backslashes.
  static constexpr std::array<bool, 256> kPlain = [] {
    std::array<bool, 256> plain{};
    for (unsigned c = 0x20; c < 0x80; ++c) plain[c] = c != '"' && c != '\\';
    return plain;
  }();

  // A string with other bytes than those.
  bool odd_string(Token& token, Controls controls);
  bool unescape(const char* from, const char* to);
  bool unicode_escape(const char*& at, const char* to);

  const char* counted_to_;  // line() has counted lines up to here.
  std::string_view file_;
  std::uint64_t line_;  // The line of counted_to_.
  const char* begin_;
  std::uint64_t first_line_;
  std::uint64_t first_column_;
  std::string unescaped_;  // The content of the last string that had escapes.
  Error error_;
};

}  // namespace ouro
