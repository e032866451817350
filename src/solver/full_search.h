// SAT modulo reachability at full strength, for problems that are small but hard.
//
// All choices are known from the start. Each side of a choice adds some arcs, and is impossible if
// certain nodes reach certain others: for acyclicity, if the head of one of its arcs reaches the
// tail. A Closure knows at any time who reaches whom, so a side becomes impossible at once when the
// last arc is added that makes it so. Why, a path with as few choices as possible, is looked for
// only if a conflict asks.
//
// The rest is conflict-driven clause learning as good solvers do it: the choice that took part in
// the most recent conflicts is decided next, in favour of the side that it had last; learnt clauses
// are minimised, and forgotten if their literals belong to many levels; restarts. Every clause is a
// lemma with its premises, so the proof is there when the search ends.
//
// Solver (solver.h) is the other one: for huge problems that are easy, it needs no memory for what
// is not decided.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/budget.h"
#include "graph/closure.h"
#include "graph/digraph.h"
#include "solver/activity_heap.h"
#include "solver/lemma_store.h"
#include "solver/proof.h"

namespace ouro {

struct FullProblem {
  // "`from` must not reach `to`." If it does, that path is a cycle; with the arc number `closing`
  // of the side behind it, unless it is kNoArc. Where that arc begins at another node than `to`,
  // the two stand for one to whoever made the problem; so do the ends of a path that is a cycle.
  struct Taboo {
    Node from = 0;
    Node to = 0;
    std::uint32_t closing = kNoArc;
  };
  static constexpr std::uint32_t kNoArc = 0xffffffff;

  class Side {
   public:
    // Adds an arc, at most three; returns its number.
    std::uint32_t add(Arc arc) {
      arcs_[arc_count_] = arc;
      return arc_count_++;
    }
    // Adds what must not be if the side is taken, at most three.
    void add(Taboo taboo) { taboos_[taboo_count_++] = taboo; }
    // Adds an arc that must not close a cycle.
    void add_acyclic(Arc arc) {
      const std::uint32_t closing = add(arc);
      add(Taboo{arc.to, arc.from, closing});
    }
    [[nodiscard]] std::span<const Arc> arcs() const { return {arcs_.data(), arc_count_}; }
    [[nodiscard]] std::span<const Taboo> taboos() const { return {taboos_.data(), taboo_count_}; }

   private:
    std::array<Arc, 3> arcs_;
    std::array<Taboo, 3> taboos_;
    std::uint32_t arc_count_ = 0, taboo_count_ = 0;
  };

  std::size_t node_count = 0;
  std::vector<Arc> known;                    // Acyclic.
  std::vector<std::array<Side, 2>> choices;  // The side that is tried first is the first one.
  std::vector<Taboo> taboos;                 // What must never be. None of them has an arc.
};

class FullSearch {
 public:
  // REQUIRES: `order` is a topological order of the known arcs.
  FullSearch(const FullProblem& problem, std::span<const Node> order);

  // Searches until a solution is found, there is none, the budget is exhausted, or is_too_large()
  // (Stopped). If the budget was exhausted, it may be called again, with another budget, and goes
  // on where it was.
  [[nodiscard]] Solution run(const Budget& budget);

  // Whether the solution has the first side of a choice. REQUIRES: run() returned Found.
  [[nodiscard]] bool takes_first(std::uint32_t choice) const { return value_[choice * 2] == kTrue; }
  // Why there is no solution: only what is needed; the last lemma is empty. A label in a cycle is
  // the code of a literal. REQUIRES: run() returned None.
  [[nodiscard]] std::vector<Lemma> proof();

  // Whether it takes so much memory that it is better given up.
  [[nodiscard]] bool is_too_large() const;

  [[nodiscard]] std::uint64_t conflict_count() const { return conflicts_; }

 private:
  using Ref = LemmaStore::Ref;
  static constexpr std::uint8_t kFalse = 0, kTrue = 1, kOpen = 2;
  static constexpr std::uint32_t kNever = 0xffffffff;  // "Literal" of what must never be.
  static constexpr std::uint64_t kWordsPerStep = 16;

  // Why a literal is true: by a lemma, or because a taboo forbids its opposite, or it was decided.
  struct Reason {
    LemmaId lemma = kNoLemma;
    std::uint32_t taboo = kNever;
  };
  struct Watch {
    Ref clause;
    Literal other;
  };
  struct LabelledArc {
    Arc arc;
    std::uint32_t code;
  };
  struct LabelledTaboo {
    Node from, to;
    std::uint32_t code;     // The literal that is false if `from` reaches `to`; kNever.
    std::uint32_t closing;  // An index into arcs_; kNoArc.
  };

  void add_sides(const FullProblem& problem);
  Ref begin();
  bool charge(const Budget& budget);

  // ---- assignment ----
  [[nodiscard]] bool is_true(Literal literal) const { return value_[literal.code] == kTrue; }
  [[nodiscard]] bool is_false(Literal literal) const { return value_[literal.code] == kFalse; }
  [[nodiscard]] std::uint32_t level() const { return static_cast<std::uint32_t>(marks_.size()); }
  void assign(Literal literal, Reason reason);
  void decide();
  void back_to(std::uint32_t level);
  void restart();
  // Assigns all that follows. Returns a lemma whose literals are all false, or kNone.
  Ref propagate();
  Ref propagate_clauses(Literal literal);
  Ref propagate_arcs(Literal literal);
  // What follows from a taboo that is broken. Returns whether nothing is contradicted; if it is,
  // broken_ is that taboo.
  bool obey(std::uint32_t taboo);

