#include "check/timeline/precedence.h"

#include <vector>

#include "base/radix_sort.h"
#include "history/real_time.h"

namespace ouro {
namespace {

// Of some transactions the one that commits last, and its position on the timeline.
struct Latest {
  TxnId txn;
  std::uint32_t commit = 0;

  void include(TxnId other, std::uint32_t position) {
    if (txn.valid() && position <= commit) return;
    txn = other;
    commit = position;
  }
};

void add(AnomalyKind kind, TxnId txn, std::uint32_t at, TxnId before, Violations& violations) {
  if (!violations.add(kind)) return;
  violations.keep({.kind = kind, .at = at, .txn = txn, .other = before, .expected = {}});
}

// Signed numbers as unsigned ones that order the same way, and back.
constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
std::uint64_t unsigned_order(std::int64_t clock) {
  return static_cast<std::uint64_t>(clock) ^ kSign;
}
std::int64_t clock_of(const RadixEntry& entry) {
  return static_cast<std::int64_t>(entry.key ^ kSign);
}

}  // namespace

void check_sessions(const History& history, const Timeline& timeline, Violations& violations) {
  // By transaction: of those before it in its session, the last to commit. Violations are looked
  // for along the timeline afterwards, so that the first examples are the first ones there.
  std::vector<Latest> before(history.txn_count());
  for (std::size_t s = 0; s < history.session_count(); ++s) {
    Latest latest;
    for (const TxnId txn : history.session_txns(SessionId{s})) {
      if (!timeline.has(txn)) continue;
      before[txn.index()] = latest;
      latest.include(txn, timeline.commit(txn));
    }
  }
  for (std::size_t i = 0; i < timeline.size(); ++i) {
    const auto [txn, commit] = timeline.step(i);
    const Latest& latest = before[txn.index()];
    if (commit || !latest.txn.valid() || latest.commit < i) continue;
    add(AnomalyKind::SessionInversion, txn, timeline.begin(txn), latest.txn, violations);
  }
}

void check_real_time(const History& history, const Timeline& timeline, bool commit_to_commit,
                     std::int64_t clock_drift, Violations& violations) {
  std::vector<RadixEntry> invoked;
  std::vector<RadixEntry> completed;
  for (std::size_t t = 0; t < history.txn_count(); ++t) {
    const TxnId txn{t};
    if (!timeline.has(txn)) continue;
    if (const auto clock = history.invoked(txn)) {
      invoked.push_back({unsigned_order(*clock), txn.value});
    }
    if (const auto clock = history.completed(txn)) {
      completed.push_back({unsigned_order(*clock), txn.value});
    }
  }
  radix_sort(invoked);
  radix_sort(completed);
  std::vector<Latest> before(history.txn_count());
  Latest latest;
  auto next = completed.begin();
  for (const RadixEntry& entry : invoked) {
    const std::int64_t now = clock_of(entry);
    for (; next != completed.end() && completed_before(clock_of(*next), now, clock_drift); ++next) {
      latest.include(TxnId{next->value}, timeline.commit(TxnId{next->value}));
    }
    before[entry.value] = latest;
  }
  for (std::size_t i = 0; i < timeline.size(); ++i) {
    const auto [txn, commit] = timeline.step(i);
    const Latest& latest_before = before[txn.index()];
    if (commit != commit_to_commit || !latest_before.txn.valid() || latest_before.commit < i) {
      continue;
    }
    add(AnomalyKind::RealTimeInversion, txn, static_cast<std::uint32_t>(i), latest_before.txn,
        violations);
  }
}

}  // namespace ouro
