// A predicate read in the terms of the row table, and how it is judged.
//
// A scan or select is judged key by key. A key's *share* of the read is right if the rows returned
// for that key are those that should have been. The read is right if no key's share is wrong, so
// after a late version of a key only that key's share is judged again. An aggregate has one result
// for all keys and is judged as a whole.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ouro/history.h"
#include "stream/row_table.h"

namespace ouro::stream {

// A predicate read: what was asked, and what came back.
struct Asked {
  OpKind kind = OpKind::Select;
  PredicateRead read;    // What was asked, with values and columns of the table's store.
  bool observed = true;  // False: an aggregate whose result nobody recorded; it counts as right.
  std::string result;    // Of an aggregate: what came back, as JSON.

  // What the transaction itself had written to a key before the read, last. Sorted by key.
  struct Own {
    KeyId key;
    Seen seen;
  };
  std::vector<Own> own;
  // The rows that came back, sorted by key; `print` is the fingerprint of the row's value.
  struct Returned {
    KeyId key;
    std::uint64_t print = 0;
    constexpr auto operator<=>(const Returned&) const = default;
  };
  std::vector<Returned> returned;
};

// Judges one read by the rows that its transaction sees at `begin`, with its own writes before the
// read. Gives the same result as check/timeline/predicates.cc does for whole histories.
class Judge {
 public:
  Judge(RowTable& table, const Asked& asked, const Moment& begin)
      : table_(table), asked_(asked), begin_(begin) {}

  // Whether its transaction wrote the key before the read; then versions of others do not matter.
  [[nodiscard]] bool owns(const RowKey& key) const { return own(key) != nullptr; }
  // What the read sees in the key.
  [[nodiscard]] Seen seen(const RowKey& key) const;
  // Whether the key belongs to the result if it holds `seen`.
  [[nodiscard]] bool selects(const RowKey& key, const Seen& seen) const;
  // Whether the key's share is wrong if it holds `seen`. REQUIRES: not an aggregate.
  [[nodiscard]] bool wrong(const RowKey& key, const Seen& seen) const {
    return wrong(key, seen, selects(key, seen));
  }
  // How many keys have a wrong share. REQUIRES: not an aggregate.
  [[nodiscard]] std::uint32_t wrong_keys() const;
  // The rows that the read should have returned (or aggregated), sorted by key name.
  [[nodiscard]] std::vector<KeyVersion> selected() const;
  // What an aggregate should have returned, as JSON.
  [[nodiscard]] std::string aggregated() const;
  // Whether `recorded`, as JSON, may be that. REQUIRES: an aggregate.
  [[nodiscard]] bool gives(std::string_view recorded) const;

 private:
  [[nodiscard]] const Asked::Own* own(const RowKey& key) const;
  [[nodiscard]] bool wrong(const RowKey& key, const Seen& seen, bool selected) const;
  // Visits all keys that can be selected, each once, and perhaps some others.
  template <class Visit>
  void for_candidates(const Visit& visit) const;

  RowTable& table_;
  const Asked& asked_;
  const Moment& begin_;
};

}  // namespace ouro::stream
