#include "check/versions/snapshots.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/parallel.h"
#include "check/predicates/aggregate.h"
#include "check/timeline/rows.h"
#include "history/access.h"
#include "history/undone.h"
#include "history/value_order.h"

namespace ouro {
namespace {

struct Commit {
  Moment at;
  RowVersions::KeyPosition place;
  constexpr auto operator<=>(const Commit&) const = default;
};

// All versions but the initial ones, in the order of their commits.
std::vector<Commit> commits_of(const Observed& observed, const RowVersions& rows,
                               const SnapshotMoments& moments) {
  const History& h = observed.history();
  std::vector<Commit> out;
  for (std::size_t k = 0; k < h.key_count(); ++k) {
    const auto versions = rows.of(KeyId{k});
    for (std::uint32_t i = 1; i < versions.size(); ++i) {
      out.push_back({moments.commit(observed.txn(versions[i].write)), {KeyId{k}, i}});
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

// The rows at one moment, and what predicate reads should return then.
class Results {
 public:
  Results(const History& history, const RowVersions& versions, const ListKeys& lists)
      : h_(history), versions_(versions), rows_(h_, lists) {}

  // Goes on to the moment behind a commit.
  void apply(const Commit& commit) {
    const RowVersions::Version& version = versions_.of(commit.place.key)[commit.place.position];
    rows_.set(commit.place.key, {version.value, version.alive});
  }

  // How many rows judge() has looked at so far.
  [[nodiscard]] std::uint64_t looked_at() const { return rows_.looked_at(); }

  // Adds a flaw to `out` if a read did not return what it should. Own writes are visible to their
  // transaction only, so those before the read are made first and undone at the end.
  void judge(const PredicateReads::Seen& seen, std::vector<PredicateFlaw>& out) {
    for (OpId id = h_.first_op(seen.txn); id < seen.op; ++id.value) {
      const Op op = h_.op(id);
      if (!is_own_row(h_, op, seen.op) || !rows_.has(op.key)) continue;
      undo_.emplace_back(op.key, rows_.row(op.key));
      rows_.set(op.key, {op.value, leaves_own_row(op)});
    }
    const Op op = h_.op(seen.op);
    const PredicateRead& read = h_.predicate_read(op.id);
    const std::vector<KeyVersion> expected = rows_.selected(op.kind, read);
    if (op.kind == OpKind::Aggregate) {
      if (!read.result.is_unobserved() &&
          !aggregate_fits(h_, read, expected, h_.text(read.result))) {
        out.push_back({AnomalyKind::ResultSetMismatch, op.id, {}, aggregate(h_, read, expected)});
      }
    } else if (expected != rows_.returned(read)) {
      out.push_back({AnomalyKind::ResultSetMismatch, op.id, {}, rows_text(h_, expected)});
    }
    for (; !undo_.empty(); undo_.pop_back()) rows_.set(undo_.back().first, undo_.back().second);
  }

 private:
  const History& h_;
  const RowVersions& versions_;
  Rows rows_;
  std::vector<std::pair<KeyId, Rows::Row>> undo_;
};

}  // namespace

std::vector<PredicateFlaw> compare_results(const Observed& observed, const RowVersions& rows,
                                           SnapshotAt at,
                                           std::span<const PredicateReads::Seen> reads,
                                           const Budget& budget, unsigned threads) {
  const History& h = observed.history();
  const auto lists = ListKeys::of(h, threads);
  if (!lists.ok()) return {};  // Observed::observe() would have refused the history.
  const SnapshotMoments moments(h, at);
  const std::vector<Commit> commits = commits_of(observed, rows, moments);
  std::vector<std::pair<Moment, PredicateReads::Seen>> in_order;
  for (const PredicateReads::Seen& seen : reads) {
    in_order.emplace_back(moments.snapshot(seen.txn), seen);
  }
  std::stable_sort(in_order.begin(), in_order.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  const std::size_t parts = reads.size() < 1000 ? 1 : thread_count(threads);
  std::vector<std::vector<PredicateFlaw>> found(parts);
  std::vector<std::uint64_t> looked_at(parts);
  for_each_part(parts, [&](std::size_t part) {
    Results results(h, rows, *lists);
    BudgetTicker ticker(budget);
    std::size_t next = 0;
    for (std::size_t i = 0; i < in_order.size() && !ticker.tick(); ++i) {
      while (next < commits.size() && commits[next].at < in_order[i].first) {
        results.apply(commits[next++]);
      }
      if (i % parts == part) results.judge(in_order[i].second, found[part]);
    }
    looked_at[part] = results.looked_at();
  });
  constexpr std::uint64_t kStepsPerRow = 2;
  for (const std::uint64_t count : looked_at) budget.charge(kStepsPerRow * count);
  std::vector<PredicateFlaw> all;
  for (auto& part : found) std::move(part.begin(), part.end(), std::back_inserter(all));
  std::sort(all.begin(), all.end(),
            [](const PredicateFlaw& a, const PredicateFlaw& b) { return a.read < b.read; });
  return all;
}

// ---- edges ----

namespace {

// Finds the edges of reads without version sets that an order does not keep. These are between a
// reader and the writers that committed before its snapshot, but come behind its begin in the
// order; or the other way round.
class SnapshotEdges {
 public:
  SnapshotEdges(const Observed& observed, const RowVersions& rows, SnapshotAt at,
                const Positions& positions, bool overwrites)
      : o_(observed),
        h_(observed.history()),
        rows_(rows),
        moments_(h_, at),
        positions_(positions),
        overwrites_(overwrites) {
    for (std::size_t t = 0; t < h_.txn_count(); ++t) {
      if (o_.counted(TxnId{t}) && h_.commit_ts(TxnId{t})) writers_.emplace_back(t);
    }
    std::sort(writers_.begin(), writers_.end(),
              [&](TxnId a, TxnId b) { return committed(a) < committed(b); });
    latest_before_.resize(writers_.size());
    earliest_behind_.resize(writers_.size());
    for (std::size_t i = 0; i < writers_.size(); ++i) {
      latest_before_[i] =
          i == 0 ? committed_at(i) : std::max(latest_before_[i - 1], committed_at(i));
    }
    for (std::size_t i = writers_.size(); i-- > 0;) {
      earliest_behind_[i] = i + 1 == writers_.size()
                                ? committed_at(i)
                                : std::min(earliest_behind_[i + 1], committed_at(i));
    }
  }

  // Adds the broken edges of the reads of one transaction. Returns with how many writers they were
  // compared, plus one.
  std::uint32_t txn(std::span<const PredicateReads::Seen> reads,
                    std::vector<PredicateEdge>& out) const {
    std::uint32_t work = 1;
    const TxnId reader = reads.front().txn;
    const Moment snapshot = moments_.snapshot(reader);
    const std::uint32_t begun = positions_.begin[reader.index()];
    const auto here = static_cast<std::size_t>(
        std::partition_point(writers_.begin(), writers_.end(),
                             [&](TxnId w) { return committed(w) < begun; }) -
        writers_.begin());
    for (std::size_t i = here; overwrites_ && i-- > 0 && latest_before_[i] > snapshot;) {
      ++work;
      if (committed_at(i) > snapshot) compare(reads, writers_[i], true, out);
    }
    for (std::size_t i = here; i < writers_.size() && earliest_behind_[i] < snapshot; ++i) {
      ++work;
      if (committed_at(i) < snapshot) compare(reads, writers_[i], false, out);
    }
    return work;
  }

 private:
  [[nodiscard]] std::uint32_t committed(TxnId txn) const { return positions_.commit[txn.index()]; }
  [[nodiscard]] Moment committed_at(std::size_t i) const { return moments_.commit(writers_[i]); }

  // Adds an edge if something that `writer` wrote changes what one of the reads matches.
  void compare(std::span<const PredicateReads::Seen> reads, TxnId writer, bool overwrites,
               std::vector<PredicateEdge>& out) const {
    const Items& items = o_.items();
    if (writer == reads.front().txn) return;
    for (ItemId i = items.first(writer); i < items.end(writer); ++i.value) {
      if (!items.is_write(i) || !o_.final(i) || rows_.of(items.key(i)).empty()) continue;
      for (const PredicateReads::Seen& read : reads) {
        if (wrote_before(read, items.key(i)) || !changes(read, i)) continue;
        out.push_back({read.txn, read.op, i, overwrites});
        return;
      }
    }
  }

  // Whether the reader itself wrote `key` before the read: then it sees that.
  [[nodiscard]] bool wrote_before(const PredicateReads::Seen& read, KeyId key) const {
    for (OpId id = h_.first_op(read.txn); id < read.op; ++id.value) {
      const Op op = h_.op(id);
      if (op.key == key && is_own_write(h_, op, read.op)) return true;
    }
    return false;
  }

  // Whether the version is something else to the read than the one before it.
  [[nodiscard]] bool changes(const PredicateReads::Seen& read, ItemId write) const {
    const PredicateRead& details = h_.predicate_read(read.op);
    const std::uint32_t position = rows_.position(write);
    const KeyId key = o_.items().key(write);
    return rows_.part(details, {key, position}) != rows_.part(details, {key, position - 1});
  }

  const Observed& o_;
  const History& h_;
  const RowVersions& rows_;
  const SnapshotMoments moments_;
  const Positions& positions_;
  const bool overwrites_;
  std::vector<TxnId> writers_;           // Those with commit timestamps, by position.
  std::vector<Moment> latest_before_;    // By index in writers_: of those up to it.
  std::vector<Moment> earliest_behind_;  // By index in writers_: of those from it on.
};

}  // namespace

std::vector<PredicateEdge> broken_by_snapshots(const Observed& observed, const RowVersions& rows,
                                               SnapshotAt at,
                                               std::span<const PredicateReads::Seen> reads,
                                               const Positions& positions, bool overwrites,
                                               const Budget& budget) {
  const SnapshotEdges edges(observed, rows, at, positions, overwrites);
  std::vector<PredicateEdge> out;
  BudgetTicker ticker(budget, 4096, 2);
  std::uint32_t work = 1;  // What the transaction before took.
  for (std::size_t i = 0; i < reads.size() && !ticker.tick(work);) {
    std::size_t end = i;
    while (end < reads.size() && reads[end].txn == reads[i].txn) ++end;
    work = edges.txn(reads.subspan(i, end - i), out);
    i = end;
  }
  return out;
}

}  // namespace ouro
