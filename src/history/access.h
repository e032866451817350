// What an operation does to its key. All engines ask here instead of comparing kinds.
//
// Facts about a kind alone are in info(OpKind); the functions here also look at the value, or name
// what several facts mean together. A register holds what the last write left, and read_fits() says
// whether a read agrees with that. A list holds all that was appended, and a read returns it whole.
#pragma once

#include <cstdint>
#include <vector>

#include "ouro/history.h"

namespace ouro {

// The set of kinds whose keys are of `model`, one bit for each kind, for is_among().
[[nodiscard]] constexpr std::uint32_t op_kinds_on(KeyModel model) {
  std::uint32_t bits = 0;
  for (const OpInfo& row : kOpInfos) {
    if (row.model == model) bits |= std::uint32_t{1} << static_cast<unsigned>(row.kind);
  }
  return bits;
}

[[nodiscard]] constexpr bool is_append(OpKind kind) {
  constexpr std::uint32_t kAppends = op_kinds_on(KeyModel::List);
  return is_among(kind, kAppends);
}

// Whether the operation shows that its key is a list; or that it is a register. A read of null
// shows neither, since an empty list may also be read as null.
[[nodiscard]] constexpr bool shows_list(OpKind kind, Value value) {
  constexpr std::uint32_t kEither = op_kinds_on(KeyModel::Either);
  return is_append(kind) || (is_among(kind, kEither) && value.is_list());
}
[[nodiscard]] constexpr bool shows_register(OpKind kind, Value value) {
  constexpr std::uint32_t kRegister = op_kinds_on(KeyModel::Register);
  constexpr std::uint32_t kEither = op_kinds_on(KeyModel::Either);
  return is_among(kind, kRegister) || (is_among(kind, kEither) && !value.is_list() &&
                                       !value.is_null() && !value.is_unobserved());
}

// By key: whether some operation shows that it is a list. Lists are no rows: scans, selects and
// aggregates pass over them. O(operations).
[[nodiscard]] std::vector<bool> list_keys(const History& history);

// Whether the operation read its key: its value is what the key held, or what it did not hold.
[[nodiscard]] constexpr bool looks_at_key(OpKind kind) {
  return is_read(kind) || is_open_read(kind);
}
// Whether a read of a register with this kind and value agrees with a register that held `held`.
// Both may be handles or fingerprints of values. REQUIRES: looks_at_key(kind).
template <class V>
[[nodiscard]] constexpr bool read_fits(OpKind kind, V value, V held) {
  return is_open_read(kind) ? value != held : value == held;
}

// Whether the operation replaces the value of a register.
[[nodiscard]] constexpr bool writes_register(OpKind kind) {
  return is_write(kind) && !is_append(kind);
}

// Whether a write leaves a row, that is, something that scans and selects can return.
// REQUIRES: writes_register(kind).
[[nodiscard]] constexpr bool leaves_row(OpKind kind, Value value) {
  return !info(kind).deletes && !value.is_null();
}
[[nodiscard]] constexpr bool leaves_row(const Op& write) {
  return leaves_row(write.kind, write.value);
}

// Whether the read selects rows by a predicate; a scan selects them by a range of keys.
[[nodiscard]] constexpr bool has_condition(OpKind kind) {
  constexpr std::uint32_t kConditions = op_kinds_with(&OpInfo::condition);
  return is_among(kind, kConditions);
}
// Whether some operation does. O(operations).
[[nodiscard]] bool has_conditions(const History& history);

}  // namespace ouro
