#include "solver/solver.h"

#include <algorithm>
#include <cassert>

#include "base/internal_error.h"

namespace ouro {
namespace {

// Whether the cycle of a lemma is closed, and its labels are the opposites of exactly the lemma's
// literals. For debug builds.
[[maybe_unused]] bool is_sound(const Lemma& lemma) {
  std::vector<Literal> against;
  for (std::size_t i = 0; i < lemma.cycle.size(); ++i) {
    const auto& [arc, label] = lemma.cycle[i];
    if (arc.to != lemma.cycle[(i + 1) % lemma.cycle.size()].arc.from) return false;
    if (label != DynamicOrder::kNoLabel) against.push_back(!Literal{label});
  }
  const auto has = [](const std::vector<Literal>& literals, Literal literal) {
    return std::find(literals.begin(), literals.end(), literal) != literals.end();
  };
  return lemma.cycle.empty() || (std::all_of(against.begin(), against.end(),
                                             [&](Literal l) { return has(lemma.literals, l); }) &&
                                 std::all_of(lemma.literals.begin(), lemma.literals.end(),
                                             [&](Literal l) { return has(against, l); }));
}

}  // namespace

std::uint32_t Solver::add_choice(const Side& first, const Side& second) {
  sides_.push_back({first, second});
  value_.push_back(kOpen);
  level_of_.push_back(0);
  reason_.push_back(kNoLemma);
  unit_of_.push_back(kNoLemma);
  seen_.push_back(false);
  activity_.push_back(0);
  last_.push_back(1);
  watches_.resize(sides_.size() * 2);
  return static_cast<std::uint32_t>(sides_.size() - 1);
}

Solution Solver::solve(Guide& guide, std::uint64_t setbacks) {
  for (;;) {
    LemmaId conflict = propagate();
    while (conflict == kNoLemma) {
      if (decisions_.tick() || order_.stopped()) return Solution::Stopped;
      if (conflict_count_ + forbidden_count_ >= setbacks) return Solution::Paused;
      const Guide::Next next = guide.next(*this);
      if (next.kind == Guide::Next::Kind::Done) {
        return decisions_.ask() ? Solution::Stopped : Solution::Found;
      }
      if (next.kind == Guide::Next::Kind::Require) {
        conflict = add_arcs(next.required, DynamicOrder::kNoLabel);
        continue;
      }
      if (next.kind == Guide::Next::Kind::Restart) {
        back_to(0, guide);
        continue;
      }
      // A guide that was cut short by the budget may forbid what is possible, or decide what is
      // assigned already. So the budget is asked first.
      if (next.kind == Guide::Next::Kind::Forbid) {
        if (decisions_.ask()) return Solution::Stopped;
        ++forbidden_count_;
        conflict = forbid(next.forbidden, guide);
      } else {
        if (value_[next.literal.choice()] != kOpen) {
          assert(decisions_.ask());
          return Solution::Stopped;
        }
        decide(next.literal);
      }
      if (conflict == kNoLemma) conflict = propagate();
    }
    if (conflicts_.tick() || order_.stopped()) return Solution::Stopped;
    if (!resolve_conflict(conflict, guide)) {
      return decisions_.ask() ? Solution::Stopped : Solution::None;
    }
  }
}

void Solver::decide(Literal literal) {
  ++decision_count_;
  level_start_.push_back(static_cast<std::uint32_t>(trail_.size()));
  arcs_before_.push_back(order_.added());
  assign(literal, kNoLemma);
}

// Adds a lemma that the guide found, and makes one of its open literals true. If it has none, the
// lemma is a conflict and is returned.
LemmaId Solver::forbid(Lemma lemma, Guide& guide) {
  auto& literals = lemma.literals;
  std::stable_partition(literals.begin(), literals.end(),
                        [&](Literal literal) { return !is_false(literal); });
  const auto open = static_cast<std::size_t>(
      std::count_if(literals.begin(), literals.end(), [&](Literal l) { return !is_false(l); }));
  // The first two literals are watched: so the open ones go first, then those that became false
  // last.
  std::sort(literals.begin() + static_cast<std::ptrdiff_t>(open), literals.end(),
            [&](Literal a, Literal b) { return level_of_[a.choice()] > level_of_[b.choice()]; });
  const LemmaId id = add_lemma(std::move(lemma));
  const auto& kept = lemmas_[id].literals;
  if (open == 0) return id;
  if (kept.size() == 1) {
    back_to(0, guide);
    unit_of_[kept[0].choice()] = id;
    assign(kept[0], id);
    return kNoLemma;
  }
  watch(id);
  if (open == 1) {
    assign(kept[0], id);
  } else {
    decide(kept[0]);
  }
  return kNoLemma;
}

// ---- assignment ----

void Solver::assign(Literal literal, LemmaId reason) {
  const std::uint32_t choice = literal.choice();
  assert(value_[choice] == kOpen);
  value_[choice] = literal.opposite() ? 0 : 1;
  level_of_[choice] = level();
  reason_[choice] = reason;
  trail_.push_back(literal);
}

LemmaId Solver::propagate() {
  while (propagated_ < trail_.size()) {
    const Literal literal = trail_[propagated_++];
    if (const LemmaId conflict = propagate_arcs(literal); conflict != kNoLemma) return conflict;
    if (const LemmaId conflict = propagate_clauses(literal); conflict != kNoLemma) return conflict;
  }
  return kNoLemma;
}

LemmaId Solver::propagate_arcs(Literal literal) {
  return add_arcs(sides_[literal.choice()][literal.opposite() ? 1 : 0], literal.code);
}

LemmaId Solver::add_arcs(const Side& side, DynamicOrder::Label label) {
  for (const Arc& arc : side.span()) {
    if (!order_.add(arc, label)) return cycle_lemma(arc, label);
  }
  return kNoLemma;
}

// Adds the lemma that the sides on the lightest cycle through `arc` cannot all be taken.
LemmaId Solver::cycle_lemma(Arc arc, DynamicOrder::Label label) {
  Lemma lemma;
  lemma.cycle.push_back({arc, label});
  if (arc.from != arc.to) {
    const auto path = order_.lightest_path(arc.to, arc.from);
    lemma.cycle.insert(lemma.cycle.end(), path.begin(), path.end());
  }
  lemma.add_literals_against(lemma.cycle);
  return add_lemma(std::move(lemma));
}

LemmaId Solver::propagate_clauses(Literal literal) {
  auto& watches = watches_[literal.code];
  std::size_t kept = 0;
  for (std::size_t i = 0; i < watches.size(); ++i) {
    const Watch watch = watches[i];
    if (is_true(watch.other)) {
      watches[kept++] = watch;
      continue;
    }
    auto& literals = lemmas_[watch.clause].literals;
    const Literal false_one = !literal;
    if (literals[0] == false_one) std::swap(literals[0], literals[1]);
    if (is_true(literals[0])) {
      watches[kept++] = {watch.clause, literals[0]};
      continue;
    }
    const auto free = std::find_if(literals.begin() + 2, literals.end(),
                                   [&](Literal candidate) { return !is_false(candidate); });
    if (free != literals.end()) {
      std::swap(literals[1], *free);
      watches_[(!literals[1]).code].push_back({watch.clause, literals[0]});
      continue;
    }
    watches[kept++] = watch;
    if (is_false(literals[0])) {
      for (++i; i < watches.size(); ++i) watches[kept++] = watches[i];
      watches.resize(kept);
      return watch.clause;
    }
    assign(literals[0], watch.clause);
  }
  watches.resize(kept);
  return kNoLemma;
}

// ---- conflicts ----

LemmaId Solver::add_lemma(Lemma lemma) {
  assert(order_.stopped() || is_sound(lemma));
  lemmas_.push_back(std::move(lemma));
  watched_.push_back(false);
  return static_cast<LemmaId>(lemmas_.size() - 1);
}

void Solver::watch(LemmaId clause) {
  const auto& literals = lemmas_[clause].literals;
  watched_[clause] = true;
  watches_[(!literals[0]).code].push_back({clause, literals[1]});
  watches_[(!literals[1]).code].push_back({clause, literals[0]});
}

bool Solver::resolve_conflict(LemmaId conflict, Guide& guide) {
  ++conflict_count_;
  bump_ *= 1.05;
  // If arcs were required late, all choices of the cycle may be below the current level.
  std::uint32_t highest = 0;
  for (const Literal literal : lemmas_[conflict].literals) {
    insist(is_false(literal), "the solver met a conflict whose clause is not false");
    highest = std::max(highest, level_of_[literal.choice()]);
  }
  if (highest == 0) {
    finish_proof(conflict);
    return false;
  }
  back_to(highest, guide);
  Lemma learnt;
  std::uint32_t target = 0;
  analyse(conflict, learnt, target);
  const auto all_false = [&](std::size_t first) {
    return std::all_of(learnt.literals.begin() + static_cast<std::ptrdiff_t>(first),
                       learnt.literals.end(), [&](Literal literal) { return is_false(literal); });
  };
  insist(all_false(0), "the solver learnt a clause that is not false");
  back_to(target, guide);
  const Literal asserted = learnt.literals[0];
  insist(!assigned(asserted.choice()) && all_false(1),
         "the solver learnt a clause that asserts nothing");
  const bool unit = learnt.literals.size() == 1;
  LemmaId reason = conflict;
  // A clause that is watched already cannot have its literals in another order.
  if (learnt.premises.size() > 1 || lemmas_[conflict].literals.size() != learnt.literals.size() ||
      watched_[conflict]) {
    reason = add_lemma(std::move(learnt));
  } else {
    // The clause learnt is the conflict itself, but with the literals to be watched first.
    lemmas_[conflict].literals = std::move(learnt.literals);
  }
  if (unit) {
    unit_of_[asserted.choice()] = reason;
  } else {
    watch(reason);
  }
  assign(asserted, reason);
  return true;
}

// Resolves the conflict with the reasons of its literals, backwards along the trail, until one
// literal of the current level is left: `learnt`, with that literal first. `target` is the highest
// level of the others, to go back to. Literals fixed at level zero are dropped; the lemmas that fix
// them become premises.
void Solver::analyse(LemmaId conflict, Lemma& learnt, std::uint32_t& target) {
  std::vector<LemmaId> resolved{conflict};
  std::vector<std::uint32_t> fixed;
  std::size_t open = 0;
  std::size_t at = trail_.size();
  learnt.literals.emplace_back();  // The asserted one.
  LemmaId clause = conflict;
  Literal pivot;
  std::vector<std::uint32_t> to_clear;
  for (;;) {
    for (const Literal literal : lemmas_[clause].literals) {
      const std::uint32_t choice = literal.choice();
      if (literal == pivot || seen_[choice]) continue;
      seen_[choice] = true;
      bump(choice);
      to_clear.push_back(choice);
      if (level_of_[choice] == 0) {
        fixed.push_back(choice);
      } else if (level_of_[choice] == level()) {
        ++open;
      } else {
        learnt.literals.push_back(literal);
        target = std::max(target, level_of_[choice]);
      }
    }
    insist(open > 0, "the solver met a conflict without a cause at its level");
    while (!seen_[trail_[--at].choice()] || level_of_[trail_[at].choice()] != level()) {
    }
    pivot = trail_[at];
    if (--open == 0) break;
    clause = reason_[pivot.choice()];
    insist(clause != kNoLemma, "the solver resolved with a decision");
    resolved.push_back(clause);
  }
  learnt.literals[0] = !pivot;
  for (const std::uint32_t choice : to_clear) seen_[choice] = false;
  // The second watched literal must be one of the target level, which are the last to be reopened.
  for (std::size_t i = 2; i < learnt.literals.size(); ++i) {
    if (level_of_[learnt.literals[i].choice()] > level_of_[learnt.literals[1].choice()]) {
      std::swap(learnt.literals[1], learnt.literals[i]);
    }
  }
  for (const std::uint32_t choice : fixed) {
    justify_unit(Literal::of(choice, value_[choice] == 0));
    learnt.premises.push_back(unit_of_[choice]);
  }
  learnt.premises.insert(learnt.premises.end(), resolved.rbegin(), resolved.rend());
}

// Makes the lemma that says that `literal`, which is true at level zero, is true in every solution.
// It follows from the reason of the literal and from such lemmas about the others in the reason,
// which are made first. Those were assigned earlier, so this ends.
void Solver::justify_unit(Literal literal) {
  std::vector<Literal> stack{literal};
  while (!stack.empty()) {
    const Literal top = stack.back();
    if (unit_of_[top.choice()] != kNoLemma) {
      stack.pop_back();
      continue;
    }
    const LemmaId reason = reason_[top.choice()];
    Lemma unit;
    unit.literals = {top};
    bool ready = true;
    for (const Literal other : lemmas_[reason].literals) {
      if (other == top) continue;
      if (unit_of_[other.choice()] == kNoLemma) {
        stack.push_back(!other);
        ready = false;
      } else {
        unit.premises.push_back(unit_of_[other.choice()]);
      }
    }
    if (!ready) continue;
    unit.premises.push_back(reason);
    unit_of_[top.choice()] = add_lemma(std::move(unit));
    stack.pop_back();
  }
}

// Recent conflicts weigh more: instead of shrinking all activities, what is added grows.
void Solver::bump(std::uint32_t choice) {
  constexpr double kTooLarge = 1e100;
  activity_[choice] += bump_;
  if (activity_[choice] < kTooLarge) return;
  for (double& activity : activity_) activity /= kTooLarge;
  bump_ /= kTooLarge;
}

void Solver::back_to(std::uint32_t target, Guide& guide) {
  if (target >= level()) return;
  const std::uint32_t keep = level_start_[target];
  for (std::size_t i = keep; i < trail_.size(); ++i) {
    last_[trail_[i].choice()] = value_[trail_[i].choice()];
    value_[trail_[i].choice()] = kOpen;
    guide.reopened(trail_[i].choice());
  }
  trail_.resize(keep);
  propagated_ = std::min<std::size_t>(propagated_, keep);
  order_.shrink(arcs_before_[target]);
  level_start_.resize(target);
  arcs_before_.resize(target);
}

// Adds the empty lemma. REQUIRES: all literals of `conflict` are false at level zero.
void Solver::finish_proof(LemmaId conflict) {
  Lemma empty;
  for (const Literal literal : std::vector<Literal>(lemmas_[conflict].literals)) {
    justify_unit(!literal);
    empty.premises.push_back(unit_of_[literal.choice()]);
  }
  empty.premises.push_back(conflict);
  add_lemma(std::move(empty));
}

}  // namespace ouro
