// Which transaction a message is about.
#pragma once

#include <fmt/format.h>

#include <string>

#include "ouro/history.h"

namespace ouro {

// "at bank.jsonl:97"; of a history that comes from no file "number 97".
[[nodiscard]] inline std::string place_in_words(const History& history, TxnId txn) {
  const Place place = history.place(txn);
  if (place.unit == PlaceUnit::None) return fmt::format("number {}", txn.index() + 1);
  return "at " + place.to_string();
}

}  // namespace ouro
