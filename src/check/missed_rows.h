// By observation: rows that scans did not list although they are there in some order.
//
// A scan saw one version of every key in its range. Of keys that it did not list that was no row.
// To look at all of them takes the product of scans and keys; but in an order that is nearly right,
// a scan lists nearly all that is there. So the order is run once, with a count of the rows that
// are there, and only where a scan did not list as many are the rows themselves looked at.
#pragma once

#include <span>
#include <vector>

#include "base/budget.h"
#include "check/observed/observed.h"
#include "check/positions.h"
#include "history/sorted_keys.h"
#include "ouro/check.h"

namespace ouro {

class Scans {
 public:
  // REQUIRES: by observation; `observed` outlives it.
  explicit Scans(const Observed& observed);

  // The scans whose absent keys are not told (has_untold_keys()), ascending; those of transactions
  // that aborted are not among them.
  [[nodiscard]] std::span<const OpId> all() const { return scans_; }

  // The rows that are there when the transaction of a scan begins, and that it did not list,
  // sorted. If `phantoms` are allowed, only those that have always been there until then; but all
  // elements of a set.
  // `observed` has the transactions of the order.
  // Cost: O(n log n), and as much for each row that is missed.
  [[nodiscard]] std::vector<ReadKey> missed(const Observed& observed, const Positions& positions,
                                            bool phantoms, const Budget& budget) const;

  // Adds the keys of which a scan may have missed a row, in any order.
  void add_keys(OpId scan, std::vector<ReadKey>& out) const;

 private:
  // What a scan tells of: keys that it returned or that its transaction wrote before; sorted.
  [[nodiscard]] std::vector<KeyId> told(OpId scan) const;
  [[nodiscard]] std::span<const KeyId> range(OpId scan) const {
    return keys_.between(h_.predicate_read(scan).lower, h_.predicate_read(scan).upper);
  }
  class Present;

  const Observed& o_;
  const History& h_;
  const SortedKeys keys_;
  std::vector<OpId> scans_;
  std::vector<std::uint32_t> rank_;  // By key: its place in keys_.
  std::vector<bool> rows_;           // By key: whether some version of it is listed.
};

}  // namespace ouro
