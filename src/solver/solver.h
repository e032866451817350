// SAT modulo acyclicity: chooses sides so that the arcs of all choices leave a graph acyclic.
//
// A choice has two sides of at most two arcs each. Choices need not be known beforehand: after each
// round of propagation a Guide looks at the current topological order and names the next choice, or
// says that nothing is left to choose. What the order satisfies by itself never becomes a choice.
//
// The search is conflict-driven clause learning with first unique implication points. A side that
// closes a cycle is a conflict whose clause has the fewest choices of all cycles (lightest_path).
// Every clause is a lemma of the proof, with the lemmas it was resolved from.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/budget.h"
#include "graph/dynamic_order.h"
#include "solver/proof.h"

namespace ouro {

// The arcs of one side of a choice.
struct Side {
  std::array<Arc, 2> arcs;
  std::uint32_t count = 0;

  void add(Arc arc) { arcs[count++] = arc; }
  [[nodiscard]] std::span<const Arc> span() const { return {arcs.data(), count}; }
};

enum class Solution : std::uint8_t { Found, None, Stopped };

class Solver;

// Chooses what to decide next.
class Guide {
 public:
  virtual ~Guide() = default;

  struct Next {
    enum class Kind : std::uint8_t { Done, Decide, Require, Forbid, Restart } kind = Kind::Done;
    Literal literal;  // Decide: an unassigned literal.
    Side required;    // Require: arcs that are known, but were left out until now.
    Lemma forbidden;  // Forbid: a lemma that the guide found, none of whose literals is true. The
                      // solver makes its first open literal true.
  };
  virtual Next next(Solver& solver) = 0;
  // `choice` is open again.
  virtual void reopened(std::uint32_t choice) = 0;
};

class Solver {
 public:
  // REQUIRES: `order` and `budget` outlive the solver.
  Solver(DynamicOrder& order, const Budget& budget)
      : order_(order), decisions_(budget, 256, 40), conflicts_(budget, 8, 200) {}

  // A new choice between two sides; returns its number, counting from zero. Literals that are not
  // `opposite` stand for `first`.
  std::uint32_t add_choice(const Side& first, const Side& second);
  [[nodiscard]] std::size_t choice_count() const { return sides_.size(); }
  [[nodiscard]] bool assigned(std::uint32_t choice) const { return value_[choice] != kOpen; }
  [[nodiscard]] bool is_true(Literal literal) const {
    return value_[literal.choice()] == (literal.opposite() ? 0 : 1);
  }
  // Whether nothing is decided: what holds now holds in every solution.
  [[nodiscard]] bool at_root() const { return level_start_.empty(); }
  // How much a choice had to do with recent conflicts.
  [[nodiscard]] double activity(std::uint32_t choice) const { return activity_[choice]; }
  // The side it had last; the first if it never had one.
  [[nodiscard]] Literal last(std::uint32_t choice) const {
    return Literal::of(choice, last_[choice] == 0);
  }
  [[nodiscard]] const DynamicOrder& order() const { return order_; }

  // Searches until the guide has nothing left, or no solution is left, or the budget is exhausted;
  // a guide that runs out of it may say that it has nothing left.
  [[nodiscard]] Solution solve(Guide& guide);

  [[nodiscard]] std::uint64_t conflict_count() const { return conflict_count_; }
  // REQUIRES: solve() returned None. The last lemma is empty.
  [[nodiscard]] const std::vector<Lemma>& proof() const { return lemmas_; }

 private:
  static constexpr std::uint8_t kOpen = 2;
  struct Watch {
    LemmaId clause;
    Literal other;  // If this one is true the clause need not be looked at.
  };

  [[nodiscard]] bool is_false(Literal literal) const {
    return value_[literal.choice()] == (literal.opposite() ? 1 : 0);
  }
  [[nodiscard]] std::uint32_t level() const {
    return static_cast<std::uint32_t>(level_start_.size());
  }

  void assign(Literal literal, LemmaId reason);
  LemmaId propagate();  // The conflicting lemma, or kNoLemma.
  LemmaId propagate_arcs(Literal literal);
  LemmaId propagate_clauses(Literal literal);
  LemmaId add_arcs(const Side& side, DynamicOrder::Label label);
  LemmaId cycle_lemma(Arc arc, DynamicOrder::Label label);
  bool resolve_conflict(LemmaId conflict, Guide& guide);  // False: no solution.
  void analyse(LemmaId conflict, Lemma& learnt, std::uint32_t& back_to);
  void justify_unit(Literal literal);
  LemmaId add_lemma(Lemma lemma);
  LemmaId forbid(Lemma lemma, Guide& guide);
  void decide(Literal literal);
  void watch(LemmaId clause);
  void back_to(std::uint32_t level, Guide& guide);
  void bump(std::uint32_t choice);
  void finish_proof(LemmaId conflict);

  DynamicOrder& order_;
  // A conflict searches for a path and may look at the whole graph.
  BudgetTicker decisions_, conflicts_;
  std::vector<std::array<Side, 2>> sides_;
  std::vector<std::uint8_t> value_;  // 1: first side, 0: second side, kOpen.
  std::vector<std::uint32_t> level_of_;
  std::vector<LemmaId> reason_;
  std::vector<bool> seen_;
  std::vector<double> activity_;
  double bump_ = 1;
  std::vector<std::uint8_t> last_;           // As value_, from when the choice was made last.
  std::vector<std::vector<Watch>> watches_;  // By literal that became false.
  std::vector<Literal> trail_;
  std::vector<std::uint32_t> level_start_;  // Into trail_.
  std::vector<std::size_t> arcs_before_;    // Added arcs when the level began.
  std::size_t propagated_ = 0;
  std::vector<Lemma> lemmas_;
  std::vector<LemmaId> unit_of_;  // By choice: the lemma that fixes it at level zero.
  std::uint64_t conflict_count_ = 0;
};

}  // namespace ouro
