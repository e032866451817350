// Distinct integer types for the things a history counts, so that a session
// cannot be passed where a transaction is meant. Ids of a kind are 0, 1, 2 …
// An id means something only in its own history.
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

  // The id as a subscript. REQUIRES: valid().
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
using OpId = Id<struct OpTag>;            // Transaction by transaction, each in its own order.
using ColumnId = Id<struct ColumnTag>;    // Columns of rows, in order of first appearance.

// The virtual transaction that wrote the initial value of every key. It is not among the
// transactions of the history, has no session, place or operations, and is not valid().
inline constexpr TxnId kInitialTxn{};

}  // namespace ouro

template <class Tag>
struct std::hash<ouro::Id<Tag>> {
  std::size_t operator()(ouro::Id<Tag> id) const noexcept {
    return std::hash<std::uint32_t>{}(id.value);
  }
};
