#include "check/predicate_replay.h"

#include <algorithm>
#include <utility>

#include "history/access.h"
#include "history/commuting.h"

namespace ouro {
namespace {

// How many aggregates become reads at a time; each may be of all keys.
constexpr int kMostAggregates = 8;

}  // namespace

PredicateReplay::PredicateReplay(const Observed& whole, const Observed& observed,
                                 const Positions& positions, bool at_begin)
    : whole_(whole),
      o_(observed),
      h_(observed.history()),
      positions_(positions),
      at_begin_(at_begin),
      rows_(observed, &positions),
      lists_(list_keys(h_)) {}

std::vector<ReadKey> PredicateReplay::misfits(const Budget& budget) {
  std::vector<ReadKey> out;
  BudgetTicker ticker(budget, 64);
  for (std::size_t t = 0; t < h_.txn_count(); ++t) {
    if (!o_.counted(TxnId{t})) continue;
    for (OpId id = h_.first_op(TxnId{t}); id < h_.end_op(TxnId{t}); ++id.value) {
      if (!is_replayed(id)) continue;
      if (ticker.tick()) return {};
      if (h_.op(id).kind == OpKind::Select) select(id, out);
      if (h_.op(id).kind == OpKind::Aggregate) aggregate(id, out);
    }
  }
  return out;
}

// Scans are looked at elsewhere (Scans).
bool PredicateReplay::is_replayed(OpId id) const {
  return has_condition(h_.op(id).kind) && has_untold_keys(h_, id);
}

template <class F>
void PredicateReplay::for_each_key(OpId id, const OwnWrites& own, const F& f) {
  const PredicateRead& read = h_.predicate_read(id);
  rows_.prepare(read.predicate);
  rows_.select_keys(read.predicate, keys_);
  std::vector<KeyId> returned;
  for (const KeyVersion& row : h_.rows(read)) returned.push_back(row.key);
  std::sort(returned.begin(), returned.end());
  const TxnId txn = h_.txn_of(id);
  const std::uint32_t begun = positions_.begin[txn.index()];
  for (const KeyId key : keys_) {
    if (has_key(own, key)) continue;
    if (std::binary_search(returned.begin(), returned.end(), key)) continue;
    const std::uint32_t held = rows_.held(o_, key, positions_, begun);
    f(key, at_begin_ ? held : 0, held);
  }
}

void PredicateReplay::select(OpId id, std::vector<ReadKey>& out) {
  const auto own = written_before(h_, id);
  PossibleResult mine(h_, id);
  add_own(h_, id, own, mine);
  if (!mine.has_result()) return impossible_.add(whole_, lists_, id, out);
  const PredicateId predicate = h_.predicate_read(id).predicate;
  for_each_key(id, own, [&](KeyId key, std::uint32_t first, std::uint32_t last) {
    for (std::uint32_t i = first; i <= last; ++i) {
      if (!rows_.matches(predicate, {key, i})) return;
    }
    out.push_back({id, key});
  });
}

void PredicateReplay::aggregate(OpId id, std::vector<ReadKey>& out) {
  const PredicateRead& read = h_.predicate_read(id);
  if (read.result.is_unobserved()) return;
  const auto own = written_before(h_, id);
  PossibleResult result(h_, id);
  add_own(h_, id, own, result);
  std::vector<RowPart> parts;
  for_each_key(id, own, [&](KeyId key, std::uint32_t first, std::uint32_t last) {
    parts.clear();
    for (std::uint32_t i = first; i <= last; ++i) parts.push_back(rows_.part(read, {key, i}));
    result.add(parts, key);
  });
  if (result.has_result()) return;
  if (aggregates_++ >= kMostAggregates) return;
  const std::size_t before = out.size();
  if (!written_) written_.emplace(written_rows(o_, lists_));
  add_all_keys(o_, *written_, id, out);
  if (out.size() == before) impossible_.add(whole_, lists_, id, out);
}

}  // namespace ouro
