// Every column of a history, listed once.
//
// A history consists of columns: arrays with one entry for each operation, transaction, key, …
// Whatever fills them (HistoryBuilder), reads or writes them (.ouro files), copies or counts them
// goes through the lists here, so that a new column is known to all of it. Users see only the
// functions of History.
//
// A group of columns is a template over the container: a History has spans, others own arrays. Each
// group lists its columns twice, as members and in each(); a static_assert below fails if one is
// missing in each(). An optional column is empty if no entry has a value; otherwise it has an entry
// for each operation or transaction.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ouro/history.h"

namespace ouro {

// The piece of `pool` that ends at end[index] and starts where the one before ends.
template <class T>
[[nodiscard]] std::span<const T> piece(std::span<const T> pool, std::span<const std::uint64_t> end,
                                       std::size_t index) {
  const std::uint64_t first = index == 0 ? 0 : end[index - 1];
  return pool.subspan(first, end[index] - first);
}

template <template <class> class Keep>
struct OpColumns {
  Keep<OpKind> op_kind;
  Keep<KeyId> op_key;
  Keep<Value> op_value;         // Of a predicate read: its number in predicate_reads.
  Keep<std::uint32_t> op_line;  // Optional; only in formats with one operation a line.
  Keep<std::uint32_t> op_part;  // Optional: the undone part that it is in, from 1; zero: none.

  // For each column in turn, calls visit() with that column of each of `lists`: the same for all
  // groups.
  template <class Visit, class... Lists>
  static constexpr void each(const Visit& visit, Lists&... lists) {
    visit(lists.op_kind...);
    visit(lists.op_key...);
    visit(lists.op_value...);
    visit(lists.op_line...);
    visit(lists.op_part...);
  }
};

template <template <class> class Keep>
struct PartColumns {
  Keep<std::uint32_t> outer_part;  // For each undone part, the one that it is in; zero: none.

  template <class Visit, class... Lists>
  static constexpr void each(const Visit& visit, Lists&... lists) {
    visit(lists.outer_part...);
  }
};

// The entry of TxnColumns::txn_level of a transaction that states no level.
inline constexpr std::uint8_t kNoLevel = 0xff;

template <template <class> class Keep>
struct TxnColumns {
  Keep<std::uint32_t> txn_first_op;  // txn_count + 1 entries: the last is op_count.
  Keep<SessionId> txn_session;
  Keep<TxnStatus> txn_status;
  Keep<Value> txn_name;              // Optional.
  Keep<std::int64_t> invoked;        // Optional; kNoClock where missing.
  Keep<std::int64_t> began;          // Optional; kNoClock where missing.
  Keep<std::int64_t> committing;     // Optional; kNoClock where missing.
  Keep<std::int64_t> completed;      // Optional; kNoClock where missing.
  Keep<Timestamp> start_ts;          // Optional; kNoTimestamp where missing.
  Keep<Timestamp> commit_ts;         // Optional; kNoTimestamp where missing.
  Keep<std::uint8_t> txn_level;      // Optional: a Level; kNoLevel where missing.
  Keep<std::int64_t> txn_sno;        // Optional; kNoSno where missing.
  Keep<std::uint64_t> txn_position;  // Optional: where it stands in its file, in place_unit.
  Keep<std::uint32_t> txn_file;      // Optional: its file, if there are several.

  template <class Visit, class... Lists>
  static constexpr void each(const Visit& visit, Lists&... lists) {
    visit(lists.txn_first_op...);
    visit(lists.txn_session...);
    visit(lists.txn_status...);
    each_optional([&](const auto&, auto&... columns) { visit(columns...); }, lists...);
    visit(lists.txn_position...);
    visit(lists.txn_file...);
  }
  // The same for what a transaction need not have: calls visit(missing, column...), where `missing`
  // is the entry of a transaction that has none.
  template <class Visit, class... Lists>
  static constexpr void each_optional(const Visit& visit, Lists&... lists) {
    visit(Value::null(), lists.txn_name...);
    visit(kNoClock, lists.invoked...);
    visit(kNoClock, lists.began...);
    visit(kNoClock, lists.committing...);
    visit(kNoClock, lists.completed...);
    visit(kNoTimestamp, lists.start_ts...);
    visit(kNoTimestamp, lists.commit_ts...);
    visit(kNoLevel, lists.txn_level...);
    visit(kNoSno, lists.txn_sno...);
  }
};

template <template <class> class Keep>
struct SessionColumns {
  // Where the transactions of a session begin in session_txns; session_count + 1 entries.
  Keep<std::uint32_t> session_first;
  Keep<TxnId> session_txns;  // By session, each in session order.
  Keep<Value> session_name;

  template <class Visit, class... Lists>
  static constexpr void each(const Visit& visit, Lists&... lists) {
    visit(lists.session_first...);
    visit(lists.session_txns...);
    visit(lists.session_name...);
  }
};

template <template <class> class Keep>
struct KeyColumns {
  Keep<Value> key_name;
  Keep<KeyVersion> key_initial;  // Keys with an initial value of their own, sorted by key.

  template <class Visit, class... Lists>
  static constexpr void each(const Visit& visit, Lists&... lists) {
    visit(lists.key_name...);
    visit(lists.key_initial...);
  }
};

template <template <class> class Keep>
struct PredicateReadColumns {
  Keep<PredicateRead> predicate_reads;
  Keep<KeyVersion> row_reads;
  Keep<KeyVersion> version_sets;

