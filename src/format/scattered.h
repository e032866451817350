// Brings operations into transaction order, for formats in which each line names its transaction
// and lines of several transactions may be interleaved.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ouro {

// The operations grouped by transaction, in their order within it: group t is
// order[first[t]] … order[first[t + 1] - 1].
struct TxnGroups {
  std::vector<std::size_t> first;
  std::vector<std::size_t> order;
};

// REQUIRES: txn_of_op[i] < txn_count. A stable counting sort.
inline TxnGroups group_by_txn(std::span<const std::uint32_t> txn_of_op, std::size_t txn_count) {
  TxnGroups groups;
  groups.first.resize(txn_count + 1, 0);
  for (const std::uint32_t txn : txn_of_op) ++groups.first[txn + 1];
  for (std::size_t t = 0; t < txn_count; ++t) groups.first[t + 1] += groups.first[t];
  groups.order.resize(txn_of_op.size());
  std::vector<std::size_t> next(groups.first.begin(), groups.first.end() - 1);
  for (std::size_t i = 0; i < txn_of_op.size(); ++i) groups.order[next[txn_of_op[i]]++] = i;
  return groups;
}

}  // namespace ouro
