#include "history/moment.h"

namespace ouro {

bool writes(const History& history, TxnId txn) {
  for (OpId op = history.first_op(txn); op < history.end_op(txn); ++op.value) {
    if (is_write(history.op(op).kind)) return true;
  }
  return false;
}

TxnMoments moments_of(const History& history, TxnId txn, bool writes, std::uint64_t number,
                      bool snapshots) {
  TxnMoments out;
  const auto start = history.start_ts(txn);
  auto commit = history.commit_ts(txn);
  const TxnStatus status = history.status(txn);
  out.takes_part = status == TxnStatus::Committed || (status == TxnStatus::Unknown && commit);
  if (!out.takes_part) return out;
  // A transaction that writes nothing need not have a commit timestamp.
  if (!commit && !writes) commit = start;
  out.missing = !commit || (snapshots && !start);
  if (out.missing) return out;
  out.inverted = start && *start > *commit;
  static_cast<Lifetime&>(out) = lifetime(snapshots ? *start : *commit, *commit, writes, number);
  return out;
}

}  // namespace ouro
