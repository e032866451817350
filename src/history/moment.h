// Moments: when transactions begin and commit by the timestamps of the database
// (docs/levels.md#by-timestamps).
//
// At the levels of snapshots a transaction begins at its start timestamp and commits at its commit
// timestamp. At the serial levels it does both at once, at its commit timestamp. Where timestamps
// are equal, in this order:
//
//   0. commits of transactions that began before,
//   1. transactions that write and begin and commit right then, one after the other,
//   2. those that only read and do so,
//   3. begins of transactions that commit later;
//
// so a commit precedes the begin of whoever starts at that timestamp. What is left to order goes in
// the order of the history, or of arrival in a stream. The engines and the stream compare moments
// and nothing else, so this file is where the order is said.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

#include "ouro/history.h"

namespace ouro {

// What goes first at equal timestamps; see above.
enum class Tie : std::uint8_t { Commit, Writer, ReadOnly, Begin };

// A begin or a commit of one transaction. It depends on nothing else, so it is known as soon as the
// transaction is, and never changes. All moments are different. A default one is before all others.
struct Moment {
  std::int64_t physical = std::numeric_limits<std::int64_t>::min();
  std::int64_t logical = 0;
  std::uint64_t order = 0;  // The tie, the number of the transaction, and whether it is a commit.

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

// Of a transaction that starts and commits at these timestamps, if it starts before it commits;
// else it does both at its commit. `number` is that in the history, or of its arrival.
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

// What the timestamps of a transaction say about it.
struct TxnMoments : Lifetime {  // Known if it takes part, and nothing is missing.
  bool takes_part = false;      // Committed ones do, and unknown ones with a commit timestamp.
  bool missing = false;         // It takes part, but lacks a timestamp that the level needs.
  bool inverted = false;        // It starts after it commits, and is taken to do both then.

  [[nodiscard]] bool known() const { return takes_part && !missing; }
};
// At levels with `snapshots` a transaction begins when it starts, at the others when it commits.
// REQUIRES: writes == writes(history, txn).
[[nodiscard]] TxnMoments moments_of(const History& history, TxnId txn, bool writes,
                                    std::uint64_t number, bool snapshots);

}  // namespace ouro
