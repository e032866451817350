// Guides the solver through the open choices of an encoding, on demand.
//
// The current topological order is the guess of every version order: chains of a key are kept
// sorted by it. If the arcs between adjacent chains all run forward, so do those between any two,
// and the order is a solution. Only where two neighbours run backward is there something to decide.
//
// This decides almost every history with few conflicts. After many conflicts the search is stuck,
// and it helps to fix what is forced (saturation.h). What solvers usually do instead, branching on
// what recent conflicts were about, with restarts and saved phases, makes it worse here: it tears
// the order apart. All are options, to be measured.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <optional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "check/polygraph/encoding.h"
#include "check/polygraph/result_choices.h"
#include "check/polygraph/saturation.h"
#include "check/polygraph/seen_versions.h"
#include "check/polygraph/source_choices.h"
#include "graph/dynamic_order.h"
#include "ouro/check.h"
#include "solver/solver.h"

namespace ouro {

class Search : public Guide {
 public:
  // Sorts the chains by `order`. The result does not depend on `threads` (zero: one per core).
  Search(const Encoding& encoding, DynamicOrder& order, const SearchOptions& options,
         unsigned threads, const Budget& budget);

  Next next(Solver& solver) override;
  void reopened(std::uint32_t choice) override;

  // By choice, the chains that it is about; a literal that is not opposite puts `first` first.
  // Without chains it is one of seen().
  [[nodiscard]] std::span<const ChainPair> pairs() const { return pairs_; }
  // The literal that means "chain `a` before chain `b`"; makes the choice if there is none.
  Literal literal(Solver& solver, ChainId a, ChainId b);
  // A choice that is not about two chains.
  std::uint32_t add_other_choice(Solver& solver, const Side& first, const Side& second);
  // What finds out what open reads returned, and what predicate reads saw; null if the encoding
  // does not ask for that.
  [[nodiscard]] const SourceChoices* sources() const { return sources_ ? &*sources_ : nullptr; }
  [[nodiscard]] const ResultChoices* results() const { return results_ ? &*results_ : nullptr; }
  // What both ask the solver about; null if there is neither.
  [[nodiscard]] const SeenVersions* seen() const { return seen_ ? &*seen_ : nullptr; }

  // The last chain of `key` that begins before `node` in the current order. REQUIRES: `node` is
  // that of a transaction.
  [[nodiscard]] ChainId last_chain(KeyId key, Node node) const;
  // The chain of the same key beside `chain`: the next one if `step` is 1, the one before if it is
  // -1. kNoChain if there is none.
  [[nodiscard]] ChainId neighbour(ChainId chain, int step) const;
  [[nodiscard]] bool is_initial(ChainId chain) const {
    return e_.chain(chain).first == kInitialTxn;
  }
  // How far the arcs of "a before b" reach back in the current order; zero if they all run forward.
  [[nodiscard]] std::uint64_t span(ChainId a, ChainId b) const;

 private:
  void sort_chains(std::size_t first_key, std::size_t end_key,
                   std::vector<std::uint32_t>& backward);
  void settle_moved();
  std::uint32_t settle(ChainId chain);
  void swap_slots(std::uint32_t left);
  void push(std::uint32_t slot);
  void push_if_backward(std::uint32_t slot);
  [[nodiscard]] bool backward(ChainId a, ChainId b) const { return span(a, b) != 0; }
  // Of the chain's first writer in the order. REQUIRES: it is not an initial chain.
  [[nodiscard]] std::uint32_t position(ChainId chain) const {
    return order_.position(e_.commit(e_.chain(chain).first));
  }
  [[nodiscard]] bool same_key(std::uint32_t slot) const;  // Whether the next slot has its key.

  void add_all_choices(Solver& solver);
  [[nodiscard]] Literal phase(const Solver& solver, std::uint32_t choice) const;
  // What the solver is to do next, by one strategy each. They return whether they filled `next`.
  bool saturate(Solver& solver, Next& next);
  bool restart(Solver& solver, Next& next);
  bool branch_by_activity(Solver& solver, Next& next);
  bool branch_by_order(Solver& solver, Next& next);
  bool branch_by_number(Solver& solver, Next& next);

  const Encoding& e_;
  DynamicOrder& order_;
  const SearchOptions options_;
  const Budget& budget_;
  BudgetTicker ticker_;
  std::vector<ChainId> slots_;  // Key by key: the initial chain, then the others by position.
  std::vector<std::uint32_t> slot_of_;  // By chain: its slot.
  // Chains whose position may have changed.
  std::vector<ChainId> unsettled_;
  std::vector<ChainId> touched_;        // Chains whose right neighbour changed.
  std::vector<std::uint32_t> seen_in_;  // By chain: the round that it was unsettled in last.
  std::uint32_t round_ = 0;

  // Neighbours that ran backward when they were pushed: the position of the right one, and the left
  // one. The earliest is on top.
  using Entry = std::pair<std::uint32_t, ChainId>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open_;
  // Choices by their chains, the smaller one first.
  absl::flat_hash_map<std::pair<ChainId, ChainId>, std::uint32_t> choices_;
  std::vector<ChainPair> pairs_;  // By choice.
  std::optional<SeenVersions> seen_;
  std::optional<SourceChoices> sources_;
  std::optional<ResultChoices> results_;

  // When the search is stuck.
  std::optional<Saturation> saturation_;
  std::vector<Saturation::Impossible> impossible_;  // To be told to the solver, from the back.
  std::uint64_t saturate_at_;                       // Conflicts at which to saturate next.
  bool saturating_ = false;
  bool fixed_some_ = false;  // Whether this round told something new.
  // How many conflicts there will be at the next restart.
  std::uint64_t restart_at_;
  // How many conflicts there are between two restarts; it grows.
  std::uint64_t restart_after_;
  // Choices, the most active on top, by the activity they had when pushed. All open ones are in it,
  // but for those in reopened_.
  std::priority_queue<std::pair<double, std::uint32_t>> active_;
  std::uint32_t known_to_active_ = 0;    // Smaller choices were pushed before.
  std::vector<std::uint32_t> reopened_;  // To be pushed again.
  std::uint32_t first_open_ = 0;         // No choice before it is open.
};

}  // namespace ouro
