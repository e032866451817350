// What the operations of a Chronos history use keys as. Reader and writer share it: it decides what
// keys hold at first, which the format does not say (see chronos.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "history/access.h"

namespace ouro {

class ChronosUses {
 public:
  // REQUIRES: the operation has a key, and a value that was observed.
  void add(const Op& op) {
    const bool read = is_read(op.kind);
    if (read && op.value.is_null()) {
      reads_null_ = true;
      return;
    }
    const bool list = shows_list(op.kind, op.value);
    OpId& first = list ? first_list_ : first_register_;
    if (!first.valid()) first = op.id;
    if (list || op.value != Value::small(0)) return;
    if (op.key.index() >= zero_.size()) zero_.resize(op.key.index() + 1, 0);
    zero_[op.key.index()] |= read ? kRead : kWritten;
  }

  // The first append or read of a list; the first write, or read of something that is neither a
  // list nor null. Invalid if there is none.
  [[nodiscard]] OpId first_list() const { return first_list_; }
  [[nodiscard]] OpId first_register() const { return first_register_; }
  [[nodiscard]] bool reads_null() const { return reads_null_; }

  // By key, as far as 0 is read or written anywhere: what is done with it there.
  [[nodiscard]] std::span<const std::uint8_t> zero() const { return zero_; }
  // Whether 0 is read there and nobody sets the key to it.
  [[nodiscard]] static bool is_only_read(std::uint8_t use) { return use == kRead; }

  // What keys hold at first: null, or 0 if a register that nobody sets to 0 is read as 0.
  [[nodiscard]] Value initial() const {
    const bool zero = std::any_of(zero_.begin(), zero_.end(), is_only_read);
    return zero && !reads_null_ && !first_list_.valid() ? Value::small(0) : Value::null();
  }

 private:
  enum Zero : std::uint8_t { kRead = 1, kWritten = 2 };

  OpId first_list_;
  OpId first_register_;
  bool reads_null_ = false;
  std::vector<std::uint8_t> zero_;  // By key: what is done with 0 there.
};

}  // namespace ouro
