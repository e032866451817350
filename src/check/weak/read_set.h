// The external reads of one transaction, by key and by writer. Reused from transaction to
// transaction: filling it costs the size of the transaction.
#pragma once

#include <span>
#include <vector>

#include "check/observed/observed.h"

namespace ouro {

class ReadSet {
 public:
  explicit ReadSet(const Observed& observed)
      : o_(observed),
        key_slot_(observed.history().key_count(), kNone),
        writer_seen_(observed.history().txn_count(), kNone) {}

  struct KeyRead {
    KeyId key;
    ItemId first;  // First external read of the key; the others follow by next().
  };
  // A transaction that was read from, and the first read that did.
  struct Writer {
    TxnId txn;
    ItemId saw;
  };

  // Replaces the contents by the reads of `txn`.
  void fill(TxnId txn);
  [[nodiscard]] std::span<const ItemId> reads() const { return reads_; }  // In program order.
  [[nodiscard]] std::span<const KeyRead> keys() const { return keys_; }
  [[nodiscard]] std::span<const Writer> writers() const { return writers_; }
  // The first external read of `key`; invalid if there is none.
  [[nodiscard]] ItemId first_read(KeyId key) const {
    const std::uint32_t slot = key_slot_[key.index()];
    return slot < keys_.size() && keys_[slot].key == key ? keys_[slot].first : ItemId{};
  }
  // The next external read of the same key; invalid at the end.
  [[nodiscard]] ItemId next(ItemId read) const { return next_[read.index() - base_]; }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;

  const Observed& o_;
  std::vector<std::uint32_t> key_slot_;     // By key: where it is in keys_, if it is that key's.
  std::vector<std::uint32_t> writer_seen_;  // By writer: the last transaction that read from it.
  std::vector<ItemId> reads_;
  std::vector<KeyRead> keys_;
  std::vector<ItemId> last_of_key_;  // One per key, at the same index as keys_.
  std::vector<Writer> writers_;
  // By item, less base_: see next().
  std::vector<ItemId> next_;
  std::size_t base_ = 0;
};

}  // namespace ouro
