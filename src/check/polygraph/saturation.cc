#include "check/polygraph/saturation.h"

#include <algorithm>
#include <utility>

namespace ouro {
namespace {

// The most arcs walked and pairs compared in a round; a second or two.
constexpr std::uint64_t kMaxWork = 500'000'000;

}  // namespace

Saturation::Saturation(const Encoding& encoding, const DynamicOrder& order)
    : e_(encoding), order_(order), seen_in_(order.node_count(), 0) {
  const auto first = e_.chain_first();
  std::uint64_t pairs = 0;
  std::size_t count = 0;
  for (std::size_t k = 0; k + 1 < first.size(); ++k) {
    const std::uint64_t chains = first[k + 1] - first[k];
    if (chains < 3) continue;  // One besides the initial one has no rival.
    count += chains - 1;
    pairs += chains * chains;
  }
  affordable_ = count * order.node_count() + pairs < kMaxWork;
  if (!affordable_) return;
  heads_.reserve(count);
  for (std::size_t k = 0; k + 1 < first.size(); ++k) {
    if (first[k + 1] - first[k] < 3) continue;
    for (ChainId c = first[k] + 1; c < first[k + 1]; ++c) {
      heads_.push_back({e_.chain(c).first, c, first[k] + 1, first[k + 1]});
    }
  }
  std::sort(heads_.begin(), heads_.end(), [](const Head& a, const Head& b) {
    return std::pair(a.txn, a.chain) < std::pair(b.txn, b.chain);
  });
}

std::uint32_t Saturation::walk(Node from) {
  if (reached(from)) return 0;
  std::uint32_t visited = 0;
  seen_in_[from] = walk_;
  stack_.push_back(from);
  while (!stack_.empty()) {
    const Node node = stack_.back();
    stack_.pop_back();
    ++visited;
    order_.for_each_out(node, [&](Node to, DynamicOrder::Label) {
      if (reached(to)) return;
      seen_in_[to] = walk_;
      stack_.push_back(to);
    });
  }
  return visited;
}

std::vector<Saturation::Impossible> Saturation::round(const Budget& budget) {
  std::vector<Impossible> found;
  BudgetTicker ticker(budget, 4096, 1);
  std::uint32_t work = 1;  // What the head before took.
  for (std::size_t at = 0; at < heads_.size() && !ticker.tick(std::exchange(work, 1));) {
    const TxnId txn = heads_[at].txn;
    std::size_t end = at;
    while (end < heads_.size() && heads_[end].txn == txn) ++end;
    ++walk_;
    // Arcs of choices end at the commit or at the begin of the head. The begin leads to all that
    // the commit leads to, so the second walk continues the first.
    for (const Node goal : {e_.commit(txn), e_.begin(txn)}) {
      work += walk(goal);
      for (std::size_t h = at; h < end; ++h) {
        work += heads_[h].key_end - heads_[h].key_first;
        for (ChainId a = heads_[h].key_first; a < heads_[h].key_end; ++a) {
          if (a == heads_[h].chain) continue;
          const Side side = e_.before(a, heads_[h].chain);
          for (const Arc& arc : side.span()) {
            if (arc.to == goal && reached(arc.from)) found.push_back({a, heads_[h].chain, arc});
          }
        }
      }
      if (!e_.split()) break;
    }
    at = end;
  }
  return found;
}

}  // namespace ouro
