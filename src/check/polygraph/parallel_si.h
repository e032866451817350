// Parallel snapshot isolation: so ∪ wr ∪ ww is acyclic, and whoever overwrites a version does not
// reach its readers by it.
//
// The search finds an order of the first kind. When it is done we look whether it keeps the second
// rule: for every read, the writer of the next version must not lead to the reader. A writer that
// stands behind the reader cannot; for the others we follow the arcs between the two. A path, with
// the overwritten read, is a circle that the choices on it must not all allow, so one is changed.
#pragma once

#include <vector>

#include "check/polygraph/search.h"

namespace ouro {

class ParallelSi : public Guide {
 public:
  ParallelSi(const Encoding& encoding, DynamicOrder& order, Search& search, const Budget& budget)
      : e_(encoding),
        o_(encoding.observed()),
        order_(order),
        search_(search),
        ticker_(budget, 4096, 3) {}

  Next next(Solver& solver) override;
  void reopened(std::uint32_t choice) override { search_.reopened(choice); }

 private:
  // A version order of every key, by the current order of their writers.
  void sort_writers();
  // The circle that `read` closes with the writer of the next version; empty if there is none.
  [[nodiscard]] std::vector<DynamicOrder::Step> circle(Solver& solver, ItemId read);
  // The ways from `writer` to `reader`, one of whose reads it overwrote; empty if there are none.
  [[nodiscard]] std::vector<DynamicOrder::Step> way(Solver& solver, Node reader, Node writer);
  [[nodiscard]] static Next forbid(std::vector<DynamicOrder::Step> circle);
  [[nodiscard]] bool reaches(Node from, Node to);
  [[nodiscard]] DynamicOrder::Label label(Solver& solver, ItemId earlier, ItemId later, KeyId key);

  const Encoding& e_;
  const Observed& o_;
  DynamicOrder& order_;
  Search& search_;
  BudgetTicker ticker_;
  std::vector<ItemId> next_write_;   // By write: the one of the next version.
  std::vector<ItemId> first_write_;  // By key.

  // How reaches() came to a node.
  struct Arrival {
    std::uint32_t search = 0;
    Node from = kNoNode;
    DynamicOrder::Label label = DynamicOrder::kNoLabel;
    ItemId earlier, later;  // An overwritten version, if it was by one.
  };
  std::vector<Arrival> arrival_;
  std::vector<Node> queue_;
  std::uint32_t searches_ = 0;
};

}  // namespace ouro
