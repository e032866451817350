// Copies transactions of several histories into one new history, translating keys, values,
// columns and predicates.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ouro/history_builder.h"
#include "stream/initials.h"
#include "stream/window.h"

namespace ouro::stream {

class Copier {
 public:
  // `initials`: the initial values of the new history's keys; null: they are not told.
  explicit Copier(Initials* initials = nullptr) : initials_(initials) {
    if (initials != nullptr) say_initial(initials->view(), initials->all().value);
  }
  void say_initial(const History& h, Value of_all) { builder_.default_initial(copy(h, of_all)); }
  void say_initial(const History& h, KeyId id, Value own) {
    builder_.initial(key(h, id), copy(h, own));
  }
  // Copies the whole transaction.
  void add(const Source& source);
  // The parts of a copy: the transaction itself, with neither clocks nor operations; its clocks;
  // and one of its operations, in their order.
  void begin(const Source& source);
  void add_clocks(const Source& source);
  void add_op(const History& h, OpId id);
  // The builder of the new history.
  [[nodiscard]] HistoryBuilder& builder() { return builder_; }
  [[nodiscard]] Result<History> freeze() { return std::move(builder_).freeze(); }

 private:
  void add_predicate_read(const History& h, const Op& op);
  [[nodiscard]] std::vector<KeyVersion> copy(const History& h, std::span<const KeyVersion> rows);
  PredicateId copy(const History& h, PredicateId predicate);
  ColumnId copy(const History& h, ColumnId column);
  KeyId key(const History& h, KeyId id);
  Value copy(const History& h, Value value);
  Value copy_row(const History& h, Value row);
  Value copy_scalar(const History& h, Value value);

  Initials* initials_;
  HistoryBuilder builder_;
  std::string file_;  // The file that the transaction added last came from.
};

}  // namespace ouro::stream
