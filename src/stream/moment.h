// Where on the timeline a transaction begins or commits, and what stands there.
//
// The order is that of check/timeline/timeline.h: by timestamp, at equal timestamps by what
// happens, then in the order of arrival. All of it is known when the transaction arrives, so a
// moment never changes, whoever comes later.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

#include "ouro/history.h"

namespace ouro::stream {

// Transactions are numbered as they arrive, those that take no part included: in the history of
// all batches one behind the other this is the TxnId.
using Arrival = std::uint64_t;
inline constexpr Arrival kNobody = (std::uint64_t{1} << 61) - 1;

// What goes first at equal timestamps.
enum class Tie : std::uint8_t { Commit, Writer, ReadOnly, Begin };

struct Moment {
  std::int64_t physical = std::numeric_limits<std::int64_t>::min();
  std::uint32_t logical = 0;
  std::uint64_t order = 0;  // The tie, the arrival, and whether it is a commit.

  constexpr auto operator<=>(const Moment&) const = default;

  [[nodiscard]] static constexpr std::uint64_t order_of(Tie tie, Arrival arrival, bool commit) {
    return static_cast<std::uint64_t>(tie) << 62 | arrival << 1 | (commit ? 1 : 0);
  }
  [[nodiscard]] static constexpr Arrival arrival_of(std::uint64_t order) { return order << 2 >> 3; }
  [[nodiscard]] constexpr Arrival arrival() const { return arrival_of(order); }
  [[nodiscard]] constexpr bool same_time(const Moment& other) const {
    return physical == other.physical && logical == other.logical;
  }
  [[nodiscard]] constexpr bool before_time(const Moment& other) const {
    return physical != other.physical ? physical < other.physical : logical < other.logical;
  }
};

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
  [[nodiscard]] Arrival arrival() const { return Moment::arrival_of(order); }
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
  std::uint32_t op_and_wrong = 0;  // Which operation of the transaction; the last bit: it is wrong.
  std::uint64_t order = 0;
  std::uint64_t value = 0;

  [[nodiscard]] Moment at() const { return {physical, logical, order}; }
  [[nodiscard]] Arrival arrival() const { return Moment::arrival_of(order); }
  [[nodiscard]] static std::int64_t low() { return 0; }
  [[nodiscard]] std::uint32_t op() const { return op_and_wrong >> 1; }
  [[nodiscard]] bool wrong() const { return (op_and_wrong & 1) != 0; }
  void set_wrong(bool wrong) { op_and_wrong = op() << 1 | (wrong ? 1 : 0); }
};
static_assert(sizeof(Read) == 32);

}  // namespace ouro::stream
