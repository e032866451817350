#include "history/session_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "history/columns.h"
#include "history/input_error.h"

namespace ouro {

SessionIndex index_sessions(std::size_t session_count, std::span<const SessionId> session_of,
                            std::span<const std::int64_t> snos) {
  SessionIndex index;
  index.first.resize(session_count + 1, 0);
  for (const SessionId session : session_of) ++index.first[session.index() + 1];
  for (std::size_t i = 1; i < index.first.size(); ++i) index.first[i] += index.first[i - 1];
  index.txns.resize(session_of.size());
  std::vector<std::uint32_t> next(index.first.begin(), index.first.end() - 1);
  for (std::size_t t = 0; t < session_of.size(); ++t) {
    index.txns[next[session_of[t].index()]++] = TxnId{t};
  }
  if (snos.empty()) return index;
  const auto earlier = [&](TxnId a, TxnId b) { return snos[a.index()] < snos[b.index()]; };
  for (std::size_t s = 0; s < session_count; ++s) {
    const auto begin = index.txns.begin() + index.first[s];
    const auto end = index.txns.begin() + index.first[s + 1];
    if (!std::is_sorted(begin, end, earlier)) std::stable_sort(begin, end, earlier);
  }
  return index;
}

std::optional<SnoFault> first_sno_fault(const SessionIndex& index,
                                        std::span<const std::int64_t> snos) {
  if (snos.empty()) return std::nullopt;
  for (std::size_t s = 0; s + 1 < index.first.size(); ++s) {
    const std::uint32_t begin = index.first[s];
    const std::uint32_t end = index.first[s + 1];
    for (std::uint32_t i = begin + 1; i < end; ++i) {
      const TxnId txn = index.txns[i];
      const std::int64_t sno = snos[txn.index()];
      const std::int64_t before = snos[index.txns[i - 1].index()];
      if (before == kNoSno && sno != kNoSno) {
        return SnoFault{index.txns[i - 1],
                        "the transaction has no \"sno\", but others of its session have; give it "
                        "to all of them or to none"};
      }
      if (before == sno && sno != kNoSno) {
        return SnoFault{txn, fmt::format("the \"sno\" {} is that of another transaction of its "
                                         "session, too; count them",
                                         sno)};
      }
    }
  }
  return std::nullopt;
}

Status refuse_other_order(const History& history) {
  if (!history.has_snos()) return {};
  for (std::size_t s = 0; s < history.session_count(); ++s) {
    const auto txns = history.session_txns(SessionId{s});
    const auto sorted = std::is_sorted_until(txns.begin(), txns.end());
    if (sorted == txns.end()) continue;
    const TxnId behind = *std::prev(sorted);
    return error_at(history.place(behind),
                    fmt::format("the transaction stands behind one of its session that has a "
                                "greater \"sno\" than {}; sort them, or use --evidence timestamps",
                                history.sno(behind).value_or(0)));
  }
  return {};
}

}  // namespace ouro
