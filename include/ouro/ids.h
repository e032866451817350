// Distinct integer types for the things a history counts, so that a session
// cannot be passed where a transaction is meant. All ids are dense from zero.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace ouro {

template <class Tag>
struct Id {
  std::uint32_t value = kNone;

  static constexpr std::uint32_t kNone = 0xffffffff;

  constexpr Id() = default;
  constexpr explicit Id(std::size_t index) : value(static_cast<std::uint32_t>(index)) {}

  // The id as a subscript into a column.
  [[nodiscard]] constexpr std::size_t index() const { return value; }
  [[nodiscard]] constexpr bool valid() const { return value != kNone; }
  constexpr auto operator<=>(const Id&) const = default;

  template <class H>
  friend H AbslHashValue(H h, Id id) {
    return H::combine(std::move(h), id.value);
  }
};

using TxnId = Id<struct TxnTag>;          // In the order of the source.
using SessionId = Id<struct SessionTag>;  // In order of first appearance.
using KeyId = Id<struct KeyTag>;          // In order of first appearance.
using OpId = Id<struct OpTag>;            // Over the whole history; a transaction's are contiguous.
using ColumnId = Id<struct ColumnTag>;    // Columns of rows, in order of first appearance.

// The virtual transaction that wrote every key's initial value. It is no row of
// the history, hence it has no session, place or operations.
inline constexpr TxnId kInitialTxn{};

}  // namespace ouro

template <class Tag>
struct std::hash<ouro::Id<Tag>> {
  std::size_t operator()(ouro::Id<Tag> id) const noexcept {
    return std::hash<std::uint32_t>{}(id.value);
  }
};
