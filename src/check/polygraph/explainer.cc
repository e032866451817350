#include "check/polygraph/explainer.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <cassert>
#include <tuple>

#include "base/internal_error.h"
#include "check/observed/phantom.h"

namespace ouro {

Explainer::Explainer(const Encoding& encoding, std::span<const ChainPair> pairs,
                     const SeenVersions* seen)
    : e_(encoding), pairs_(pairs), seen_(seen), o_(encoding.observed()) {}

// A node that gathers readers or carries time lies between the two transactions of one edge. A way
// from the begin to the commit of a transaction is no edge, even if it leads through such a node.
std::vector<Edge> Explainer::edges(std::span<const DynamicOrder::Step> cycle) const {
  std::size_t start = 0;
  while (e_.txn(cycle[start].arc.from) == kInitialTxn) ++start;
  std::vector<Edge> out;
  TxnId from = e_.txn(cycle[start].arc.from);
  Node helper = kNoNode;
  Node left = kNoNode;  // Where the path left the last transaction.
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    const DynamicOrder::Step& step = cycle[(start + i) % cycle.size()];
    const TxnId to = e_.txn(step.arc.to);
    if (helper == kNoNode) left = step.arc.from;
    if (to == kInitialTxn) {
      helper = step.arc.to;
      continue;
    }
    if (step.label != DynamicOrder::kNoLabel) {
      out.push_back(chosen_edge(from, step.arc, Literal{step.label}));
    } else if (helper != kNoNode && e_.carries_time(helper)) {
      if (from != to) out.push_back(time_edge(left, step.arc.to));
    } else if (helper != kNoNode) {
      const ChainId chain = e_.readers_chain(helper);
      if (from != to) out.push_back(overwrite(from, e_.key_of(chain), e_.chain(chain).last, to));
    } else if (from != to) {
      out.push_back(known_edge(step.arc));
    }
    from = to;
    helper = kNoNode;
  }
  return out;
}

// The edge of a path through nodes that carry time. Within one transaction it is no edge: a begin
// may be answered before the commit is asked for.
Edge Explainer::time_edge(Node from, Node to) const {
  Edge edge{.from = e_.txn(from), .to = e_.txn(to), .kind = EdgeKind::RealTime};
  if (!e_.split() || e_.mixture() != nullptr || !e_.is_commit(to)) return edge;
  if (!e_.is_commit(from)) {
    edge.kind = EdgeKind::BeginTime;
  } else if (o_.history().committing(edge.to)) {
    edge.kind = EdgeKind::CommitTime;
  }
  return edge;
}

// The first read of `key` by `reader` that returned what `writer` wrote and that another
// transaction can overwrite; invalid if none.
ItemId Explainer::read_of(TxnId reader, KeyId key, TxnId writer) const {
  const Items& items = o_.items();
  for (ItemId i = items.first(reader); i < items.end(reader); ++i.value) {
    if (!items.is_read(i) || !o_.external(i) || items.key(i) != key) continue;
    if (o_.writer(i) != writer) continue;
    if (!e_.phantoms(reader) || !is_phantom(o_, i)) return i;
  }
  return {};
}

// The edge that says that `to` overwrote the version of `writer`, which `reader` read.
Edge Explainer::overwrite(TxnId reader, KeyId key, TxnId writer, TxnId to) const {
  return {.from = reader,
          .to = to,
          .kind = EdgeKind::ReadWrite,
          .key = key,
          .from_op = o_.items().op(read_of(reader, key, writer)),
          .to_op = o_.items().op(final_write(o_, to, key))};
}

// The edge of an arc that a choice made. `from` may have reached the arc through a node that
// gathers readers.
Edge Explainer::chosen_edge(TxnId from, Arc arc, Literal literal) const {
  const ChainPair pair = pairs_[literal.choice()];
  if (pair.first == kNoChain) return source_edge(arc, literal);
  const Chain& first = e_.chain(literal.opposite() ? pair.second : pair.first);
  const KeyId key = e_.key_of(pair.first);
  const TxnId to = e_.txn(arc.to);
  Edge edge;
  if (first.last == from && arc.from == e_.commit(from)) {
    edge = write_order(from, key, to);
  } else {
    edge = overwrite(from, key, first.last, to);
  }
  edge.choice = literal.choice();
  return edge;
}

