// What stands at a moment of the timeline: a version of a key, or a read of it.
#pragma once

#include <cstdint>

#include "history/moment.h"

namespace ouro::stream {

// Transactions are numbered as they arrive, those that take no part included: in the history of
// all batches one behind the other this is the TxnId.
using Arrival = std::uint64_t;
inline constexpr Arrival kNobody = (std::uint64_t{1} << 61) - 1;

// Versions and reads are kept by the million, so they have 32 bits for what a Moment has 64 for.
[[nodiscard]] constexpr std::uint32_t stored_logical(const Moment& moment) {
  return static_cast<std::uint32_t>(moment.logical);
}

// What a transaction wrote to one key. Registers have nothing else to say.
struct Version {
  // A Sequence may keep its first version in the key's own memory.
  static constexpr bool kLent = true;

  std::int64_t physical = 0;  // Of the commit.
  std::uint32_t logical = 0;
  std::uint32_t start_logical = 0;
  std::uint64_t order = 0;
  std::int64_t start_physical = 0;
  std::uint64_t value = 0;  // What a read right after it should return; see Fingerprints.

  [[nodiscard]] Moment at() const { return {physical, logical, order}; }
  [[nodiscard]] Arrival arrival() const { return Moment::number_of(order); }
  [[nodiscard]] std::int64_t low() const { return start_physical; }
  [[nodiscard]] Moment begin() const {
    const bool later = start_physical != physical || start_logical != logical;
    if (!later) return {physical, logical, order & ~std::uint64_t{1}};
    return {start_physical, start_logical, Moment::order_of(Tie::Begin, arrival(), false)};
  }
  // What is left of a version whose details are on disk: older than anything.
  [[nodiscard]] bool is_stub() const { return order == 0; }
};
static_assert(sizeof(Version) == 40);

// What a transaction appended to one list; `value` stands for the whole list up to here.
struct ListVersion : Version {
  static constexpr bool kLent = false;

  std::uint64_t own_hash = 0;
  std::uint64_t own_length = 0;
  std::uint64_t hash = 0;  // Of the whole list.
  std::uint64_t length = 0;

  // A list goes on from its stub, so that must have the hash of all before.
  [[nodiscard]] static ListVersion stub_of(ListVersion version) {
    version.physical = Moment().physical;
    version.logical = 0;
    version.start_physical = Moment().physical;
    version.start_logical = 0;
    version.order = 0;
    return version;
  }
};

// A read of a key that its transaction had not touched before.
struct Read {
  static constexpr bool kLent = true;

  std::int64_t physical = 0;  // Of the begin.
  std::uint32_t logical = 0;
  // Which operation of the transaction. The last bit: it is wrong. The first: it is open, and
  // `value` is what it did not return.
  std::uint32_t op_and_wrong = 0;
  std::uint64_t order = 0;
  std::uint64_t value = 0;

  [[nodiscard]] Moment at() const { return {physical, logical, order}; }
  [[nodiscard]] Arrival arrival() const { return Moment::number_of(order); }
  [[nodiscard]] static std::int64_t low() { return 0; }
  [[nodiscard]] std::uint32_t op() const { return (op_and_wrong & ~kOpen) >> 1; }
  [[nodiscard]] bool open() const { return (op_and_wrong & kOpen) != 0; }
  [[nodiscard]] bool wrong() const { return (op_and_wrong & 1) != 0; }
  void set_wrong(bool wrong) { op_and_wrong = (op_and_wrong & ~1u) | (wrong ? 1 : 0); }
  static constexpr std::uint32_t kOpen = 0x80000000;
};
static_assert(sizeof(Read) == 32);

}  // namespace ouro::stream
