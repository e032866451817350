// Finds choices that have one side only, as the other closes a cycle with arcs that are there
// already.
//
// The search looks at neighbours only, and learns of a long cycle by running into it. When it has
// run into many, it pays to go through all pairs of chains of every key once: from the first writer
// of a chain follow all arcs, and whatever chain of the key is reached cannot precede it. That is
// one walk over the graph for each transaction that heads a chain, with no matrix kept.
#pragma once

#include <vector>

#include "base/budget.h"
#include "check/polygraph/encoding.h"
#include "graph/dynamic_order.h"

namespace ouro {

class Saturation {
 public:
  Saturation(const Encoding& encoding, const DynamicOrder& order);

  // Whether a round costs no more than some seconds.
  [[nodiscard]] bool affordable() const { return affordable_; }

  // "Chain `a` cannot precede chain `b`": `arc`, of that side, closes a cycle.
  struct Impossible {
    ChainId a = kNoChain;
    ChainId b = kNoChain;
    Arc arc;
  };
  // All that is impossible by the arcs that `order` has now; only a part if the budget is
  // exhausted.
  [[nodiscard]] std::vector<Impossible> round(const Budget& budget);

 private:
  std::uint32_t walk(Node from);  // Marks what `from` leads to; returns how many nodes are new.
  [[nodiscard]] bool reached(Node node) const { return seen_in_[node] == walk_; }

  const Encoding& e_;
  const DynamicOrder& order_;
  bool affordable_ = false;
  // The chains that have a rival, by the transaction that heads them.
  struct Head {
    TxnId txn;
    ChainId chain = kNoChain;
    ChainId key_first = kNoChain, key_end = kNoChain;  // The chains of its key but the initial one.
  };
  std::vector<Head> heads_;
  std::vector<std::uint32_t> seen_in_;  // By node: the last walk that came there.
  std::uint32_t walk_ = 0;
  std::vector<Node> stack_;
};

}  // namespace ouro