// An edge that rests on what an open read returned, or on what its transaction sees.
Edge Explainer::source_edge(Arc arc, Literal literal) const {
  const Choice& about = *seen_->about(literal.choice());
  const bool sees = !literal.opposite();
  const OpId write = o_.items().op(final_write(o_, about.first, about.key));
  return {.from = e_.txn(arc.from),
          .to = e_.txn(arc.to),
          .kind = sees ? EdgeKind::WriteRead : EdgeKind::ReadWrite,
          .key = about.key,
          .from_op = sees ? write : about.read,
          .to_op = sees ? about.read : write,
          .choice = literal.choice()};
}

// The edge of a known arc in a mixture of levels.
Edge Explainer::mixed_edge(Arc arc) const {
  const Mixture& mixture = *e_.mixture();
  const Items& items = o_.items();
  const History& h = o_.history();
  Edge edge{.from = e_.txn(arc.from), .to = e_.txn(arc.to)};
  const bool to_commit = e_.commit(edge.to) == arc.to;
  // Session order and version orders lead to the begin only if the level of `to` says so.
  const bool session = h.session(edge.from) == h.session(edge.to) && edge.from < edge.to &&
                       mixture.in_session_order(edge.from, edge.to);
  if (e_.commit(edge.from) == arc.from) {
    if (session && (to_commit || mixture.rules_of(edge.to).sessions)) {
      edge.kind = EdgeKind::Session;
      return edge;
    }
    if (known_read(edge)) return edge;
    if (known_write_order(edge) && (to_commit || e_.chained(edge.to))) return edge;
  }
  if (e_.begin(edge.from) == arc.from && mixture.overwrites(edge.from)) {
    for (ItemId i = items.first(edge.from); i < items.end(edge.from); ++i.value) {
      if (items.is_read(i) && o_.external(i) && known_overwrite(i, edge.to, edge)) return edge;
    }
  }
  const auto forced = std::lower_bound(
      mixture.forced.begin(), mixture.forced.end(), edge,
      [](const Edge& a, const Edge& b) { return std::tie(a.from, a.to) < std::tie(b.from, b.to); });
  assert(forced != mixture.forced.end() && forced->from == edge.from && forced->to == edge.to);
  return *forced;
}

// The edge of a known arc. An arc from a begin is an overwritten read, one from a commit is not;
// where a transaction is one node it may be either.
Edge Explainer::known_edge(Arc arc) const {
  if (e_.mixture() != nullptr) return mixed_edge(arc);
  const TxnId from = e_.txn(arc.from);
  const TxnId to = e_.txn(arc.to);
  const Items& items = o_.items();
  Edge edge{.from = from, .to = to};
  const auto overwrites = [&] {
    for (ItemId i = items.first(from); i < items.end(from); ++i.value) {
      if (items.is_read(i) && o_.external(i) && known_overwrite(i, to, edge)) return true;
    }
    return !e_.phantoms(from) && explain_predicate(o_, from, to, true, edge);
  };
  if (e_.split() && !e_.is_commit(arc.from)) {
    overwrites();
  } else if (!known_dependency(edge) && !(!e_.split() && e_.overwrites() && overwrites()) &&
             !known_write_order(edge) && !e_.split()) {
    overwrites();  // At psi a cycle has at most one rw, so it is the last explanation to try.
  }
  return edge;
}

// Whether session order or reads-from explains `edge`; fills it in then.
bool Explainer::known_dependency(Edge& edge) const {
  const History& h = o_.history();
  if (e_.sessions() && h.session(edge.from) == h.session(edge.to) && edge.from < edge.to) {
    edge.kind = EdgeKind::Session;
    return true;
  }
  return known_read(edge);
}

// The same for reads-from alone.
bool Explainer::known_read(Edge& edge) const {
  const Items& items = o_.items();
  for (ItemId i = items.first(edge.to); i < items.end(edge.to); ++i.value) {
    if (!items.is_read(i) || !o_.external(i) || o_.writer(i) != edge.from) continue;
    edge.kind = EdgeKind::WriteRead;
    edge.key = items.key(i);
    edge.from_op = items.op(o_.write(i));
    edge.to_op = items.op(i);
    return true;
  }
  return explain_predicate(o_, edge.from, edge.to, false, edge);
}

