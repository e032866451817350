// A history: what clients saw a database do. Immutable, columnar, dense.
//
// Sessions, transactions, keys and operations are numbered from zero; every
// question below is an array look-up unless its comment says otherwise. A register
// history of n transactions with m operations takes about 13·m + 40·n bytes.
//
// Example (built and run as tests/example_history.cc):
//
//   ouro::HistoryBuilder builder;
//   const ouro::KeyId x = builder.key("x");
//   builder.begin_txn(builder.session("alice"));
//   builder.read(x, ouro::Value::null());
//   builder.write(x, builder.integer(1));
//   const ouro::History history = *std::move(builder).freeze();
//   assert(history.txn_count() == 1 && history.op_count() == 2);
//
// Thread safety: any number of threads may read one History.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ouro/ids.h"
#include "ouro/predicate.h"
#include "ouro/value.h"

namespace ouro {

enum class TxnStatus : std::uint8_t {
  Committed,
  Aborted,
  Unknown,  // The client never heard; counts as committed once its effects were seen.
};

enum class OpKind : std::uint8_t {
  Read,       // A register read, or a list read if the value is a list.
  Write,      // A register write. Writing null deletes.
  Delete,     // Leaves a tombstone: a version of its own (unique) or null.
  Append,     // Adds one element to a list.
  Scan,       // A key-range read; see PredicateRead.
  Select,     // A predicate read that returned rows; see PredicateRead.
  Aggregate,  // A predicate read that returned one value; see PredicateRead.
  // A compare-and-set takes two places, one right behind the other. If it succeeded:
  CasRead,   // what it expected, which is what it read,
  CasWrite,  // and what it wrote.
  // If it failed:
  CasFailed,     // what it expected; it read something else,
  CasUnwritten,  // and what it would have written. This neither reads nor writes.
};

// What a key holds: one value, which a write replaces, or elements, to whose end an append adds
// one. No key is both.
enum class KeyModel : std::uint8_t {
  None,    // The operation has no key.
  Either,  // It says nothing about its key, or its value does.
  Register,
  List,
};

// What all operations of a kind do. Code asks this row instead of comparing kinds.
struct OpInfo {
  OpKind kind = OpKind::Read;
  std::string_view name;  // "delete"
  std::string_view word;  // In native text: "d".
  KeyModel model = KeyModel::None;
  bool reads = false;      // Its value is what its key held.
  bool open = false;       // It read its key too, but its value is what the key did not hold.
  bool writes = false;     // It installs a version of its key.
  bool deletes = false;    // That version is no row.
  bool predicate = false;  // Its details are in a PredicateRead.
  bool first = false;      // The next operation is its second half, of the next kind.
  bool second = false;     // The operation before is its first half.
};
inline constexpr std::size_t kOpKindCount = 11;
inline constexpr OpInfo kOpInfos[kOpKindCount] = {
    {.kind = OpKind::Read, .name = "read", .word = "r", .model = KeyModel::Either, .reads = true},
    {.kind = OpKind::Write,
     .name = "write",
     .word = "w",
     .model = KeyModel::Register,
     .writes = true},
    {.kind = OpKind::Delete,
     .name = "delete",
     .word = "d",
     .model = KeyModel::Register,
     .writes = true,
     .deletes = true},
    {.kind = OpKind::Append,
     .name = "append",
     .word = "append",
     .model = KeyModel::List,
     .writes = true},
    {.kind = OpKind::Scan, .name = "scan", .word = "scan", .predicate = true},
    {.kind = OpKind::Select, .name = "select", .word = "select", .predicate = true},
    {.kind = OpKind::Aggregate, .name = "aggregate", .word = "aggregate", .predicate = true},
    {.kind = OpKind::CasRead,
     .name = "cas read",
     .word = "cas",
     .model = KeyModel::Register,
     .reads = true,
     .first = true},
    {.kind = OpKind::CasWrite,
     .name = "cas write",
     .word = "cas",
     .model = KeyModel::Register,
     .writes = true,
     .second = true},
    {.kind = OpKind::CasFailed,
     .name = "failed cas read",
     .word = "cas",
     .model = KeyModel::Register,
     .open = true,
     .first = true},
    {.kind = OpKind::CasUnwritten,
     .name = "failed cas write",
     .word = "cas",
     .model = KeyModel::Register,
     .second = true},
};
[[nodiscard]] constexpr const OpInfo& info(OpKind kind) {
  return kOpInfos[static_cast<std::size_t>(kind)];
}

// The kinds of which `fact` is true, as bits: what hot loops ask instead of looking up a row.
[[nodiscard]] constexpr std::uint32_t op_kinds_with(bool OpInfo::*fact) {
  std::uint32_t bits = 0;
  for (const OpInfo& row : kOpInfos) {
    if (row.*fact) bits |= std::uint32_t{1} << static_cast<unsigned>(row.kind);
  }
  return bits;
}
[[nodiscard]] constexpr bool is_among(OpKind kind, std::uint32_t kinds) {
  return (kinds >> static_cast<unsigned>(kind) & 1) != 0;
}

// Whether the operation's value is what its key held.
[[nodiscard]] constexpr bool is_read(OpKind kind) {
  constexpr std::uint32_t kReads = op_kinds_with(&OpInfo::reads);
  return is_among(kind, kReads);
}
// Whether the operation read its key, and its value is what the key did not hold.
[[nodiscard]] constexpr bool is_open_read(OpKind kind) {
  constexpr std::uint32_t kOpen = op_kinds_with(&OpInfo::open);
  return is_among(kind, kOpen);
}
// Whether the operation installs a version of its key.
[[nodiscard]] constexpr bool is_write(OpKind kind) {
  constexpr std::uint32_t kWrites = op_kinds_with(&OpInfo::writes);
  return is_among(kind, kWrites);
}
// Whether the operation's details are in a PredicateRead.
[[nodiscard]] constexpr bool is_predicate_read(OpKind kind) {
  constexpr std::uint32_t kPredicates = op_kinds_with(&OpInfo::predicate);
  return is_among(kind, kPredicates);
}

// A database timestamp; plain integers have no logical part. Ordered lexicographically.
struct Timestamp {
  std::int64_t physical = 0;
  std::int64_t logical = 0;
  constexpr auto operator<=>(const Timestamp&) const = default;
};

struct Op {
  OpId id;
  OpKind kind = OpKind::Read;
  KeyId key;    // Invalid for predicate reads.
  Value value;  // Read: the result. Write: what was written. Predicate read: see predicate_read().
};

// One key with one of its versions: a returned row, or a member of a version set.
struct KeyVersion {
  KeyId key;
  Value value;
  constexpr auto operator<=>(const KeyVersion&) const = default;
};

// What a scan, select or aggregate asked and got.
struct PredicateRead {
  Value lower;            // Scan: first key of the range, included; null: open.
  Value upper;            // Scan: last key of the range, included; null: open.
  PredicateId predicate;  // Select, Aggregate.
  AggregateKind aggregate = AggregateKind::Count;
  ColumnId column;  // Aggregate: what is summed …; invalid: the rows (count) or the key.
  Value result;     // Aggregate: what came back.
  bool has_version_set = false;  // Whether the history says which versions were visible.
  std::uint32_t first_row = 0;   // Into the history's row reads.
  std::uint32_t row_count = 0;
  std::uint32_t first_version = 0;  // Into the history's version sets.
  std::uint32_t version_count = 0;
};

struct Cell {
  ColumnId column;
  Value value;
  constexpr auto operator<=>(const Cell&) const = default;
};

// What is known of the order in which versions of `key` were installed, oldest first. The
// initial version is never listed.
struct VersionOrder {
  KeyId key;
  bool complete = false;  // False: a fragment; other versions may stand anywhere.
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

// Where in the source something stands.
enum class PlaceUnit : std::uint8_t { None, Line, Byte };
struct Place {
  std::string_view file;
  PlaceUnit unit = PlaceUnit::None;
  std::uint64_t position = 0;  // 1-based line, or byte offset from 0.

