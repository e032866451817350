// What the certifier of histories in segments needs of transactions that went by: values that need
// no history, and copies of single transactions. The engines have their own.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ouro/history.h"
#include "ouro/history_builder.h"

namespace ouro::recheck {

// A value of a register, kept outside of its history.
class Stored {
 public:
  Stored() = default;  // Null.
  Stored(const History& history, Value value);
  // The same value, made by `builder`.
  [[nodiscard]] Value in(HistoryBuilder& builder) const;
  [[nodiscard]] bool operator==(const Stored& other) const;

 private:
  using Cells = std::vector<std::pair<std::string, Stored>>;
  Value plain_;                              // If it is in no pool; otherwise only its kind counts.
  std::shared_ptr<const std::string> text_;  // If it is in the pool of texts.
  std::shared_ptr<const Cells> cells_;       // If it is a row; by name.
};

// Adds a copy of `txn` to `builder`. False if it has operations other than reads and writes of
// registers.
[[nodiscard]] bool copy_txn(const History& history, TxnId txn, HistoryBuilder& builder);

// The session as a text, or "" if nobody knows it.
[[nodiscard]] std::string session_of(const History& history, TxnId txn);
// Whether it has a write.
[[nodiscard]] bool has_writes(const History& history, TxnId txn);

}  // namespace ouro::recheck
