#include "check/versions/predicate_reads.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "check/versions/row_versions.h"
#include "check/versions/snapshots.h"
#include "check/versions/version_sets.h"
#include "history/access.h"
#include "history/input_error.h"

namespace ouro {
namespace {

// Checks that the version order of every key is the order of its commit timestamps. Otherwise they
// do not say which versions `read`, which has no version set, saw.
Status check_timestamps(const Observed& observed, const RowVersions& rows, OpId read) {
  const History& h = observed.history();
  for (std::size_t k = 0; k < h.key_count(); ++k) {
    std::optional<Timestamp> last;
    for (const RowVersions::Version& version : rows.of(KeyId{k})) {
      if (!version.write.valid()) continue;
      const auto commit = h.commit_ts(observed.txn(version.write));
      if (!commit || (last && *commit <= *last)) {
        return error_at(h, read,
                        fmt::format("the read has no version set, and the commit_ts of those who "
                                    "wrote {} do not say what it saw: one has none, or they "
                                    "contradict the version order; give it a version set",
                                    h.key_label(KeyId{k})));
      }
      last = commit;
    }
  }
  return {};
}

}  // namespace

// Fills with_set_, with_start_ and unplaced_.
void PredicateReads::find_reads(const Observed& observed) {
  const History& h = observed.history();
  if (!h.has_predicate_reads()) return;
  for (std::size_t t = 0; t < h.txn_count(); ++t) {
    const TxnId txn{t};
    if (!observed.counted(txn)) continue;
    const bool placed = h.start_ts(txn).has_value();
    for (OpId id = h.first_op(txn); id < h.end_op(txn); ++id.value) {
      if (!has_condition(h.op(id).kind)) continue;
      if (h.predicate_read(id).has_version_set) {
        with_set_.push_back({txn, id});
      } else {
        (placed ? with_start_ : unplaced_).push_back({txn, id});
      }
    }
  }
}

// Moves reads, which are sorted, from with_set_ to unplaced_.
void PredicateReads::add_unclear(std::span<const OpId> unclear) {
  const auto is_unclear = [&](const Seen& seen) {
    return std::binary_search(unclear.begin(), unclear.end(), seen.op);
  };
  std::copy_if(with_set_.begin(), with_set_.end(), std::back_inserter(unplaced_), is_unclear);
  unclear_count_ = std::erase_if(with_set_, is_unclear);
  std::sort(unplaced_.begin(), unplaced_.end(),
            [](const Seen& a, const Seen& b) { return a.op < b.op; });
}

Result<PredicateReads> PredicateReads::read(const Observed& observed, SnapshotAt at,
                                            const Budget& budget, unsigned threads,
                                            const Positions* order) {
  PredicateReads out;
  out.at_ = at;
  const History& h = observed.history();
  out.find_reads(observed);
  if (out.empty()) return out;
  if (order == nullptr) out.partial_ = RowVersions::missing_order(observed);
  if (out.partial_.valid()) return out;
  auto rows = std::make_shared<RowVersions>(observed, order);
  for (const auto& reads : {out.with_set_, out.with_start_, out.unplaced_}) {
    for (const Seen& seen : reads) rows->prepare(h.predicate_read(seen.op).predicate);
  }
  VersionSetFindings found =
      judge_version_sets(observed, *rows, at, out.with_set_, budget, threads);
  out.add_unclear(found.unclear);
  out.links_ = std::move(found.links);
  out.flaws_ = std::move(found.flaws);
  if (!out.with_start_.empty()) {
    if (auto status = check_timestamps(observed, *rows, out.with_start_[0].op); !status) {
      return std::move(status).error();
    }
    auto wrong = compare_results(observed, *rows, at, out.with_start_, budget, threads);
    out.snapshots_fit_ = wrong.empty();
    std::move(wrong.begin(), wrong.end(), std::back_inserter(out.flaws_));
  }
  out.rows_ = std::move(rows);
  out.stopped_ = budget.exhausted();
  return out;
}

std::vector<PredicateEdge> PredicateReads::all(const Observed& observed, const Budget& budget,
                                               unsigned threads) const {
  std::vector<PredicateEdge> out = links_;
  if (with_start_.empty()) return out;
  // What it takes to make them, and to go by them.
  constexpr std::uint64_t kStepsPerVersion = 20;
  std::uint64_t steps = 0;
  for (const Seen& seen : with_start_) {
    const PredicateRead& read = observed.history().predicate_read(seen.op);
    steps += kStepsPerVersion * rows_->scope(read.predicate).cost;
  }
  const bool affordable = budget.affords(steps);
  budget.charge(steps);
  if (!affordable) return out;
  const auto more = judge_version_sets(observed, *rows_, at_, with_start_, budget, threads).links;
  out.insert(out.end(), more.begin(), more.end());
  std::stable_sort(out.begin(), out.end(), [](const PredicateEdge& a, const PredicateEdge& b) {
    return a.reader < b.reader;
  });
  return out;
}

std::vector<PredicateEdge> PredicateReads::broken(const Observed& observed,
                                                  const Positions& positions, bool overwrites,
                                                  const Budget& budget) const {
  std::vector<PredicateEdge> out;
  for (const PredicateEdge& link : links_) {
    const std::uint32_t written = positions.commit[observed.txn(link.write).index()];
    const bool before = written < positions.begin[link.reader.index()];
    if (link.overwrites ? overwrites && before : !before) out.push_back(link);
  }
  if (with_start_.empty()) return out;
  const auto more =
      broken_by_snapshots(observed, *rows_, at_, with_start_, positions, overwrites, budget);
  out.insert(out.end(), more.begin(), more.end());
  std::stable_sort(out.begin(), out.end(), [](const PredicateEdge& a, const PredicateEdge& b) {
    return a.reader < b.reader;
  });
  return out;
}

std::vector<PredicateEdge> PredicateReads::unseen(const Observed& observed,
                                                  const Positions& positions, const Budget& budget,
                                                  unsigned threads) const {
  std::vector<PredicateEdge> missed = broken(observed, positions, true, budget);
  std::erase_if(missed, [](const PredicateEdge& edge) { return !edge.overwrites; });
  if (missed.empty()) return {};
  const auto misses = [&](const Seen& seen) {
    const auto at = std::partition_point(missed.begin(), missed.end(),
                                         [&](const auto& edge) { return edge.reader < seen.txn; });
    return at != missed.end() && at->reader == seen.txn;
  };
  std::vector<Seen> reads;
  for (const auto& all : {std::span(with_set_), std::span(with_start_)}) {
    std::copy_if(all.begin(), all.end(), std::back_inserter(reads), misses);
  }
  std::sort(reads.begin(), reads.end(), [](const Seen& a, const Seen& b) { return a.op < b.op; });
  std::vector<PredicateEdge> edges =
      judge_version_sets(observed, *rows_, at_, reads, budget, threads, EdgesKept::OfRows).links;
  std::erase_if(edges, [](const PredicateEdge& edge) { return !edge.overwrites; });
  return edges;
}

}  // namespace ouro
