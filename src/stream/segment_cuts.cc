#include "stream/segment_cuts.h"

#include <algorithm>

#include "history/real_time.h"

namespace ouro::segments {

bool may_write(const History& history, TxnId txn) {
  if (history.status(txn) == TxnStatus::Aborted) return false;
  for (OpId op = history.first_op(txn); op < history.end_op(txn); ++op.value) {
    if (is_write(history.op(op).kind)) return true;
  }
  return false;
}

bool may_count(const History& history, TxnId txn) {
  return history.status(txn) == TxnStatus::Committed || may_write(history, txn);
}

bool CutFinder::precedes(std::int64_t completed, const History& history, TxnId txn) const {
  const auto invoked = history.invoked(txn);
  return completed == kNever || (invoked && completed_before(completed, *invoked, drift_));
}

bool CutFinder::add(const History& history, TxnId txn) {
  ++seen_;
  bool fits = true;
  if (may_count(history, txn)) {
    while (!candidates_.empty() && !precedes(candidates_.back().completed, history, txn)) {
      candidates_.pop_back();
    }
    fits = taken_ == 0 || precedes(taken_completed_, history, txn);
    const auto completed = history.completed(txn);
    if (completed) completed_ = std::max(completed_, *completed);
    if (history.status(txn) == TxnStatus::Committed && (!completed || !open_.empty())) {
      if (!history.has_session(txn)) {
        endless_ = endless_ || !completed;
      } else {
        std::string session = history.text(history.session_name(history.session(txn)));
        if (completed) {
          open_.erase(session);
        } else {
          open_.insert(std::move(session));
        }
      }
    }
  }
  if (!blocked() && seen_ >= taken_ + least_) candidates_.push_back({seen_, completed_});
  return fits;
}

std::optional<SegmentCut> CutFinder::next(bool end) {
  while (!candidates_.empty() && candidates_.front().end < taken_ + least_) {
    candidates_.pop_front();
  }
  if (candidates_.empty()) return std::nullopt;
  const SegmentCut cut = candidates_.front();
  if (!end && seen_ - cut.end < ahead_) return std::nullopt;
  candidates_.pop_front();
  taken_ = cut.end;
  taken_completed_ = cut.completed;
  return cut;
}

}  // namespace ouro::segments