  // "bank.jsonl:97", "T15.log: byte 42", or the file alone.
  [[nodiscard]] std::string to_string() const;
};

// A remark that came with the history (database name, start of the run …); carried, not used.
struct Remark {
  std::string name;
  std::string text;
};

inline constexpr std::int64_t kNoClock = std::numeric_limits<std::int64_t>::min();
inline constexpr Timestamp kNoTimestamp{kNoClock, 0};

// The arrays that a history consists of: for the library itself, in src/history/columns.h.
struct HistoryColumns;

class History {
 public:
  // An empty history.
  History();

  [[nodiscard]] std::size_t txn_count() const { return txn_session_.size(); }
  [[nodiscard]] std::size_t op_count() const { return op_kind_.size(); }
  [[nodiscard]] std::size_t key_count() const { return key_name_.size(); }
  [[nodiscard]] std::size_t session_count() const { return session_first_.size() - 1; }

  // Operations.
  [[nodiscard]] OpId first_op(TxnId txn) const { return OpId{txn_first_op_[txn.index()]}; }
  [[nodiscard]] OpId end_op(TxnId txn) const { return OpId{txn_first_op_[txn.index() + 1]}; }
  [[nodiscard]] Op op(OpId id) const {
    return {id, op_kind_[id.index()], op_key_[id.index()], op_value_[id.index()]};
  }
  [[nodiscard]] TxnId txn_of(OpId op) const;  // O(log transactions).
  // REQUIRES: is_predicate_read(op(id).kind).
  [[nodiscard]] const PredicateRead& predicate_read(OpId id) const {
    return predicate_reads_[static_cast<std::size_t>(op_value_[id.index()].number())];
  }
  [[nodiscard]] std::span<const KeyVersion> rows(const PredicateRead& read) const {
    return row_reads_.subspan(read.first_row, read.row_count);
  }
  [[nodiscard]] std::span<const KeyVersion> version_set(const PredicateRead& read) const {
    return version_sets_.subspan(read.first_version, read.version_count);
  }

