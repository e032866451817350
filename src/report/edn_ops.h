// Operations, transactions and values of a history as Elle's results show them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ouro/elle.h"
#include "ouro/history.h"

namespace ouro {

// A text in quotes.
[[nodiscard]] std::string edn_string(std::string_view text);

// A form as one line that means the same: comments are left out, and line breaks between its parts.
[[nodiscard]] std::string edn_in_one_line(std::string_view form);

class EdnOps {
 public:
  // Both must outlive it. `lines` may be null: the history is of another format.
  EdnOps(const History& history, const RecordedLines* lines) : h_(history), lines_(lines) {}

  [[nodiscard]] const History& history() const { return h_; }

  // Keywords as such, scalars as in JSON, lists as vectors, rows as maps.
  [[nodiscard]] std::string value(Value value) const;
  [[nodiscard]] std::string key(KeyId key) const { return value(h_.key_name(key)); }
  // [:r :x 1]
  [[nodiscard]] std::string micro_op(OpId op) const;
  // Which of its transaction's micro-operations it is, from 0.
  [[nodiscard]] std::uint64_t place(OpId op) const;

  // The maps of a transaction: as recorded, with an :index if they lack one; else made of what the
  // history has. The completion of a transaction that never completed is its invocation; of one
  // that is not valid it is nil.
  [[nodiscard]] std::string completion(TxnId txn) const;
  [[nodiscard]] std::string invocation(TxnId txn) const;

 private:
  [[nodiscard]] RecordedLines::Line line(TxnId txn, bool invoked) const;
  [[nodiscard]] std::string recorded(const RecordedLines::Line& line) const;
  [[nodiscard]] std::string made(TxnId txn, bool invoked) const;

  const History& h_;
  const RecordedLines* lines_;
};

}  // namespace ouro
