#include "graph/digraph.h"

#include <algorithm>

#include "base/parallel.h"
#include "graph/rank_set.h"

namespace ouro {
namespace {

constexpr Node kNoNode = 0xffffffff;

// Tarjan's algorithm with an explicit stack: a session is one path, millions of nodes deep.
class Components {
 public:
  Components(const Digraph& graph, const Budget& budget)
      : g_(graph), ticker_(budget), index_(graph.node_count(), 0), low_(graph.node_count(), 0) {}

  std::vector<std::vector<Node>> run() {
    for (Node root = 0; root < g_.node_count() && !ticker_.tick(); ++root) {
      if (index_[root] == 0) visit(root);
    }
    return std::move(found_);
  }

 private:
  struct Frame {
    Node node;
    std::size_t next;
  };

  void enter(Node node) {
    index_[node] = low_[node] = ++counter_;
    path_.push_back(node);
    stack_.push_back({node, 0});
  }

  void visit(Node root) {
    enter(root);
    while (!stack_.empty() && !ticker_.tick()) {
      Frame& frame = stack_.back();
      const Node node = frame.node;
      const auto out = g_.out(node);
      if (frame.next < out.size()) {
        const Node to = out[frame.next++];
        if (index_[to] == 0) {
          enter(to);
        } else if (low_[to] != kNoNode) {
          low_[node] = std::min(low_[node], index_[to]);
        }
        continue;
      }
      stack_.pop_back();
      if (!stack_.empty()) {
        low_[stack_.back().node] = std::min(low_[stack_.back().node], low_[node]);
      }
      if (low_[node] == index_[node]) leave(node);
    }
  }

  void leave(Node root) {
    const auto first = std::find(path_.rbegin(), path_.rend(), root).base() - 1;
    const bool loop = std::count(g_.out(root).begin(), g_.out(root).end(), root) != 0;
    if (path_.end() - first > 1 || loop) found_.emplace_back(first, path_.end());
    for (auto at = first; at != path_.end(); ++at) low_[*at] = kNoNode;  // Done with.
    path_.erase(first, path_.end());
  }

  const Digraph& g_;
  BudgetTicker ticker_;
  std::vector<Node> index_, low_;
  std::vector<Node> path_;
  std::vector<Frame> stack_;
  Node counter_ = 0;
  std::vector<std::vector<Node>> found_;
};

// Breadth-first search for the shortest way from a node back to itself.
class CycleSearch {
 public:
  CycleSearch(const Digraph& graph, std::span<const Node> component, const Budget& budget)
      : g_(graph),
        ticker_(budget),
        parent_(graph.node_count(), kNoNode),
        inside_(graph.node_count(), false) {
    for (const Node node : component) inside_[node] = true;
  }

  // A cycle through `start` of fewer than `limit` nodes, or nothing.
  std::vector<Node> through(Node start, std::size_t limit) {
    for (const Node node : queue_) parent_[node] = kNoNode;
    queue_.assign(1, start);
    std::size_t level_end = 1;
    std::size_t length = 1;
    for (std::size_t at = 0; at < queue_.size() && length < limit && !ticker_.tick(); ++at) {
      const Node node = queue_[at];
      for (const Node to : g_.out(node)) {
        if (to == start) return path_to(start, node);
        if (!inside_[to] || parent_[to] != kNoNode) continue;
        parent_[to] = node;
        queue_.push_back(to);
      }
      if (at + 1 == level_end) {
        level_end = queue_.size();
        ++length;
      }
    }
    return {};
  }

 private:
  [[nodiscard]] std::vector<Node> path_to(Node start, Node node) const {
    std::vector<Node> cycle;
    for (; node != start; node = parent_[node]) cycle.push_back(node);
    cycle.push_back(start);
    std::reverse(cycle.begin(), cycle.end());
    return cycle;
  }

