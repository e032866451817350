// The initial values of formats in which every key starts as 0 without a word about it.
//
// Some tools record a transaction that writes 0 to all keys first. Then a read of 0 is a read of
// that write, and the key must not start as 0, too: it starts as null, which nobody reads. A write
// of 0 by an aborted transaction does not count.
#pragma once

#include <absl/container/flat_hash_set.h>

#include "ouro/history_builder.h"

namespace ouro {

class ZeroInitial {
 public:
  // Call it for every write of a committed transaction.
  void committed_write(KeyId key, Value value) {
    if (value == Value::small(0)) written_.insert(key);
  }
  // Sets the initial values, after the last write.
  void apply(HistoryBuilder& builder) const {
    builder.default_initial(Value::small(0));
    for (const KeyId key : written_) builder.initial(key, Value::null());
  }

 private:
  absl::flat_hash_set<KeyId> written_;
};

}  // namespace ouro
