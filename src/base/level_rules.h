// What is peculiar to each level, in one row a level: the table is in level.cc.
//
// Engines, explanations, reports and the simulated store ask the row. They neither compare levels
// nor list them, so that a new level is a new row. Only certify/ and the oracles of the tests have
// rules of their own, on purpose: what re-checks a verdict shares nothing with what found it.
//
// Edges between transactions: so is session order, wr leads from a writer to who read from it, ww
// from a version's writer to a later one's, rw from a reader to who overwrote what it read, rt from
// a transaction to one that was invoked after it had completed. docs/levels.md defines the levels.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include "ouro/level.h"

namespace ouro {

// Which cycles a level forbids. This decides which engine answers.
enum class LevelFamily : std::uint8_t {
  // Cycles of so, wr and the edges that a rule about reads forces (see Premise).
  CommitOrder,
  // Cycles with at most one rw.
  Parallel,
  // A transaction begins and commits at two moments, so that its reads may be older than its
  // writes: cycles in which no two rw follow each other. That is, all cycles of a graph with a node
  // B for each begin and a node C for each commit: B to C of the same transaction, so and wr from C
  // to B, rw from B to C; ww and rt see below.
  Snapshots,
  // A transaction happens at one moment: all cycles.
  Serial,
};

// At the levels of LevelFamily::CommitOrder: if a transaction reads x from T1, which other writers
// T2 of x must have committed before T1.
enum class Premise : std::uint8_t {
  None,          // No such rule.
  EarlierReads,  // Those that an earlier read of the transaction read from.
  DirectPast,    // Those that it read from, and those before it in its session.
  WholePast,     // Those, those that these saw, and so on.
};

// What a transaction that was invoked after another had completed, by the clients' clocks, owes it.
enum class RealTimeRule : std::uint8_t {
  Ignored,
  CommitsLater,  // To commit after it (C to C).
  SeesIt,        // To begin after its commit (C to B).
};

// How the simulated store keeps a level (workload/isolation.h).
enum class StoreKind : std::uint8_t { None, ReadRules, Replicated, Snapshots, Serial };

struct LevelRules {
  LevelFamily family = LevelFamily::Serial;
  Premise premise = Premise::None;
  bool sessions = false;  // so counts.
  RealTimeRule real_time = RealTimeRule::Ignored;
  // Two transactions that do not see each other may both write a key: ww leads from C to C, not
  // from C to B, and whoever overwrites what it read need not be the next writer.
  bool lost_updates = false;
  // rw of what a predicate read left out (an absent key, a row that did not match) does not count.
  bool phantoms = false;
  // Two reads of a key in one transaction may return different values.
  bool rereads_differ = false;
  // Which evidence decides the level; version orders decide all.
  bool by_observation = true;
  bool by_timestamps = false;
  StoreKind store = StoreKind::None;

  [[nodiscard]] constexpr bool is(LevelFamily one) const { return family == one; }
  // Whether a transaction has a begin apart from its commit.
  [[nodiscard]] constexpr bool begins_apart() const { return is(LevelFamily::Snapshots); }
  [[nodiscard]] constexpr bool clocks() const { return real_time != RealTimeRule::Ignored; }
  // Whether real time, where it counts, leads to the commit of the later transaction.
  [[nodiscard]] constexpr bool time_to_commit() const {
    return real_time == RealTimeRule::CommitsLater;
  }
  // Whether one rw alone puts the reader before the writer.
  [[nodiscard]] constexpr bool rw_orders() const { return !is(LevelFamily::Parallel); }
  // Whether a predicate read may miss what it should have found no more than a plain read may.
  [[nodiscard]] constexpr bool phantoms_count() const {
    return !phantoms && !is(LevelFamily::CommitOrder);
  }
};

// A few values in a row of the table, without memory of their own.
template <class T>
class FewOf {
 public:
  constexpr FewOf(std::initializer_list<T> values) {
    for (const T& value : values) values_[count_++] = value;
  }
  [[nodiscard]] constexpr std::span<const T> span() const { return {values_.data(), count_}; }

 private:
  static constexpr std::size_t kMost = 4;
  std::array<T, kMost> values_{};
  std::size_t count_ = 0;
};

// Where the page of a report draws the level: `row` counts from the top, `x` is of 720.
struct LevelPlace {
  int x = 0;
  int row = 0;
};

struct LevelRow {
  LevelInfo info;
  FewOf<Level> below;                   // Directly; the rest follows.
  std::string_view elle;                // What Elle calls it.
  FewOf<std::string_view> other_names;  // What else it is called: by Elle, Jepsen, Adya and users.
  LevelRules rules;
  LevelPlace drawn;
};

[[nodiscard]] const LevelRow& row_of(Level level);
[[nodiscard]] inline const LevelRules& rules(Level level) { return row_of(level).rules; }

}  // namespace ouro
