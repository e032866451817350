// What is peculiar to each level, in one row for each level. The table is in level.cc.
//
// Engines, explanations, reports and the simulated store ask the row. They neither compare levels
// nor list them, so that a new level is a new row. Only certify/ and the oracles of the tests have
// rules of their own, on purpose: what re-checks a verdict shares nothing with what found it.
//
// Edges lead from one transaction to another: so to a later one of the same session; wr from a
// writer to a reader of what it wrote; ww from a writer to the writer of a later version of the
// key; rw from a reader to a transaction that overwrote what it read; rt to one that was invoked
// after it had completed. docs/levels.md defines the levels by them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
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
  // Each transaction has a family of its own: that of the level that it states.
  Mixed,
};

// The rule about reads of LevelFamily::CommitOrder. If a transaction T reads x from T1, then some
// other writers T2 of x must have committed before T1:
enum class Premise : std::uint8_t {
  None,          // No such rule.
  EarlierReads,  // Every T2 that an earlier read of T read from.
  DirectPast,    // Every T2 that T read from, or that comes before T in its session.
  WholePast,     // The same, and every T2 that such a transaction saw directly or indirectly.
};

// What follows if T2 was invoked after T1 had completed, by the clients' clocks.
enum class RealTimeRule : std::uint8_t {
  Ignored,       // Nothing.
  CommitsLater,  // T2 commits after T1 commits (C to C).
  SeesIt,        // T2 begins after T1 commits (C to B), so it sees T1.
};

// How the simulated store keeps a level (workload/isolation.h). None: there is no store for it.
enum class StoreKind : std::uint8_t { None, ReadRules, Replicated, Snapshots, Serial };

struct LevelRules {
  LevelFamily family = LevelFamily::Serial;
  Premise premise = Premise::None;
  bool sessions = false;  // Whether so edges count.
  RealTimeRule real_time = RealTimeRule::Ignored;
  // Whether updates may be lost: two transactions that do not see each other may both write a key.
  // So ww leads from C to C, not from C to B; and between the version that a transaction read and
  // the one by which it overwrote the key there may be others.
  bool lost_updates = false;
  // Whether phantoms are allowed: rw edges of a predicate read do not count if they are about what
  // the read left out (an absent key, a row that did not match).
  bool phantoms = false;
  // Whether two reads of a key in one transaction may return different values.
  bool rereads_differ = false;
  // Which evidence decides the level. What clients observed decides every level.
  bool by_versions = true;
  bool by_timestamps = false;
  StoreKind store = StoreKind::None;

  [[nodiscard]] constexpr bool is(LevelFamily one) const { return family == one; }
  // Whether a transaction begins and commits at two moments, as opposed to one.
  [[nodiscard]] constexpr bool begins_apart() const { return is(LevelFamily::Snapshots); }
  // Whether the clients' clocks count.
  [[nodiscard]] constexpr bool clocks() const { return real_time != RealTimeRule::Ignored; }
  // Whether rt edges lead to the commit of the later transaction, as opposed to its begin.
  [[nodiscard]] constexpr bool time_to_commit() const {
    return real_time == RealTimeRule::CommitsLater;
  }
  // Whether every rw edge puts the reader before the writer. At parallel-si it does not: there a
  // cycle is forbidden only if it has at most one rw.
  [[nodiscard]] constexpr bool rw_orders() const { return !is(LevelFamily::Parallel); }
  // Whether rw edges of predicate reads count even if the read left the row out.
  [[nodiscard]] constexpr bool phantoms_count() const {
    return !phantoms && !is(LevelFamily::CommitOrder);
  }
};

// An array of at most four values that is part of a row, so that the table can be constexpr (a
// std::vector could not). REQUIRES: no more than kMost values.
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

// Where the HTML report draws the level: `row` counts from the top, `x` is from the left, of 720.
struct LevelPlace {
  int x = 0;
  int row = 0;
};

struct LevelRow {
  LevelInfo info;
  FewOf<Level> below;                   // The levels that it directly implies.
  std::string_view elle;                // What Elle calls it.
  FewOf<std::string_view> other_names;  // Other names that find_level() knows, in lower case.
  LevelRules rules;
  LevelPlace drawn;
};

// Both are look-ups in the table.
[[nodiscard]] const LevelRow& row_of(Level level);
[[nodiscard]] inline const LevelRules& rules(Level level) { return row_of(level).rules; }

// The level whose order is looked for first where `level` itself is hard to search: it implies
// `level`, has far fewer orders to try, and asks nothing of clocks. None if no such level implies
// `level`. It may be `level` itself.
[[nodiscard]] std::optional<Level> searched_first(Level level);
// The strongest level of the same family.
[[nodiscard]] Level strongest_of_family(Level level);

}  // namespace ouro
