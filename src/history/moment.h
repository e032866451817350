// Moments: when transactions begin and commit by the timestamps of the database
// (docs/levels.md#by-timestamps).
//
// At the levels of snapshots a transaction begins at its start timestamp and commits at its commit
// timestamp. At the serial levels it does both at once, at its commit timestamp. Where timestamps
// are equal, in this order:
//
//   0. commits of transactions that began at an earlier timestamp,
//   1. begins and commits of transactions that do both now and write, one after the other,
//   2. begins and commits of transactions that do both now and only read,
//   3. begins of transactions that commit at a later timestamp.
//
// So a commit precedes the begin of any transaction that starts at its timestamp and commits later.
// What is left to order goes in the order of the history or, in a stream, of arrival. The engines
// and the stream compare moments and nothing else, so this file alone decides the order.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

#include "ouro/history.h"

namespace ouro {

// What goes first at equal timestamps: the numbers 0 to 3 above.
enum class Tie : std::uint8_t { Commit, Writer, ReadOnly, Begin };

// When one transaction begins, or commits. It follows from that transaction alone, so it is known
// as soon as the transaction is, and never changes. All moments of a history are different. A
// default moment is before all others.
struct Moment {
  std::int64_t physical = std::numeric_limits<std::int64_t>::min();  // The timestamp.
  std::int64_t logical = 0;
  // What decides between equal timestamps, in this order: the tie (2 bits), the number of the
  // transaction (61 bits), and whether the moment is a commit (1 bit).
  std::uint64_t order = 0;

  constexpr auto operator<=>(const Moment&) const = default;

  // REQUIRES: number < 2^61.
  [[nodiscard]] static constexpr std::uint64_t order_of(Tie tie, std::uint64_t number,
                                                        bool commit) {
    return static_cast<std::uint64_t>(tie) << 62 | number << 1 | (commit ? 1 : 0);
  }
  [[nodiscard]] static constexpr std::uint64_t number_of(std::uint64_t order) {
    return order << 2 >> 3;
  }
  [[nodiscard]] constexpr Tie tie() const { return static_cast<Tie>(order >> 62); }
  // The number of the transaction.
  [[nodiscard]] constexpr std::uint64_t number() const { return number_of(order); }
  [[nodiscard]] constexpr Timestamp timestamp() const { return {physical, logical}; }
};

struct Lifetime {
  Moment begin;
  Moment commit;
};

// When a transaction with these timestamps begins and commits. If start >= commit, it does both at
// its commit. `number` is its number in the history or, in a stream, of its arrival.
[[nodiscard]] constexpr Lifetime lifetime(Timestamp start, Timestamp commit, bool writes,
                                          std::uint64_t number) {
  const auto moment = [number](Timestamp at, Tie tie, bool is_commit) {
    return Moment{at.physical, at.logical, Moment::order_of(tie, number, is_commit)};
  };
  if (start < commit) {
    return {moment(start, Tie::Begin, false), moment(commit, Tie::Commit, true)};
  }
  const Tie tie = writes ? Tie::Writer : Tie::ReadOnly;
  return {moment(commit, tie, false), moment(commit, tie, true)};
}

// Whether the transaction writes anything.
[[nodiscard]] bool writes(const History& history, TxnId txn);

// What the timestamps of a transaction say about it. The lifetime is meaningless unless known().
struct TxnMoments : Lifetime {
  // Committed transactions take part, and unknown ones that have a commit timestamp.
  bool takes_part = false;
  bool missing = false;   // It takes part, but lacks a timestamp that the level needs.
  bool inverted = false;  // start_ts > commit_ts, so it begins at its commit.

  [[nodiscard]] bool known() const { return takes_part && !missing; }
};
// The moments of `txn`. If `snapshots`, it begins at its start timestamp, else at its commit
// timestamp. `number` is as in lifetime(). REQUIRES: `writes` is writes(history, txn).
[[nodiscard]] TxnMoments moments_of(const History& history, TxnId txn, bool writes,
                                    std::uint64_t number, bool snapshots);

}  // namespace ouro
