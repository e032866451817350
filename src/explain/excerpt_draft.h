// A part of a history in the making: what stays of the whole, and what was written of it so far.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <memory>
#include <optional>
#include <vector>

#include "explain/excerpt.h"
#include "history/columns.h"

namespace ouro {

class ExcerptDraft {
 public:
  // What the columns of a part point into.
  struct Storage : AllColumns<ColumnVector> {
    History whole;
  };

  // `kept`: as in Excerpter::make(). Both must outlive the draft.
  ExcerptDraft(const Excerpter& excerpter, const std::vector<bool>& kept);

  [[nodiscard]] const Excerpter& excerpter() const { return e_; }
  [[nodiscard]] const History& whole() const { return h_; }
  [[nodiscard]] bool kept(OpId op) const { return kept_[op.index()]; }

  // Whether a write is in this part. One that its own transaction overwrote goes with the last one.
  [[nodiscard]] bool stays(OpId write) const;
  // Whether the version that a read returned is in this part, or was never written in the whole.
  [[nodiscard]] bool present(KeyId key, Value value) const;
  [[nodiscard]] bool gone(const KeyVersion& row) const {
    return !e_.knows(row.key) || !present(row.key, row.value);
  }
  // Whether a transaction that did not abort writes the key in this part.
  [[nodiscard]] bool is_written(KeyId key);
  // Whether the key never has a value in this part.
  [[nodiscard]] bool is_absent(KeyId key) { return !is_written(key) && h_.initial(key).is_null(); }

  // The id of the key in the part, to which it is added if necessary.
  KeyId key(KeyId whole);
  // A key that the whole history does not have.
  KeyId new_key();
  // The keys of the part, by their ids in the whole.
  [[nodiscard]] const absl::flat_hash_map<KeyId, KeyId>& keys() const { return keys_; }
  // The ids that the keys of the part have in the whole.
  [[nodiscard]] std::vector<KeyId> take_key_ids() { return std::move(key_ids_); }

  // Where the part is written to.
  Storage& storage() { return *s_; }
  // The part, when all of it is written.
  [[nodiscard]] History history() const;

 private:
  const Excerpter& e_;
  const History& h_;
  const std::vector<bool>& kept_;
  std::shared_ptr<Storage> s_ = std::make_shared<Storage>();
  absl::flat_hash_map<KeyId, KeyId> keys_;
  std::vector<KeyId> key_ids_;
  std::optional<absl::flat_hash_set<KeyId>> written_;  // See is_written(), which makes it.
};

}  // namespace ouro
