#include "check/polygraph/first_guess.h"

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "check/observed/likely_order.h"
#include "check/polygraph/alignment.h"
#include "check/polygraph/misfits.h"
#include "check/polygraph/rehearsal.h"
#include "check/polygraph/trusting_order.h"

namespace ouro {
namespace {

// The order of `start`, with transactions moved to where they must have been by what they read from
// whom; nothing if no transaction need be moved.
std::optional<std::vector<Node>> by_reads(const Start& start, const Encoding& encoding,
                                          const Budget& budget) {
  const auto txns = aligned(encoding, start.order, budget);
  if (!txns) return std::nullopt;
  return topological_order(start.known, encoding.likely_order(*txns), budget);
}

// Improves the order of `start`, which is that of the recording as far as the known arcs allow. If
// the recording is not in the order of commits, a better order follows from who read from whom, and
// from sessions. If it is, its order is taken as it is, with two exceptions: session order among
// the known arcs, which already leads to a good order; and many versions that do not fit the
// recorded order, but fit an order that follows the recording only where reads do not say
// otherwise.
void improve(Start& start, const Encoding& encoding, const CheckOptions& options,
             std::span<const Node> likely, const Budget& budget) {
  constexpr std::size_t kManyMisfits = 20;  // One in so many chains.
  if (encoding.mixture() != nullptr) return;
  const bool vague = order_is_vague(encoding.observed().history());
  if (!vague && encoding.sessions()) return;
  const Digraph& known = start.known;
  budget.charge(10 * (known.node_count() + known.arc_count()));
  if (vague) {
    if (auto order = by_reads(start, encoding, budget)) start.order = *std::move(order);
    return;
  }
  start.back = known.reversed(options.threads, budget);
  const std::vector<Node> trusting =
      topological_order(known, trusting_order(encoding, *start.back, likely, budget), budget);
  if (budget.exhausted()) return;
  const std::size_t wrong = misfits(encoding, trusting, budget);
  if (wrong * kManyMisfits > encoding.chain_count()) {
    if (auto order = by_reads(start, encoding, budget)) start.order = *std::move(order);
    if (budget.exhausted() || misfits(encoding, start.order, budget) < wrong) return;
  }
  start.order = trusting;
}

// Whether the order of the source is to be played through: values repeat, and keys are written so
// often that it matters if a transaction changes places with another that ran beside it.
bool needs_rehearsal(const Encoding& encoding) {
  const Observed& o = encoding.observed();
  const History& h = o.history();
  if (!encoding.open().sources || o.searched_reads().empty()) return false;
  if (encoding.mixture() != nullptr || !encoding.overwrites() || order_is_vague(h)) return false;
  constexpr std::size_t kOften = 5;
  return kOften * o.items().size() * h.session_count() >= h.txn_count() * h.key_count();
}

}  // namespace

Start begin_with(Digraph known, const Encoding& encoding, const CheckOptions& options,
                 const Budget& budget) {
  Start start{std::move(known), {}, {}};
  budget.charge(2 * start.known.node_count() + start.known.arc_count());
  if (budget.exhausted()) return start;
  const History& history = encoding.observed().history();
  const std::vector<Node> txns = likely_commit_order(history, budget);
  const bool rehearse = needs_rehearsal(encoding) && !budget.exhausted();
  const auto likely = rehearse ? rehearsed(encoding, txns, budget) : encoding.likely_order(txns);
  start.order = topological_order(start.known, likely, budget);
  if (!rehearse && !start.cyclic() && !budget.exhausted()) {
    improve(start, encoding, options, likely, budget);
  }
  return start;
}

}  // namespace ouro
