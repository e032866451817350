#include "db/snapshot_order.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <numeric>

namespace ouro::db {
namespace {

// How many of the sorted `committed` are below `transaction`.
std::size_t count_below(std::span<const std::uint64_t> committed, std::uint64_t transaction) {
  return static_cast<std::size_t>(
      std::lower_bound(committed.begin(), committed.end(), transaction) - committed.begin());
}

std::size_t count_seen(const Snapshot& snapshot, std::span<const std::uint64_t> committed) {
  std::size_t seen = count_below(committed, snapshot.next);
  for (const std::uint64_t open : snapshot.in_progress) {
    seen -= open < snapshot.next && std::binary_search(committed.begin(), committed.end(), open);
  }
  return seen;
}

// Whether `later` sees all commits that `earlier` sees. Only what `later` does not see must be
// looked at: transactions that it lists as in progress, and those from its `next` on.
bool contains(const Snapshot& later, const Snapshot& earlier,
              std::span<const std::uint64_t> committed) {
  for (const std::uint64_t open : later.in_progress) {
    if (std::binary_search(committed.begin(), committed.end(), open) && earlier.sees(open)) {
      return false;
    }
  }
  for (std::size_t at = count_below(committed, later.next);
       at < committed.size() && committed[at] < earlier.next; ++at) {
    if (earlier.sees(committed[at])) return false;
  }
  return true;
}

// Whether all transactions that had ended for `earlier` had for `later`, too.
bool has_all_ended(const Snapshot& later, const Snapshot& earlier) {
  return later.next >= earlier.next &&
         std::none_of(later.in_progress.begin(), later.in_progress.end(),
                      [&](std::uint64_t open) { return earlier.sees(open); });
}

}  // namespace

bool Snapshot::sees(std::uint64_t transaction) const {
  if (std::binary_search(in_progress.begin(), in_progress.end(), transaction)) return false;
  return transaction < next;
}

std::int64_t rank_of(const Snapshot& snapshot) {
  return static_cast<std::int64_t>(snapshot.next - snapshot.in_progress.size());
}

std::optional<Snapshot> parse_snapshot(std::string_view text) {
  const char* at = text.data();
  const char* end = at + text.size();
  const auto number = [&](std::uint64_t& value, char stop) {
    const auto [after, problem] = std::from_chars(at, end, value);
    if (problem != std::errc()) return false;
    at = after;
    if (at == end) return stop == ',';
    if (*at != stop) return false;
    ++at;
    return true;
  };
  Snapshot snapshot;
  std::uint64_t lowest = 0;
  if (!number(lowest, ':') || !number(snapshot.next, ':')) return std::nullopt;
  while (at != end) {
    std::uint64_t open = 0;
    if (!number(open, ',')) return std::nullopt;
    snapshot.in_progress.push_back(open);
  }
  std::sort(snapshot.in_progress.begin(), snapshot.in_progress.end());
  return snapshot;
}

SnapshotOrder order_snapshots(std::span<const Snapshot> snapshots,
                              std::span<const std::uint64_t> committed,
                              std::span<const std::uint64_t> logged) {
  std::vector<std::size_t> seen(snapshots.size());
  for (std::size_t i = 0; i < snapshots.size(); ++i) seen[i] = count_seen(snapshots[i], committed);
  std::vector<std::size_t> chain(snapshots.size());
  std::iota(chain.begin(), chain.end(), std::size_t{0});
  std::stable_sort(chain.begin(), chain.end(),
                   [&](std::size_t a, std::size_t b) { return seen[a] < seen[b]; });
  SnapshotOrder order;
  for (std::size_t i = 1; i < chain.size(); ++i) {
    order.breaks += !contains(snapshots[chain[i]], snapshots[chain[i - 1]], committed);
  }

  // Commits are sorted by the first snapshot of the chain that sees them, then by the log.
  struct Commit {
    std::size_t first_seen;
    std::size_t logged;
    std::size_t index;
  };
  absl::flat_hash_map<std::uint64_t, std::size_t> place;  // Where a transaction is in `logged`.
  for (std::size_t i = 0; i < logged.size(); ++i) place.emplace(logged[i], i);
  std::vector<Commit> commits(committed.size());
  for (std::size_t i = 0; i < committed.size(); ++i) {
    const auto sees = std::partition_point(chain.begin(), chain.end(), [&](std::size_t snapshot) {
      return !snapshots[snapshot].sees(committed[i]);
    });
    const auto found = place.find(committed[i]);
    commits[i] = {static_cast<std::size_t>(sees - chain.begin()),
                  found == place.end() ? std::numeric_limits<std::size_t>::max() : found->second,
                  i};
  }
  std::sort(commits.begin(), commits.end(), [](const Commit& a, const Commit& b) {
    return std::tie(a.first_seen, a.logged, a.index) < std::tie(b.first_seen, b.logged, b.index);
  });

  order.starts.resize(snapshots.size());
  order.commits.resize(committed.size());
  std::int64_t position = 0;
  auto commit = commits.begin();
  // Snapshots that see the same commits get the same time.
  for (std::size_t i = 0; i < chain.size(); ++i) {
    const bool same = i > 0 && seen[chain[i]] == seen[chain[i - 1]];
    for (; commit != commits.end() && commit->first_seen <= i; ++commit) {
      order.commits[commit->index] = ++position;
    }
    order.starts[chain[i]] = same ? position : ++position;
  }
  for (; commit != commits.end(); ++commit) order.commits[commit->index] = ++position;
  return order;
}

CommitPlaces place_commits(std::vector<const Snapshot*> chain,
                           std::span<const std::uint64_t> commits) {
  std::stable_sort(chain.begin(), chain.end(), [](const Snapshot* a, const Snapshot* b) {
    return rank_of(*a) < rank_of(*b);
  });
  CommitPlaces places;
  for (std::size_t i = 1; i < chain.size(); ++i) {
    places.breaks |= !has_all_ended(*chain[i], *chain[i - 1]);
  }
  for (std::size_t i = 0; i < commits.size(); ++i) {
    const auto sees = std::partition_point(
        chain.begin(), chain.end(), [&](const Snapshot* link) { return !link->sees(commits[i]); });
    if (sees == chain.end()) {
      places.breaks = true;
      places.ranks.emplace_back(rank_of(*chain.back()), i);
      continue;
    }
    places.ranks.emplace_back(rank_of(**sees), i);
  }
  std::sort(places.ranks.begin(), places.ranks.end());
  return places;
}

}  // namespace ouro::db
