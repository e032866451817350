// Splits on the order of two writers of a key. If both orders close a cycle, these are two cases
// and the proof is complete; if one does, it is a case, and the other order is assumed from then
// on. An assumption that no cycle needed is removed afterwards, with its other side.

#include "explain/cases.h"

#include <algorithm>
#include <bit>

#include "explain/cycle.h"
#include "explain/mirrors.h"

namespace ouro {
namespace {

// Limits beyond which no cases are told.
constexpr std::size_t kMostTxns = 48;
constexpr std::size_t kMostSplits = 200;
constexpr std::size_t kDeepest = 24;  // Assumptions at a time, and so the depth of the recursion.

// Two writers of a key, numbered as in Facts::keys().
struct Pair {
  std::size_t key, first, second;
};

// A case, and the assumptions that its cycle needs.
struct Leaf {
  Premises premises = 0;
  Case told;
};

class Teller {
 public:
  Teller(const Observed& observed, Level level, std::int64_t clock_drift, const Budget& budget)
      : history_(observed.history()),
        facts_(observed, level, clock_drift),
        level_(level),
        budget_(budget) {}

  std::optional<std::vector<Case>> run() {
    if (facts_.txn_count() > kMostTxns) return std::nullopt;
    std::vector<Leaf> leaves;
    if (!solve(facts_.known_orders(), leaves)) return std::nullopt;
    std::vector<Case> cases;
    for (Leaf& leaf : leaves) cases.push_back(std::move(leaf.told));
    find_mirrors(cases, history_);
    return cases;
  }

 private:
  // A pair to split on.
  struct Option {
    Pair pair;       // In the order that closes a cycle, if one does.
    Cycle cycle;     // The cycle of this order,
    Cycle opposite;  // and that of the opposite order; both may be none.
  };

  [[nodiscard]] Cycle cycle_of(const WriteOrders& orders) const {
    constexpr std::uint64_t kStepsPerEdge = 10;
    const std::vector<Fact> edges = facts_.edges(orders);
    budget_.charge(kStepsPerEdge * edges.size());
    return shortest_cycle(edges, facts_.txn_count(), level_);
  }

  [[nodiscard]] WriteOrders with(WriteOrders orders, const Pair& pair) const {
    orders.put(pair.key, pair.first, pair.second, Premises{1} << given_.size());
    return orders;
  }

  [[nodiscard]] Assumption assumption(const Pair& pair) const {
    const Facts::Key& key = facts_.keys()[pair.key];
    return {key.key, key.writers[pair.first].txn, key.writers[pair.second].txn};
  }

  // REQUIRES: every premise of the cycle is in given_.
  [[nodiscard]] Leaf leaf(const Cycle& cycle) const {
    Leaf leaf{.premises = cycle.premises(), .told = {}};
    std::vector<std::uint32_t> number(given_.size());
    for (std::size_t i = 0; i < given_.size(); ++i) {
      if ((leaf.premises >> i & 1) == 0) continue;
      number[i] = static_cast<std::uint32_t>(leaf.told.given.size());
      leaf.told.given.push_back(given_[i]);
    }
    for (const Fact& fact : cycle.edges) {
      leaf.told.cycle.push_back(fact.edge);
      if (fact.premises == 0) continue;
      const auto last = static_cast<std::size_t>(std::bit_width(fact.premises)) - 1;
      leaf.told.cycle.back().choice = number[last];
    }
    leaf.told.cycle = rotated(std::move(leaf.told.cycle));
    return leaf;
  }

  // Adds the leaves that prove a contradiction from the assumptions; false if that takes too long
  // or there is none.
  bool solve(const WriteOrders& orders, std::vector<Leaf>& out) {
    if (const Cycle cycle = cycle_of(orders); cycle.found()) {
      out.push_back(leaf(cycle));
      return true;
    }
    if (given_.size() >= kDeepest || ++splits_ > kMostSplits || budget_.exhausted()) return false;
    const std::optional<Option> option = best_option(orders);
    if (!option) return false;  // All orders are settled without a cycle: the level holds.
    const Pair other{option->pair.key, option->pair.second, option->pair.first};
    std::vector<Leaf> left, right;
    if (!side(orders, option->pair, option->cycle, left)) return false;
    if (left_unused(left, out)) return true;
    if (!side(orders, other, option->opposite, right)) return false;
    if (left_unused(right, out)) return true;
    out.insert(out.end(), left.begin(), left.end());
    out.insert(out.end(), right.begin(), right.end());
    return true;
  }

