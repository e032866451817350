// What keys hold at the start: one value for all, and others for some.
//
// A line about a key may come at any time, and the last one counts. The values are kept whole, for
// stories and predicates; those of single keys for as long as the stream lives, in about 70 bytes
// each, and what texts and rows take.
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
    Value value;  // A value of view().
    std::uint64_t print = Value::null().bits();
  };
  struct Own : Initial {
    Value key;  // Its name, of view().
  };

  // Whether the batch says the same of all keys as those before.
  [[nodiscard]] bool agrees(const History& batch) const;
  // Takes in what the batch says, and returns those of its keys that hold something else now.
  // REQUIRES: agrees(batch).
  std::vector<KeyId> enter(const History& batch, Fingerprints& prints);

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
  // What is said of a key; whether it held something else before.
  bool set(const History& batch, KeyId key, Value value, Fingerprints& prints);

  RowStore store_;
  Initial all_;
  bool known_ = false;  // Some batch has said what all keys hold.
  absl::flat_hash_map<Name, Own> own_;
};

}  // namespace ouro::stream
