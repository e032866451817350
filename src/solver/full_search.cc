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
constexpr std::uint32_t kGoodLevels = 2;         // Clauses of so few levels are kept for ever,
constexpr std::uint32_t kFairLevels = 6;         // and these as long as they are of use.

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
  for (std::size_t at = 0; at < order.size(); ++at) {
    number[order[at]] = static_cast<Node>(order.size() - 1 - at);
  }
  return number;
}

Arc backwards(Arc arc, std::span<const Node> number) { return {number[arc.to], number[arc.from]}; }

Digraph renumbered(const FullProblem& problem, std::span<const Node> number) {
  std::vector<Arc> arcs;
  arcs.reserve(problem.known.size());
  for (const Arc& arc : problem.known) arcs.push_back(backwards(arc, number));
  std::sort(arcs.begin(), arcs.end());
  arcs.erase(std::unique(arcs.begin(), arcs.end()), arcs.end());
  return {problem.node_count, arcs};
}

}  // namespace

FullSearch::FullSearch(const FullProblem& problem, std::span<const Node> order)
    : number_(numbers(order)),
      node_(order.rbegin(), order.rend()),
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
      taboos_.push_back({number_[to], number_[from], code, arc});
    }
  };
  for (std::uint32_t code = 0; code < value_.size(); ++code) {
    const FullProblem::Side& side = problem.choices[code / 2][code % 2];
    first_arc_.push_back(static_cast<std::uint32_t>(arcs_.size()));
    add_taboos(side.taboos(), code, first_arc_.back());
    for (const Arc& arc : side.arcs()) {
      arcs_.push_back({backwards(arc, number_), code});
    }
  }
  first_arc_.push_back(static_cast<std::uint32_t>(arcs_.size()));
  add_taboos(problem.taboos, kNever, 0);
  std::stable_sort(taboos_.begin(), taboos_.end(),
                   [](const auto& a, const auto& b) { return a.from < b.from; });
  for (const LabelledTaboo& taboo : taboos_) taboo_to_.push_back(taboo.to);
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
        if (gain.has(taboo_to_[t])) fine = obey(t);
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

}  // namespace ouro
