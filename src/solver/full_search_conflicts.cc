// Of the full search: why something is so, and what is learnt from a conflict.

#include <algorithm>
#include <utility>

#include "base/internal_error.h"
#include "solver/full_search.h"

namespace ouro {
namespace {

constexpr double kDecay = 0.95;

}  // namespace

// ---- why ----

FullSearch::Ref FullSearch::reason(Literal literal) {
  About& about = about_[literal.choice()];
  if (about.reason.lemma == kNoLemma) {
    insist(about.reason.taboo != kNever, "the search asks why it made a decision");
    about.reason.lemma = lemmas_.id(explain(about.reason.taboo, about.position));
  }
  return lemmas_.ref(about.reason.lemma);
}

// The lemma has the arcs of choices on the way in `because`, and the taboo behind them.
FullSearch::Ref FullSearch::explain(std::uint32_t taboo, std::uint32_t limit) {
  const LabelledTaboo& broken = taboos_[taboo];
  find_path(broken.from, broken.to, limit);
  std::vector<Literal> literals;
  if (broken.code != kNever) literals.push_back(!Literal{broken.code});
  for (const std::uint32_t arc : path_) {
    const Literal against = !Literal{arcs_[arc].code};
    if (std::find(literals.begin(), literals.end(), against) == literals.end()) {
      literals.push_back(against);
    }
  }
  path_.push_back(taboo);
  return lemmas_.add(LemmaStore::Kind::Cycle, literals, path_);
}

void FullSearch::reach(Node node, std::uint32_t cost, Node from, std::uint32_t arc) {
  Arrival& arrival = arrivals_[node];
  if (arrival.search == searches_ && arrival.cost <= cost) return;
  arrival = {searches_, cost, from, arc, false};
  (cost == cost_ ? near_ : far_).push_back(node);
}

// Leaves in path_ the arcs of choices on a path with as few of them as possible. What was fixed at
// level zero counts as known.
void FullSearch::find_path(Node from, Node to, std::uint32_t limit) {
  ++searches_;
  near_.clear();
  far_.clear();
  cost_ = 0;
  reach(from, 0, from, FullProblem::kNoArc);
  while (arrivals_[to].search != searches_ || arrivals_[to].cost > cost_) {
    if (near_.empty()) {
      insist(!far_.empty(), "the search found no reason for what it concluded");
      std::swap(near_, far_);
      ++cost_;
    }
    const Node node = near_.back();
    near_.pop_back();
    if (arrivals_[node].done) continue;
    arrivals_[node].done = true;
    work_ += 1 + (known_.out(node).size() + first_out_[node + 1] - first_out_[node]) / 2;
    for (const Node next : known_.out(node)) {
      if (closure_.reaches(next, to)) reach(next, cost_, node, FullProblem::kNoArc);
    }
    for (std::uint32_t i = first_out_[node]; i < first_out_[node + 1]; ++i) {
      const LabelledArc& labelled = arcs_[out_[i]];
      const About& about = about_[labelled.code / 2];
      if (value_[labelled.code] != kTrue || about.position >= limit) continue;
      if (!closure_.reaches(labelled.arc.to, to)) continue;
      reach(labelled.arc.to, cost_ + (about.level != 0 ? 1 : 0), node, out_[i]);
    }
  }
  path_.clear();
  for (Node node = to; node != from; node = arrivals_[node].from) {
    if (arrivals_[node].arc != FullProblem::kNoArc) path_.push_back(arrivals_[node].arc);
  }
  std::reverse(path_.begin(), path_.end());
}

// ---- conflicts ----

bool FullSearch::learn(Ref conflict) {
  ++conflicts_;
  std::uint32_t highest = 0;
  for (const std::uint32_t code : lemmas_.codes(conflict)) {
    insist(value_[code] == kFalse, "the search met a conflict whose clause is not false");
    highest = std::max(highest, about_[code / 2].level);
  }
  if (highest == 0) {
    finish(conflict);
    return false;
  }
  back_to(highest);
  analyse(conflict);
  const std::uint32_t levels = distinct_levels(clause_);
  std::uint32_t target = 0;
  for (std::size_t i = 1; i < clause_.size(); ++i) {
    const std::uint32_t here = about_[clause_[i].choice()].level;
    if (here <= target) continue;
    target = here;
    std::swap(clause_[1], clause_[i]);
  }
  const Ref learnt = lemmas_.add(LemmaStore::Kind::Premises, clause_, premises_);
  lemmas_.note(learnt) = levels * 2 + 1;
  back_to(target);
  insist(value_[clause_[0].code] == kOpen, "the search learnt a clause that asserts nothing");
  if (clause_.size() == 1) {
    unit_[clause_[0].choice()] = lemmas_.id(learnt);
  } else {
    learnt_.push_back(lemmas_.id(learnt));
    watch(learnt);
  }
  assign(clause_[0], {lemmas_.id(learnt), kNever});
  heap_.decay(kDecay);
  return true;
}

// Notes a literal of the conflict or of a reason that is resolved with it.
void FullSearch::note(Literal literal) {
  const std::uint32_t choice = literal.choice();
  if (seen_[choice] != Seen::No) return;
  seen_[choice] = Seen::Source;
  to_clear_.push_back(choice);
  if (about_[choice].level == 0) {
    fixed_.push_back(choice);
    return;
  }
  heap_.bump(choice);
  if (about_[choice].level == level()) {
    ++open_;
  } else {
    clause_.push_back(literal);
  }
}

// Resolves the conflict with the reasons of its literals, backwards along the trail, until one
// literal of the current level is left: clause_, with that literal first; premises_ are what it
// follows from.
void FullSearch::analyse(Ref conflict) {
  clause_.assign(1, Literal{});
  resolved_.clear();
  fixed_.clear();
  open_ = 0;
  std::size_t at = trail_.size();
  Ref clause = conflict;
  const LemmaId id = lemmas_.id(conflict);
  for (;;) {
    if (lemmas_.kind(clause) == LemmaStore::Kind::Premises) lemmas_.note(clause) |= 1;
    work_ += lemmas_.codes(clause).size();
    for (const std::uint32_t code : lemmas_.codes(clause)) note(Literal{code});
    insist(open_ > 0, "the search met a conflict without a cause at its level");
    do --at;
    while (seen_[trail_[at].choice()] == Seen::No);
    if (--open_ == 0) break;
    resolved_.push_back(trail_[at].choice());
    clause = reason(trail_[at]);
  }
  clause_[0] = !trail_[at];
  static_cast<void>(distinct_levels(clause_));
  minimise();
  collect_premises(lemmas_.ref(id));
  for (const std::uint32_t choice : to_clear_) seen_[choice] = Seen::No;
  to_clear_.clear();
}

// Drops literals that follow from the others.
void FullSearch::minimise() {
  std::size_t kept = 1;
  for (std::size_t i = 1; i < clause_.size(); ++i) {
    if (is_redundant(clause_[i])) {
      resolved_.push_back(clause_[i].choice());
    } else {
      clause_[kept++] = clause_[i];
    }
  }
  clause_.resize(kept);
}

// Whether a literal of clause_ follows from the others: all that it rests on, directly or not, is
// one of them, fixed, or follows from them itself.
bool FullSearch::is_redundant(Literal literal) {
  const auto is_decision = [&](std::uint32_t choice) {
    return about_[choice].reason.lemma == kNoLemma && about_[choice].reason.taboo == kNever;
  };
  if (is_decision(literal.choice())) return false;
  redundant_.assign(1, {literal.choice(), 0});
  while (!redundant_.empty()) {
    auto& [choice, next] = redundant_.back();
    const Ref why = reason(Literal::of(choice, value_[choice * 2] == kFalse));
    const auto codes = lemmas_.codes(why);
    if (next == codes.size()) {
      if (redundant_.size() > 1) {
        seen_[choice] = Seen::Redundant;
        to_clear_.push_back(choice);
        resolved_.push_back(choice);
      }
      redundant_.pop_back();
      continue;
    }
    const std::uint32_t other = codes[next++] / 2;
    if (other == choice) continue;
    if (seen_[other] == Seen::Source || seen_[other] == Seen::Redundant) continue;
    if (about_[other].level == 0) {
      seen_[other] = Seen::Source;
      to_clear_.push_back(other);
      fixed_.push_back(other);
      continue;
    }
    ++work_;
    if (seen_[other] == Seen::Needed || is_decision(other) ||
        stamp_[about_[other].level] != stamps_) {
      // Whatever led here is needed, too, but for the literal asked about.
      for (std::size_t i = 1; i < redundant_.size(); ++i) {
        seen_[redundant_[i].first] = Seen::Needed;
        to_clear_.push_back(redundant_[i].first);
      }
      return false;
    }
    redundant_.emplace_back(other, 0);
  }
  return true;
}

// Reasons in the order in which their literals became true; before them what is fixed, and the
// conflict behind them.
void FullSearch::collect_premises(Ref conflict) {
  const LemmaId last = lemmas_.id(conflict);
  std::sort(resolved_.begin(), resolved_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return about_[a].position < about_[b].position;
  });
  premises_.clear();
  for (const std::uint32_t choice : fixed_) {
    premises_.push_back(unit(Literal::of(choice, value_[choice * 2] == kFalse)));
  }
  for (const std::uint32_t choice : resolved_) premises_.push_back(about_[choice].reason.lemma);
  premises_.push_back(last);
}

std::uint32_t FullSearch::distinct_levels(std::span<const Literal> literals) {
  ++stamps_;
  std::uint32_t count = 0;
  if (stamp_.size() <= level()) stamp_.resize(level() + 1, 0);
  for (const Literal literal : literals) {
    const std::uint32_t here = about_[literal.choice()].level;
    if (std::exchange(stamp_[here], stamps_) != stamps_) ++count;
  }
  return count;
}

void FullSearch::watch(Ref clause) {
  const auto codes = lemmas_.codes(clause);
  watches_[codes[0] ^ 1].push_back({clause, Literal{codes[1]}});
  watches_[codes[1] ^ 1].push_back({clause, Literal{codes[0]}});
}

}  // namespace ouro
