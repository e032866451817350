// Parallel snapshot isolation: so ∪ wr ∪ ww is acyclic, and no path of these edges leads from
// whoever overwrites a version to one of its readers.
//
// The search finds an order that keeps the first rule. Then we look whether it keeps the second:
// for every read, the writer of the next version must not lead to the reader. A writer that is
// behind the reader in the order cannot; for the others we follow the arcs between the two. A path,
// with the overwritten read, is a cycle that the choices on it must not all allow, so one is
// changed.
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
  // Sorts the versions of every key by the current order of their writers.
  void sort_writers();
  // The cycle that `read` closes with the writer of the next version; empty if there is none.
  [[nodiscard]] std::vector<DynamicOrder::Step> cycle(Solver& solver, ItemId read);
  // A path from `writer` to `reader`, of which it overwrote a read; empty if there is none.
  [[nodiscard]] std::vector<DynamicOrder::Step> way(Solver& solver, Node reader, Node writer);
  // Tells the solver that not all choices of a cycle can be as they are.
  [[nodiscard]] static Next forbid(std::vector<DynamicOrder::Step> cycle);
  // Whether there is a path; arrival_ then leads back from `to`.
  [[nodiscard]] bool reaches(Node from, Node to);
  [[nodiscard]] DynamicOrder::Label label(Solver& solver, ItemId earlier, ItemId later, KeyId key);

  const Encoding& e_;
  const Observed& o_;
  DynamicOrder& order_;
  Search& search_;
  BudgetTicker ticker_;
  std::vector<ItemId> next_write_;   // By write: that of the next version.
  std::vector<ItemId> first_write_;  // By key: the first after the initial version.

  // How search number `search` of reaches() came to a node.
  struct Arrival {
    std::uint32_t search = 0;
    Node from = kNoNode;
    DynamicOrder::Label label = DynamicOrder::kNoLabel;
    ItemId earlier, later;  // If it came by ww: the overwritten write, and the next one.
  };
  std::vector<Arrival> arrival_;
  std::vector<Node> queue_;
  std::uint32_t searches_ = 0;
};

}  // namespace ouro
