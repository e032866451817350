// The initial values of keys: one for all keys, and others for some.
//
// A batch may set the initial value of a key at any time, and the last one counts. Values are kept
// whole, not as fingerprints, for stories and predicates, and as long as the stream lives: about 70
// bytes for each key with a value of its own, and what texts and rows take.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <string>
#include <vector>

#include "ouro/history.h"
#include "stream/codec.h"
#include "stream/fingerprint.h"
#include "stream/row_store.h"

namespace ouro::stream {

class Initials {
 public:
  struct Initial {
    Value value;                                 // A value of view().
    std::uint64_t print = Value::null().bits();  // Its fingerprint.
  };
  // The initial value of a single key.
  struct Own : Initial {
    Value key;  // The name of the key, a value of view().
  };

  // Whether the batch has the same initial value for all keys as earlier batches.
  [[nodiscard]] bool agrees(const History& batch) const;
  // Takes in what the batch says. Returns those of its keys whose initial value has changed.
  // REQUIRES: agrees(batch).
  std::vector<KeyId> enter(const History& batch, Fingerprints& prints);

  // The value for all keys, the values of single keys, and which of these counts for `key`.
  [[nodiscard]] const Initial& all() const { return all_; }
  [[nodiscard]] const absl::flat_hash_map<Name, Own>& own() const { return own_; }
  [[nodiscard]] const Initial& of(const Name& key) const {
    if (own_.empty()) return all_;
    const auto found = own_.find(key);
    return found == own_.end() ? all_ : found->second;
  }
  [[nodiscard]] const History& view() { return store_.view(); }
  [[nodiscard]] std::string text(const Name& key) { return view().text(of(key).value); }
  [[nodiscard]] std::size_t bytes() const {
    return own_.capacity() * (sizeof(Name) + sizeof(Own) + 1) + store_.bytes();
  }

  void save(Encoder& out);
  void restore(Decoder& in);

 private:
  [[nodiscard]] Initial kept(Value value, Fingerprints& prints) {
    return {store_.add(value), prints.of(value)};
  }
  // Sets the initial value of a single key. Returns whether it was another one before.
  bool set(const History& batch, KeyId key, Value value, Fingerprints& prints);

  RowStore store_;
  Initial all_;
  bool known_ = false;  // Some batch has said what all keys hold.
  absl::flat_hash_map<Name, Own> own_;
};

}  // namespace ouro::stream
