// The initial value of formats in which every key starts as 0 without saying so.
//
// Some tools store an explicit transaction that writes 0 first. Then a read of 0 is a read of
// that write, so such a key must not start as 0 too: it starts as null, which nobody reads. A
// write that was rolled back does not count.
#pragma once

#include <absl/container/flat_hash_set.h>

#include "ouro/history_builder.h"

namespace ouro {

class ZeroInitial {
 public:
  // To be told every write of a committed transaction.
  void committed_write(KeyId key, Value value) {
    if (value == Value::small(0)) written_.insert(key);
  }
  void apply(HistoryBuilder& builder) const {
    builder.default_initial(Value::small(0));
    for (const KeyId key : written_) builder.initial(key, Value::null());
  }

 private:
  absl::flat_hash_set<KeyId> written_;
};

}  // namespace ouro
