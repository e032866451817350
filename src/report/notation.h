// How the report writes down operations, transactions, counts and times. Long things are
// shortened in the middle; nothing here spans lines.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "ouro/history.h"

namespace ouro {

// `value` as in messages, cut short in the middle if it is long.
[[nodiscard]] std::string short_text(const History& history, Value value);
// A list; if it is long, with these elements and what is beside them.
[[nodiscard]] std::string list_around(const History& history, Value list,
                                      std::span<const Value> elements);
// The key, likewise.
[[nodiscard]] std::string short_key(const History& history, KeyId key);
// "x=1"; "x=?" if nobody recorded the result.
[[nodiscard]] std::string assignment(const History& history, KeyId key, Value value);
// "r x=0", "w x=1", "delete x", "append l 3", "cas x 1→2", "scan a..f (2 rows)" …
[[nodiscard]] std::string notation(const History& history, const Op& op);
// "cas x 1→2", of either half, whether it succeeded or not.
[[nodiscard]] std::string cas_notation(const History& history, const Op& op);
// As notation(), for lists in which every operation has a line: of a second half, "→ 2".
[[nodiscard]] std::string place_notation(const History& history, const Op& op);

// "session a, line 3, id 4711, aborted": all that helps to find it again.
[[nodiscard]] std::string whereabouts(const History& history, TxnId txn);

// "17", or "[17,3]" with a logical part.
[[nodiscard]] std::string notation(Timestamp timestamp);
// "from 17 to 21": when the transaction started and committed; "?" for what is not known.
[[nodiscard]] std::string timestamps_text(const History& history, TxnId txn);

// What to call the history.
[[nodiscard]] std::string name_or_file(const History& history, std::string_view name);

// "1 key", "12,345 keys".
[[nodiscard]] std::string counted(std::uint64_t count, std::string_view noun);
[[nodiscard]] std::string grouped(std::uint64_t number);
// "0.4 ms", "12 ms", "3.2 s", "2 min 5 s".
[[nodiscard]] std::string duration(double seconds);

}  // namespace ouro
