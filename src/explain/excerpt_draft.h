// A part of a history in the making: what stays of the whole, and what was written of it so far.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
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
  // What this part has of the writes that a read may have returned.
  enum class Left : std::uint8_t {
    All,   // Or it is wrong in the whole, and as wrong here.
    Some,  // What it did return may be missing.
    None,
  };
  // Of a read that returned this: behind an own write of the key only that one; else all writes of
  // the value by transactions that did not abort. By timestamps, which say what it returned, any
  // of these is enough.
  [[nodiscard]] Left left(OpId read, const KeyVersion& returned);
  // Whether a write of the value is in this part, or it was never written in the whole.
  [[nodiscard]] bool present(KeyId key, Value value) { return staying(key, value).any; }
  // Whether some writes of the value are in this part, but not all.
  [[nodiscard]] bool is_torn(KeyId key, Value value) {
    const Staying stay = staying(key, value);
    return stay.any && stay.lacks;
  }
  // The last write of the key by the transaction of `read` before it; invalid if there is none.
  [[nodiscard]] OpId own_write_before(OpId read, KeyId key);

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

  // Counts work, in steps, and how much it was so far.
  void note_steps(std::uint64_t steps) { steps_ += steps; }
  [[nodiscard]] std::uint64_t steps() const { return steps_; }

  // Where the part is written to.
  Storage& storage() { return *s_; }
  // The part, when all of it is written.
  [[nodiscard]] History history() const;

 private:
  // Of the writes of a value.
  struct Staying {
    bool any = false;    // Whether any stays, or there is none.
    bool lacks = false;  // Whether any does not.
    TxnId lacking;       // The transaction of all that do not; invalid if they are of several.
  };
  Staying staying(KeyId key, Value value);

  std::uint64_t steps_ = 0;

  const Excerpter& e_;
  const History& h_;
  const std::vector<bool>& kept_;
  std::shared_ptr<Storage> s_ = std::make_shared<Storage>();
  absl::flat_hash_map<KeyId, KeyId> keys_;
  std::vector<KeyId> key_ids_;
  std::optional<absl::flat_hash_set<KeyId>> written_;  // See is_written(), which makes it.
  absl::flat_hash_map<std::pair<KeyId, Value>, Staying> repeated_;  // Of values written repeatedly.
  // All writes of one transaction; see own_write_before().
  TxnId owner_;
  absl::flat_hash_map<KeyId, std::vector<OpId>> owned_;
};

}  // namespace ouro
