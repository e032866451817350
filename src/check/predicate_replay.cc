#include "check/predicate_replay.h"

#include <algorithm>
#include <utility>

#include "history/access.h"
#include "history/commuting.h"

namespace ouro {
namespace {

// How many aggregates become reads at a time; each may be of all keys.
constexpr int kMostAggregates = 8;
// How many moments before and as many behind the one at hand place() looks at.
constexpr int kMostMoments = 200;

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
      if (predicate_txns_.empty() || predicate_txns_.back() != TxnId{t}) {
        predicate_txns_.emplace_back(t);
      }
      if (h_.op(id).kind == OpKind::Select) select(id, out);
      if (h_.op(id).kind == OpKind::Aggregate) aggregate(id, out);
    }
  }
  return out;
}

PredicateReplay::Moment PredicateReplay::shown_at_begin(TxnId txn) {
  Moment now;
  for (OpId id = h_.first_op(txn); id < h_.end_op(txn); ++id.value) {
    const bool unknown =
        h_.op(id).kind == OpKind::Aggregate && h_.predicate_read(id).result.is_unobserved();
    if (!is_replayed(id) || unknown) continue;
    Shown& shown = now.emplace_back(Shown{id, written_before(h_, id), {}});
    for_each_key(id, shown.own, [&](KeyId key, std::uint32_t, std::uint32_t last) {
      shown.rows.push_back({key, last});
    });
  }
  return now;
}

std::optional<std::vector<PredicateEdge>> PredicateReplay::place(TxnId txn) {
  Moment now = shown_at_begin(txn);
  if (fits(now)) return edges_of(txn, now);
  const std::vector<Step> steps = steps_of(txn, now);
  const std::uint32_t begun = positions_.begin[txn.index()];
  auto high = static_cast<std::size_t>(
      std::partition_point(steps.begin(), steps.end(),
                           [&](const Step& step) { return step.position < begun; }) -
      steps.begin());
  std::size_t low = high;
  Moment later = now;
  Moment earlier = std::move(now);
  for (int tries = 0; tries < kMostMoments && (low > 0 || high < steps.size()); ++tries) {
    if (low > 0) {
      for (const std::uint32_t at = steps[low - 1].position;
           low > 0 && steps[low - 1].position == at; --low) {
        const Step& step = steps[low - 1];
        earlier[step.read].rows[step.row].version = step.before;
      }
      if (fits(earlier)) return edges_of(txn, earlier);
    }
    if (high < steps.size()) {
      for (const std::uint32_t at = steps[high].position;
           high < steps.size() && steps[high].position == at; ++high) {
        const Step& step = steps[high];
        later[step.read].rows[step.row].version = step.version;
      }
      if (fits(later)) return edges_of(txn, later);
    }
  }
  return std::nullopt;
}

// Scans are looked at elsewhere (Scans).
bool PredicateReplay::is_replayed(OpId id) const {
  return has_condition(h_.op(id).kind) && has_untold_keys(h_, id);
}

template <class F>
void PredicateReplay::for_each_key(OpId id, const OwnWrites& own, const F& f) {
  const PredicateRead& read = h_.predicate_read(id);
  rows_.prepare(read.predicate);
  rows_.select(read.predicate, matches_);
  std::vector<KeyId> returned;
  for (const KeyVersion& row : h_.rows(read)) returned.push_back(row.key);
  std::sort(returned.begin(), returned.end());
  const TxnId txn = h_.txn_of(id);
  const std::uint32_t begun = positions_.begin[txn.index()];
  KeyId last;
  for (const auto& match : matches_) {
    if (std::exchange(last, match.key) == match.key || has_key(own, match.key)) continue;
    if (std::binary_search(returned.begin(), returned.end(), match.key)) continue;
    const auto versions = rows_.of(match.key);
    const auto behind =
        std::partition_point(versions.begin() + 1, versions.end(), [&](const auto& version) {
          return positions_.commit[o_.txn(version.write).index()] < begun;
        });
    const auto held = static_cast<std::uint32_t>(behind - versions.begin() - 1);
    f(match.key, at_begin_ ? held : 0, held);
  }
}

std::vector<PredicateReplay::Step> PredicateReplay::steps_of(TxnId reader,
                                                              const Moment& moment) const {
  const auto [first, end] = bounds(reader);
  std::vector<Step> out;
  for (std::size_t read = 0; read < moment.size(); ++read) {
    for (std::size_t row = 0; row < moment[read].rows.size(); ++row) {
      const auto versions = rows_.of(moment[read].rows[row].key);
      std::uint32_t before = 0;
      for (std::uint32_t i = 1; i < versions.size(); ++i) {
        const TxnId writer = o_.txn(versions[i].write);
        if (writer == reader) continue;
        const std::uint32_t position = positions_.commit[writer.index()];
        const std::uint32_t last = std::exchange(before, i);
        if (position > first && position < end) out.push_back({position, read, row, i, last});
      }
    }
  }
  std::sort(out.begin(), out.end(),
            [](const Step& a, const Step& b) { return a.position < b.position; });
  return out;
}

std::pair<std::uint32_t, std::uint32_t> PredicateReplay::bounds(TxnId reader) const {
  std::pair<std::uint32_t, std::uint32_t> out{0, 0xffffffff};
  const Items& items = o_.items();
  for (ItemId i = items.first(reader); i < items.end(reader); ++i.value) {
    if (!items.is_read(i) || !o_.external(i) || rows_.of(items.key(i)).empty()) continue;
    const ItemId write = o_.write(i);
    const auto versions = rows_.of(items.key(i));
    std::uint32_t next = (write.valid() ? rows_.position(write) : 0) + 1;
    if (write.valid()) {
      out.first = std::max(out.first, positions_.commit[o_.txn(write).index()]);
    }
    while (next < versions.size() && o_.txn(versions[next].write) == reader) ++next;
    if (next >= versions.size()) continue;
    out.second = std::min(out.second, positions_.commit[o_.txn(versions[next].write).index()]);
  }
  return out;
}

bool PredicateReplay::fits(const Moment& moment) const {
  return std::all_of(moment.begin(), moment.end(), [&](const Shown& shown) {
    const PredicateRead& read = h_.predicate_read(shown.read);
    PossibleResult result(h_, shown.read);
    add_own(h_, shown.read, shown.own, result);
    for (const auto& [key, version] : shown.rows) {
      const RowPart part = rows_.part(read, {key, version});
      result.add({&part, 1}, key);
    }
    return result.has_result();
  });
}

std::vector<PredicateEdge> PredicateReplay::edges_of(TxnId reader, const Moment& moment) const {
  std::vector<PredicateEdge> out;
  for (const Shown& shown : moment) {
    const PredicateRead& read = h_.predicate_read(shown.read);
    for (const auto& [key, version] : shown.rows) {
      const auto versions = rows_.of(key);
      const RowPart part = rows_.part(read, {key, version});
      std::uint32_t first = version;
      while (first > 0 && rows_.part(read, {key, first - 1}) == part) --first;
      if (first > 0) out.push_back({reader, shown.read, versions[first].write, false});
      std::uint32_t next = version + 1;
      while (next < versions.size() &&
             (o_.txn(versions[next].write) == reader || rows_.part(read, {key, next}) == part)) {
        ++next;
      }
      if (next < versions.size()) {
        out.push_back({reader, shown.read, versions[next].write, true});
      }
    }
  }
  return out;
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
  add_all_keys(o_, lists_, id, out);
  if (out.size() == before) impossible_.add(whole_, lists_, id, out);
}

}  // namespace ouro
