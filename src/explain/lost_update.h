// Finds the lost updates among the anomalies that timestamps show: two transactions that read one
// version of a key and then both overwrote it, or appended to it.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "ouro/check.h"

namespace ouro {

// A transaction's read of a key before it did anything else with it, and its first write of the key
// after that.
struct Update {
  OpId read;
  OpId write;
};

// The update that begins with `read`; nothing if that is no such read, or no write follows.
[[nodiscard]] std::optional<Update> update_at(const History& history, OpId read);

struct LostUpdate {
  Update one;
  Update other;
  OpId source;  // The write of the version that both read; invalid if nobody wrote it.
};

// The lost update that an anomaly by timestamps is, at `level`; nothing if it is none. The two are
// those who wrote at the same time; or who did not read what it should have, and the first to
// commit of those who updated the same version, preferably one whom the anomaly names.
// Cost: one pass over the history.
[[nodiscard]] std::optional<LostUpdate> lost_update_in(const History& history,
                                                       const Anomaly& anomaly, Level level);

// Two updates among `ops` of the key that `shown` reads or writes, one of the same
// transaction, which began with the same value; nothing if there are none.
// REQUIRES: `ops` are in the order of the history.
[[nodiscard]] std::optional<LostUpdate> lost_update_among(const History& history,
                                                          std::span<const OpId> ops, OpId shown);

}  // namespace ouro
