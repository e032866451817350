// Copies transactions of several histories into one.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ouro/history_builder.h"
#include "stream/window.h"

namespace ouro::stream {

class Copier {
 public:
  explicit Copier(Value initial) { builder_.default_initial(initial); }
  // Adds all of it.
  void add(const Source& source);
  // To say more of the transaction added last.
  [[nodiscard]] HistoryBuilder& builder() { return builder_; }
  [[nodiscard]] Result<History> freeze() { return std::move(builder_).freeze(); }

 private:
  void add_op(const History& h, OpId id);
  void add_predicate_read(const History& h, const Op& op);
  [[nodiscard]] std::vector<KeyVersion> copy(const History& h, std::span<const KeyVersion> rows);
  PredicateId copy(const History& h, PredicateId predicate);
  ColumnId copy(const History& h, ColumnId column);
  Value copy(const History& h, Value value);
  Value copy_row(const History& h, Value row);
  Value copy_wide(std::string_view digits);

  HistoryBuilder builder_;
  std::string file_;
};

}  // namespace ouro::stream
