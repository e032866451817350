#include "solver/full_search.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/internal_error.h"

namespace ouro {
namespace {

constexpr std::uint64_t kRestartUnit = 50;       // Conflicts.
constexpr std::uint64_t kFirstReduction = 2000;  // Conflicts before clauses are forgotten first,
constexpr std::uint64_t kReductionStep = 300;    // and by how much longer it takes each time.
constexpr std::size_t kFirstGarbage = 1 << 22;   // Words of lemmas before some are forgotten.
constexpr double kDecay = 0.95;
constexpr std::uint32_t kGoodLevels = 2;  // Clauses of so few levels are kept for ever,
constexpr std::uint32_t kFairLevels = 6;  // and these as long as they are of use.

// 1 1 2 1 1 2 4 1 1 2 1 1 2 4 8 …, from 0 (Luby, Sinclair and Zuckerman, 1993).
std::uint64_t luby(std::uint64_t i) {
  std::uint64_t size = 1;
  while (size < i + 1) size = 2 * size + 1;
  while (size - 1 != i) {
    size = (size - 1) / 2;
    i %= size;
  }
  return (size + 1) / 2;
}

std::vector<Node> numbers(std::span<const Node> order) {
  std::vector<Node> number(order.size());
  for (std::size_t at = 0; at < order.size(); ++at) number[order[at]] = static_cast<Node>(at);
  return number;
}

Digraph renumbered(const FullProblem& problem, std::span<const Node> number) {
  std::vector<Arc> arcs;
  arcs.reserve(problem.known.size());
  for (const Arc& arc : problem.known) arcs.push_back({number[arc.from], number[arc.to]});
  std::sort(arcs.begin(), arcs.end());
  arcs.erase(std::unique(arcs.begin(), arcs.end()), arcs.end());
  return {problem.node_count, arcs};
}

}  // namespace

FullSearch::FullSearch(const FullProblem& problem, std::span<const Node> order)
    : number_(numbers(order)),
      node_(order.begin(), order.end()),
      known_(renumbered(problem, number_)),
      closure_(known_),
      value_(problem.choices.size() * 2, kOpen),
      about_(problem.choices.size()),
      phase_(problem.choices.size(), 0),
      watches_(problem.choices.size() * 2),
      unit_(problem.choices.size(), kNoLemma),
      heap_(problem.choices.size()),
      seen_(problem.choices.size(), Seen::No),
      arrivals_(problem.node_count),
      restart_at_(kRestartUnit),
      reduce_at_(kFirstReduction),
      garbage_at_(kFirstGarbage) {
  insist(order.size() == problem.node_count, "the order of a search misses nodes");
  add_sides(problem);
}

void FullSearch::add_sides(const FullProblem& problem) {
  const auto add_taboos = [&](const auto& taboos, std::uint32_t code, std::uint32_t first_arc) {
    for (const auto& [from, to, closing] : taboos) {
      const std::uint32_t arc =
          closing == FullProblem::kNoArc ? FullProblem::kNoArc : first_arc + closing;
      taboos_.push_back({number_[from], number_[to], code, arc});
    }
  };
  for (std::uint32_t code = 0; code < value_.size(); ++code) {
    const FullProblem::Side& side = problem.choices[code / 2][code % 2];
    first_arc_.push_back(static_cast<std::uint32_t>(arcs_.size()));
    add_taboos(side.taboos(), code, first_arc_.back());
    for (const Arc& arc : side.arcs()) {
      arcs_.push_back({{number_[arc.from], number_[arc.to]}, code});
    }
  }
  first_arc_.push_back(static_cast<std::uint32_t>(arcs_.size()));
  add_taboos(problem.taboos, kNever, 0);
  std::stable_sort(taboos_.begin(), taboos_.end(),
                   [](const auto& a, const auto& b) { return a.from < b.from; });
  first_taboo_.assign(problem.node_count + 1, 0);
  for (const LabelledTaboo& taboo : taboos_) ++first_taboo_[taboo.from + 1];
  std::partial_sum(first_taboo_.begin(), first_taboo_.end(), first_taboo_.begin());
  out_.resize(arcs_.size());
  std::iota(out_.begin(), out_.end(), 0);
  std::stable_sort(out_.begin(), out_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return arcs_[a].arc.from < arcs_[b].arc.from;
  });
  first_out_.assign(problem.node_count + 1, 0);
  for (const LabelledArc& arc : arcs_) ++first_out_[arc.arc.from + 1];
  std::partial_sum(first_out_.begin(), first_out_.end(), first_out_.begin());
}

