// By observation: rows that scans returned or did not return, compared with those that are there in
// some order.
//
// A scan saw one version of every key in its range. Of keys that it did not list that was no row.
// To make all of that reads takes the product of scans and keys; but in an order that is nearly
// right, a scan lists nearly all that is there. So the order is run once. Each row that a scan
// returned is compared with the one that is there, unless it is a read already; and the rows that
// are there are counted, so that rows that a scan missed are looked for only where there are some.
#pragma once

#include <span>
#include <vector>

#include "base/budget.h"
#include "check/observed/observed.h"
#include "check/positions.h"
#include "history/sorted_keys.h"
#include "ouro/check.h"

namespace ouro {

// How the rows of scans differ from an order.
struct ScanMisfits {
  // The rows that are there when the transaction of a scan begins, and that it did not list;
  // sorted.
  std::vector<ReadKey> missed;
  // Rows that a scan returned and that are not there; sorted. Mostly there are many, and it is
  // enough to know two of each transaction: by the order, the one that is written last, and the one
  // that is overwritten first.
  std::vector<ScanRow> returned;
  [[nodiscard]] bool empty() const { return missed.empty() && returned.empty(); }
};
enum class MisfitRows : bool { Two, All };  // How many of each transaction.

class Scans {
 public:
  // REQUIRES: by observation; `observed` outlives it.
  explicit Scans(const Observed& observed);

  // The scans whose absent keys are not told (has_untold_keys()), ascending; those of transactions
  // that aborted are not among them.
  [[nodiscard]] std::span<const OpId> all() const { return scans_; }

  // Compares with an order. `observed` has the transactions of the order. If `phantoms` are
  // allowed, a scan missed only rows that have always been there until its transaction begins; but
  // all elements of a set.
  // Cost: O(n log n), linear in the rows, and as much for each row that is missed.
  [[nodiscard]] ScanMisfits compare(const Observed& observed, const Positions& positions,
                                    bool phantoms, MisfitRows rows, const Budget& budget) const;

  // Adds the keys of which a scan may have missed a row, in any order.
  void add_keys(OpId scan, std::vector<ReadKey>& out) const;

 private:
  // What a scan tells of: keys that it returned or that its transaction wrote before; sorted.
  [[nodiscard]] std::vector<KeyId> told(OpId scan) const;
  [[nodiscard]] std::span<const KeyId> range(OpId scan) const {
    return keys_.between(h_.predicate_read(scan).lower, h_.predicate_read(scan).upper);
  }
  class Present;
  class Comparison;

  const Observed& o_;
  const History& h_;
  const SortedKeys keys_;
  std::vector<OpId> scans_;
  std::vector<std::uint32_t> rank_;  // By key: its place in keys_.
  std::vector<bool> rows_;           // By key: whether some version of it is listed.
};

}  // namespace ouro
