// Mends a guess of what open reads returned, one read at a time.
//
// Where most values repeat, the first guess is wrong of a few reads out of thousands. What refutes
// it is small: a cycle that rests on some of the guesses. So one of these is changed, and the level
// decided again. To try all ways for one read after the other would take that for each of them.
//
// Of the reads that a cycle rests on, and what each may have returned instead, that is taken which
// was tried least often; of several, the likeliest by the order of commits. So the changes do not
// run in a cycle. Nothing says that they come to an end: they only ever find that a level holds.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "check/observed/observed.h"
#include "check/positions.h"
#include "ouro/check.h"

namespace ouro {

class GuessRepair {
 public:
  // `guess` says of open reads of `observed` what they returned. All must outlive the repair.
  GuessRepair(const Observed& observed, const Positions& places, std::vector<ReadSource>& guess);

  // Changes one entry of the guess on which `wrong` rests; false if there is none.
  bool change(std::span<const Anomaly> wrong);

 private:
  struct Change {
    std::uint32_t entry = 0;  // In guess_.
    TxnId writer;             // Instead of the one that it has.
    std::uint32_t tried = 0;
    std::pair<std::uint32_t, std::uint32_t> rank;  // The likeliest first.
  };
  void consider(OpId read, const Edge& edge, std::optional<Change>& best);
  void consider(std::uint32_t entry, std::optional<Change>& best);
  [[nodiscard]] std::uint32_t tried(std::uint32_t entry, TxnId writer) const;

  const Observed& observed_;
  const Positions& places_;
  std::vector<ReadSource>& guess_;
  std::vector<ItemId> items_;  // By entry; invalid: it is none that may be changed.
  absl::flat_hash_map<OpId, std::vector<std::uint32_t>> entries_;
  absl::flat_hash_map<std::pair<std::uint32_t, TxnId>, std::uint32_t> tried_;
};

}  // namespace ouro
