// How reports write operations, transactions, counts and times. Long texts are cut in the middle;
// no text has line breaks.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "ouro/history.h"

namespace ouro {

// What must be seen of long values.
struct Focus {
  std::span<const ColumnId> columns = {};  // Of rows; they are shown first, in this order.
  std::span<const Value> elements = {};    // Of lists; they are shown with their neighbours.
};

// `value` as JSON, cut in the middle if it is long; "?" if nobody recorded it.
[[nodiscard]] std::string short_text(const History& history, Value value, const Focus& focus = {});
// A list; of a long one the ends, and these elements with their neighbours.
[[nodiscard]] std::string list_around(const History& history, Value list,
                                      std::span<const Value> elements);
// The name of the key, cut in the middle if it is long.
[[nodiscard]] std::string short_key(const History& history, KeyId key);
// "x=1"; "x=?" if nobody recorded the result.
[[nodiscard]] std::string assignment(const History& history, KeyId key, Value value,
                                     const Focus& focus = {});
// "r x=0", "w x=1", "delete x", "append l 3", "cas x 1→2", "scan a..f (2 rows)" …
[[nodiscard]] std::string notation(const History& history, const Op& op,
                                   const Focus& focus = {});
// "cas x 1→2", of a compare-and-set whether it succeeded or not. REQUIRES: `op` is either half of
// it.
[[nodiscard]] std::string cas_notation(const History& history, const Op& op);
// As notation(), but for the second half of a compare-and-set just "→ 2": for lists in which both
// halves have lines of their own.
[[nodiscard]] std::string place_notation(const History& history, const Op& op,
                                         const Focus& focus = {});

// "session a, line 3, id 4711, aborted": all that helps to find the transaction in the input.
[[nodiscard]] std::string whereabouts(const History& history, TxnId txn);

// "17", or "[17,3]" with a logical part.
[[nodiscard]] std::string notation(Timestamp timestamp);
// "from 17 to 21": when the transaction started and committed; "?" for what is not known.
[[nodiscard]] std::string timestamps_text(const History& history, TxnId txn);

// What to call the history: `name`, or else its file, or else "history".
[[nodiscard]] std::string name_or_file(const History& history, std::string_view name);

// The text of the remark of that name; "" if there is none.
[[nodiscard]] std::string_view remark_of(const History& history, std::string_view name);
// "nanoseconds": the unit of the clients' clocks, if a remark of the history names one; otherwise
// "".
[[nodiscard]] std::string_view clock_unit(const History& history);

// "a lost update", "an aborted read".
[[nodiscard]] std::string with_article(std::string_view name);
// "1 key", "12,345 keys".
[[nodiscard]] std::string counted(std::uint64_t count, std::string_view noun);
// "12,345".
[[nodiscard]] std::string grouped(std::uint64_t number);
// "0.4 ms", "12 ms", "3.2 s", "2 min 5 s".
[[nodiscard]] std::string duration(double seconds);

}  // namespace ouro
