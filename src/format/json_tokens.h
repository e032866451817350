// A strict JSON tokenizer.
//
// On the short numbers and names that histories consist of, it is about as fast as the on-demand
// API of simdjson compiled for plain x86-64. Errors have line, column and what was expected.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "format/token.h"

namespace ouro {

class JsonTokens final : public TokenReader {
 public:
  enum class Top {
    One,   // The text is one value.
    Line,  // The text is one value in one line.
    Many,  // The text is any number of values, one after the other.
    // The text is a piece of an array, as ArrayCutter makes them. Start begins with the opening
    // bracket; Middle and Rest begin with a comma or the closing bracket. Start and Middle end
    // after an element; Rest, the last piece, ends with the closing bracket.
    Start,
    Middle,
    Rest,
  };
  JsonTokens(std::string_view text, std::string_view file, Top top = Top::One,
             std::uint64_t first_line = 1, std::uint64_t first_column = 1)
      : TokenReader(text, file, first_line, first_column), top_(top) {
    if (top == Top::Line) end_name_ = "the end";
    if (top != Top::Middle && top != Top::Rest) return;
    push(TokenKind::OpenList);
    expect_ = Expect::CommaOrClose;
    first_ = false;
  }

  // Starts over with `text`, one value; for the lines of a larger text. REQUIRES: the bytes up to
  // `readable` may be read. After `text` comes a zero byte, or white space and a zero byte later.
  // If `text` ends within the value, tokens after its end may be read: check overran().
  void restart(std::string_view text, const char* readable) {
    start_at(text, readable);
    top_ = Top::One;
    first_ = true;
    expect_ = Expect::Top;
    maps_ = 0;
    depth_ = 0;
    outer_.clear();
  }

  bool next(Token& token) override;

  // A common operation like ["w",7,12], ["r",7,null] or {"t":"w","k":7,"v":12}. Key and value are
  // not negative and have at most 16 digits.
  struct ShortOp {
    const char* at;  // The opening bracket.
    char letter;
    std::int64_t key;
    std::int64_t value;  // Unspecified if is_null.
    bool is_null;        // The value is null.
  };
  // If the next element of the innermost list is a ShortOp, a list without white space whose letter
  // is one of `letters`, reads it in one step instead of token by token. Otherwise reads nothing
  // and returns false. REQUIRES: the innermost open collection is a list.
  bool take_short_list(std::string_view letters, ShortOp& out);
  // The same for a map whose names are t, k and v, in this order.
  bool take_short_map(std::string_view letters, ShortOp& out);

  [[nodiscard]] std::size_t depth() const override { return depth_; }

 private:
  // What may come next. Top: a value or the end of the text, outside of all collections.
  enum class Expect : std::uint8_t { Value, ValueOrClose, Name, NameOrClose, CommaOrClose, Top };

  void skip_space();
  // Each reads what its name says, at at_, as one token; false after a fault.
  bool value(Token& token);
  bool name(Token& token);
  bool open(Token& token, TokenKind kind, Expect inside);
  bool close(Token& token);
  bool top(Token& token);
  bool top_end(Token& token);
  bool number(Token& token);
  const char* short_op_start() const;
  bool finish_short_op(const char* at, std::string_view between, char close, ShortOp& out);
  bool long_number(Token& token, const char* start);
  bool literal(Token& token, std::string_view word, TokenKind kind);

  [[nodiscard]] bool in_map() const { return (maps_ & 1) != 0; }
  // The bracket that closes the innermost collection. REQUIRES: depth() > 0.
  [[nodiscard]] char closer() const { return in_map() ? '}' : ']'; }
  void push(TokenKind kind) {
    if (depth_ % kLevels == 0 && depth_ != 0) [[unlikely]]
      outer_.push_back(maps_);
    maps_ = maps_ << 1 | (kind == TokenKind::OpenMap ? 1 : 0);
    ++depth_;
  }
  void pop() {
    maps_ >>= 1;
    if (--depth_ % kLevels != 0 || depth_ == 0) [[likely]]
      return;
    maps_ = outer_.back();
    outer_.pop_back();
  }

  Top top_;
  bool first_ = true;  // No value was read yet.
  Expect expect_ = Expect::Top;
  std::size_t depth_ = 0;
  // For each open collection a bit: whether it is a map. The innermost is the lowest bit of maps_;
  // each time kLevels more are opened, maps_ is pushed to outer_.
  static constexpr std::size_t kLevels = 64;
  std::uint64_t maps_ = 0;
  std::vector<std::uint64_t> outer_;
};

// Reads `tokens` to the end and returns the first fault of the JSON; nothing if there is none. When
// a reader refuses a text, it reports such a fault rather than what it did not like.
[[nodiscard]] std::optional<Error> json_fault(JsonTokens& tokens);

}  // namespace ouro
