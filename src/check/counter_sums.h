// Reads of counters, as questions which increments they saw.
//
// A read of a counter is one open read for each increment of another transaction (CounterSum in
// observed/items.h): it saw its row or it did not. Those that it saw must add up to what it
// returned. open_reads.h tries one way after the other; here is what that must know of sums.
#pragma once

#include <optional>
#include <vector>

#include "check/observed/observed.h"
#include "check/positions.h"
#include "ouro/check.h"

namespace ouro {

// The first read of a counter, of a transaction that takes part, that cannot have returned what it
// did, whatever its rows that are still open are: too little or too much is left. Invalid if there
// is none.
[[nodiscard]] OpId impossible_sum(const Observed& observed);

// The anomaly that impossible_sum() is.
[[nodiscard]] Anomaly anomaly_of_sum(const Observed& observed, OpId read);

// Which rows a read of a counter is guessed to have seen, of those that are open.
struct SumGuess {
  bool is_found = true;    // Whether any guess gives the sum.
  bool is_natural = true;  // Whether these are the rows that were committed when it began.
  std::vector<std::pair<ItemId, bool>> rows;
  ItemId doubtful;  // If not natural: the row to ask about first.
};
// A guess that adds up, if one is found among those that saw a beginning of the order of commits.
// `positions`: in an order that was found.
[[nodiscard]] SumGuess guess_sum(const Observed& observed, const Positions& positions,
                                 const CounterSum& sum);

// What level alone says of a row: the reader must have seen it, or cannot have seen it. `refuted`
// is why the opposite is impossible.
struct ForcedRow {
  ItemId item;
  bool seen = false;
  Anomaly refuted;
};
// The open rows of `sum` that session order or real time settle at `level`.
[[nodiscard]] std::vector<ForcedRow> forced_rows(const Observed& observed, const CounterSum& sum,
                                                 Level level, std::int64_t clock_drift);

// If what session order and real time settle is enough to make `sum` impossible: as much of it as
// is needed. Otherwise nothing. REQUIRES: all rows of the sum are open.
[[nodiscard]] std::vector<ForcedRow> contradiction_of_sum(const Observed& observed,
                                                          const CounterSum& sum, Level level,
                                                          std::int64_t clock_drift);

// The write of the row that an item of a CounterSum asks about.
[[nodiscard]] ItemId row_write(const Observed& observed, ItemId item);

}  // namespace ouro
