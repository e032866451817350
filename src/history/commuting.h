// Counters and sets, as all other rooms see them: as rows.
//
// Increments of a counter and adds to a set commute, so a read of one does not return one version
// of it: it returns what all those transactions left together that its transaction sees. That is
// what reads of many rows return. So HistoryBuilder::freeze() turns them into such reads:
//
//   ["add","s",5]           inserts the row "s∋5", which is absent at first. Its value is 5.
//   ["r","s",{"set":[5]}]   is a scan of all rows of s.
//   ["inc","c",2]           inserts the row "c+1" of its transaction, {"+counter":"c","+delta":2},
//                           or adds to it; and writes its mark, as increments of one counter by two
//                           transactions are a write conflict.
//   ["r","c",7]             is the sum of "+delta" over the rows whose "+counter" is "c". What the
//                           counter was at the start is one of them, "c+0".
//   ["inc","c",2,7]         is a read of c that returned 5, and then an increment.
//
// These rows are no rows to other predicate reads, as lists are none. So their names begin with
// kHidden, which sorts behind all keys that users have; scans without an upper bound end there, and
// conditions of selects and aggregates ask for a key before it.
//
// The native text format and reports turn them back, with the functions here.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ouro/history.h"

namespace ouro {

// The columns of the rows of counters.
inline constexpr std::string_view kCounterColumn = "+counter";
inline constexpr std::string_view kDeltaColumn = "+delta";
// How the names of these rows begin: the last character of Unicode, which is in no text.
inline constexpr std::string_view kHidden = "\xf4\x8f\xbf\xbf";
// Between the name of a set and an element, in the name of the element's row.
inline constexpr std::string_view kHasElement = "∋";

// The counter whose row `value` is, and what the row adds to it.
struct CounterRow {
  Value counter;
  Value delta;
};
[[nodiscard]] std::optional<CounterRow> counter_row(const History& history, Value value);

// The row that an operation writes if it is an increment, and the set, as set_text(), if it adds an
// element to one; nothing and "" otherwise. Both may have been undone.
[[nodiscard]] std::optional<CounterRow> incremented_row(const History& history, const Op& op);
[[nodiscard]] std::string_view added_set(const History& history, const Op& op);

// What an increment adds to its counter, as decimal digits; and as a number, or nothing if it has a
// fraction. REQUIRES: incremented_row() is something.
[[nodiscard]] std::string increment_text(const History& history, const Op& op);
[[nodiscard]] std::optional<std::int64_t> increment(const History& history, const Op& op);

// How many digits stand behind the point of an exact number. `digits` is its History::string(), if
// it is no Integer.
[[nodiscard]] std::uint32_t places_behind_point(ValueKind kind, std::string_view digits);
// The number times 10^places; nothing if the size of that is 2^59 or more. REQUIRES: it is exact,
// and has no more places.
[[nodiscard]] std::optional<std::int64_t> in_units(Value number, std::string_view digits,
                                                   std::uint32_t places);

// The numbers of counters as integers: all in units of the smallest place that any of them has. The
// builder sees to it that none is too large for that.
class CounterUnits {
 public:
  explicit CounterUnits(const History& history);  // O(operations).
  // REQUIRES: the number is of a counter_row(), or the result of a read of a counter.
  [[nodiscard]] std::int64_t of(Value number) const;

 private:
  void note(Value number);

  const History& h_;
  std::uint32_t places_ = 0;
};

// The counter that a predicate read is a read of; null if it is none.
[[nodiscard]] Value counter_read(const History& history, OpKind kind, const PredicateRead& read);

// Whether the history is one of Jepsen's bank, where reads are of the balances of accounts.
[[nodiscard]] bool has_balances(const History& history);
// The number that a read of a counter or register returned, as all balances are; nothing if it is
// another operation, or returned something else.
[[nodiscard]] std::optional<std::int64_t> number_read(const History& history, const Op& op);

// By observation, whether a read has keys that it does not tell of (ReadKey): all predicate reads
// have, but for scans with a version set, and for reads of counters, which depend on rows that are
// known.
[[nodiscard]] bool has_untold_keys(const History& history, OpId read);
// Whether some read has. O(operations).
[[nodiscard]] bool has_untold_keys(const History& history);

// The names of a set as they stand in the names of its rows: the name itself, or as JSON if that
// would be ambiguous.
[[nodiscard]] std::string set_text(bool is_text, std::string_view name);
// The bounds of the scan that reads a set.
[[nodiscard]] std::string set_lower(std::string_view set_text);
[[nodiscard]] std::string set_upper(std::string_view set_text);

// The set, as set_text(), of which `name` is the row of an element, or the lower bound of the scan;
// "" if it is neither.
[[nodiscard]] std::string_view set_of(std::string_view name);
[[nodiscard]] std::string_view set_of(const History& history, Value name);
// The set that a predicate read is a read of; "" if it is none.
[[nodiscard]] std::string_view set_read(const History& history, OpKind kind,
                                        const PredicateRead& read);

// Whether a name is that of a row of a counter or set. And the name without kHidden, for users:
// that of the mark of a counter is the counter's.
[[nodiscard]] bool is_hidden(std::string_view name);
[[nodiscard]] std::string_view shown_name(std::string_view name);
// How many keys the input named.
[[nodiscard]] std::size_t named_keys(const History& history);

// What a scan has as its upper bound for users: null if it ends at kHidden.
[[nodiscard]] Value shown_upper(const History& history, const PredicateRead& read);
// What a select or aggregate has as its condition for users: that before keys had to be no hidden
// ones.
[[nodiscard]] PredicateId shown_condition(const History& history, PredicateId condition);

// The name of a set as JSON: 7, "s".
[[nodiscard]] std::string set_json(std::string_view set_text);

// By key: whether it is a row of a counter or set, and not named in the input.
[[nodiscard]] std::vector<bool> parts_of_counters_and_sets(const History& history);

}  // namespace ouro
