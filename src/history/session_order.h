// Session order: that of the source or, where transactions have numbers in their session (`sno`),
// that of these numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ouro/history.h"
#include "ouro/result.h"

namespace ouro {

// The transactions of all sessions, as SessionColumns has them.
struct SessionIndex {
  std::vector<std::uint32_t> first;
  std::vector<TxnId> txns;
};
// `snos` is the column of numbers, which may be empty. Cost: linear, and sorting what is not in
// order.
[[nodiscard]] SessionIndex index_sessions(std::size_t session_count,
                                          std::span<const SessionId> session_of,
                                          std::span<const std::int64_t> snos);

// What is wrong with the numbers of a session: two are the same, or one is missing.
struct SnoFault {
  TxnId txn;
  std::string what;
};
[[nodiscard]] std::optional<SnoFault> first_sno_fault(const SessionIndex& index,
                                                      std::span<const std::int64_t> snos);

// Only what goes by timestamps can judge a history whose source does not have the transactions of
// each session in session order. The error names a transaction that stands behind a later one.
[[nodiscard]] Status refuse_other_order(const History& history);

}  // namespace ouro