Solution FullSearch::run(const Budget& budget) {
  if (refuted_) return Solution::None;
  Ref conflict = LemmaStore::kNone;
  if (!std::exchange(begun_, true)) conflict = begin();
  for (;;) {
    if (conflict == LemmaStore::kNone) conflict = propagate();
    if (conflict != LemmaStore::kNone) {
      if (!learn(conflict)) {
        refuted_ = true;
        return Solution::None;
      }
      conflict = LemmaStore::kNone;
      continue;
    }
    if (charge(budget)) return Solution::Stopped;
    if (conflicts_ >= restart_at_) restart();
    if (conflicts_ >= reduce_at_) reduce();
    while (!heap_.empty() && value_[heap_.top() * 2] != kOpen) heap_.pop();
    if (heap_.empty()) return Solution::Found;
    decide();
  }
}

// Charges the budget now and then. Returns whether it is exhausted.
bool FullSearch::charge(const Budget& budget) {
  constexpr std::uint64_t kSome = 10'000;
  const std::uint64_t steps = work_ + (closure_.words() - words_charged_) / kWordsPerStep;
  if (steps < kSome) return false;
  budget.charge(steps);
  work_ = 0;
  words_charged_ = closure_.words();
  return is_too_large() || budget.exhausted();
}

bool FullSearch::is_too_large() const {
  constexpr std::size_t kMaxBytes = std::size_t{1} << 30;
  return closure_.bytes() + lemmas_.words() * sizeof(std::uint32_t) > kMaxBytes;
}

// Obeys the taboos that known arcs break.
FullSearch::Ref FullSearch::begin() {
  for (std::uint32_t taboo = 0; taboo < taboos_.size(); ++taboo) {
    if (!closure_.reaches(taboos_[taboo].from, taboos_[taboo].to)) continue;
    if (!obey(taboo)) return explain(broken_, static_cast<std::uint32_t>(trail_.size()));
  }
  return LemmaStore::kNone;
}

// ---- assignment ----

void FullSearch::assign(Literal literal, Reason reason) {
  value_[literal.code] = kTrue;
  value_[(!literal).code] = kFalse;
  about_[literal.choice()] = {level(), static_cast<std::uint32_t>(trail_.size()), reason};
  trail_.push_back(literal);
}

void FullSearch::decide() {
  const std::uint32_t choice = heap_.top();
  heap_.pop();
  marks_.push_back({static_cast<std::uint32_t>(trail_.size()), closure_.size()});
  assign(Literal::of(choice, phase_[choice] != 0), {});
}

void FullSearch::back_to(std::uint32_t target) {
  if (target >= level()) return;
  const Mark mark = marks_[target];
  for (std::size_t i = mark.trail; i < trail_.size(); ++i) {
    const Literal literal = trail_[i];
    phase_[literal.choice()] = literal.opposite() ? 1 : 0;
    value_[literal.code] = value_[(!literal).code] = kOpen;
    heap_.push(literal.choice());
  }
  trail_.resize(mark.trail);
  marks_.resize(target);
  closure_.shrink(mark.arcs);
  clauses_done_ = std::min<std::size_t>(clauses_done_, mark.trail);
  arcs_done_ = std::min<std::size_t>(arcs_done_, mark.trail);
}

// Takes decisions back, but for those that would be made again first.
void FullSearch::restart() {
  restart_at_ = conflicts_ + kRestartUnit * luby(++restarts_);
  while (!heap_.empty() && value_[heap_.top() * 2] != kOpen) heap_.pop();
  if (heap_.empty()) return;
  const double next = heap_.activity(heap_.top());
  std::uint32_t keep = 0;
  while (keep < level() && heap_.activity(trail_[marks_[keep].trail].choice()) > next) ++keep;
  back_to(keep);
}

FullSearch::Ref FullSearch::propagate() {
  while (arcs_done_ < trail_.size()) {
    while (clauses_done_ < trail_.size()) {
      const Ref conflict = propagate_clauses(trail_[clauses_done_++]);
      if (conflict != LemmaStore::kNone) return conflict;
    }
    const Ref conflict = propagate_arcs(trail_[arcs_done_++]);
    if (conflict != LemmaStore::kNone) return conflict;
  }
  return LemmaStore::kNone;
}

