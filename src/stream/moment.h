// What the timeline of a key consists of: versions, each at the moment its transaction commits, and
// reads, each at the moment its transaction begins.
#pragma once

#include <cstdint>

#include "history/moment.h"

namespace ouro::stream {

// The number of a transaction in the order of arrival, from zero. Transactions that are not judged
// are numbered, too; so in a history of all batches, one after the other, this is the TxnId.
using Arrival = std::uint64_t;
inline constexpr Arrival kNobody = (std::uint64_t{1} << 61) - 1;

// The logical part of a moment as versions and reads store it, in 32 bits: there are millions of
// them. REQUIRES: it fits; BatchReader::enter() refuses batches where it does not.
[[nodiscard]] constexpr std::uint32_t stored_logical(const Moment& moment) {
  return static_cast<std::uint32_t>(moment.logical);
}

// What a transaction wrote to one register.
struct Version {
  // Whether a Sequence may keep its first item in memory given to lend().
  static constexpr bool kLent = true;

  std::int64_t physical = 0;  // Of the commit's timestamp, like `logical`.
  std::uint32_t logical = 0;
  std::uint32_t start_logical = 0;
  std::uint64_t order = 0;  // Moment::order of the commit.
  std::int64_t start_physical = 0;
  std::uint64_t value = 0;  // Fingerprint of what a read right after the commit should return.

  [[nodiscard]] Moment at() const { return {physical, logical, order}; }
  [[nodiscard]] Arrival arrival() const { return Moment::number_of(order); }
  [[nodiscard]] std::int64_t low() const { return start_physical; }
  [[nodiscard]] Moment begin() const {
    const bool later = start_physical != physical || start_logical != logical;
    if (!later) return {physical, logical, order & ~std::uint64_t{1}};
    return {start_physical, start_logical, Moment::order_of(Tie::Begin, arrival(), false)};
  }
  // A stub is what is left in memory of a version whose details are on disk. Its moment is before
  // all others, and it has no arrival.
  [[nodiscard]] bool is_stub() const { return order == 0; }
};
static_assert(sizeof(Version) == 40);

// What a transaction appended to one list. `value` is the fingerprint of the whole list after it.
struct ListVersion : Version {
  static constexpr bool kLent = false;

  std::uint64_t own_hash = 0;  // The ListHash of the elements that the transaction appended.
  std::uint64_t own_length = 0;
  std::uint64_t hash = 0;  // The ListHash of the whole list after the commit.
  std::uint64_t length = 0;

  // `version` as a stub. It keeps the hashes, since later versions are computed from them.
  [[nodiscard]] static ListVersion stub_of(ListVersion version) {
    version.physical = Moment().physical;
    version.logical = 0;
    version.start_physical = Moment().physical;
    version.start_logical = 0;
    version.order = 0;
    return version;
  }
};

// A read that shows what other transactions wrote; see OuterRead.
struct Read {
  static constexpr bool kLent = true;

  std::int64_t physical = 0;  // Of the timestamp at which the transaction begins, like `logical`.
  std::uint32_t logical = 0;
  // The lowest bit: whether the read is wrong. The highest: whether it is open, which means that
  // only a value it did *not* return is known. Between them: its operation, counted within the
  // transaction.
  std::uint32_t op_and_wrong = 0;
  std::uint64_t order = 0;  // Moment::order of the begin.
  std::uint64_t value = 0;  // Fingerprint of what it returned; of an open read: did not return.

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
