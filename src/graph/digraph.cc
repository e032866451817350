#include "graph/digraph.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/parallel.h"
#include "graph/rank_set.h"

namespace ouro {
namespace {

constexpr Node kNoNode = 0xffffffff;

// Finds strongly connected components by Tarjan's algorithm. The stack is explicit, not the call
// stack: a path may be millions of nodes long.
class Components {
 public:
  Components(const Digraph& graph, const Budget& budget)
      : g_(graph),
        ticker_(budget, 4096, 1),
        index_(graph.node_count(), 0),
        low_(graph.node_count(), 0) {}

  std::vector<std::vector<Node>> run() {
    for (Node root = 0; root < g_.node_count() && !ticker_.tick(); ++root) {
      if (index_[root] == 0) visit(root);
    }
    return std::move(found_);
  }

 private:
  struct Frame {
    Node node;
    std::size_t next;  // Which of its arcs is followed next.
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

  // The nodes from `root` to the end of path_ are one component; takes them off the path.
  void leave(Node root) {
    const auto first = std::find(path_.rbegin(), path_.rend(), root).base() - 1;
    const bool loop = std::count(g_.out(root).begin(), g_.out(root).end(), root) != 0;
    if (path_.end() - first > 1 || loop) found_.emplace_back(first, path_.end());
    for (auto at = first; at != path_.end(); ++at)
      low_[*at] = kNoNode;  // The component is complete: later arcs to it do not count.
    path_.erase(first, path_.end());
  }

