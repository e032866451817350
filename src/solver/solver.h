// SAT modulo acyclicity: takes one side of each choice so that the graph with the arcs of these
// sides has no cycle.
//
// A choice has two sides of at most two arcs each. Choices need not be known beforehand: after each
// round of propagation a Guide looks at the current topological order and names the next choice, or
// says that nothing is left to choose. What the order satisfies by itself never becomes a choice.
//
// The search is conflict-driven clause learning with first unique implication points. If a side
// closes a cycle, that is a conflict; of all cycles that it closes, the one with the fewest choices
// (lightest_path) becomes a clause. Every clause is a lemma of the proof, with the lemmas that it
// was resolved from.
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

class Solver;

// Tells the solver what to do next whenever nothing follows from what was decided so far.
class Guide {
 public:
  virtual ~Guide() = default;

  struct Next {
    // Done: nothing is left to decide. Restart: take back all decisions, keep what was learnt.
    enum class Kind : std::uint8_t { Done, Decide, Require, Forbid, Restart } kind = Kind::Done;
    Literal literal;  // Decide: make this literal true. Its choice must be open.
    Side required;    // Require: add these arcs, which are known but were left out until now.
    Lemma forbidden;  // Forbid: add this lemma, none of whose literals is true. The solver makes
                      // its first open literal true.
  };
  virtual Next next(Solver& solver) = 0;
  // Called when `choice`, which had a side, is open again because a decision was taken back.
  virtual void reopened(std::uint32_t choice) = 0;
};

class Solver {
 public:
  // REQUIRES: `order` and `budget` outlive the solver.
  Solver(DynamicOrder& order, const Budget& budget)
      : order_(order), decisions_(budget, 256, 40), conflicts_(budget, 8, 200) {}

  // Adds a choice between two sides and returns its number, counting from zero. A literal that is
  // not opposite() stands for `first`.
  std::uint32_t add_choice(const Side& first, const Side& second);
  [[nodiscard]] std::size_t choice_count() const { return sides_.size(); }
  [[nodiscard]] bool assigned(std::uint32_t choice) const { return value_[choice] != kOpen; }
  [[nodiscard]] bool is_true(Literal literal) const {
    return value_[literal.choice()] == (literal.opposite() ? 0 : 1);
  }
  // Whether nothing is decided. Then what is assigned is so in every solution.
  [[nodiscard]] bool at_root() const { return level_start_.empty(); }
  // How much a choice had to do with conflicts; recent ones weigh more. Only comparisons matter.
  [[nodiscard]] double activity(std::uint32_t choice) const { return activity_[choice]; }
  // The side that the choice had last; the first side if it never had one.
  [[nodiscard]] Literal last(std::uint32_t choice) const {
    return Literal::of(choice, last_[choice] == 0);
  }
  [[nodiscard]] const DynamicOrder& order() const { return order_; }

  // Searches until the guide is Done (Found), no solution is left (None), or the budget is
  // exhausted (Stopped). If the budget is exhausted, Done counts as Stopped, too. Paused: there
  // were `setbacks` setbacks, counted from the beginning; called again it goes on. A setback is a
  // conflict, or something that the guide forbids.
  [[nodiscard]] Solution solve(Guide& guide, std::uint64_t setbacks = kNoPause);
  static constexpr std::uint64_t kNoPause = 0xffffffffffffffff;

  [[nodiscard]] std::uint64_t conflict_count() const { return conflict_count_; }
  [[nodiscard]] std::uint64_t decision_count() const { return decision_count_; }
  // Why there is no solution; the last lemma is empty. REQUIRES: solve() returned None.
  [[nodiscard]] const std::vector<Lemma>& proof() const { return lemmas_; }

 private:
  static constexpr std::uint8_t kOpen = 2;
  // A clause watches its first two literals. It is looked at only when one of them becomes false.
  struct Watch {
    LemmaId clause;
    Literal other;  // A literal of the clause; while it is true, the clause is satisfied.
  };

  [[nodiscard]] bool is_false(Literal literal) const {
    return value_[literal.choice()] == (literal.opposite() ? 1 : 0);
  }
  // The number of decisions that stand. What is assigned at level 0 never changes.
  [[nodiscard]] std::uint32_t level() const {
    return static_cast<std::uint32_t>(level_start_.size());
  }

  // Makes `literal` true; `reason` is the lemma that it follows from, kNoLemma if it was decided.
  void assign(Literal literal, LemmaId reason);
  // Assigns all that follows. Returns a lemma whose literals are all false, or kNoLemma; so do the
  // functions below that return a LemmaId, except add_lemma().
  LemmaId propagate();
  LemmaId propagate_arcs(Literal literal);
  LemmaId propagate_clauses(Literal literal);
  LemmaId add_arcs(const Side& side, DynamicOrder::Label label);
  LemmaId cycle_lemma(Arc arc, DynamicOrder::Label label);
  // Learns from a conflict and takes decisions back. False: there is no solution.
  bool resolve_conflict(LemmaId conflict, Guide& guide);
  void analyse(LemmaId conflict, Lemma& learnt, std::uint32_t& target);
  void justify_unit(Literal literal);
  LemmaId add_lemma(Lemma lemma);
  LemmaId forbid(Lemma lemma, Guide& guide);
  void decide(Literal literal);
  void watch(LemmaId clause);
  void back_to(std::uint32_t level, Guide& guide);
  void bump(std::uint32_t choice);
  void finish_proof(LemmaId conflict);

  DynamicOrder& order_;
  // Conflicts ask the budget more often: each searches for a path, maybe through the whole graph.
  BudgetTicker decisions_, conflicts_;
  std::vector<std::array<Side, 2>> sides_;
  std::vector<std::uint8_t> value_;  // 1: first side, 0: second side, kOpen.
  // By choice, like value_:
  std::vector<std::uint32_t> level_of_;  // The level at which it was assigned.
  std::vector<LemmaId> reason_;          // See assign().
  std::vector<bool> seen_;               // Scratch of analyse().
  std::vector<double> activity_;
  double bump_ = 1;                          // What a conflict adds to an activity; grows.
  std::vector<std::uint8_t> last_;           // By choice: the last value, as in value_.
  std::vector<std::vector<Watch>> watches_;  // By literal: the clauses that watch its opposite.
  std::vector<Literal> trail_;               // The true literals, in the order they became true.
  std::vector<std::uint32_t> level_start_;   // By level from 1: where it begins in trail_,
  std::vector<std::size_t> arcs_before_;     // and how many arcs were added before it.
  std::size_t propagated_ = 0;               // How many literals of trail_ are propagated.
  std::vector<Lemma> lemmas_;
  std::vector<bool> watched_;     // By lemma.
  std::vector<LemmaId> unit_of_;  // By choice: the lemma of one literal that fixes it, if made.
  std::uint64_t conflict_count_ = 0;
  std::uint64_t decision_count_ = 0;
  std::uint64_t forbidden_count_ = 0;  // By the guide.
};

}  // namespace ouro