FullSearch::Ref FullSearch::propagate_clauses(Literal literal) {
  auto& watches = watches_[literal.code];
  const std::uint32_t false_one = (!literal).code;
  std::size_t kept = 0;
  work_ += 1 + watches.size() / 2;
  for (std::size_t i = 0; i < watches.size(); ++i) {
    const Watch watch = watches[i];
    if (is_true(watch.other)) {
      watches[kept++] = watch;
      continue;
    }
    const auto codes = lemmas_.codes(watch.clause);
    if (codes[0] == false_one) std::swap(codes[0], codes[1]);
    const Literal first{codes[0]};
    if (is_true(first)) {
      watches[kept++] = {watch.clause, first};
      continue;
    }
    std::size_t free = 2;
    while (free < codes.size() && value_[codes[free]] == kFalse) ++free;
    if (free < codes.size()) {
      std::swap(codes[1], codes[free]);
      watches_[codes[1] ^ 1].push_back({watch.clause, first});
      continue;
    }
    watches[kept++] = watch;
    if (is_false(first)) {
      for (++i; i < watches.size(); ++i) watches[kept++] = watches[i];
      watches.resize(kept);
      return watch.clause;
    }
    assign(first, {lemmas_.id(watch.clause), kNever});
  }
  watches.resize(kept);
  return LemmaStore::kNone;
}

FullSearch::Ref FullSearch::propagate_arcs(Literal literal) {
  for (std::uint32_t a = first_arc_[literal.code]; a < first_arc_[literal.code + 1]; ++a) {
    const Arc arc = arcs_[a].arc;
    insist(!closure_.reaches(arc.to, arc.from), "the search adds an arc that closes a cycle");
    bool fine = true;
    closure_.add(arc, [&](Node node, const Closure::Gain& gain) {
      work_ += 1 + (first_taboo_[node + 1] - first_taboo_[node]) / 4;
      for (std::uint32_t t = first_taboo_[node]; fine && t < first_taboo_[node + 1]; ++t) {
        if (gain.has(taboos_[t].to)) fine = obey(t);
      }
      return fine;
    });
    if (!fine) return explain(broken_, static_cast<std::uint32_t>(trail_.size()));
  }
  return LemmaStore::kNone;
}

bool FullSearch::obey(std::uint32_t taboo) {
  const std::uint32_t code = taboos_[taboo].code;
  if (code != kNever && value_[code] == kFalse) return true;
  if (code != kNever && value_[code] == kOpen) {
    assign(!Literal{code}, {kNoLemma, taboo});
    return true;
  }
  broken_ = taboo;
  return false;
}

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

// The lemma that says that `literal`, which is true at level zero, is true in every solution. It
// follows from the reason of the literal and from such lemmas about the others in the reason, which
// are made first. Those were assigned earlier, so this ends.
LemmaId FullSearch::unit(Literal literal) {
  std::vector<Literal> stack{literal};
  std::vector<LemmaId> premises;
  while (!stack.empty()) {
    const Literal top = stack.back();
    if (unit_[top.choice()] != kNoLemma) {
      stack.pop_back();
      continue;
    }
    const Ref why = reason(top);
    premises.clear();
    bool ready = true;
    for (const std::uint32_t code : lemmas_.codes(why)) {
      if (code == top.code) continue;
      if (unit_[code / 2] == kNoLemma) {
        stack.push_back(!Literal{code});
        ready = false;
      } else {
        premises.push_back(unit_[code / 2]);
      }
    }
    if (!ready) continue;
    stack.pop_back();
    LemmaId made = lemmas_.id(why);
    if (!premises.empty()) {
      premises.push_back(made);
      made = lemmas_.id(
          lemmas_.add(LemmaStore::Kind::Premises, std::span<const Literal>(&top, 1), premises));
    }
    unit_[top.choice()] = made;
  }
  return unit_[literal.choice()];
}

