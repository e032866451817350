// By observation: which of the rows that scans returned are reads.
//
// Scans of wide ranges return the same rows over and over: many more than there are operations.
// Most of them say nothing that others do not say: if a scan begins after the newest row that it
// returned was written, and before the first of them was overwritten, it returned what was there.
// So only few rows become reads at first: these two of each transaction, and whatever a single look
// cannot take for a plain read. All others are compared with what is there in the order that was
// found (check/scans.h), and become reads if they do not fit.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/budget.h"
#include "history/sorted_keys.h"
#include "ouro/history.h"

namespace ouro {

// A row that a scan returned.
struct ScanRow {
  OpId scan;
  std::uint32_t row = 0;  // Its place among the rows of the scan.
  constexpr auto operator<=>(const ScanRow&) const = default;
};

// Whether by observation rows that an operation returned may be left out: it is a scan that does
// not say by a version set what it saw.
[[nodiscard]] bool may_leave_out_rows(const History& history, OpId id);

class ListedRows {
 public:
  // REQUIRES: `history` outlives it. Once the budget is exhausted it is incomplete.
  // Cost: linear in operations and rows.
  ListedRows(const History& history, unsigned threads, const Budget& budget);

  // Rows that are reads in any case, sorted. All others are plain: exactly one write of their key
  // has their value, that is the last one of a transaction that committed, or there is none and it
  // is the initial value; and their transaction does nothing else with the key but to return the
  // same by other scans.
  [[nodiscard]] std::span<const ScanRow> needed() const { return needed_; }
  // Rows to begin with, sorted: those above, and of each transaction the row that, in the likely
  // order of commits, was written last, and the one that was overwritten first.
  [[nodiscard]] std::span<const ScanRow> first() const { return first_; }
  // Whether a scan returned rows in the order of their keys, and all of them in its range, as most
  // do.
  [[nodiscard]] bool is_tidy(OpId scan) const {
    return !std::binary_search(untidy_.begin(), untidy_.end(), scan);
  }
  // By key: whether it is a list.
  [[nodiscard]] const std::vector<bool>& lists() const { return lists_; }
  // Who wrote a row that is not among needed(); kInitialTxn: it is initial.
  [[nodiscard]] TxnId writer(KeyId key, Value value) const;

 private:
  // What is known of a value of a key.
  struct Version {
    TxnId writer;
    std::uint32_t written = 0;      // Its place in the likely order of commits, from 1; 0: initial.
    std::uint32_t overwritten = 0;  // The same of the next version; kNever: there is none.
    bool plain = true;
  };
  static constexpr std::uint32_t kNever = 0xffffffff;
  class Pass;
  void find_versions(const Budget& budget);
  void add_write(TxnId txn, const Op& op);
  void order_versions(const Budget& budget);

  const History& h_;
  const SortedKeys keys_;
  absl::flat_hash_map<std::pair<KeyId, Value>, std::uint32_t> number_;  // Of versions_.
  // By number; the first ones are the initial versions of all keys, in the order of keys.
  std::vector<Version> versions_;
  const std::vector<bool> lists_;
  std::vector<ScanRow> needed_;
  std::vector<ScanRow> first_;
  std::vector<OpId> untidy_;  // Sorted.
};

// Which of the rows that scans returned are reads: those of `chosen`, which is sorted; all, if
// `listed` is null. Those of scans with version sets always are.
struct RowChoice {
  std::shared_ptr<const ListedRows> listed;
  std::vector<ScanRow> chosen;
  [[nodiscard]] bool all() const { return listed == nullptr; }
};

// The rows to begin with: all, or ListedRows::first() if there are many more rows than operations.
[[nodiscard]] RowChoice first_rows(const History& history, unsigned threads, const Budget& budget);

}  // namespace ouro
