// The keys that each transaction writes, sorted, to ask "does T2 write x?".
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "check/observed/observed.h"
#include "check/weak/read_set.h"

namespace ouro {

class WrittenKeys {
 public:
  explicit WrittenKeys(const Observed& observed) {
    const History& h = observed.history();
    const Items& items = observed.items();
    first_.reserve(h.txn_count() + 1);
    for (std::size_t t = 0; t < h.txn_count(); ++t) {
      first_.push_back(static_cast<std::uint32_t>(keys_.size()));
      const TxnId txn{t};
      if (!observed.counted(txn)) continue;
      for (ItemId i = items.first(txn); i < items.end(txn); ++i.value) {
        if (items.is_write(i) && observed.final(i)) keys_.push_back(items.key(i));
      }
      std::sort(keys_.begin() + first_.back(), keys_.end());
    }
    first_.push_back(static_cast<std::uint32_t>(keys_.size()));
  }

  [[nodiscard]] std::span<const KeyId> of(TxnId txn) const {
    return std::span(keys_).subspan(first_[txn.index()],
                                    first_[txn.index() + 1] - first_[txn.index()]);
  }
  [[nodiscard]] bool writes(TxnId txn, KeyId key) const {
    const auto keys = of(txn);
    return std::binary_search(keys.begin(), keys.end(), key);
  }

 private:
  std::vector<std::uint32_t> first_;
  std::vector<KeyId> keys_;
};

// Calls f(writer, read) for each transaction that `reads` are from and each key that it wrote and
// that was read: `read` is the first one, or invalid where the key was not read. Walks the keys
// that the transaction wrote or those that were read, whichever are fewer. Returns how many keys
// were looked at.
template <class F>
std::size_t for_each_written(const ReadSet& reads, const WrittenKeys& written, const F& f) {
  std::size_t looked = 0;
  for (const ReadSet::Writer& writer : reads.writers()) {
    const auto keys = written.of(writer.txn);
    looked += std::min(keys.size(), reads.keys().size());
    if (keys.size() <= reads.keys().size()) {
      for (const KeyId key : keys) f(writer, reads.first_read(key));
    } else {
      for (const auto& [key, read] : reads.keys()) {
        if (written.writes(writer.txn, key)) f(writer, read);
      }
    }
  }
  return looked;
}

}  // namespace ouro