  // ---- conflicts ----
  // The lemma that a true literal follows from.
  Ref reason(Literal literal);
  // The lemma that `taboo` is the reason for, with arcs of literals that were true before `limit`.
  Ref explain(std::uint32_t taboo, std::uint32_t limit);
  void find_path(Node from, Node to, std::uint32_t limit);
  void reach(Node node, std::uint32_t cost, Node from, std::uint32_t arc);
  // Learns from a conflict. False: there is no solution.
  bool learn(Ref conflict);
  void analyse(Ref conflict);
  void note(Literal literal);
  void minimise();
  bool is_redundant(Literal literal);
  void collect_premises(Ref conflict);
  LemmaId unit(Literal literal);
  void finish(Ref conflict);
  [[nodiscard]] std::uint32_t distinct_levels(std::span<const Literal> literals);
  void watch(Ref clause);
  void reduce();
  void collect_garbage();
  [[nodiscard]] bool is_reason(Ref clause);

  // ---- proof ----
  [[nodiscard]] std::vector<DynamicOrder::Step> cycle(std::span<const std::uint32_t> because,
                                                      const Closure& known) const;

  // All arcs and taboos are kept backwards. What is decided first is mostly at the front of the
  // order, where much leads to the two nodes of an arc and little leads on; so there are few whom
  // more reaches, and they gain much at once. The other way there are many who reach a little more,
  // each time, and what is saved of them once took gigabytes.
  std::vector<Node>
      number_;              // By node of the problem: its number here, topological for those arcs.
  std::vector<Node> node_;  // And back.
  Digraph known_;
  Closure closure_;
  std::vector<LabelledArc> arcs_;           // By literal.
  std::vector<std::uint32_t> first_arc_;    // By code: where its arcs begin in arcs_; one more.
  std::vector<LabelledTaboo> taboos_;       // By the node that must not reach.
  std::vector<Node> taboo_to_;              // By taboo, its `to`: what is looked at most, alone.
  std::vector<std::uint32_t> first_taboo_;  // By node: where its taboos begin; one more.
  std::vector<std::uint32_t> out_;          // Into arcs_, by the node that they come from.
  std::vector<std::uint32_t> first_out_;    // By node: where its arcs begin in out_; one more.

  std::vector<std::uint8_t> value_;  // By code.
  struct About {
    std::uint32_t level = 0;
    std::uint32_t position = 0;  // In trail_.
    Reason reason;
  };
  std::vector<About> about_;         // By choice, if it is not open.
  std::vector<std::uint8_t> phase_;  // By choice: whether its second side is tried first.
  std::vector<Literal> trail_;
  struct Mark {
    std::uint32_t trail;
    std::size_t arcs;
  };
  std::vector<Mark> marks_;        // By level from 1: how much there was before it.
  std::size_t clauses_done_ = 0;   // How many literals of trail_ had their clauses looked at,
  std::size_t arcs_done_ = 0;      // and their arcs added.
  std::uint32_t broken_ = kNever;  // See obey().
  std::vector<std::vector<Watch>> watches_;  // By code: the clauses that watch its opposite.

  LemmaStore lemmas_;
  std::vector<LemmaId> unit_;    // By choice: the lemma of one literal that fixes it, if made.
  std::vector<LemmaId> learnt_;  // The clauses that are watched.
  ActivityHeap heap_;

  // Of the conflict at hand.
  enum class Seen : std::uint8_t { No, Source, Redundant, Needed };
  std::vector<Seen> seen_;  // By choice.
  std::vector<std::uint32_t> to_clear_;
  std::vector<Literal> clause_;          // What is learnt.
  std::size_t open_ = 0;                 // Literals of the current level that are not resolved.
  std::vector<std::uint32_t> resolved_;  // Choices whose reasons are premises,
  std::vector<std::uint32_t> fixed_;     // and those fixed at level zero.
  std::vector<LemmaId> premises_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> redundant_;  // Stack of is_redundant().
  std::vector<std::uint32_t> stamp_;  // Of distinct_levels(), by level.
  std::uint32_t stamps_ = 0;

  // Of find_path(), by node.
  struct Arrival {
    std::uint32_t search = 0;
    std::uint32_t cost = 0;
    Node from = 0;
    std::uint32_t arc = 0;  // kNoArc: a known one.
    bool done = false;
  };
  std::vector<Arrival> arrivals_;
  std::uint32_t searches_ = 0;
  std::uint32_t cost_ = 0;           // Choices on the way to those in near_;
  std::vector<Node> near_, far_;     // to those in far_ there is one more.
  std::vector<std::uint32_t> path_;  // Into arcs_.

  std::uint64_t conflicts_ = 0;
  std::uint64_t restarts_ = 0;
  std::uint64_t restart_at_ = 0;
  std::uint64_t reduce_at_;
  std::uint64_t reductions_ = 0;
  std::size_t garbage_at_;
  std::uint64_t work_ = 0;           // Steps that were not charged yet,
  std::uint64_t words_charged_ = 0;  // and how many words of closure_ were.
  LemmaId empty_ = kNoLemma;         // The lemma that ends the proof.
  bool begun_ = false;
  bool refuted_ = false;
};

}  // namespace ouro
