#include "certify/clock.h"

namespace ouro::recheck {

Clock::Clock(const History& history, const Rules& rules)
    : h_(history), places_(history.txn_count()) {
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const TxnId txn{i};
    Place& place = places_[i];
    for (OpId op = h_.first_op(txn); op < h_.end_op(txn) && !place.writes; ++op.value) {
      place.writes = ouro::is_write(h_.columns().op_kind[op.index()]);
    }
    if (!takes_part(txn)) continue;
    const auto start = h_.start_ts(txn);
    const auto commit = place.writes || h_.commit_ts(txn) ? h_.commit_ts(txn) : start;
    const bool begins_apart = rules.family == Family::Snapshot;
    place.placed = commit.has_value() && (start.has_value() || !begins_apart);
    if (!place.placed) continue;
    place.commit = *commit;
    place.start = begins_apart && *start < *commit ? *start : *commit;
    ++placed_;
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

// At equal timestamps: 0 commits of what began before, 1 writers and 2 readers that do both right
// then, 3 begins of what commits later.
Clock::Moment Clock::begin(TxnId txn) const {
  const Place& place = places_[txn.index()];
  const int phase = place.start != place.commit ? 3 : place.writes ? 1 : 2;
  return {place.start, phase, txn.value, false};
}

Clock::Moment Clock::commit(TxnId txn) const {
  const Place& place = places_[txn.index()];
  const int phase = place.start != place.commit ? 0 : place.writes ? 1 : 2;
  return {place.commit, phase, txn.value, true};
}

}  // namespace ouro::recheck
