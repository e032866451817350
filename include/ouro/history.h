// A history: what clients saw a database do. Immutable, columnar, dense.
//
// Nothing is judged here: a history may be as wrong as the database was. Sessions, transactions,
// keys and operations are numbered from zero. Every function of History is an array look-up unless
// its comment says otherwise. A copy of a History shares its data, so copying is cheap. A register
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
#include "ouro/level.h"
#include "ouro/predicate.h"
#include "ouro/value.h"

namespace ouro {

enum class TxnStatus : std::uint8_t {
  Committed,
  Aborted,
  Unknown,  // The client never heard. Counts as committed if a transaction that counts read it.
};

enum class OpKind : std::uint8_t {
  Read,       // A register read, or a list read if the value is a list.
  Write,      // A register write. Writing null deletes.
  Delete,     // Leaves a tombstone: a version of its own (unique) or null.
  Append,     // Adds one element to a list.
  Scan,       // A key-range read; see PredicateRead.
  Select,     // A predicate read that returned rows; see PredicateRead.
  Aggregate,  // A predicate read that returned one value; see PredicateRead.
  // A compare-and-set is two operations, one right behind the other. If it succeeded:
  CasRead,   // its value is what was expected, which is what was read;
  CasWrite,  // its value is what was written.
  // If it failed:
  CasFailed,     // its value is what was expected; something else was read;
  CasUnwritten,  // its value is what would have been written. Neither reads nor writes.
  // Counters and sets are rows (history/commuting.h). An increment is two operations:
  Inc,      // inserts a row that has the counter and the number that is added to it;
  IncMark,  // writes the counter itself, as increments of one counter conflict. Nobody reads it.
  Add,      // Inserts the row of an element of a set.
  // What was undone again within the transaction, by a rollback to a savepoint; see
  // History::undone_part(). Nobody else may see it.
  UndoneWrite,
  UndoneDelete,
  UndoneAppend,
  ReadBack,  // A read of such a write by the same part of the transaction, before it was undone.
};

// What the key of an operation holds. A register holds one value, which a write replaces. A list
// holds elements, and an append adds one at its end. No key may be both.
enum class KeyModel : std::uint8_t {
  None,    // The operation has no key.
  Either,  // The kind of the operation does not tell; its value may (see OpKind::Read).
  Register,
  List,
};

// What all operations of a kind have in common. Code asks this row instead of comparing kinds.
struct OpInfo {
  OpKind kind = OpKind::Read;
  std::string_view name;            // "delete"
  std::string_view word;            // What it is called in native text: "d".
  KeyModel model = KeyModel::None;  // What its key holds.
  bool reads = false;               // Its value is what its key held.
  bool open = false;                // It read its key; its value is what the key did not hold.
  bool writes = false;              // It installs its value as a version of its key.
  bool deletes = false;             // It writes a version that is no row: a tombstone.
  bool predicate = false;           // Its details are in a PredicateRead.
  bool condition = false;           // It selects rows by a predicate; a scan does by their keys.
  bool first = false;               // It is the first half; the operation behind is the second.
  bool second = false;              // It is the second half; the operation before is the first.
  OpKind other = OpKind::Read;      // If it is a half: the kind of the other half.
  bool undone = false;              // It would write, but was undone.
  bool back = false;                // It read what was undone: its value is what its key held.
};
// One row for each kind, in the order of the enumeration.
inline constexpr std::size_t kOpKindCount = 18;
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
    {.kind = OpKind::Select,
     .name = "select",
     .word = "select",
     .predicate = true,
     .condition = true},
    {.kind = OpKind::Aggregate,
     .name = "aggregate",
     .word = "aggregate",
     .predicate = true,
     .condition = true},
    {.kind = OpKind::CasRead,
     .name = "cas read",
     .word = "cas",
     .model = KeyModel::Register,
     .reads = true,
     .first = true,
     .other = OpKind::CasWrite},
    {.kind = OpKind::CasWrite,
     .name = "cas write",
     .word = "cas",
     .model = KeyModel::Register,
     .writes = true,
     .second = true,
     .other = OpKind::CasRead},
    {.kind = OpKind::CasFailed,
     .name = "failed cas read",
     .word = "cas",
     .model = KeyModel::Register,
     .open = true,
     .first = true,
     .other = OpKind::CasUnwritten},
    {.kind = OpKind::CasUnwritten,
     .name = "failed cas write",
     .word = "cas",
     .model = KeyModel::Register,
     .second = true,
     .other = OpKind::CasFailed},
    {.kind = OpKind::Inc,
     .name = "increment",
     .word = "inc",
     .model = KeyModel::Register,
     .writes = true,
     .first = true,
     .other = OpKind::IncMark},
    {.kind = OpKind::IncMark,
     .name = "increment mark",
     .word = "inc",
     .model = KeyModel::Register,
     .writes = true,
     .second = true,
     .other = OpKind::Inc},
    {.kind = OpKind::Add,
     .name = "add",
     .word = "add",
     .model = KeyModel::Register,
     .writes = true},
    {.kind = OpKind::UndoneWrite,
     .name = "undone write",
     .word = "w",
     .model = KeyModel::Register,
     .undone = true},
    {.kind = OpKind::UndoneDelete,
     .name = "undone delete",
     .word = "d",
     .model = KeyModel::Register,
     .undone = true},
    {.kind = OpKind::UndoneAppend,
     .name = "undone append",
     .word = "append",
     .model = KeyModel::List,
     .undone = true},
    {.kind = OpKind::ReadBack,
     .name = "read of an undone write",
     .word = "r",
     .model = KeyModel::Either,
     .back = true},
};
[[nodiscard]] constexpr const OpInfo& info(OpKind kind) {
  return kOpInfos[static_cast<std::size_t>(kind)];
}

