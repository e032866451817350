#include "check/timeline/precedence.h"

#include <optional>
#include <vector>

#include "base/radix_sort.h"
#include "history/real_time.h"

namespace ouro {
namespace {

// Of some begins and commits the last one, and its position on the timeline.
struct Latest {
  TxnId txn;
  std::uint32_t position = 0;

  void include(TxnId other, std::uint32_t at) {
    if (txn.valid() && at <= position) return;
    txn = other;
    position = at;
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

bool writes(const History& history, TxnId txn) {
  for (OpId op = history.first_op(txn); op < history.end_op(txn); ++op.value) {
    if (is_write(history.op(op).kind)) return true;
  }
  return false;
}

// For each transaction, the last of those begins and commits on the timeline that were answered, by
// more than the drift, before something of the transaction was asked for.
class ClockOrder {
 public:
  ClockOrder(const History& history, const Timeline& timeline, std::int64_t clock_drift)
      : h_(history), timeline_(timeline), drift_(clock_drift) {}

  // Commits that were answered before the transaction was invoked.
  [[nodiscard]] std::vector<Latest> before_invocations() const {
    return before(events([&](TxnId txn) { return h_.completed(txn); }), {},
                  events([&](TxnId txn) { return h_.invoked(txn); }));
  }
  // Commits that were answered before the transaction asked for its commit. One that wrote nothing
  // has no commit of its own on the timeline, so of that it is known only that it was invoked.
  [[nodiscard]] std::vector<Latest> before_commits() const {
    return before(events([&](TxnId txn) { return h_.completed(txn); }), {}, events([&](TxnId txn) {
                    const bool asks = h_.committing(txn) && writes(h_, txn);
                    return asks ? h_.committing(txn) : h_.invoked(txn);
                  }));
  }
  // Begins and commits that were answered before the transaction, which wrote something, asked for
  // its commit.
  [[nodiscard]] std::vector<Latest> before_own_commits() const {
    return before(events([&](TxnId txn) { return h_.completed(txn); }),
                  events([&](TxnId txn) { return h_.began(txn); }), events([&](TxnId txn) {
                    return writes(h_, txn) ? commit_asked(h_, txn) : std::nullopt;
                  }));
  }

 private:
  // The transactions of the timeline that have a clock, sorted by it.
  template <class Clock>
  [[nodiscard]] std::vector<RadixEntry> events(const Clock& clock) const {
    std::vector<RadixEntry> out;
    for (std::size_t t = 0; t < h_.txn_count(); ++t) {
      const TxnId txn{t};
      if (!timeline_.has(txn)) continue;
      if (const auto at = clock(txn)) out.push_back({unsigned_order(*at), txn.value});
    }
    radix_sort(out);
    return out;
  }

  [[nodiscard]] std::vector<Latest> before(const std::vector<RadixEntry>& commits,
                                           const std::vector<RadixEntry>& begins,
                                           const std::vector<RadixEntry>& asked) const {
    std::vector<Latest> out(h_.txn_count());
    Latest latest;
    auto commit = commits.begin();
    auto begin = begins.begin();
    for (const RadixEntry& entry : asked) {
      const std::int64_t now = clock_of(entry);
      for (; commit != commits.end() && is_before(*commit, now); ++commit) {
        latest.include(TxnId{commit->value}, timeline_.commit(TxnId{commit->value}));
      }
      for (; begin != begins.end() && is_before(*begin, now); ++begin) {
        latest.include(TxnId{begin->value}, timeline_.begin(TxnId{begin->value}));
      }
      out[entry.value] = latest;
    }
    return out;
  }
  [[nodiscard]] bool is_before(const RadixEntry& answered, std::int64_t now) const {
    return completed_before(clock_of(answered), now, drift_);
  }

  const History& h_;
  const Timeline& timeline_;
  const std::int64_t drift_;
};

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
    if (commit || !latest.txn.valid() || latest.position < i) continue;
    add(AnomalyKind::SessionInversion, txn, timeline.begin(txn), latest.txn, violations);
  }
}

void check_real_time(const History& history, const Timeline& timeline, const LevelRules& rules,
                     std::int64_t clock_drift, Violations& violations) {
  const bool to_commit = rules.time_to_commit();
  const bool inner = rules.begins_apart() && history.has_inner_clocks();
  const ClockOrder order(history, timeline, clock_drift);
  const std::vector<Latest> before =
      to_commit ? order.before_commits() : order.before_invocations();
  const std::vector<Latest> before_commit =
      inner ? order.before_own_commits() : std::vector<Latest>();
  for (std::size_t i = 0; i < timeline.size(); ++i) {
    const auto [txn, commit] = timeline.step(i);
    if (commit != to_commit) continue;
    Latest missed = before[txn.index()];
    if (missed.txn.valid() && missed.position < i) missed = {};
    if (!missed.txn.valid() && !before_commit.empty()) {
      missed = before_commit[txn.index()];
      if (missed.txn.valid() && missed.position <= timeline.commit(txn)) missed = {};
    }
    if (!missed.txn.valid()) continue;
    add(AnomalyKind::RealTimeInversion, txn, static_cast<std::uint32_t>(i), missed.txn, violations);
  }
}

}  // namespace ouro