  const Digraph& g_;
  BudgetTicker ticker_;
  // By node. index_: its number in the order in which nodes are entered, from 1; 0: not entered
  // yet. low_: the least index that is known to be reachable from it.
  std::vector<Node> index_, low_;
  std::vector<Node> path_;  // The nodes entered whose component is not complete.
  std::vector<Frame> stack_;
  Node counter_ = 0;
  std::vector<std::vector<Node>> found_;
};

// Breadth-first search for the shortest way from a node back to itself.
class CycleSearch {
 public:
  CycleSearch(const Digraph& graph, std::span<const Node> component, const Budget& budget)
      : g_(graph),
        ticker_(budget, 4096, 2),
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

// Sorts arcs by the node they come from, by a radix sort in two steps. A run is 2^15 nodes that
// follow each other. First all arcs are dealt out to runs, then the arcs of each run are sorted,
// with counters that fit into the cache. Sorted in one step, every arc of a large graph would wait
// for memory twice.
template <class Each>
void Digraph::fill(std::size_t nodes, std::size_t arcs, unsigned threads, const Budget& budget,
                   const Each& each) {
  constexpr std::size_t kManyArcs = 100'000;
  constexpr unsigned kRunBits = 15;
  constexpr std::size_t kRun = std::size_t{1} << kRunBits;
  const std::size_t parts = arcs < kManyArcs ? 1 : thread_count(threads);
  const std::size_t runs = (nodes + kRun - 1) / kRun;
  first_.assign(nodes + 1, 0);
  to_.reset(new Node[arcs]);

  // By part and run: how many arcs there are, then where the next of them goes. So any number of
  // threads deals the arcs in the same order.
  std::vector<std::vector<std::size_t>> place(parts, std::vector<std::size_t>(runs, 0));
  for_each_part(parts, [&](std::size_t part) {
    std::vector<std::size_t>& count = place[part];
    each(part, parts, [&](Node from, Node) { ++count[from >> kRunBits]; });
  });
  if (budget.exhausted()) return;
  std::vector<std::size_t> run_first(runs + 1, 0);
  std::size_t total = 0;
  for (std::size_t run = 0; run < runs; ++run) {
    for (auto& count : place) total += std::exchange(count[run], total);
    run_first[run + 1] = total;
  }
  const std::unique_ptr<Arc[]> dealt(new Arc[arcs]);  // Not cleared, as make_unique() would.
  for_each_part(parts, [&](std::size_t part) {
    std::vector<std::size_t>& next = place[part];
    each(part, parts, [&](Node from, Node to) { dealt[next[from >> kRunBits]++] = {from, to}; });
  });
  if (budget.exhausted()) return;

  std::atomic<std::size_t> next_run{0};
  for_each_part(parts, [&](std::size_t) {
    for (std::size_t run = next_run++; run < runs && !budget.exhausted(); run = next_run++) {
      const std::span<const Arc> own(dealt.get() + run_first[run],
                                     run_first[run + 1] - run_first[run]);
      // next[node] is the next free place in to_ for arcs of the node. When all arcs are in place,
      // it is where the arcs of the next node begin, so next[node] is first_[node + 1].
      std::uint64_t* const next = first_.data() + 1;
      for (const Arc& arc : own) ++next[arc.from];
      std::uint64_t at = run_first[run];
      for (std::size_t node = run * kRun; node < std::min(nodes, (run + 1) * kRun); ++node) {
        at += std::exchange(next[node], at);
      }
      for (const Arc& arc : own) to_[next[arc.from]++] = arc.to;
    }
  });
  if (budget.exhausted()) first_.assign(nodes + 1, 0);
}

Digraph::Digraph(std::size_t node_count, std::span<const Arc> arcs, unsigned threads,
                 const Budget& budget) {
  fill(node_count, arcs.size(), threads, budget,
       [&](std::size_t part, std::size_t parts, const auto& f) {
         for_each_within(budget, arcs.size() * part / parts, arcs.size() * (part + 1) / parts,
                         [&](std::size_t i) { f(arcs[i].from, arcs[i].to); });
       });
}

Digraph Digraph::reversed(unsigned threads, const Budget& budget) const {
  Digraph back;
  const std::size_t nodes = node_count();
  back.fill(nodes, first_[nodes], threads, budget,
            [&](std::size_t part, std::size_t parts, const auto& f) {
              for_each_within(budget, nodes * part / parts, nodes * (part + 1) / parts,
                              [&](std::size_t i) {
                                const Node node = static_cast<Node>(i);
                                for (const Node to : out(node)) f(to, node);
                              });
            });
  return back;
}

namespace {

// What topological_order() asks about a node. Both numbers are side by side in memory, since in
// large graphs every look-up waits for memory.
struct Waiting {
  std::uint32_t waiting = 0;  // How many arcs to the node come from nodes that are not ordered yet.
  std::uint32_t rank = 0;     // Its index in the preferred order.
};

}  // namespace

std::vector<Node> topological_order(const Digraph& graph, std::span<const Node> preferred,
                                    const Budget& budget) {
  constexpr std::size_t kAhead = 8;  // How many nodes ahead memory is fetched.
  const std::size_t nodes = graph.node_count();
  std::vector<Waiting> standing(nodes);
  const bool counted = for_each_within(budget, 0, nodes, [&](std::size_t i) {
    for (const Node to : graph.out(static_cast<Node>(i))) ++standing[to].waiting;
    standing[preferred[i]].rank = static_cast<std::uint32_t>(i);
  });
  if (!counted) return {};
  RankSet ready(nodes);
  for (Node node = 0; node < nodes; ++node) {
    if (standing[node].waiting == 0) ready.insert(standing[node].rank);
  }
  std::vector<Node> order;
  order.reserve(nodes);
  BudgetTicker ticker(budget, 4096, 4);
  std::size_t furthest = 0;
  while (!ready.empty() && !ticker.tick()) {
    const std::size_t rank = ready.pop();
    const Node node = preferred[rank];
    order.push_back(node);
    // Most nodes come in the preferred order, so what the next ones need can be fetched ahead.
    if (rank >= furthest && rank + 3 * kAhead < nodes) {
      furthest = rank;
      graph.prefetch(preferred[rank + 3 * kAhead]);
      graph.prefetch_out(preferred[rank + 2 * kAhead]);
      for (const Node to : graph.out(preferred[rank + kAhead])) __builtin_prefetch(&standing[to]);
    }
    for (const Node to : graph.out(node)) {
      if (--standing[to].waiting != 0) continue;
      ready.insert(standing[to].rank);
      __builtin_prefetch(&preferred[standing[to].rank]);
      graph.prefetch(to);
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
  // The starts are spread evenly over the component.
  const std::size_t tries = std::min(component.size(), exhaustive);
  for (std::size_t i = 0; i < tries; ++i) {
    const Node start = component[i * component.size() / tries];
    auto cycle = search.through(start, best.empty() ? component.size() + 1 : best.size());
    if (!cycle.empty()) best = std::move(cycle);
  }
  return best;
}

}  // namespace ouro
