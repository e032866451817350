#include "explain/predicate_facts.h"

#include <absl/container/flat_hash_set.h>

#include <tuple>

#include "check/observed.h"
#include "check/versions/predicate_reads.h"

namespace ouro {
namespace {

// A read, who wrote what it depends on, and whether it precedes that.
using Dependency = std::tuple<OpId, TxnId, bool>;

bool by_condition(const History& history, OpId op) {
  if (!op.valid()) return false;
  const OpKind kind = history.op(op).kind;
  return kind == OpKind::Select || kind == OpKind::Aggregate;
}

// Whether the read returned the key: then it depends on it like any other read.
bool returned(const History& history, OpId read, KeyId key) {
  for (const KeyVersion& row : history.rows(history.predicate_read(read))) {
    if (row.key == key) return true;
  }
  return false;
}

std::vector<Dependency> dependencies(const History& history, const Story& story) {
  std::vector<Dependency> out;
  const auto add = [&](const Edge& edge) {
    const bool overwrites = edge.kind == EdgeKind::ReadWrite;
    const OpId read = overwrites ? edge.from_op : edge.to_op;
    if (!overwrites && edge.kind != EdgeKind::WriteRead) return;
    if (!by_condition(history, read) || returned(history, read, edge.key)) return;
    out.emplace_back(read, overwrites ? edge.to : edge.from, overwrites);
  };
  for (const Case& each : story.cases) {
    for (const Edge& edge : each.cycle) add(edge);
  }
  for (const Edge& edge : story.support) add(edge);
  return out;
}

}  // namespace

bool predicates_agree(const History& history, const Story& story, const Budget& budget) {
  const std::vector<Dependency> needed = dependencies(history, story);
  if (needed.empty()) return true;
  const auto observed = Observed::observe(history, budget, 1, Evidence::Versions);
  if (!observed.ok() || observed->stopped()) return false;
  absl::flat_hash_set<Dependency> known;
  for (const PredicateEdge& edge : observed->predicates().all(*observed, budget, 1)) {
    known.insert({edge.read, observed->txn(edge.write), edge.overwrites});
  }
  if (budget.exhausted()) return false;
  for (const Dependency& each : needed) {
    if (!known.contains(each)) return false;
  }
  return true;
}

}  // namespace ouro
