// Who may have appended an element that reads of a list show, if it was appended several times.
//
// The rules are those of docs/levels.md, "Values that repeat". Engines have their own.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "ouro/history.h"

namespace ouro::recheck {

class ListElements {
 public:
  // Looks at all lists. REQUIRES: `history` outlives the result.
  explicit ListElements(const History& history);

  // Whether transactions that did not abort appended the element more than once, and all these
  // appends, as operations, ascending.
  [[nodiscard]] bool repeats(KeyId key, Value element) const;
  [[nodiscard]] const std::vector<OpId>& appends(KeyId key, Value element) const {
    return repeated_.at({key, element});
  }
  // The transactions that may have appended the element at `position`, from 0; ascending. If none
  // may, the one that read least of the list.
  [[nodiscard]] std::vector<TxnId> candidates(KeyId key, Value element, std::size_t position) const;
  // The append of the element that `txn` made behind `number` others of it; not valid if there is
  // none.
  [[nodiscard]] OpId append(KeyId key, Value element, TxnId txn, std::size_t number) const;

 private:
  void find_repeated();
  void look_at_reads();

  const History* h_;
  absl::flat_hash_map<std::pair<KeyId, Value>, std::vector<OpId>> repeated_;
  // How many elements of others a transaction has read, at most.
  absl::flat_hash_map<std::pair<KeyId, TxnId>, std::size_t> seen_;
  // Where a committed transaction read an append of its own; and all such appends.
  std::map<std::pair<KeyId, std::size_t>, OpId> own_;
  std::set<OpId> owned_;
};

}  // namespace ouro::recheck