// Adds the empty lemma. REQUIRES: all literals of `conflict` are false at level zero.
void FullSearch::finish(Ref conflict) {
  empty_ = lemmas_.id(conflict);
  const std::size_t size = lemmas_.codes(conflict).size();
  if (size == 0) return;  // A cycle of known arcs alone.
  premises_.clear();
  for (std::size_t i = 0; i < size; ++i) {
    premises_.push_back(unit(!Literal{lemmas_.codes(conflict)[i]}));
  }
  premises_.push_back(empty_);
  empty_ = lemmas_.id(lemmas_.add(LemmaStore::Kind::Premises, {}, premises_));
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

// ---- forgetting ----

bool FullSearch::is_reason(Ref clause) {
  const Literal first{lemmas_.codes(clause)[0]};
  return is_true(first) && about_[first.choice()].reason.lemma == lemmas_.id(clause);
}

// Forgets the worse half of the clauses that are neither good nor, lately, of use.
void FullSearch::reduce() {
  reduce_at_ = conflicts_ + kFirstReduction + kReductionStep * ++reductions_;
  std::vector<std::pair<std::uint32_t, LemmaId>> bad;  // By levels.
  std::vector<LemmaId> kept;
  for (const LemmaId id : learnt_) {
    const Ref ref = lemmas_.ref(id);
    const std::uint32_t levels = lemmas_.note(ref) / 2;
    const bool used = (lemmas_.note(ref) & 1) != 0;
    lemmas_.note(ref) &= ~1u;
    if (levels <= kGoodLevels || (levels <= kFairLevels && used) || is_reason(ref)) {
      kept.push_back(id);
    } else {
      bad.emplace_back(used ? levels : levels + 1000, id);
    }
  }
  std::sort(bad.begin(), bad.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : a.second > b.second;
  });
  for (std::size_t i = 0; i < bad.size() / 2; ++i) kept.push_back(bad[i].second);
  std::sort(kept.begin(), kept.end());
  learnt_ = std::move(kept);
  if (lemmas_.words() > garbage_at_) collect_garbage();
  for (auto& watches : watches_) watches.clear();
  for (const LemmaId id : learnt_) watch(lemmas_.ref(id));
  work_ += 20 * learnt_.size();
}

void FullSearch::collect_garbage() {
  std::vector<LemmaId> roots = learnt_;
  for (const LemmaId id : unit_) {
    if (id != kNoLemma) roots.push_back(id);
  }
  for (const Literal literal : trail_) {
    const LemmaId id = about_[literal.choice()].reason.lemma;
    if (id != kNoLemma) roots.push_back(id);
  }
  work_ += lemmas_.words() / 4;
  lemmas_.keep_only(roots);
  garbage_at_ = std::max(kFirstGarbage, 2 * lemmas_.words());
}

// ---- proof ----

std::vector<Lemma> FullSearch::proof() {
  insist(refuted_, "there is no proof");
  const Closure known(known_);
  const std::vector<LemmaId> needed = lemmas_.needed_by(empty_);
  std::vector<Lemma> proof;
  proof.reserve(needed.size());
  const auto renumbered = [&](LemmaId id) {
    return static_cast<LemmaId>(std::lower_bound(needed.begin(), needed.end(), id) -
                                needed.begin());
  };
  for (const LemmaId id : needed) {
    const Ref ref = lemmas_.ref(id);
    Lemma& lemma = proof.emplace_back();
    for (const std::uint32_t code : lemmas_.codes(ref)) lemma.literals.push_back(Literal{code});
    if (lemmas_.kind(ref) == LemmaStore::Kind::Cycle) {
      lemma.cycle = cycle(lemmas_.because(ref), known);
    } else {
      for (const LemmaId premise : lemmas_.because(ref)) {
        lemma.premises.push_back(renumbered(premise));
      }
    }
  }
  return proof;
}

// The cycle that explain() knows by the arcs of choices on it, and the taboo behind them.
std::vector<DynamicOrder::Step> FullSearch::cycle(std::span<const std::uint32_t> because,
                                                  const Closure& known) const {
  const LabelledTaboo& taboo = taboos_[because.back()];
  std::vector<DynamicOrder::Step> steps;
  Node at = taboo.from;
  const auto walk_to = [&](Node goal) {
    while (at != goal) {
      const auto out = known_.out(at);
      const auto next = std::find_if(out.begin(), out.end(),
                                     [&](Node node) { return known.reaches(node, goal); });
      insist(next != out.end(), "the search concluded from a path that is not there");
      steps.push_back({{node_[at], node_[*next]}, DynamicOrder::kNoLabel});
      at = *next;
    }
  };
  const auto take = [&](std::uint32_t arc) {
    steps.push_back({{node_[at], node_[arcs_[arc].arc.to]}, arcs_[arc].code});
    at = arcs_[arc].arc.to;
  };
  for (const std::uint32_t arc : because.first(because.size() - 1)) {
    walk_to(arcs_[arc].arc.from);
    take(arc);
  }
  walk_to(taboo.to);
  if (taboo.closing != FullProblem::kNoArc) take(taboo.closing);
  return steps;
}

}  // namespace ouro
