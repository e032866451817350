// What an operation does to its key, for all who must tell reads, writes and rows apart.
//
// Facts about a kind alone are in info(OpKind); these also take the value. A register holds what
// the last write left, and a read of it is right if it fits that; a list holds all that was
// appended, and a read of it shows it whole. Nobody else says so by comparing kinds.
#pragma once

#include <cstdint>

#include "ouro/history.h"

namespace ouro {

// The kinds of operations on keys of `model`, as bits.
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

// Whether the operation shows its key to be a list, or a register. A read of nothing shows neither:
// an empty list is also read as null.
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

// Whether the operation looks at what others left in its key, whatever its value says about that.
[[nodiscard]] constexpr bool looks_at_key(OpKind kind) {
  return is_read(kind) || is_open_read(kind);
}
// Whether such a read of a register is right if the register held `held`. Values may be handles or
// fingerprints.
template <class V>
[[nodiscard]] constexpr bool read_fits(OpKind kind, V value, V held) {
  return is_open_read(kind) ? value != held : value == held;
}

// Whether it replaces the value of a register.
[[nodiscard]] constexpr bool writes_register(OpKind kind) {
  return is_write(kind) && !is_append(kind);
}

// Whether what is written to a register is a row: something that scans and selects can return.
[[nodiscard]] constexpr bool leaves_row(OpKind kind, Value value) {
  return !info(kind).deletes && !value.is_null();
}
[[nodiscard]] constexpr bool leaves_row(const Op& write) {
  return leaves_row(write.kind, write.value);
}

// Whether a predicate decides which rows the read is about; that of a scan is its range of keys.
[[nodiscard]] constexpr bool has_condition(OpKind kind) {
  return is_predicate_read(kind) && kind != OpKind::Scan;
}

}  // namespace ouro
