// A predicate read in the terms of the row table, and how it is judged: key by key.
//
// Each key has its share: whether what came back of it is what should have. A read is right if no
// key's share is wrong, so a late version of a key needs a look at that key only. An aggregate has
// one result for all.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ouro/history.h"
#include "stream/row_table.h"

namespace ouro::stream {

struct Asked {
  OpKind kind = OpKind::Select;
  PredicateRead read;    // What was asked, with values and columns of the store.
  bool observed = true;  // False: an aggregate whose result nobody recorded; it is right.
  std::string result;    // Of an aggregate, as JSON.

  // What the transaction had written before, by key, the last of each.
  struct Own {
    KeyId key;
    Seen seen;
  };
  std::vector<Own> own;
  // What came back, by key.
  struct Returned {
    KeyId key;
    std::uint64_t print = 0;
    constexpr auto operator<=>(const Returned&) const = default;
  };
  std::vector<Returned> returned;
};

// Judges one read. As check/timeline/predicates.cc does for whole histories.
class Judge {
 public:
  Judge(RowTable& table, const Asked& asked, const Moment& begin)
      : table_(table), asked_(asked), begin_(begin) {}

  // Whether its transaction wrote the key before, so that versions of others do not matter.
  [[nodiscard]] bool owns(const RowKey& key) const { return own(key) != nullptr; }
  [[nodiscard]] Seen seen(const RowKey& key) const;
  [[nodiscard]] bool selects(const RowKey& key, const Seen& seen) const;
  // Whether the key's share is wrong if it holds `seen`. REQUIRES: not an aggregate.
  [[nodiscard]] bool wrong(const RowKey& key, const Seen& seen) const {
    return wrong(key, seen, selects(key, seen));
  }
  // How many keys have a wrong share. REQUIRES: not an aggregate.
  [[nodiscard]] std::uint32_t wrong_keys() const;
  // The rows that it should have returned, by key.
  [[nodiscard]] std::vector<KeyVersion> selected() const;
  // Of an aggregate, what it should have returned.
  [[nodiscard]] std::string aggregated() const;

 private:
  [[nodiscard]] const Asked::Own* own(const RowKey& key) const;
  [[nodiscard]] bool wrong(const RowKey& key, const Seen& seen, bool selected) const;
  // All keys that can be selected, each once.
  template <class Visit>
  void for_candidates(const Visit& visit) const;

  RowTable& table_;
  const Asked& asked_;
  const Moment& begin_;
};

}  // namespace ouro::stream
