#include "explain/lift.h"

#include <algorithm>

namespace ouro {
namespace {

KeyId lifted(KeyId key, const Excerpt& part) {
  return key.valid() ? part.keys[key.index()] : KeyId{};
}

void lift(std::vector<Edge>& edges, const Excerpt& part) {
  for (Edge& edge : edges) {
    edge.from = ouro::lifted(edge.from, part);
    edge.to = ouro::lifted(edge.to, part);
    edge.key = lifted(edge.key, part);
    edge.from_op = ouro::lifted(edge.from_op, part);
    edge.to_op = ouro::lifted(edge.to_op, part);
    edge.read = ouro::lifted(edge.read, part);
    edge.saw = ouro::lifted(edge.saw, part);
  }
}

// Which element of a list it is in the whole. Of an element that repeats, all are in the part or
// none.
std::uint32_t lifted_element(const ReadSource& said, const Excerpt& part) {
  const OpId read = ouro::lifted(said.read, part);
  if (said.element == 0 || !read.valid()) return said.element;
  const auto shown = part.history.list(part.history.op(said.read).value).first(said.element);
  auto left = std::count(shown.begin(), shown.end(), shown.back());
  const auto whole = part.whole.list(part.whole.op(read).value);
  for (std::uint32_t i = 0; i < whole.size(); ++i) {
    if (whole[i] == shown.back() && --left == 0) return i + 1;
  }
  return said.element;
}

}  // namespace

TxnId lifted(TxnId txn, const Excerpt& part) {
  return txn.valid() ? part.txns[txn.index()] : kInitialTxn;
}

OpId lifted(OpId op, const Excerpt& part) { return op.valid() ? part.ops[op.index()] : OpId{}; }

void lift(Story& story, const Excerpt& part) {
  for (TxnId& txn : story.txns) txn = lifted(txn, part);
  for (OpId& op : story.ops) op = lifted(op, part);
  for (OpId& op : story.shown_by) op = lifted(op, part);
  for (TxnId& txn : story.shown_in) txn = lifted(txn, part);
  lift(story.support, part);
  for (Case& each : story.cases) {
    lift(each.cycle, part);
    for (Assumption& given : each.given) {
      given = {lifted(given.key, part), lifted(given.first, part), lifted(given.second, part)};
    }
    for (auto& [here, there] : each.other_txns) {
      here = lifted(here, part);
      there = lifted(there, part);
    }
    for (auto& [here, there] : each.other_keys) {
      here = lifted(here, part);
      there = lifted(there, part);
    }
    for (ReadSource& said : each.sources) {
      said = {lifted(said.read, part), lifted(said.key, part), lifted(said.writer, part),
              lifted_element(said, part)};
    }
    for (ReadSight& sight : each.sights) {
      sight = {lifted(sight.read, part), lifted(sight.key, part), lifted(sight.writer, part),
               sight.seen};
    }
  }
}

Excerpt lifted(Excerpt inner, const Excerpt& part) {
  for (TxnId& txn : inner.txns) txn = lifted(txn, part);
  for (OpId& op : inner.ops) op = lifted(op, part);
  for (KeyId& key : inner.keys) key = lifted(key, part);
  inner.whole = part.whole;
  return inner;
}

}  // namespace ouro
