// What is reported of a violation: a small history of the transactions involved, and a verdict on
// it with the one anomaly, so that it can be told like those of a whole history.
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

// An operation of a transaction, counted within it.
struct OpOf {
  static constexpr std::uint32_t kNone = 0xffffffff;
  Arrival txn = kNobody;
  std::uint32_t op = kNone;
};

// As Violation in check/timeline/violations.h, with transactions by their arrival.
struct StreamViolation {
  AnomalyKind kind = AnomalyKind::SnapshotMismatch;
  Arrival txn = kNobody;
  std::uint32_t op = OpOf::kNone;  // Of `txn`.
  Arrival other = kNobody;         // Of whole transactions.
  OpOf other_op;                   // What it contradicts.
  OpOf source;                     // Who wrote what was read.
  // No part of the anomaly, but of its history: who wrote what was read.
  std::vector<Arrival> witnesses = {};
  std::string expected;
};

// Fills history and verdict. A transaction that cannot be found is left out.
void tell(const StreamViolation& violation, Level level, Initials& initials, const FindTxn& find,
          StreamEvent& event);

// Which operation of a transaction writes the key: the first or the last one, or kNone.
[[nodiscard]] std::uint32_t first_write(const Source& txn, const Name& key);
[[nodiscard]] std::uint32_t last_write(const Source& txn, const Name& key);
// The same, if it writes `value`.
[[nodiscard]] std::uint32_t write_of(const Source& txn, const Name& key, std::uint64_t value);

}  // namespace ouro::stream