  // Transactions and sessions.
  [[nodiscard]] SessionId session(TxnId txn) const { return txn_session_[txn.index()]; }
  [[nodiscard]] TxnStatus status(TxnId txn) const { return txn_status_[txn.index()]; }
  // The transactions of `session`, of every status, in session order.
  [[nodiscard]] std::span<const TxnId> session_txns(SessionId session) const {
    const std::uint32_t first = session_first_[session.index()];
    return session_txns_.subspan(first, session_first_[session.index() + 1] - first);
  }
  [[nodiscard]] Value txn_name(TxnId txn) const;  // Null where the history names none.
  [[nodiscard]] std::optional<std::int64_t> invoked(TxnId txn) const {
    return clock(invoked_, txn);
  }
  [[nodiscard]] std::optional<std::int64_t> completed(TxnId txn) const {
    return clock(completed_, txn);
  }
  [[nodiscard]] std::optional<Timestamp> start_ts(TxnId txn) const {
    return timestamp(start_ts_, txn);
  }
  [[nodiscard]] std::optional<Timestamp> commit_ts(TxnId txn) const {
    return timestamp(commit_ts_, txn);
  }
  [[nodiscard]] Value session_name(SessionId session) const;

  // Keys.
  [[nodiscard]] Value key_name(KeyId key) const { return key_name_[key.index()]; }
  [[nodiscard]] Value initial(KeyId key) const;  // O(log keys with an initial value of their own).
  // What keys hold at the start that have no initial value of their own.
  [[nodiscard]] Value default_initial() const;

  // Version orders.
  [[nodiscard]] std::span<const VersionOrder> version_orders() const;
  [[nodiscard]] std::span<const Value> versions(const VersionOrder& order) const;

  // Inside values.
  [[nodiscard]] std::string_view string(Value text_or_wide) const;
  [[nodiscard]] std::span<const Cell> row(Value row) const;
  [[nodiscard]] std::span<const Value> list(Value list) const;
  [[nodiscard]] std::string_view column_name(ColumnId column) const;
  [[nodiscard]] Value cell(Value row, ColumnId column) const;  // Null where the row has none.

  // Predicates. Children are node ids too.
  [[nodiscard]] const PredicateNode& predicate(PredicateId id) const {
    return predicate_nodes_[id.index()];
  }
  [[nodiscard]] std::span<const std::uint32_t> children(const PredicateNode& node) const {
    return predicate_children_.subspan(node.first, node.count);
  }
  [[nodiscard]] std::span<const Value> operands(const PredicateNode& node) const {
    return predicate_operands_.subspan(node.first, node.count);
  }

  // As JSON: 7, "abc", null, [1,2], {"c":1}.
  [[nodiscard]] std::string text(Value value) const;
  // As in messages: names without quotes where that is unambiguous.
  [[nodiscard]] std::string label(Value name) const;
  [[nodiscard]] std::string key_label(KeyId key) const { return label(key_name(key)); }

  // Where it stands in the source.
  [[nodiscard]] Place place(TxnId txn) const;
  [[nodiscard]] Place place(OpId op) const;
  // The first source file, or "".
  [[nodiscard]] std::string_view file() const;
  [[nodiscard]] std::span<const Remark> remarks() const;

  // Whether any transaction has a timestamp, and whether any operation is a predicate read.
  [[nodiscard]] bool has_timestamps() const { return !start_ts_.empty() || !commit_ts_.empty(); }
  [[nodiscard]] bool has_predicate_reads() const { return !predicate_reads_.empty(); }

 private:
  friend struct HistoryAccess;  // In src/history/columns.h.
  explicit History(std::shared_ptr<const HistoryColumns> all);

  [[nodiscard]] static std::optional<std::int64_t> clock(std::span<const std::int64_t> column,
                                                         TxnId txn) {
    if (column.empty() || column[txn.index()] == kNoClock) return std::nullopt;
    return column[txn.index()];
  }
  [[nodiscard]] static std::optional<Timestamp> timestamp(std::span<const Timestamp> column,
                                                          TxnId txn) {
    if (column.empty() || column[txn.index()] == kNoTimestamp) return std::nullopt;
    return column[txn.index()];
  }

  // What the functions above look at without a detour; the rest is in `all_`.
  std::span<const OpKind> op_kind_;
  std::span<const KeyId> op_key_;
  std::span<const Value> op_value_;
  std::span<const std::uint32_t> txn_first_op_;
  std::span<const SessionId> txn_session_;
  std::span<const TxnStatus> txn_status_;
  std::span<const std::int64_t> invoked_;
  std::span<const std::int64_t> completed_;
  std::span<const Timestamp> start_ts_;
  std::span<const Timestamp> commit_ts_;
  std::span<const std::uint32_t> session_first_;
  std::span<const TxnId> session_txns_;
  std::span<const Value> key_name_;
  std::span<const PredicateRead> predicate_reads_;
  std::span<const KeyVersion> row_reads_;
  std::span<const KeyVersion> version_sets_;
  std::span<const PredicateNode> predicate_nodes_;
  std::span<const std::uint32_t> predicate_children_;
  std::span<const Value> predicate_operands_;
  std::shared_ptr<const HistoryColumns> all_;  // With whatever they point into.
};

}  // namespace ouro
