// A strict JSON tokenizer.
//
// About as fast as simdjson's on-demand API on the short numbers and names that histories consist
// of when that is compiled for plain x86-64, and it knows where it is: faults come with line,
// column and what was expected.
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
    Line,  // The same, and one line.
    Many,  // Any number of values, one behind the other.
    // A piece of one array. All but the last may end behind an element, all but the first begin
    // with a comma or the closing bracket.
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

  // Starts over with `text`, one value. REQUIRES: a zero byte stands behind `text`, or white space
  // and later a zero byte, before `readable`. White space is skipped even there, so a value that
  // `text` breaks off may be read to its end: overran() tells.
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

  // An operation like ["w",7,12], ["r",7,null] or {"t":"w","k":7,"v":12}.
  struct ShortOp {
    const char* at;  // Its opening bracket.
    char letter;
    std::int64_t key;  // Of at most 16 digits, as is the value.
    std::int64_t value;
    bool is_null;  // Then the value is null.
  };
  // If the list at hand goes on with a ShortOp that is a list, written without white space, with
  // one of `letters`, reads all of it in one step, not token by token. Otherwise reads
  // nothing. REQUIRES: within a list; letters from a to z.
  bool take_short_list(std::string_view letters, ShortOp& out);
  // The same for a map whose names are t, k and v, in this order.
  bool take_short_map(std::string_view letters, ShortOp& out);

  [[nodiscard]] std::size_t depth() const override { return depth_; }

 private:
  enum class Expect : std::uint8_t { Value, ValueOrClose, Name, NameOrClose, CommaOrClose, Top };

  void skip_space();
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
  // The bracket that closes what was opened last. REQUIRES: depth() > 0.
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
  bool first_ = true;
  Expect expect_ = Expect::Top;
  std::size_t depth_ = 0;
  // Of what is open, a bit each: whether it is a map. The innermost is the lowest bit; what is
  // more than kLevels levels further out waits in `outer_`.
  static constexpr std::size_t kLevels = 64;
  std::uint64_t maps_ = 0;
  std::vector<std::uint64_t> outer_;
};

// The first fault of what `tokens` read, to its end; nothing if it is JSON. For messages: a fault
// of the JSON goes before a complaint about what it says.
[[nodiscard]] std::optional<Error> json_fault(JsonTokens& tokens);

}  // namespace ouro
