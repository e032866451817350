#include "check/weak/read_set.h"

namespace ouro {

void ReadSet::fill(TxnId txn) {
  const Items& items = o_.items();
  reads_.clear();
  keys_.clear();
  last_of_key_.clear();
  writers_.clear();
  base_ = items.first(txn).index();
  next_.assign(items.end(txn).index() - base_, ItemId{});
  for (ItemId i = items.first(txn); i < items.end(txn); ++i.value) {
    if (!items.is_read(i) || !o_.external(i)) continue;
    reads_.push_back(i);
    const KeyId key = items.key(i);
    const std::uint32_t slot = key_slot_[key.index()];
    if (slot < keys_.size() && keys_[slot].key == key) {
      next_[last_of_key_[slot].index() - base_] = i;
      last_of_key_[slot] = i;
    } else {
      key_slot_[key.index()] = static_cast<std::uint32_t>(keys_.size());
      keys_.push_back({key, i});
      last_of_key_.push_back(i);
    }
    const TxnId writer = o_.writer(i);
    if (writer == kInitialTxn || writer_seen_[writer.index()] == txn.value) continue;
    writer_seen_[writer.index()] = txn.value;
    writers_.push_back({writer, i});
  }
}

}  // namespace ouro
