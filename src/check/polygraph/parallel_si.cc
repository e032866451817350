#include "check/polygraph/parallel_si.h"

#include <algorithm>

namespace ouro {

Guide::Next ParallelSi::next(Solver& solver) {
  Next next = search_.next(solver);
  if (next.kind != Next::Kind::Done) return next;
  sort_writers();
  const Items& items = o_.items();
  for (std::size_t i = 0; i < items.size() && !ticker_.tick(); ++i) {
    const ItemId item{i};
    if (!items.is_read(item) || !o_.external(item) || !o_.counted(o_.txn(item))) continue;
    auto closed = cycle(solver, item);
    if (!closed.empty()) return forbid(std::move(closed));
  }
  for (const PredicateEdge& edge : o_.predicate_edges()) {
    if (!edge.overwrites) continue;
    const Node reader = edge.reader.value;
    const Node writer = o_.txn(edge.write).value;
    auto steps = way(solver, reader, writer);
    if (steps.empty()) continue;
    steps.insert(steps.begin(), {{reader, writer}, DynamicOrder::kNoLabel});
    return forbid(std::move(steps));
  }
  return next;
}

Guide::Next ParallelSi::forbid(std::vector<DynamicOrder::Step> cycle) {
  Next next;
  next.kind = Next::Kind::Forbid;
  next.forbidden.add_literals_against(cycle);
  next.forbidden.cycle = std::move(cycle);
  return next;
}

void ParallelSi::sort_writers() {
  const Items& items = o_.items();
  next_write_.assign(items.size(), ItemId{});
  first_write_.assign(o_.history().key_count(), ItemId{});
  std::vector<ItemId> writes;
  for (std::size_t k = 0; k < o_.history().key_count() && !ticker_.stopped(); ++k) {
    ticker_.tick(1 + static_cast<std::uint32_t>(o_.items_of(KeyId{k}).size()));
    writes.clear();
    for (const ItemId item : o_.items_of(KeyId{k})) {
      if (items.is_write(item) && o_.final(item) && o_.counted(o_.txn(item)))
        writes.push_back(item);
    }
    std::sort(writes.begin(), writes.end(), [&](ItemId a, ItemId b) {
      return order_.position(o_.txn(a).value) < order_.position(o_.txn(b).value);
    });
    if (!writes.empty()) first_write_[k] = writes[0];
    for (std::size_t i = 1; i < writes.size(); ++i) next_write_[writes[i - 1].index()] = writes[i];
  }
}

// The label of the choice that puts the version `earlier` (invalid: the initial one) before
// `later`. No label if that is known: they are in one chain, or the former is in the initial one.
DynamicOrder::Label ParallelSi::label(Solver& solver, ItemId earlier, ItemId later, KeyId key) {
  const ChainId initial = e_.chain_first()[key.index()];
  const ChainId a = earlier.valid() ? e_.chain_at(earlier) : initial;
  const ChainId b = e_.chain_at(later);
  if (a == kNoChain || b == kNoChain || a == b || a == initial) return DynamicOrder::kNoLabel;
  return search_.literal(solver, a, b).code;
}

std::vector<DynamicOrder::Step> ParallelSi::cycle(Solver& solver, ItemId read) {
  const KeyId key = o_.items().key(read);
  const ItemId version = o_.write(read);
  const ItemId next = version.valid() ? next_write_[version.index()] : first_write_[key.index()];
  if (!next.valid()) return {};
  const Node reader = o_.txn(read).value;
  const Node writer = o_.txn(next).value;
  auto steps = way(solver, reader, writer);
  if (steps.empty()) return {};
  steps.insert(steps.begin(), {{reader, writer}, label(solver, version, next, key)});
  return steps;
}

std::vector<DynamicOrder::Step> ParallelSi::way(Solver& solver, Node reader, Node writer) {
  if (writer == reader || order_.position(writer) > order_.position(reader)) return {};
  if (!reaches(writer, reader)) return {};
  std::vector<DynamicOrder::Step> steps;
  for (Node node = reader; node != writer; node = arrival_[node].from) {
    const Arrival& arrival = arrival_[node];
    DynamicOrder::Label by = arrival.label;
    if (arrival.later.valid()) {
      by = label(solver, arrival.earlier, arrival.later, o_.items().key(arrival.later));
    }
    steps.push_back({{arrival.from, node}, by});
  }
  std::reverse(steps.begin(), steps.end());
  return steps;
}

bool ParallelSi::reaches(Node from, Node to) {
  arrival_.resize(order_.node_count());
  ++searches_;
  queue_.assign(1, from);
  arrival_[from].search = searches_;
  const auto arrive = [&](Node node, Arrival arrival) {
    if (arrival_[node].search == searches_ || order_.position(node) > order_.position(to)) return;
    arrival.search = searches_;
    arrival_[node] = arrival;
    queue_.push_back(node);
  };
  const Items& items = o_.items();
  for (std::size_t at = 0; at < queue_.size() && !ticker_.tick(); ++at) {
    const Node node = queue_[at];
    if (node == to) return true;
    order_.for_each_out(node, [&](Node next, DynamicOrder::Label label) {
      arrive(next, {0, node, label, {}, {}});
    });
    const TxnId txn = e_.txn(node);
    if (txn == kInitialTxn) continue;
    for (ItemId i = items.first(txn); i < items.end(txn); ++i.value) {
      if (!items.is_write(i) || !next_write_[i.index()].valid()) continue;
      const ItemId later = next_write_[i.index()];
      arrive(o_.txn(later).value, {0, node, DynamicOrder::kNoLabel, i, later});
    }
  }
  return false;
}

}  // namespace ouro
