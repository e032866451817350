// Groups operations by transaction, for formats in which each line names its transaction and lines
// of several transactions may alternate.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ouro {

// The operations of transaction t are order[first[t]] … order[first[t + 1] - 1], in their original
// order.
struct TxnGroups {
  std::vector<std::size_t> first;
  std::vector<std::size_t> order;
};

// A stable counting sort. REQUIRES: txn_of_op[i] < txn_count. Cost: linear.
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
