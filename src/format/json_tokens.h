// A strict JSON tokenizer.
//
// About as fast as simdjson's on-demand API on the short numbers and names that histories consist
// of when that is compiled for plain x86-64, and it knows where it is: faults come with line,
// column and what was expected.
#pragma once

#include <string>
#include <string_view>

#include "format/token.h"

namespace ouro {

class JsonTokens final : public TokenReader {
 public:
  enum class Top {
    One,   // The text is one value.
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
    if (top != Top::Middle && top != Top::Rest) return;
    open_ = "]";
    expect_ = Expect::CommaOrClose;
    first_ = false;
  }

  bool next(Token& token) override;
  [[nodiscard]] std::size_t depth() const override { return open_.size(); }

 private:
  enum class Expect : std::uint8_t { Value, ValueOrClose, Name, NameOrClose, CommaOrClose, Top };

  void skip_space();
  bool value(Token& token);
  bool name(Token& token);
  bool open(Token& token, TokenKind kind, char close, Expect inside);
  bool close(Token& token);
  bool top(Token& token);
  bool top_end(Token& token);
  bool number(Token& token);
  bool literal(Token& token, std::string_view word, TokenKind kind);

  Top top_;
  bool first_ = true;
  Expect expect_ = Expect::Top;
  std::string open_;  // The closing brackets owed.
};

}  // namespace ouro