  template <class Visit, class... Lists>
  static constexpr void each(const Visit& visit, Lists&... lists) {
    visit(lists.predicate_reads...);
    visit(lists.row_reads...);
    visit(lists.version_sets...);
  }
};

template <template <class> class Keep>
struct PredicateColumns {
  Keep<PredicateNode> predicate_nodes;
  Keep<std::uint32_t> predicate_children;
  Keep<Value> predicate_operands;

  template <class Visit, class... Lists>
  static constexpr void each(const Visit& visit, Lists&... lists) {
    visit(lists.predicate_nodes...);
    visit(lists.predicate_children...);
    visit(lists.predicate_operands...);
  }
};

template <template <class> class Keep>
struct VersionOrderColumns {
  Keep<VersionOrder> version_orders;
  Keep<Value> versions;
  Keep<TxnId> version_txn;  // Optional: who wrote each version; not valid: only the value is known.

  template <class Visit, class... Lists>
  static constexpr void each(const Visit& visit, Lists&... lists) {
    visit(lists.version_orders...);
    visit(lists.versions...);
    visit(lists.version_txn...);
  }
};

// What the handles of texts, wide integers and rows stand for.
template <template <class> class Keep>
struct PoolColumns {
  Keep<char> text_bytes;         // The bytes of Text and Wide values, one behind the other.
  Keep<std::uint64_t> text_end;  // Where each of them ends.
  Keep<Cell> cells;              // The cells of Row values, each sorted by column.
  Keep<std::uint64_t> row_end;   // Where each row ends.
  Keep<Value> column_name;       // Text values.

  template <class Visit, class... Lists>
  static constexpr void each(const Visit& visit, Lists&... lists) {
    visit(lists.text_bytes...);
    visit(lists.text_end...);
    visit(lists.cells...);
    visit(lists.row_end...);
    visit(lists.column_name...);
  }
};

template <template <class> class Keep>
struct ListColumns {
  Keep<Value> elements;           // The elements of all trunks (see Value), one behind the other.
  Keep<std::uint64_t> trunk_end;  // Where each trunk ends.

  template <class Visit, class... Lists>
  static constexpr void each(const Visit& visit, Lists&... lists) {
    visit(lists.elements...);
    visit(lists.trunk_end...);
  }
};

// All groups.
template <template <class> class Keep>
struct AllColumns : OpColumns<Keep>,
                    PartColumns<Keep>,
                    TxnColumns<Keep>,
                    SessionColumns<Keep>,
                    KeyColumns<Keep>,
                    PredicateReadColumns<Keep>,
                    PredicateColumns<Keep>,
                    VersionOrderColumns<Keep>,
                    PoolColumns<Keep>,
                    ListColumns<Keep> {
  template <class Visit, class... Lists>
  static constexpr void each(const Visit& visit, Lists&... lists) {
    OpColumns<Keep>::each(visit, lists...);
    PartColumns<Keep>::each(visit, lists...);
    TxnColumns<Keep>::each(visit, lists...);
    SessionColumns<Keep>::each(visit, lists...);
    KeyColumns<Keep>::each(visit, lists...);
    PredicateReadColumns<Keep>::each(visit, lists...);
    PredicateColumns<Keep>::each(visit, lists...);
    VersionOrderColumns<Keep>::each(visit, lists...);
    PoolColumns<Keep>::each(visit, lists...);
    ListColumns<Keep>::each(visit, lists...);
  }
};

template <class T>
using ColumnSpan = std::span<const T>;
template <class T>
using ColumnVector = std::vector<T>;

// For every column in turn, calls visit() with that column of each of `lists`, which are
// HistoryColumns or other AllColumns with any container.
template <class Visit, class... Lists>
constexpr void for_each_column(const Visit& visit, Lists&... lists) {
  AllColumns<ColumnSpan>::each(visit, lists...);
}

static_assert(
    [] {
      AllColumns<ColumnSpan> all;
      std::size_t bytes = 0;
      for_each_column([&](const auto& column) { bytes += sizeof(column); }, all);
      return bytes;
    }() == sizeof(AllColumns<ColumnSpan>),
    "a column is missing in each() of its group");

// The columns of a History, and what it has besides.
struct HistoryColumns : AllColumns<ColumnSpan> {
  Value default_initial;
  PlaceUnit place_unit = PlaceUnit::None;
  std::span<const std::string> files;
  std::span<const Remark> remarks;
  std::string_view read_as;  // See History::read_as(). Of a text that is never freed.
};

// The way from a History to its columns and back.
struct HistoryAccess {
  [[nodiscard]] static const HistoryColumns& columns(const History& history) {
    return *history.all_;
  }
  [[nodiscard]] static History history(const HistoryColumns& columns,
                                       std::shared_ptr<const void> owner);
};

[[nodiscard]] inline const HistoryColumns& columns_of(const History& history) {
  return HistoryAccess::columns(history);
}
// A history of these columns, which keeps `owner` alive. REQUIRES: `columns` point into `owner`,
// and are consistent, as HistoryBuilder::freeze() and the reader of .ouro files make sure.
[[nodiscard]] inline History history_of(const HistoryColumns& columns,
                                        std::shared_ptr<const void> owner) {
  return HistoryAccess::history(columns, std::move(owner));
}

}  // namespace ouro
