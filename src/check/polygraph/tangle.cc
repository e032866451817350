#include "check/polygraph/tangle.h"

#include <algorithm>
#include <utility>

namespace ouro {
namespace {

constexpr std::uint64_t kMaxPairs = 1'000'000;
constexpr std::uint64_t kStepsPerPair = 100;
constexpr std::uint64_t kNodePairsPerStep = 256;
constexpr std::uint64_t kMaxNodes = 32'768;  // 128 MB of reachability.

}  // namespace

std::optional<Steps> Tangle::cost(const Encoding& encoding) {
  const std::uint64_t nodes = encoding.node_count() * (encoding.overwrites() ? 1 : 2);
  if (nodes > kMaxNodes) return std::nullopt;
  const auto first = encoding.chain_first();
  std::uint64_t pairs = 0;
  for (std::size_t k = 0; k + 1 < first.size(); ++k) {
    const std::uint64_t chains = first[k + 1] - first[k] - 1;
    pairs += chains * (chains - 1) / 2;
  }
  if (pairs > kMaxPairs) return std::nullopt;
  return Steps{kStepsPerPair * pairs + nodes * nodes / kNodePairsPerStep};
}

Tangle::Tangle(const Encoding& encoding, const DynamicOrder& order, bool parallel)
    : e_(encoding), parallel_(parallel), node_count_(order.node_count()) {
  problem_.node_count = e_.node_count();
  if (parallel_) problem_.node_count += e_.first_readers();
  add_known(order);
  add_initial_chains();
  add_choices(order);
  std::vector<Node> likely(problem_.node_count);
  for (Node node = 0; node < node_count_; ++node) {
    for (std::uint32_t layer = 0; layer < (parallel_ ? 2 : 1); ++layer) {
      likely[order.position(node) + layer * node_count_] = layered(node, layer);
    }
  }
  for (Node node = static_cast<Node>(node_count_); node < e_.node_count(); ++node) {
    likely[node + node_count_] = layered(node, 0);
  }
  order_ = topological_order(Digraph(problem_.node_count, problem_.known), likely);
  if (order_.size() == problem_.node_count) search_.emplace(problem_, order_);
  problem_.choices = {};
}

// ---- nodes ----

Node Tangle::layered(Node node, std::uint32_t layer) const {
  if (!parallel_) return node;
  return gathers(node) ? node + e_.first_readers() : node * 2 + layer;
}

Node Tangle::plain(Node node) const {
  if (!parallel_) return node;
  return node >= 2 * e_.first_readers() ? node - e_.first_readers() : node / 2;
}

// ---- what is known ----

void Tangle::add_dependency(Arc arc) {
  problem_.known.push_back({layered(arc.from, 0), layered(arc.to, 0)});
  if (parallel_) problem_.known.push_back({layered(arc.from, 1), layered(arc.to, 1)});
}

void Tangle::add_overwrite(Arc arc) {
  const std::uint32_t layer = gathers(arc.to) ? 0 : 1;
  problem_.known.push_back({layered(arc.from, 0), layered(arc.to, layer)});
}

// At psi, arcs that only the encoding has are those of overwrites. What is both adds nothing as an
// overwrite.
void Tangle::add_known(const DynamicOrder& order) {
  std::vector<Arc> known;
  for (Node node = 0; node < node_count_; ++node) {
    order.for_each_out(node, [&](Node to, DynamicOrder::Label label) {
      if (label == DynamicOrder::kNoLabel) known.push_back({node, to});
    });
  }
  for (const Arc& arc : known) add_dependency(arc);
  if (!parallel_) return;
  std::sort(known.begin(), known.end());
  for (const Arc& arc : e_.arcs()) {
    if (!std::binary_search(known.begin(), known.end(), arc)) add_overwrite(arc);
  }
  for (Node node = 0; node < node_count_; ++node) {
    problem_.taboos.push_back({layered(node, 0), layered(node, 1)});
  }
}

// The chain of the initial version comes before all others of its key.
void Tangle::add_initial_chains() {
  const auto first = e_.chain_first();
  for (std::size_t k = 0; k + 1 < first.size(); ++k) {
    for (ChainId chain = first[k] + 1; chain < first[k + 1]; ++chain) {
      const Side known = e_.before(first[k], chain);
      for (const Arc& arc : known.span()) {
        const bool overwrites = arc.from == e_.chain(first[k]).readers;
        parallel_&& overwrites ? add_overwrite(arc) : add_dependency(arc);
      }
    }
  }
}

// ---- choices ----

FullProblem::Side Tangle::side(ChainId first, ChainId second) const {
  FullProblem::Side out;
  const Side arcs = e_.before(first, second);
  for (const Arc& arc : arcs.span()) {
    if (!parallel_) {
      out.add_acyclic(arc);
      continue;
    }
    const Node to = layered(arc.to, 0);
    const Node from = layered(arc.from, 0);
    if (arc.from == e_.chain(first).readers) {
      const std::uint32_t closing = out.add(Arc{from, layered(arc.to, 1)});
      out.add(FullProblem::Taboo{to, from, closing});
    } else {
      out.add_acyclic({from, to});
      out.add(Arc{layered(arc.from, 1), layered(arc.to, 1)});
      out.add(FullProblem::Taboo{to, layered(arc.from, 1), 0});
    }
  }
  return out;
}

// Choices are decided in their order until conflicts say otherwise: from the beginning of the
// current order to its end, so that what was decided stays when a conflict comes up later on.
void Tangle::add_choices(const DynamicOrder& order) {
  const auto position = [&](ChainId chain) {
    return order.position(e_.commit(e_.chain(chain).first));
  };
  const auto first = e_.chain_first();
  for (std::size_t k = 0; k + 1 < first.size(); ++k) {
    for (ChainId a = first[k] + 1; a < first[k + 1]; ++a) {
      for (ChainId b = a + 1; b < first[k + 1]; ++b) {
        pairs_.push_back(position(a) < position(b) ? ChainPair{a, b} : ChainPair{b, a});
      }
    }
  }
  std::stable_sort(pairs_.begin(), pairs_.end(), [&](const ChainPair& a, const ChainPair& b) {
    return std::pair(position(a.second), position(b.first)) <
           std::pair(position(b.second), position(a.first));
  });
  for (const auto& [a, b] : pairs_) problem_.choices.push_back({side(a, b), side(b, a)});
}

// ---- what was found ----

std::vector<Arc> Tangle::plain_arcs(std::span<const Arc> arcs) const {
  std::vector<Arc> out;
  for (const Arc& arc : arcs) {
    const bool first_layer = !parallel_ || (arc.from % 2 == 0 && arc.to % 2 == 0);
    const Arc found{plain(arc.from), plain(arc.to)};
    if (first_layer && std::max(found.from, found.to) < node_count_) out.push_back(found);
  }
  return out;
}

std::vector<Node> Tangle::order() const {
  std::vector<Arc> arcs = problem_.known;
  for (std::uint32_t choice = 0; choice < pairs_.size(); ++choice) {
    const auto [a, b] = pairs_[choice];
    const FullProblem::Side taken = search_->takes_first(choice) ? side(a, b) : side(b, a);
    arcs.insert(arcs.end(), taken.arcs().begin(), taken.arcs().end());
  }
  std::vector<Node> preferred;
  for (const Node node : order_) {
    const bool first_layer = !parallel_ || node % 2 == 0;
    if (first_layer && plain(node) < node_count_) preferred.push_back(plain(node));
  }
  return topological_order(Digraph(node_count_, plain_arcs(arcs)), preferred);
}

// In the plain graph a node that gathers readers does not exist at psi: the reader leads to the
// writer.
std::vector<DynamicOrder::Step> Tangle::plain_cycle(
    std::span<const DynamicOrder::Step> cycle) const {
  std::vector<DynamicOrder::Step> steps;
  for (const auto& [arc, label] : cycle) {
    const Arc here{plain(arc.from), plain(arc.to)};
    if (gathers(here.from)) {
      steps.back().arc.to = here.to;
      steps.back().label = label;
    } else {
      steps.push_back({here, label});
    }
  }
  return steps;
}

std::vector<Lemma> Tangle::proof() {
  std::vector<Lemma> proof = search_->proof();
  if (!parallel_) return proof;
  for (Lemma& lemma : proof) lemma.cycle = plain_cycle(lemma.cycle);
  return proof;
}

}  // namespace ouro