// The set of kinds for which `fact` is true, one bit for each kind, for is_among(): a loop over
// millions of operations asks a set faster than rows.
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
// Whether the operation would install a version of its key, but was undone.
[[nodiscard]] constexpr bool is_undone(OpKind kind) {
  constexpr std::uint32_t kUndone = op_kinds_with(&OpInfo::undone);
  return is_among(kind, kUndone);
}
// Whether the operation's details are in a PredicateRead.
[[nodiscard]] constexpr bool is_predicate_read(OpKind kind) {
  constexpr std::uint32_t kPredicates = op_kinds_with(&OpInfo::predicate);
  return is_among(kind, kPredicates);
}

// A timestamp of the database, such as a hybrid logical clock gives. A plain integer has a logical
// part of zero. Compared by the physical part first. The unit is that of the database.
struct Timestamp {
  std::int64_t physical = 0;
  std::int64_t logical = 0;
  constexpr auto operator<=>(const Timestamp&) const = default;
};

struct Op {
  OpId id;
  OpKind kind = OpKind::Read;
  KeyId key;    // Invalid for predicate reads.
  Value value;  // See OpKind. For predicate reads meaningless; see predicate_read().
};

// A key and one of its versions: a row that was returned, or a member of a version set.
struct KeyVersion {
  KeyId key;
  Value value;
  constexpr auto operator<=>(const KeyVersion&) const = default;
};

// What a scan, select or aggregate asked for and what came back.
struct PredicateRead {
  Value lower;            // Scan: the first key of the range, included. Null: no bound.
  Value upper;            // Scan: the last key of the range, included. Null: no bound.
  PredicateId predicate;  // Select, Aggregate: which rows.
  AggregateKind aggregate = AggregateKind::Count;  // Aggregate: what is computed,
  ColumnId column;               // of which column. Invalid: count(*), or of the key.
  Value result;                  // Aggregate: what came back.
  bool has_version_set = false;  // Whether the history says which versions the read saw.
  // Where History::rows() and History::version_set() find what belongs to this read.
  std::uint32_t first_row = 0;
  std::uint32_t row_count = 0;
  std::uint32_t first_version = 0;
  std::uint32_t version_count = 0;
};

// The value of one column of a row.
struct Cell {
  ColumnId column;
  Value value;
  constexpr auto operator<=>(const Cell&) const = default;
};

// What is known of the order in which versions of `key` were installed, oldest first: see
// History::versions(). The initial version is never listed.
struct VersionOrder {
  KeyId key;
  bool complete = false;    // False: other versions may stand before, between and behind these.
  std::uint32_t first = 0;  // Where History::versions() finds them.
  std::uint32_t count = 0;
};

// Where something stands in the file that the history was read from.
enum class PlaceUnit : std::uint8_t { None, Line, Byte };
struct Place {
  std::string_view file;
  PlaceUnit unit = PlaceUnit::None;
  std::uint64_t position = 0;  // 1-based line, or byte offset from 0.

  // "bank.jsonl:97", "T15.log: byte 42", or the file alone.
  [[nodiscard]] std::string to_string() const;
};

// A remark that came with the history, such as the name of the database. Kept, but never used.
struct Remark {
  std::string name;
  std::string text;
};

// Stand for a clock and a timestamp that nobody recorded.
inline constexpr std::int64_t kNoClock = std::numeric_limits<std::int64_t>::min();
inline constexpr Timestamp kNoTimestamp{kNoClock, 0};
inline constexpr std::int64_t kNoSno = kNoClock;

