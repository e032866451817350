// The part of the oracle that compares the clocks of clients.

#include <cstdint>
#include <optional>

#include "tests/oracle.h"

namespace ouro::oracle {
namespace {

bool is_before(std::optional<std::int64_t> answered, std::optional<std::int64_t> asked,
               std::int64_t drift) {
  __extension__ using Wide = __int128;
  return answered && asked && Wide{*answered} + drift < Wide{*asked};
}

std::optional<std::int64_t> asks_for_commit(const History& history, TxnId txn) {
  return history.committing(txn) ? history.committing(txn) : history.invoked(txn);
}

}  // namespace

bool precedes_in_time(const History& history, TxnId first, TxnId second, std::int64_t drift) {
  return is_before(history.completed(first), history.invoked(second), drift);
}

bool commits_first_in_time(const History& history, TxnId first, TxnId second, std::int64_t drift) {
  return is_before(history.completed(first), asks_for_commit(history, second), drift);
}

bool begins_first_in_time(const History& history, TxnId first, TxnId second, std::int64_t drift) {
  const auto begun = history.began(first) ? history.began(first) : history.completed(first);
  return is_before(begun, asks_for_commit(history, second), drift);
}

}  // namespace ouro::oracle
