// Whether others may write a key without changing what a transaction read, at levels that allow
// phantoms (LevelRules::phantoms).
#pragma once

#include "check/observed/observed.h"
#include "history/commuting.h"

namespace ouro {

// Whether a predicate read left the key of `item` out. A read of a set, which is a scan of its
// elements, leaves none out: it tells of the whole set.
[[nodiscard]] inline bool is_phantom(const Observed& observed, ItemId item) {
  const Items& items = observed.items();
  if (!items.is_absence(item)) return false;
  const History& h = observed.history();
  const OpId op = items.op(item);
  return set_read(h, h.op(op).kind, h.predicate_read(op)).empty();
}

}  // namespace ouro