// The arrays that a history consists of. Only the library itself sees them.
struct HistoryColumns;

class History {
 public:
  // An empty history.
  History();

  [[nodiscard]] std::size_t txn_count() const { return txn_session_.size(); }
  [[nodiscard]] std::size_t op_count() const { return op_kind_.size(); }
  [[nodiscard]] std::size_t key_count() const { return key_name_.size(); }
  [[nodiscard]] std::size_t session_count() const { return session_first_.size() - 1; }

  // Operations. All ids REQUIRE to be valid ids of this history, here and below. The operations of
  // `txn` are [first_op(txn), end_op(txn)), in the order in which they were done.
  [[nodiscard]] OpId first_op(TxnId txn) const { return OpId{txn_first_op_[txn.index()]}; }
  [[nodiscard]] OpId end_op(TxnId txn) const { return OpId{txn_first_op_[txn.index() + 1]}; }
  [[nodiscard]] Op op(OpId id) const {
    return {id, op_kind_[id.index()], op_key_[id.index()], op_value_[id.index()]};
  }
  [[nodiscard]] TxnId txn_of(OpId op) const;  // O(log transactions).
  // What a scan, select or aggregate asked for. REQUIRES: is_predicate_read(op(id).kind).
  [[nodiscard]] const PredicateRead& predicate_read(OpId id) const {
    return predicate_reads_[static_cast<std::size_t>(op_value_[id.index()].number())];
  }
  // The rows that `read` returned, and the versions that it saw (if has_version_set).
  [[nodiscard]] std::span<const KeyVersion> rows(const PredicateRead& read) const {
    return row_reads_.subspan(read.first_row, read.row_count);
  }
  [[nodiscard]] std::span<const KeyVersion> version_set(const PredicateRead& read) const {
    return version_sets_.subspan(read.first_version, read.version_count);
  }

  // Parts of transactions that were undone, by a rollback to a savepoint. They are numbered from 1;
  // undone_part() is the innermost part that an operation belongs to, and outer_part() the part
  // around a part. Zero: none. The operations of a part, and of parts in it, stand together.
  [[nodiscard]] std::uint32_t undone_part(OpId op) const {
    return op_part_.empty() ? 0 : op_part_[op.index()];
  }
  [[nodiscard]] std::uint32_t outer_part(std::uint32_t part) const;
  // Whether `later`, an operation behind `write` in the same transaction, sees what `write` wrote:
  // it was not undone in between. Cost: the depth of the part.
  [[nodiscard]] bool still_holds(OpId write, OpId later) const;

  // Transactions and sessions.
  [[nodiscard]] SessionId session(TxnId txn) const { return txn_session_[txn.index()]; }
  // Whether it is known in which session the transaction was. If not, session() is one that it is
  // alone in, whose name is null.
  [[nodiscard]] bool has_session(TxnId txn) const;
  [[nodiscard]] TxnStatus status(TxnId txn) const { return txn_status_[txn.index()]; }
  // The transactions of `session`, of every status, in session order.
  [[nodiscard]] std::span<const TxnId> session_txns(SessionId session) const {
    const std::uint32_t first = session_first_[session.index()];
    return session_txns_.subspan(first, session_first_[session.index() + 1] - first);
  }
  // The number of the transaction in its session, if the history gives one: session_txns() goes by
  // these, and otherwise by the order of the source.
  [[nodiscard]] std::optional<std::int64_t> sno(TxnId txn) const;
  [[nodiscard]] bool has_snos() const;
  [[nodiscard]] Value txn_name(TxnId txn) const;  // Null if the history does not name it.
  // The client's clock when it invoked the transaction, and when the transaction was completed.
  // The unit is that of the recording. If both are known, invoked(txn) <= completed(txn).
  [[nodiscard]] std::optional<std::int64_t> invoked(TxnId txn) const {
    return clock(invoked_, txn);
  }
  [[nodiscard]] std::optional<std::int64_t> completed(TxnId txn) const {
    return clock(completed_, txn);
  }
  // The client's clock when its begin was answered, and when it asked for the commit. If known,
  // invoked(txn) <= began(txn) <= committing(txn) <= completed(txn). So the transaction began
  // between `invoked` and `began`, and committed between `committing` and `completed`.
  [[nodiscard]] std::optional<std::int64_t> began(TxnId txn) const { return clock(began_, txn); }
  [[nodiscard]] std::optional<std::int64_t> committing(TxnId txn) const {
    return clock(committing_, txn);
  }
  // Whether began() or committing() is known of any transaction.
  [[nodiscard]] bool has_inner_clocks() const { return !began_.empty() || !committing_.empty(); }
  // The timestamps that the database gave to the start and to the commit.
  [[nodiscard]] std::optional<Timestamp> start_ts(TxnId txn) const {
    return timestamp(start_ts_, txn);
  }
  [[nodiscard]] std::optional<Timestamp> commit_ts(TxnId txn) const {
    return timestamp(commit_ts_, txn);
  }
  // The level that the transaction states as its own (Level::Mixed judges it by that).
  [[nodiscard]] std::optional<Level> level(TxnId txn) const;
  // Whether any transaction states one.
  [[nodiscard]] bool states_levels() const;
  [[nodiscard]] Value session_name(SessionId session) const;

