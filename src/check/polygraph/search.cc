#include "check/polygraph/search.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/parallel.h"
#include "base/sort_within.h"

namespace ouro {
namespace {

// Conflicts before the first restart; later ones take longer.
constexpr std::uint64_t kRestart = 200;
constexpr std::size_t kManyChains = 50'000;  // Fewer are not worth a thread.

}  // namespace

Search::Search(const Encoding& encoding, DynamicOrder& order, const SearchOptions& options,
               unsigned threads, const Budget& budget)
    : e_(encoding),
      order_(order),
      options_(options),
      budget_(budget),
      ticker_(budget, 4096, 4),
      saturate_at_(options.many),
      restart_at_(kRestart),
      restart_after_(kRestart) {
  slots_.resize(e_.chain_count());
  slot_of_.resize(e_.chain_count());
  seen_in_.resize(e_.chain_count(), 0);
  const std::size_t keys = e_.chain_first().size() - 1;
  const std::size_t parts = e_.chain_count() < kManyChains ? 1 : thread_count(threads);
  std::vector<std::vector<std::uint32_t>> backward(parts);
  for_each_part(parts, [&](std::size_t part) {
    sort_chains(keys * part / parts, keys * (part + 1) / parts, backward[part]);
  });
  for (const auto& slots : backward) {
    for (const std::uint32_t slot : slots) push(slot);
  }
  if (e_.members().empty()) return;
  seen_.emplace(e_, order_, *this, budget);
  if (e_.open().sources) sources_.emplace(e_, order_, *this, *seen_, budget);
  if (e_.open().results) results_.emplace(e_, *this, *seen_, budget);
}

// Sorts the chains of a range of keys, and collects the slots of chains from which an arc to the
// next chain runs backward in the order.
void Search::sort_chains(std::size_t first_key, std::size_t end_key,
                         std::vector<std::uint32_t>& backward) {
  const auto first = e_.chain_first();
  const auto put = [&](ChainId chain, std::uint32_t slot) {
    slots_[slot] = chain;
    slot_of_[chain] = slot;
  };
  std::vector<std::pair<std::uint32_t, ChainId>> by_position;
  for_each_within(budget_, first_key, end_key, [&](std::size_t key) {
    put(first[key], first[key]);
    by_position.clear();
    for (ChainId chain = first[key] + 1; chain < first[key + 1]; ++chain) {
      by_position.emplace_back(position(chain), chain);
    }
    if (!sort_within(budget_, by_position, std::less<>())) return;
    std::uint32_t slot = first[key];
    for (const auto& [_, chain] : by_position) put(chain, ++slot);
    for (slot = first[key]; slot + 1 < first[key + 1]; ++slot) {
      if (this->backward(slots_[slot], slots_[slot + 1])) backward.push_back(slot);
    }
  });
}

bool Search::same_key(std::uint32_t slot) const {
  return slot + 1 < slots_.size() && !is_initial(slots_[slot + 1]);
}

// How far the arcs of "a before b" reach back in the order; zero if they all run forward.
std::uint64_t Search::span(ChainId a, ChainId b) const {
  std::uint64_t total = 0;
  const Side side = e_.before(a, b);
  for (const Arc& arc : side.span()) {
    const std::uint32_t from = order_.position(arc.from);
    const std::uint32_t to = order_.position(arc.to);
    if (from > to) total += from - to;
  }
  return total;
}

void Search::push(std::uint32_t slot) { open_.emplace(position(slots_[slot + 1]), slots_[slot]); }

void Search::push_if_backward(std::uint32_t slot) {
  if (same_key(slot) && backward(slots_[slot], slots_[slot + 1])) push(slot);
}

// ---- following the order ----

void Search::swap_slots(std::uint32_t left) {
  std::swap(slots_[left], slots_[left + 1]);
  slot_of_[slots_[left]] = left;
  slot_of_[slots_[left + 1]] = left + 1;
}

// Moves a chain to its slot among those of its key; returns how many others it passed.
std::uint32_t Search::settle(ChainId chain) {
  const std::uint32_t start = slot_of_[chain];
  const std::uint32_t here = position(chain);
  const ChainId left = slots_[start - 1];
  std::uint32_t slot = start;
  for (; !is_initial(slots_[slot - 1]) && position(slots_[slot - 1]) > here; --slot) {
    swap_slots(slot - 1);
  }
  for (; same_key(slot) && position(slots_[slot + 1]) < here; ++slot) swap_slots(slot);
  if (slot == start) return 0;
  touched_.push_back(left);  // Has another right neighbour now.
  return slot > start ? slot - start : start - slot;
}

// Brings slots_ and open_ up to date with the nodes that moved in the order.
void Search::settle_moved() {
  if (order_.moved().empty()) return;
  if (results_) results_->moved();
  unsettled_.clear();
  touched_.clear();
  ++round_;
  for (const Node node : order_.moved()) {
    if (sources_) sources_->moved(node);
    e_.for_each_chain_at(node, [&](ChainId chain) {
      if (seen_in_[chain] == round_) return;
      seen_in_[chain] = round_;
      unsettled_.push_back(chain);
    });
  }
  order_.clear_moved();
  // A chain may be in the way of another that moves too, so repeat until nothing changes.
  std::uint32_t passed = 0;
  for (bool again = true; again;) {
    again = false;
    for (const ChainId chain : unsettled_) {
      if (is_initial(chain) || ticker_.tick(1 + passed)) continue;
      passed = settle(chain);
      again |= passed > 0;
    }
  }
  for (const ChainId chain : unsettled_) {
    push_if_backward(slot_of_[chain]);
    if (!is_initial(chain)) push_if_backward(slot_of_[chain] - 1);
  }
  for (const ChainId chain : touched_) push_if_backward(slot_of_[chain]);
  ticker_.tick(static_cast<std::uint32_t>(unsettled_.size() + touched_.size()));
}

// ---- choosing ----

Literal Search::literal(Solver& solver, ChainId a, ChainId b) {
  const bool opposite = a > b;
  const auto key = std::minmax(a, b);
  const auto [at, added] = choices_.try_emplace({key.first, key.second}, 0);
  if (added) {
    at->second =
        solver.add_choice(e_.before(key.first, key.second), e_.before(key.second, key.first));
    pairs_.push_back({key.first, key.second});
  }
  return Literal::of(at->second, opposite);
}

std::uint32_t Search::add_other_choice(Solver& solver, const Side& first, const Side& second) {
  pairs_.emplace_back();
  return solver.add_choice(first, second);
}

ChainId Search::last_chain(KeyId key, Node node) const {
  const auto first = slots_.begin() + e_.chain_first()[key.index()];
  const auto end = slots_.begin() + e_.chain_first()[key.index() + 1];
  const std::uint32_t now = order_.position(node);
  const auto after =
      std::partition_point(first + 1, end, [&](ChainId chain) { return position(chain) < now; });
  return *(after - 1);
}

ChainId Search::neighbour(ChainId chain, int step) const {
  const std::uint32_t slot = slot_of_[chain];
  if (step > 0) return same_key(slot) ? slots_[slot + 1] : kNoChain;
  return is_initial(chain) ? kNoChain : slots_[slot - 1];
}

Guide::Next Search::next(Solver& solver) {
  if (!options_.on_demand && pairs_.empty()) add_all_choices(solver);
  settle_moved();
  Next next;
  if (options_.saturation && saturate(solver, next)) return next;
  const bool by_activity = options_.branching == SearchOptions::Branching::Activity;
  if (by_activity && (restart(solver, next) || branch_by_activity(solver, next))) return next;
  if (branch_by_order(solver, next)) return next;
  if (sources_ && sources_->next(solver, next)) return next;
  if (results_ && results_->next(solver, next)) return next;
  if (!options_.on_demand) branch_by_number(solver, next);
  return next;
}

// Makes a choice of every pair of chains of a key, but for the initial ones.
void Search::add_all_choices(Solver& solver) {
  const auto first = e_.chain_first();
  for (std::size_t k = 0; k + 1 < first.size(); ++k) {
    for (ChainId a = first[k] + 1; a < first[k + 1]; ++a) {
      for (ChainId b = a + 1; b < first[k + 1]; ++b) literal(solver, a, b);
    }
  }
}

// The side of a choice to try first.
Literal Search::phase(const Solver& solver, std::uint32_t choice) const {
  const auto [a, b] = pairs_[choice];
  if (a == kNoChain) return Literal::of(choice, false);
  switch (options_.phase) {
    case SearchOptions::Phase::Saved:
      return solver.last(choice);
    case SearchOptions::Phase::Fixed:
      return Literal::of(choice, false);
    default:
      break;
  }
  // If both sides reach back equally far, mostly not at all, keep the order as it is.
  const std::uint64_t forth = span(a, b);
  const std::uint64_t back = span(b, a);
  return Literal::of(choice, forth != back ? forth > back : position(a) > position(b));
}

// After many conflicts goes back to the root, finds which sides are impossible there, and tells the
// solver one per call; repeats that until nothing more is found.
bool Search::saturate(Solver& solver, Next& next) {
  if (!saturating_) {
    if (solver.conflict_count() < saturate_at_) return false;
    if (!saturation_) saturation_.emplace(e_, order_);
    saturate_at_ = saturate_at_ * 2 + 1;
    if (!saturation_->affordable()) return false;
    saturating_ = true;
    next.kind = Next::Kind::Restart;
    return true;
  }
  for (;;) {
    if (impossible_.empty()) impossible_ = saturation_->round(budget_);
    while (!impossible_.empty()) {
      const auto [a, b, arc] = impossible_.back();
      impossible_.pop_back();
      const Literal forced = literal(solver, b, a);
      if (solver.is_true(forced)) continue;
      next.kind = Next::Kind::Forbid;
      next.forbidden.literals = {forced};
      next.forbidden.cycle = order_.lightest_path(arc.to, arc.from);
      next.forbidden.add_literals_against(next.forbidden.cycle);
      next.forbidden.cycle.push_back({arc, (!forced).code});
      fixed_some_ = true;
      return true;
    }
    if (!std::exchange(fixed_some_, false)) break;
  }
  saturating_ = false;
  return false;
}

bool Search::restart(Solver& solver, Next& next) {
  if (solver.conflict_count() < restart_at_ || solver.at_root()) return false;
  restart_after_ += restart_after_ / 10;
  restart_at_ = solver.conflict_count() + restart_after_;
  next.kind = Next::Kind::Restart;
  return true;
}

bool Search::branch_by_activity(Solver& solver, Next& next) {
  for (; known_to_active_ < pairs_.size(); ++known_to_active_)
    reopened_.push_back(known_to_active_);
  for (const std::uint32_t choice : reopened_) active_.emplace(solver.activity(choice), choice);
  reopened_.clear();
  while (!active_.empty()) {
    const auto [activity, choice] = active_.top();
    active_.pop();
    if (solver.assigned(choice)) continue;
    if (activity != solver.activity(choice)) {
      active_.emplace(solver.activity(choice), choice);
      continue;
    }
    if (activity == 0) return false;
    next.kind = Next::Kind::Decide;
    next.literal = phase(solver, choice);
    return true;
  }
  return false;
}

bool Search::branch_by_order(Solver& solver, Next& next) {
  while (!open_.empty()) {
    ticker_.tick();
    const ChainId a = open_.top().second;
    const std::uint32_t slot = slot_of_[a];
    if (!same_key(slot) || !backward(a, slots_[slot + 1])) {
      open_.pop();
      continue;
    }
    const ChainId b = slots_[slot + 1];
    if (is_initial(a)) {
      next.kind = Next::Kind::Require;  // Stays on top until it runs forward.
      next.required = e_.before(a, b);
      return true;
    }
    open_.pop();
    next.kind = Next::Kind::Decide;
    next.literal = phase(solver, literal(solver, a, b).choice());
    return true;
  }
  return false;
}

bool Search::branch_by_number(Solver& solver, Next& next) {
  for (; first_open_ < pairs_.size(); ++first_open_) {
    if (solver.assigned(first_open_) || pairs_[first_open_].first == kNoChain) continue;
    next.kind = Next::Kind::Decide;
    next.literal = phase(solver, first_open_);
    return true;
  }
  return false;
}

void Search::reopened(std::uint32_t choice) {
  first_open_ = std::min(first_open_, choice);
  if (choice < known_to_active_) reopened_.push_back(choice);
  if (pairs_[choice].first == kNoChain) return;
  for (const ChainId chain : {pairs_[choice].first, pairs_[choice].second}) {
    push_if_backward(slot_of_[chain]);
    push_if_backward(slot_of_[chain] - 1);
  }
}

}  // namespace ouro