// Whether the version order of a key explains `edge`; fills it in then. A list read may show it,
// the history may state it, or it leads from the last version of the initial chain, which comes
// before all other chains, to the first one of another.
bool Explainer::known_write_order(Edge& edge) const {
  const Items& items = o_.items();
  for (ItemId i = items.first(edge.from); i < items.end(edge.from); ++i.value) {
    if (!items.is_write(i)) continue;
    for (const VersionStep& step : o_.version_steps(items.key(i))) {
      if (step.from != i || o_.txn(step.to) != edge.to) continue;
      edge = write_order(edge.from, items.key(i), edge.to);
      if (step.read.valid()) edge.read = items.op(step.read);
      return true;
    }
  }
  for (ItemId i = items.first(edge.from); i < items.end(edge.from); ++i.value) {
    if (items.is_write(i) && o_.final(i) && leads(edge.from, items.key(i)) &&
        follows(edge.to, items.key(i))) {
      edge = write_order(edge.from, items.key(i), edge.to);
      return true;
    }
  }
  return false;
}

Edge Explainer::write_order(TxnId from, KeyId key, TxnId to) const {
  return {.from = from,
          .to = to,
          .kind = EdgeKind::WriteWrite,
          .key = key,
          .from_op = o_.items().op(final_write(o_, from, key)),
          .to_op = o_.items().op(final_write(o_, to, key))};
}

// Whether `txn` wrote the last version of the chain that begins with the initial version.
bool Explainer::leads(TxnId txn, KeyId key) const {
  return e_.chain(e_.chain_first()[key.index()]).last == txn;
}

// Whether `txn` wrote the first version of another chain of the key.
bool Explainer::follows(TxnId txn, KeyId key) const {
  const ItemId write = final_write(o_, txn, key);
  if (!write.valid() || e_.chain_at(write) == kNoChain) return false;
  return e_.chain(e_.chain_at(write)).first == txn;
}

// Whether `to` is known to overwrite what `read` returned; fills in `edge` then. It read the same
// version and wrote the key; or its version is known to come next or, if the history states it,
// later; or the read version is the last of the initial chain, and that of `to` the first of
// another.
bool Explainer::known_overwrite(ItemId read, TxnId to, Edge& edge) const {
  const KeyId key = o_.items().key(read);
  const ItemId write = final_write(o_, to, key);
  if (!write.valid() || o_.writer(read) == to) return false;
  if (e_.phantoms(o_.txn(read)) && is_phantom(o_, read)) return false;
  bool known = read_of(to, key, o_.writer(read)).valid();
  for (const VersionStep& step : o_.version_steps(key)) {
    const TxnId before = step.from.valid() ? o_.txn(step.from) : kInitialTxn;
    known |=
        (step.adjacent || !step.read.valid()) && before == o_.writer(read) && o_.txn(step.to) == to;
  }
  known |= leads(o_.writer(read), key) && follows(to, key);
  if (known) edge = overwrite(o_.txn(read), key, o_.writer(read), to);
  return known;
}

Choice Explainer::about(std::uint32_t choice) const {
  const ChainPair pair = pairs_[choice];
  if (pair.first == kNoChain) return *seen_->about(choice);
  return {.key = e_.key_of(pair.first),
          .first = e_.chain(pair.first).first,
          .second = e_.chain(pair.second).first};
}

Refutation Explainer::refutation(std::span<const Lemma> lemmas) const {
  Refutation out;
  absl::flat_hash_map<std::uint32_t, std::uint32_t> number;  // Of the choices that matter.
  const auto number_of = [&](std::uint32_t choice) {
    // Later rests on others before it, which come first.
    std::vector<std::uint32_t> unnumbered;
    while (choice != Choice::kNone && !number.contains(choice)) {
      unnumbered.push_back(choice);
      choice = about(choice).previous;
    }
    for (; !unnumbered.empty(); unnumbered.pop_back()) {
      Choice made = about(unnumbered.back());
      if (made.previous != Choice::kNone) made.previous = number.at(made.previous);
      number.emplace(unnumbered.back(), static_cast<std::uint32_t>(out.choices.size()));
      out.choices.push_back(made);
    }
  };
  const auto side = [&](Literal literal) {
    number_of(literal.choice());
    return ChoiceSide{number.at(literal.choice()), literal.opposite()};
  };
  const std::vector<Lemma> proof = trimmed(lemmas);
  insist(complaint(proof).empty(), "the solver's proof is wrong");
  for (const Lemma& lemma : proof) {
    RefutationStep step;
    for (const Literal literal : lemma.literals) step.excluded.push_back(side(!literal));
    if (!lemma.cycle.empty()) step.cycle = edges(lemma.cycle);
    for (Edge& edge : step.cycle) {
      if (edge.choice != Edge::kNoChoice) edge.choice = number.at(edge.choice);
    }
    step.premises = lemma.premises;
    out.steps.push_back(std::move(step));
  }
  return out;
}

}  // namespace ouro