  // Keys.
  [[nodiscard]] Value key_name(KeyId key) const { return key_name_[key.index()]; }
  // What `key` held at the start. O(log n) for n keys with an initial value of their own.
  [[nodiscard]] Value initial(KeyId key) const;
  // What all other keys held at the start.
  [[nodiscard]] Value default_initial() const;

  // Version orders, in the order of the source; a key may have several. versions() are the versions
  // of one of them, oldest first.
  [[nodiscard]] std::span<const VersionOrder> version_orders() const;
  [[nodiscard]] std::span<const Value> versions(const VersionOrder& order) const;
  // Who wrote these versions, at the same index: where the order names transactions, each version
  // is the last write of the key by its transaction. Not valid where it lists only the value. Empty
  // if no order of the history names transactions.
  [[nodiscard]] std::span<const TxnId> version_writers(const VersionOrder& order) const;

  // What is inside a value. REQUIRES: the value is of this history, and of the kind that the
  // parameter is named after. Views live as long as the history.
  [[nodiscard]] std::string_view string(Value text) const;   // Of a number: its digits.
  [[nodiscard]] std::span<const Cell> row(Value row) const;  // Sorted by column.
  [[nodiscard]] std::span<const Value> list(Value list) const;
  [[nodiscard]] double floating(Value floating) const;
  [[nodiscard]] std::string_view column_name(ColumnId column) const;
  // The value of `column` in `row`; null if it has no such column, or is no row. O(log columns).
  [[nodiscard]] Value cell(Value row, ColumnId column) const;

  // Predicates (ouro/predicate.h): a node; the ids of the nodes below an And, Or or Not; what any
  // other node compares its column with.
  [[nodiscard]] const PredicateNode& predicate(PredicateId id) const {
    return predicate_nodes_[id.index()];
  }
  [[nodiscard]] std::span<const std::uint32_t> children(const PredicateNode& node) const {
    return predicate_children_.subspan(node.first, node.count);
  }
  [[nodiscard]] std::span<const Value> operands(const PredicateNode& node) const {
    return predicate_operands_.subspan(node.first, node.count);
  }

  // The value as JSON: 7, "abc", null, true, 1.5, [1,2], {"c":1}, and a Float as {"@float":1.5}.
  // Unobserved is null. Linear in the text.
  [[nodiscard]] std::string text(Value value) const;
  // The same for messages: a text without quotes where that is unambiguous.
  [[nodiscard]] std::string label(Value name) const;
  [[nodiscard]] std::string key_label(KeyId key) const { return label(key_name(key)); }

  // Where a transaction or an operation stands in its source file. Of an operation: its own line if
  // the format has one for each, else the place of its transaction; O(log transactions).
  [[nodiscard]] Place place(TxnId txn) const;
  [[nodiscard]] Place place(OpId op) const;
  // The name of the first source file; "" if there is none.
  [[nodiscard]] std::string_view file() const;
  [[nodiscard]] std::span<const Remark> remarks() const;
  // What the source was read as: "Cobra's logs, a folder of T*.log"; "" if that is not known. And
  // of how many files it is.
  [[nodiscard]] std::string_view read_as() const;
  [[nodiscard]] std::size_t file_count() const;

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

  // The columns that the functions above look at most; the others are reached through `all_`.
  std::span<const OpKind> op_kind_;
  std::span<const KeyId> op_key_;
  std::span<const Value> op_value_;
  std::span<const std::uint32_t> op_part_;
  std::span<const std::uint32_t> txn_first_op_;
  std::span<const SessionId> txn_session_;
  std::span<const TxnStatus> txn_status_;
  std::span<const std::int64_t> invoked_;
  std::span<const std::int64_t> began_;
  std::span<const std::int64_t> committing_;
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
  std::shared_ptr<const HistoryColumns> all_;  // All columns; keeps their memory alive.
};

}  // namespace ouro