  const Digraph& g_;
  BudgetTicker ticker_;
  std::vector<Node> parent_;
  std::vector<bool> inside_;
  std::vector<Node> queue_;
};

}  // namespace

// A counting sort. Each thread takes care of the arcs out of a range of nodes, so all of them go
// through all arcs, which is quick, but none waits for the others' memory.
template <class Each>
void Digraph::fill(std::size_t nodes, std::size_t arcs, unsigned threads, const Budget& budget,
                   const Each& each) {
  constexpr std::size_t kManyArcs = 100'000;
  const std::size_t parts = arcs < kManyArcs ? 1 : thread_count(threads);
  const auto for_each_range = [&](const auto& f) {
    for_each_part(parts, [&](std::size_t part) {
      const Node first = static_cast<Node>(nodes * part / parts);
      const Node count = static_cast<Node>(nodes * (part + 1) / parts) - first;
      each([&](Node from, Node to) {
        if (from - first < count) f(from, to);
      });
    });
  };
  first_.assign(nodes + 2, 0);
  to_ = std::make_unique_for_overwrite<Node[]>(arcs);
  for_each_range([&](Node from, Node) { ++first_[from + 2]; });
  if (budget.exhausted()) return first_.assign(nodes + 2, 0);
  for (std::size_t i = 2; i < first_.size(); ++i) first_[i] += first_[i - 1];
  // What is here the next free place of a node is in the end where the next one's begin.
  for_each_range([&](Node from, Node to) { to_[first_[from + 1]++] = to; });
  if (budget.exhausted()) first_.assign(nodes + 2, 0);
}

Digraph::Digraph(std::size_t node_count, std::span<const Arc> arcs, unsigned threads,
                 const Budget& budget) {
  fill(node_count, arcs.size(), threads, budget, [&](const auto& f) {
    for_each_within(budget, 0, arcs.size(), [&](std::size_t i) { f(arcs[i].from, arcs[i].to); });
  });
}

Digraph Digraph::reversed(unsigned threads, const Budget& budget) const {
  Digraph back;
  back.fill(node_count(), first_[node_count()], threads, budget, [&](const auto& f) {
    for_each_within(budget, 0, node_count(), [&](std::size_t i) {
      const Node node = static_cast<Node>(i);
      for (const Node to : out(node)) f(to, node);
    });
  });
  return back;
}

std::vector<Node> topological_order(const Digraph& graph, std::span<const Node> preferred,
                                    const Budget& budget) {
  const std::size_t nodes = graph.node_count();
  std::vector<std::uint32_t> waiting(nodes, 0);
  std::vector<std::uint32_t> rank(nodes);
  const bool counted = for_each_within(budget, 0, nodes, [&](std::size_t i) {
    const Node node = static_cast<Node>(i);
    for (const Node to : graph.out(node)) ++waiting[to];
    rank[preferred[node]] = node;
  });
  if (!counted) return {};
  RankSet ready(nodes);
  for (Node node = 0; node < nodes; ++node) {
    if (waiting[node] == 0) ready.insert(rank[node]);
  }
  std::vector<Node> order;
  order.reserve(nodes);
  BudgetTicker ticker(budget);
  while (!ready.empty() && !ticker.tick()) {
    const Node node = preferred[ready.pop()];
    order.push_back(node);
    for (const Node to : graph.out(node)) {
      if (--waiting[to] == 0) ready.insert(rank[to]);
    }
  }
  return order;
}

std::vector<std::vector<Node>> cyclic_components(const Digraph& graph, const Budget& budget) {
  auto components = Components(graph, budget).run();
  for (auto& component : components) std::sort(component.begin(), component.end());
  std::sort(components.begin(), components.end(), [](const auto& a, const auto& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
  return components;
}

std::vector<Node> short_cycle(const Digraph& graph, std::span<const Node> component,
                              const Budget& budget, std::size_t exhaustive) {
  CycleSearch search(graph, component, budget);
  std::vector<Node> best;
  // Spread over the component, so that a large one is sampled evenly.
  const std::size_t tries = std::min(component.size(), exhaustive);
  for (std::size_t i = 0; i < tries; ++i) {
    const Node start = component[i * component.size() / tries];
    auto cycle = search.through(start, best.empty() ? component.size() + 1 : best.size());
    if (!cycle.empty()) best = std::move(cycle);
  }
  return best;
}

}  // namespace ouro