  // Adds the leaves of one side of a split: assumes the order of `pair`, whose cycle is known if it
  // closes one.
  bool side(const WriteOrders& orders, const Pair& pair, const Cycle& cycle,
            std::vector<Leaf>& out) {
    const WriteOrders assumed = with(orders, pair);
    given_.push_back(assumption(pair));
    bool solved = true;
    if (cycle.found()) {
      out.push_back(leaf(cycle));
    } else {
      solved = solve(assumed, out);
    }
    given_.pop_back();
    return solved;
  }

  // Whether no leaf of one side needs the assumption of that side. Then they prove the
  // contradiction without the split, and are added to `out`.
  bool left_unused(const std::vector<Leaf>& leaves, std::vector<Leaf>& out) const {
    const Premises last = Premises{1} << given_.size();
    if (std::any_of(leaves.begin(), leaves.end(),
                    [&](const Leaf& leaf) { return (leaf.premises & last) != 0; })) {
      return false;
    }
    out.insert(out.end(), leaves.begin(), leaves.end());
    return true;
  }

  // The best open pair to split on: preferably both orders close a cycle, or one does; then with
  // the lowest costs.
  [[nodiscard]] std::optional<Option> best_option(const WriteOrders& orders) const {
    std::optional<Option> best;
    const auto rank = [](const Option& option) {
      const int sides = (option.cycle.found() ? 1 : 0) + (option.opposite.found() ? 1 : 0);
      const std::uint64_t cost = (option.cycle.found() ? option.cycle.cost : 0) +
                                 (option.opposite.found() ? option.opposite.cost : 0);
      return std::pair(-sides, cost);
    };
    for (std::size_t k = 0; k < facts_.keys().size(); ++k) {
      const std::size_t writers = facts_.keys()[k].writers.size();
      for (std::size_t a = 0; a < writers; ++a) {
        for (std::size_t b = a + 1; b < writers; ++b) {
          if (!orders.open(k, a, b)) continue;
          if (best && budget_.exhausted()) return best;
          Option option{
              {k, a, b}, cycle_of(with(orders, {k, a, b})), cycle_of(with(orders, {k, b, a}))};
          if (!option.cycle.found()) {  // Put the order that closes a cycle first.
            std::swap(option.cycle, option.opposite);
            std::swap(option.pair.first, option.pair.second);
          }
          if (!best || rank(option) < rank(*best)) best = std::move(option);
        }
      }
    }
    return best;
  }

  const History& history_;
  Facts facts_;
  Level level_;
  const Budget& budget_;
  std::vector<Assumption> given_;  // The assumptions at hand, by their bit in Premises.
  std::size_t splits_ = 0;
};

}  // namespace

std::optional<std::vector<Case>> tell_cases(const Observed& observed, Level level,
                                            std::int64_t clock_drift, const Budget& budget) {
  return Teller(observed, level, clock_drift, budget).run();
}

std::vector<Edge> rotated(std::vector<Edge> cycle) {
  std::size_t best = 0;
  int best_rank = -1;
  for (std::size_t first = 0; first < cycle.size(); ++first) {
    const Edge& last = cycle[(first + cycle.size() - 1) % cycle.size()];
    const Edge& head = cycle[first];
    int rank = last.kind == EdgeKind::ReadWrite ? 4 : 0;
    rank += head.kind != EdgeKind::ReadWrite ? 2 : 0;
    rank += head.choice != Edge::kNoChoice ? 1 : 0;
    if (rank < best_rank || (rank == best_rank && head.from >= cycle[best].from)) continue;
    best = first;
    best_rank = rank;
  }
  std::rotate(cycle.begin(), cycle.begin() + static_cast<std::ptrdiff_t>(best), cycle.end());
  return cycle;
}

}  // namespace ouro
