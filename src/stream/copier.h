// Copies transactions of several histories into one.
#pragma once

#include <string>
#include <string_view>

#include "ouro/history_builder.h"
#include "stream/window.h"

namespace ouro::stream {

class Copier {
 public:
  explicit Copier(Value initial) { builder_.default_initial(initial); }
  // Adds all of it but predicate reads.
  void add(const Source& source);
  // To say more of the transaction added last.
  [[nodiscard]] HistoryBuilder& builder() { return builder_; }
  [[nodiscard]] Result<History> freeze() { return std::move(builder_).freeze(); }

 private:
  void add_op(const History& h, OpId id);
  Value copy(const History& h, Value value);
  Value copy_row(const History& h, Value row);
  Value copy_wide(std::string_view digits);

  HistoryBuilder builder_;
  std::string file_;
};

}  // namespace ouro::stream
