// Names the transaction that a message is about.
#pragma once

#include <fmt/format.h>

#include <string>

#include "ouro/history.h"

namespace ouro {

// "at bank.jsonl:97", or "number 97" if the history does not come from a file.
[[nodiscard]] inline std::string place_in_words(const History& history, TxnId txn) {
  const Place place = history.place(txn);
  if (place.unit == PlaceUnit::None) return fmt::format("number {}", txn.index() + 1);
  return "at " + place.to_string();
}

}  // namespace ouro
