// JSON and EDN as one stream of tokens.
//
// Readers of JSON and EDN differ in spelling only, so the formats built on them see the same
// tokens: `{"a":[1]}` and `{:a [1]}` are both OpenMap, a name, OpenList, Integer, Close, Close,
// End. Tokens are pulled one by one; nothing is allocated per token, and nesting costs a few bytes.
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
  End,  // Of the text.
  OpenMap,
  OpenList,  // An array, a vector or a list.
  OpenSet,   // EDN only.
  Close,
  Nil,
  True,
  False,
  Integer,  // Fits in 64 bits with a sign.
  Number,   // Any other: large, a fraction, with an exponent.
  String,
  Keyword,  // EDN only, text with its colon; likewise the two below.
  Symbol,
  Character,
};

struct Token {
  TokenKind kind = TokenKind::End;
  // String: the content. Keyword, Symbol, Character, Number: as written. Valid until the next call.
  std::string_view text;
  std::int64_t number = 0;   // Integer.
  const char* at = nullptr;  // Its first byte in the source.

  [[nodiscard]] bool opens() const {
    return kind >= TokenKind::OpenMap && kind <= TokenKind::OpenSet;
  }
  // As a name: `:type`, `"type"` and `type` are one; empty if it is none.
  [[nodiscard]] std::string_view word() const;
  // "a map", "the number 7": for messages.
  [[nodiscard]] std::string describe() const;
};

// An integer from 0 to 2^64 - 1; nothing if the token is something else.
[[nodiscard]] std::optional<std::uint64_t> unsigned_of(const Token& token);

class TokenReader {
 public:
  // REQUIRES: `text` is followed by a zero byte (as in std::string) and outlives the reader;
  // `first_line` and `first_column` are those of its first byte.
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

  // The next token. False after a fault: then error() says what is wrong.
  virtual bool next(Token& token) = 0;
  // What is left of the text; behind the end, nothing.
  [[nodiscard]] std::string_view rest() const {
    return at_ < end_ ? std::string_view(at_, static_cast<std::size_t>(end_ - at_))
                      : std::string_view();
  }
  // Whether tokens were read from behind the end of the text; see JsonTokens::restart().
  [[nodiscard]] bool overran() const { return at_ > end_; }
  // How many collections are open.
  [[nodiscard]] virtual std::size_t depth() const = 0;

  // Reads on until `depth` collections are open.
  bool skip_to(std::size_t depth);
  // Skips the rest of the form that began with `token`.
  bool skip(const Token& token) { return !token.opens() || skip_to(depth() - 1); }

  // The line of `token`. REQUIRES: tokens are asked in order. Cost: constant per byte in total.
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
  // "expected X, found Y", Y being the byte at `at_`.
  bool fail_expected(std::string_view expected);
  // Whether `text` is UTF-8; fails if not.
  bool check_utf8(std::string_view text);
  // Reads the string whose opening quote is at `at_`.
  enum class Controls : std::uint8_t { Allowed, Forbidden };
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

  std::string_view end_name_ = "the end of the input";  // In messages.
  const char* at_;
  const char* end_;
  const char* readable_;  // The end of what may be looked at, behind `end_`.

 private:
  // Bytes of strings that need no second look: ASCII but controls, quotes and backslashes.
  static constexpr std::array<bool, 256> kPlain = [] {
    std::array<bool, 256> plain{};
    for (unsigned c = 0x20; c < 0x80; ++c) plain[c] = c != '"' && c != '\\';
    return plain;
  }();

  bool odd_string(Token& token, Controls controls);
  bool unescape(const char* from, const char* to);
  bool unicode_escape(const char*& at, const char* to);

  const char* counted_to_;
  std::string_view file_;
  std::uint64_t line_;
  const char* begin_;
  std::uint64_t first_line_;
  std::uint64_t first_column_;
  std::string unescaped_;
  Error error_;
};

}  // namespace ouro
