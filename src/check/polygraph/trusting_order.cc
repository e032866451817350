#include "check/polygraph/trusting_order.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/sort_within.h"

namespace ouro {
namespace {

class TrustingOrder {
 public:
  TrustingOrder(const Encoding& encoding, const Digraph& back, std::span<const Node> recorded,
                const Budget& budget)
      : e_(encoding), back_(back), recorded_(recorded), budget_(budget) {
    rank_.resize(recorded.size());
    for_each_within(budget, 0, recorded.size(),
                    [&](std::size_t at) { rank_[recorded[at]] = static_cast<std::uint32_t>(at); });
    sort_chains();
  }

  std::vector<Node> run() {
    state_.assign(recorded_.size(), State::New);
    order_.reserve(recorded_.size());
    BudgetTicker ticker(budget_, 4096, 8);
    for (const Node node : recorded_) {
      // Nodes that only gather readers or carry time come when they are needed.
      if (e_.txn(node) == kInitialTxn) continue;
      if (!place(node, ticker)) return std::move(order_);
    }
    for (const Node node : recorded_) {
      if (!place(node, ticker)) break;
    }
    return std::move(order_);
  }

 private:
  enum class State : std::uint8_t { New, Open, Placed };

  // Finds out which chain of its key was recorded right before each one.
  void sort_chains() {
    const auto first = e_.chain_first();
    before_.assign(e_.chain_count(), kNoChain);
    std::vector<std::pair<std::uint32_t, ChainId>> by_rank;
    for_each_within(budget_, 0, first.size() - 1, [&](std::size_t key) {
      by_rank.clear();
      for (ChainId chain = first[key] + 1; chain < first[key + 1]; ++chain) {
        by_rank.emplace_back(rank_[e_.commit(e_.chain(chain).first)], chain);
      }
      if (!sort_within(budget_, by_rank, std::less<>())) return;
      ChainId before = first[key];
      for (const auto& [_, chain] : by_rank) before_[chain] = std::exchange(before, chain);
    });
  }

  // Places a node behind all that must precede it, of which those that are on the way to it are
  // ignored: they are on a cycle. False: the budget is exhausted.
  bool place(Node start, BudgetTicker& ticker) {
    stack_.assign(1, start);
    while (!stack_.empty()) {
      const Node node = stack_.back();
      if (state_[node] != State::New) {
        stack_.pop_back();
        if (state_[node] == State::Open) order_.push_back(node);
        state_[node] = State::Placed;
        continue;
      }
      state_[node] = State::Open;
      const std::size_t others = stack_.size();
      for (const Node from : back_.out(node)) push(from);
      if (e_.txn(node) != kInitialTxn) push_guessed(node);
      // The one recorded first comes first, so it is on top.
      std::sort(stack_.begin() + static_cast<std::ptrdiff_t>(others), stack_.end(),
                [&](Node a, Node b) { return rank_[a] > rank_[b]; });
      if (ticker.tick(1 + static_cast<std::uint32_t>(stack_.size() - others))) return false;
    }
    return true;
  }

  void push(Node node) {
    if (state_[node] == State::New) stack_.push_back(node);
  }

  // Pushes what precedes `node` if the chains of each key are as they were recorded.
  void push_guessed(Node node) {
    e_.for_each_chain_at(node, [&](ChainId chain) {
      if (e_.chain(chain).first != e_.txn(node) || before_[chain] == kNoChain) return;
      const Side side = e_.before(before_[chain], chain);
      for (const Arc& arc : side.span()) {
        if (arc.to == node) push(arc.from);
      }
    });
  }

  const Encoding& e_;
  const Digraph& back_;
  const std::span<const Node> recorded_;
  const Budget& budget_;
  std::vector<std::uint32_t> rank_;  // By node: its index in recorded_.
  std::vector<ChainId> before_;      // By chain: see sort_chains().
  std::vector<State> state_;         // By node.
  std::vector<Node> stack_;          // Nodes to be placed, and those whose turn comes first on top.
  std::vector<Node> order_;
};

}  // namespace

std::vector<Node> trusting_order(const Encoding& encoding, const Digraph& back,
                                 std::span<const Node> recorded, const Budget& budget) {
  return TrustingOrder(encoding, back, recorded, budget).run();
}

}  // namespace ouro
