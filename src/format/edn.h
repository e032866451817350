// An EDN tokenizer (github.com/edn-format/edn).
//
// Understands all of EDN: commas as space, `;` comments, `#_` discards, tags (`#inst "…"`: dropped,
// the tagged form remains), sets, characters, `N` and `M` numbers. Not recursive, so hostile
// nesting costs a byte a bracket and nothing else.
#pragma once

#include <string_view>
#include <vector>

#include "format/token.h"

namespace ouro {

// Any number of forms, one behind the other.
class EdnTokens final : public TokenReader {
 public:
  EdnTokens(std::string_view text, std::string_view file) : TokenReader(text, file, 1, 1) {}

  bool next(Token& token) override;
  [[nodiscard]] std::size_t depth() const override { return open_.size(); }

 private:
  struct Open {
    char close = ')';
    bool is_map = false;
    bool odd = false;  // Whether an odd number of forms stands in it so far.
    const char* at = nullptr;
  };

  // A token that may be a prefix: `#_` or a tag.
  enum class Prefix : std::uint8_t { None, Discard, Tag };
  bool raw(Token& token, Prefix& prefix);
  bool discard(const char* at);
  void skip_space();
  bool open(Token& token, TokenKind kind, char close, int width);
  bool close(Token& token);
  bool dispatch(Token& token, Prefix& prefix);
  bool character(Token& token);
  bool number(Token& token, std::string_view text);
  bool atom(Token& token);
  [[nodiscard]] std::string_view atom_text() const;

  std::vector<Open> open_;
};

}  // namespace ouro
