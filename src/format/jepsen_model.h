// The models of Jepsen's histories: what their operations mean. docs/formats.md has the list.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "format/token.h"
#include "ouro/result.h"

namespace ouro {

enum class JepsenModel : std::uint8_t {
  Txn,          // Transactions of micro-operations: list-append and rw-register.
  LongFork,     // The same; writers that are not recorded are added if no write is.
  CasRegister,  // :read, :write and :cas of registers.
  Counter,      // :add and :read of a number.
  Set,          // :add and :read of a collection.
  Comments,     // :write and :read of a collection.
  Bank,         // :transfer and :read of balances.
  Mutex,        // :acquire and :release.
  Sequential,   // :write of all subkeys of a key in order, :read of them in reverse order.
};

struct JepsenModelInfo {
  JepsenModel model = JepsenModel::Txn;
  std::string_view name;   // What --model and the history's remark call it.
  bool is_object = false;  // Operations on single objects, to be checked against real time.
  bool has_trees = false;  // Its values are no micro-operations, and need their whole structure.
};
[[nodiscard]] const JepsenModelInfo& info(JepsenModel model);
// The model of that name, and the names of all; null if there is none.
[[nodiscard]] const JepsenModelInfo* find_jepsen_model(std::string_view name);

// A value of a line, as a whole.
struct JepsenTree {
  TokenKind kind = TokenKind::Nil;
  std::int64_t number = 0;
  std::string text;               // As Token::text.
  std::vector<JepsenTree> parts;  // Of a map: names and values, in turn.

  [[nodiscard]] bool is_nil() const { return kind == TokenKind::Nil; }
  [[nodiscard]] bool is_map() const { return kind == TokenKind::OpenMap; }
  [[nodiscard]] bool is_collection() const {
    return kind == TokenKind::OpenList || kind == TokenKind::OpenSet;
  }
  // The value of the name `word` in a map; null if there is none.
  [[nodiscard]] const JepsenTree* member(std::string_view word) const;
};
// Reads the value that begins with `first`. False: the text has a fault, which the reader has.
[[nodiscard]] bool read_tree(TokenReader& tokens, const Token& first, JepsenTree& out);

// The model that the operations show. Reads up to the end, or to the first transaction. The error
// is a fault in the text, or operations that may be of two models.
[[nodiscard]] Result<JepsenModel> detect_jepsen_model(TokenReader& tokens);

}  // namespace ouro
