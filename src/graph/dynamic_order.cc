#include "graph/dynamic_order.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <cassert>
#include <functional>
#include <queue>
#include <utility>

namespace ouro {

DynamicOrder::DynamicOrder(Digraph known, std::optional<Digraph> back, std::span<const Node> order,
                           const Budget& budget, unsigned threads)
    : out_(std::move(known)),
      in_(std::move(back)),
      budget_(budget),
      ticker_(budget, 4096, 6),
      threads_(threads),
      position_(order.size()),
      first_out_(order.size(), -1),
      first_in_(order.size(), -1),
      mark_(order.size(), 0) {
  for (std::size_t i = 0; i < order.size() && !ticker_.tick(); ++i) {
    position_[order[i]] = static_cast<std::uint32_t>(i);
  }
}

template <class F>
void DynamicOrder::for_each_in(Node node, const F& f) {
  if (!in_) {
    in_ = out_.reversed(threads_, budget_);
    ticker_.ask();
  }
  for (const Node from : in_->out(node)) f(from, kNoLabel);
  for (std::int32_t at = first_in_[node]; at >= 0; at = extra_[at].next_in) {
    f(extra_[at].arc.from, extra_[at].label);
  }
}

bool DynamicOrder::add(Arc arc, Label label) {
  if (arc.from == arc.to) return false;
  if (position_[arc.from] > position_[arc.to]) {
    if (search_forward(arc.to, arc.from, position_[arc.from])) return false;
    search_backward(arc.from, position_[arc.to]);
    reorder();
  }
  const auto at = static_cast<std::int32_t>(extra_.size());
  extra_.push_back({arc, label, first_out_[arc.from], first_in_[arc.to]});
  first_out_[arc.from] = at;
  first_in_[arc.to] = at;
  return true;
}

void DynamicOrder::shrink(std::size_t count) {
  while (extra_.size() > count) {
    const Extra& last = extra_.back();
    first_out_[last.arc.from] = last.next_out;
    first_in_[last.arc.to] = last.next_in;
    extra_.pop_back();
  }
}

// Collects into after_ the nodes that can be reached from `start`, at positions up to `limit`.
// Returns true, early, if `goal` is among them.
bool DynamicOrder::search_forward(Node start, Node goal, std::uint32_t limit) {
  ++search_;
  after_.assign(1, start);
  mark_[start] = search_;
  bool found = false;
  for (std::size_t at = 0; at < after_.size() && !found && !ticker_.tick(); ++at) {
    for_each_out(after_[at], [&](Node to, Label) {
      found |= to == goal;
      if (mark_[to] == search_ || position_[to] > limit) return;
      mark_[to] = search_;
      after_.push_back(to);
    });
  }
  return found;
}

// Collects into before_ the nodes from which `start` can be reached, at positions from `limit` on.
void DynamicOrder::search_backward(Node start, std::uint32_t limit) {
  ++search_;
  before_.assign(1, start);
  mark_[start] = search_;
  for (std::size_t at = 0; at < before_.size() && !ticker_.tick(); ++at) {
    for_each_in(before_[at], [&](Node from, Label) {
      if (mark_[from] == search_ || position_[from] < limit) return;
      mark_[from] = search_;
      before_.push_back(from);
    });
  }
}

// Hands out the positions that before_ and after_ have now anew: first to before_, then to after_.
// Within each the order stays as it was.
void DynamicOrder::reorder() {
  const auto by_position = [&](Node a, Node b) { return position_[a] < position_[b]; };
  std::sort(before_.begin(), before_.end(), by_position);
  std::sort(after_.begin(), after_.end(), by_position);
  before_.insert(before_.end(), after_.begin(), after_.end());
  free_positions_.clear();
  for (const Node node : before_) free_positions_.push_back(position_[node]);
  std::sort(free_positions_.begin(), free_positions_.end());
  for (std::size_t i = 0; i < before_.size(); ++i) {
    if (position_[before_[i]] == free_positions_[i]) continue;
    position_[before_[i]] = free_positions_[i];
    moved_.push_back(before_[i]);
  }
}

std::vector<DynamicOrder::Step> DynamicOrder::lightest_path(Node from, Node to) {
  // A labelled arc weighs more than all unlabelled ones together.
  constexpr std::uint64_t kLabelled = std::uint64_t{1} << 32;
  constexpr std::uint32_t kLookUp = 3;  // How many times the work of add() a node takes here.
  struct Reached {
    std::uint64_t weight;
    Step step;  // By which the node was reached.
  };
  using Entry = std::pair<std::uint64_t, Node>;
  absl::flat_hash_map<Node, Reached> reached;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  reached.emplace(from, Reached{0, {}});
  queue.emplace(0, from);
  while (!queue.empty() && !ticker_.tick(kLookUp)) {
    const auto [weight, node] = queue.top();
    queue.pop();
    if (node == to) break;
    if (reached.at(node).weight < weight) continue;
    for_each_out(node, [&, weight = weight, node = node](Node next, Label label) {
      if (position_[next] > position_[to]) return;
      const std::uint64_t through = weight + (label == kNoLabel ? 1 : kLabelled);
      const auto [at, added] = reached.try_emplace(next, Reached{through, {{node, next}, label}});
      if (!added && at->second.weight <= through) return;
      at->second = {through, {{node, next}, label}};
      queue.emplace(through, next);
    });
  }
  std::vector<Step> path;
  if (!reached.contains(to) || from == to) return path;
  for (Node node = to; node != from; node = path.back().arc.from) {
    path.push_back(reached.at(node).step);
  }
  std::reverse(path.begin(), path.end());
  return path;
}

}  // namespace ouro
