// A search on demand on a tiny history, with all that it works on, for the tests of its parts.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "check/polygraph/search.h"
#include "graph/digraph.h"
#include "tests/tiny.h"

namespace ouro {

struct TinySearch {
  // `txns` is the order of all transactions, by their numbers from zero, that the search begins
  // with; if it is empty, that of the history. REQUIRES: the known arcs are not cyclic.
  explicit TinySearch(std::string_view text, Level level = Level::Serializable, SearchFor open = {},
                      std::vector<Node> txns = {})
      : t(text),
        encoding(t.observed(), level, 0, true, 1, budget, open),
        order(Digraph(encoding.node_count(), encoding.arcs()), std::nullopt,
              first_order(std::move(txns)), budget),
        search(encoding, order, {}, 1, budget),
        solver(order, budget) {}

  // The last write of x by a transaction, and the chain that begins with it.
  [[nodiscard]] ChainId chain_of(std::size_t txn, std::string_view key = "x") {
    return encoding.chain_at(final_write(t.observed(), Tiny::txn(txn), t.key(key)));
  }

  const Budget budget;
  Tiny t;
  Encoding encoding;
  DynamicOrder order;
  Search search;
  Solver solver;

 private:
  [[nodiscard]] std::vector<Node> first_order(std::vector<Node> txns) const {
    if (txns.empty()) {
      for (Node txn = 0; txn < t.history().txn_count(); ++txn) txns.push_back(txn);
    }
    return topological_order(Digraph(encoding.node_count(), encoding.arcs()),
                             encoding.likely_order(txns));
  }
};

}  // namespace ouro
