// An EDN tokenizer (github.com/edn-format/edn).
//
// Understands all of EDN: commas as white space, `;` comments, `#_` discards, tags (`#inst "…"`:
// the tag is dropped, the tagged form remains), sets, characters, `N` and `M` numbers. And what
// Clojure prints beyond EDN: numbers of other bases (`0x3c7`, `017`, `2r101`), metadata (`^:m {}`:
// dropped), patterns, variables, and objects that cannot be read again. It is not recursive, so
// deep nesting costs only a few bytes for each open bracket.
#pragma once

#include <string_view>
#include <vector>

#include "format/token.h"

namespace ouro {

// The tokens of any number of forms, one after the other.
class EdnTokens final : public TokenReader {
 public:
  EdnTokens(std::string_view text, std::string_view file) : TokenReader(text, file, 1, 1) {}

  bool next(Token& token) override;
  [[nodiscard]] std::size_t depth() const override { return open_.size(); }

 private:
  struct Open {
    char close = ')';
    bool is_map = false;
    bool odd = false;          // Whether it has an odd number of forms so far.
    const char* at = nullptr;  // Where the bracket is.
  };

  // What raw() read may be no token but the prefix of a form: `#_`, `^` or a tag.
  enum class Prefix : std::uint8_t { None, Discard, Metadata, Tag };
  // Reads a token or a prefix.
  bool raw(Token& token, Prefix& prefix);
  bool discard(const char* at, std::string_view mark);
  void skip_space();
  bool open(Token& token, TokenKind kind, char close, int width);
  bool close(Token& token);
  // Reads what begins with '#'.
  bool dispatch(Token& token, Prefix& prefix);
  bool pattern(Token& token);
  bool unreadable(Token& token);
  bool character(Token& token);
  bool number(Token& token, std::string_view text);
  bool atom(Token& token);
  [[nodiscard]] std::string_view atom_text() const;

  std::vector<Open> open_;
};

}  // namespace ouro
