// Makes the event of a violation: a small history of the transactions involved, and a verdict on it
// with one anomaly, so that it can be reported like a verdict on a whole history.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ouro/stream.h"
#include "stream/fingerprint.h"
#include "stream/initials.h"
#include "stream/moment.h"
#include "stream/window.h"

namespace ouro::stream {

using FindTxn = std::function<std::optional<Source>(Arrival)>;

// An operation, counted within its transaction.
struct OpOf {
  static constexpr std::uint32_t kNone = 0xffffffff;
  Arrival txn = kNobody;
  std::uint32_t op = kNone;
};

// The same as Violation in check/timeline/violations.h, but transactions are named by their
// arrival.
struct StreamViolation {
  AnomalyKind kind = AnomalyKind::SnapshotMismatch;
  Arrival txn = kNobody;
  std::uint32_t op = OpOf::kNone;  // An operation of `txn`.
  Arrival other =
      kNobody;    // The other transaction, where the violation is about whole transactions.
  OpOf other_op;  // The operation that `op` contradicts.
  OpOf source;    // The write that `op` returned.
  // Transactions that the history shows though the anomaly does not name them.
  std::vector<Arrival> witnesses = {};
  std::string expected;
};

// Fills kind, history, arrivals and verdict of the event. Transactions that `find` does not find
// are left out.
void tell(const StreamViolation& violation, Level level, Initials& initials, const FindTxn& find,
          StreamEvent& event);

// Which operation of a transaction writes the key: the first or the last one, or kNone.
[[nodiscard]] std::uint32_t first_write(const Source& txn, const Name& key);
[[nodiscard]] std::uint32_t last_write(const Source& txn, const Name& key);
// An operation that writes `value` to the key, or kNone.
[[nodiscard]] std::uint32_t write_of(const Source& txn, const Name& key, std::uint64_t value);

}  // namespace ouro::stream
