#include "certify/clock.h"

#include <limits>

namespace ouro::recheck {

// Phases, which order moments at equal timestamps: 0, commits of transactions that began before; 1,
// writers that begin and commit right then; 2, readers that do; 3, begins of transactions that
// commit later.
Clock::Moment Clock::begin_of(const Stamps& stamps, TxnId txn) {
  if (stamps.start < stamps.commit) return {stamps.start, 3, txn.value, false};
  return {stamps.commit, stamps.writes ? 1 : 2, txn.value, false};
}

Clock::Moment Clock::commit_of(const Stamps& stamps, TxnId txn) {
  if (stamps.start < stamps.commit) return {stamps.commit, 0, txn.value, true};
  return {stamps.commit, stamps.writes ? 1 : 2, txn.value, true};
}

// If completed + drift is above what clocks can show, it precedes nothing.
bool precedes_in_time(std::int64_t completed, std::int64_t invoked, std::int64_t drift) {
  if (completed > std::numeric_limits<std::int64_t>::max() - drift) return false;
  return completed + drift < invoked;
}

std::optional<std::int64_t> latest_begin(const History& history, TxnId txn) {
  return history.began(txn) ? history.began(txn) : history.completed(txn);
}

std::optional<std::int64_t> earliest_commit(const History& history, TxnId txn) {
  return history.committing(txn) ? history.committing(txn) : history.invoked(txn);
}

Clock::Clock(const History& history, const Rules& rules)
    : h_(history), stamps_(history.txn_count()), known_(history.txn_count(), false) {
  for (std::size_t i = 0; i < stamps_.size(); ++i) {
    const TxnId txn{i};
    Stamps& stamps = stamps_[i];
    for (OpId op = h_.first_op(txn); op < h_.end_op(txn) && !stamps.writes; ++op.value) {
      stamps.writes = ouro::is_write(h_.op(op).kind);
    }
    if (!takes_part(txn)) continue;
    const auto start = h_.start_ts(txn);
    const auto commit = stamps.writes || h_.commit_ts(txn) ? h_.commit_ts(txn) : start;
    const bool begins_apart = rules.family == Family::Snapshot;
    known_[i] = commit.has_value() && (start.has_value() || !begins_apart);
    if (!known_[i]) continue;
    stamps.commit = *commit;
    stamps.start = begins_apart ? *start : *commit;
    ++known_count_;
  }
}

bool Clock::takes_part(TxnId txn) const {
  switch (h_.status(txn)) {
    case TxnStatus::Committed:
      return true;
    case TxnStatus::Unknown:
      return h_.commit_ts(txn).has_value();
    case TxnStatus::Aborted:
      break;
  }
  return false;
}

bool Clock::is_inverted(TxnId txn) const {
  const auto start = h_.start_ts(txn);
  const auto commit = h_.commit_ts(txn);
  return start && commit && *commit < *start;
}

}  // namespace ouro::recheck
