// Builds a History, one operation after the other. ouro/history.h has an example.
//
// Values, keys, sessions and columns are made by the builder that is given them; those of another
// builder mean something else. Begin the transactions of a session in session order. Operations,
// status, name, clocks and timestamps go to the transaction that was begun last, so REQUIRE that
// one was begun. Every call takes expected constant time, or time linear in what it is given.
//
// Thread safety: none; one thread at a time. To build in parallel, give each thread a builder of
// its own and let one absorb() the others in order.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ouro/history.h"
#include "ouro/result.h"

namespace ouro {

class HistoryBuilder {
 public:
  HistoryBuilder();
  ~HistoryBuilder();
  HistoryBuilder(HistoryBuilder&&) noexcept;
  HistoryBuilder& operator=(HistoryBuilder&&) noexcept;

  // Values. The same content gives the same Value. Null, booleans and unobserved are made by Value
  // itself.
  [[nodiscard]] Value integer(std::int64_t number);
  [[nodiscard]] Value unsigned_integer(std::uint64_t number);
  // An exact number as JSON writes them: -12, 0.50, 1e3. The same number is the same Value, however
  // it is written. Null if it has more digits than kMostDigits before or behind the point.
  static constexpr int kMostDigits = 1000;
  [[nodiscard]] Value decimal(std::string_view number);
  // The same, but the zeros at the end stay, as results of sums and averages need them: they tell
  // how precise the result is. Such a value is good for nothing else.
  [[nodiscard]] Value precise_decimal(std::string_view number);
  // All not-a-numbers are one value, and so are zero and negative zero.
  [[nodiscard]] Value floating(double number);
  [[nodiscard]] Value text(std::string_view string);
  using NamedCell = std::pair<std::string_view, Value>;
  // A row. The columns may come in any order. REQUIRES: none comes twice; cells are scalars.
  [[nodiscard]] Value row(std::span<const NamedCell> cells);

  // Keys, sessions, columns: the same name gives the same id.
  // REQUIRES: a name is an integer or a text of this builder.
  KeyId key(Value name);
  KeyId key(std::int64_t name) { return key(integer(name)); }
  KeyId key(std::string_view name) { return key(text(name)); }
  // Says that key(name) will be called soon, so that memory is fetched meanwhile. Nothing else.
  void prefetch_key(std::int64_t name) const;
  SessionId session(Value name);
  SessionId session(std::int64_t name) { return session(integer(name)); }
  SessionId session(std::string_view name) { return session(text(name)); }
  // The session of one transaction of which nobody knows in which session it was: a new one each
  // time, without a name.
  SessionId unknown_session();
  ColumnId column(std::string_view name);
  [[nodiscard]] Value key_name(KeyId key) const;
  // What is in a text of this builder.
  [[nodiscard]] std::string_view string(Value text) const;
  // Whether an integer takes at most 64 bits, as those that are names do. REQUIRES: its kind is
  // Integer or Wide.
  [[nodiscard]] bool fits_64_bits(Value integer) const;
  // The value of a column of a row; null if there is none.
  [[nodiscard]] Value cell(Value row, ColumnId column) const;

  // Transactions begun from here on come from the file `name`, and their positions are in `unit`.
  // REQUIRES: all files of a history have the same unit.
  void file(std::string_view name, PlaceUnit unit);

  // Begins a transaction, which is Committed until status() says otherwise. `position` is where it
  // stands in its file: a line from 1, or a byte from 0.
  TxnId begin_txn(SessionId session, std::uint64_t position = 0);
  // Replaces the session of the transaction begun last, for formats that name the session late.
  void set_session(SessionId session);
  void status(TxnStatus status);
  void name(Value name);
  // The client's clock before the first operation and after the end; kNoClock: not known. If
  // `completed` is before `invoked`, freeze() fails.
  void clocks(std::int64_t invoked, std::int64_t completed);
  // The client's clock when the begin was answered and when the commit was asked for; kNoClock: not
  // known. If the clocks of a transaction are not in the order invoked, began, committing,
  // completed, freeze() fails.
  void inner_clocks(std::int64_t began, std::int64_t committing);
  // The database's timestamps of start and commit; kNoTimestamp: not known.
  void timestamps(Timestamp start, Timestamp commit);
  // The level that the transaction begun last states as its own. REQUIRES: not Level::Mixed.
  void level(Level level);
  // The number of the transaction begun last in its session, which orders the session, however its
  // transactions are begun. If those of a session do not all have different ones, freeze() fails.
  void sno(std::int64_t number);
  // How many transactions and operations there are so far.
  [[nodiscard]] std::size_t txn_count() const;
  [[nodiscard]] std::size_t op_count() const;

  // Operations, in the order in which the transaction did them. `line` is where one stands in its
  // file, for formats with one operation a line; zero: it has no line of its own.
  OpId read(KeyId key, Value result, std::uint32_t line = 0);
  OpId write(KeyId key, Value value, std::uint32_t line = 0);
  // A delete. `tombstone` is the version that it leaves: a value of its own, or null.
  OpId remove(KeyId key, Value tombstone, std::uint32_t line = 0);
  OpId append(KeyId key, Value element, std::uint32_t line = 0);
  // A read that returned a list. Cost: linear in it, but lists that continue each other share their
  // memory.
  OpId read_list(KeyId key, std::span<const Value> elements, std::uint32_t line = 0);
  // A compare-and-set, which becomes two operations (OpKind::CasRead …); returns the first. It
  // wrote `desired` if it succeeded.
  OpId cas(KeyId key, Value expected, Value desired, bool succeeded, std::uint32_t line = 0);
  // Adds `delta`, a small integer, to a counter. What a read() of that key returned is what the
  // counter was then. No key may be a counter and anything else.
  OpId inc(KeyId counter, Value delta, std::uint32_t line = 0);
  // Adds an element, an integer or a text, to a set; a read that returned all elements of a set,
  // each once. No key may be a set and anything else.
  OpId add_element(KeyId set, Value element, std::uint32_t line = 0);
  OpId read_set(KeyId set, std::span<const Value> elements);
  // An operation of any kind that has a key. REQUIRES: the value is no list.
  OpId add(OpKind kind, KeyId key, Value value, std::uint32_t line = 0);

  // The operations from begin_undone() to end_undone() were undone, by a rollback to a savepoint;
  // they may contain such parts, too. Writes become undone ones (OpKind::UndoneWrite …), reads that
  // see them become OpKind::ReadBack; predicate reads see them, too. REQUIRES: every part ends
  // before the next transaction begins, and has no compare-and-set that failed on a key with such a
  // write: see sees_undone().
  void begin_undone();
  void end_undone();
  // Whether the next operation would see an undone write of its own transaction: of `key`, or of
  // any key if it is not valid.
  [[nodiscard]] bool sees_undone(KeyId key) const;
  // The next operations are in the same undone parts as `op` of `history`; for copies of histories.
  // REQUIRES: called for each operation of a transaction that is copied, in order.
  void follow_parts(const History& history, OpId op);

  // An operation that was added, and a new value for it: for formats where only a later line tells
  // what a value means. REQUIRES: it is no predicate read.
  [[nodiscard]] Op op(OpId id) const;
  void set_value(OpId id, Value value);

  // The rows that a predicate read returned, and the versions that it saw if the database told.
  struct Rows {
    std::span<const KeyVersion> rows;
    bool has_version_set = false;
    std::span<const KeyVersion> version_set;
  };
  // Predicate reads. The parameters are explained at PredicateRead. REQUIRES: `predicate` is one of
  // this builder's.
  OpId scan(Value lower, Value upper, const Rows& rows);
  OpId select(PredicateId predicate, const Rows& rows);
  OpId aggregate(AggregateKind kind, ColumnId column, PredicateId predicate, Value result,
                 const Rows& rows);

  // Predicates, from the leaves up: one that is always true; And, Or or Not of others; any other
  // kind. REQUIRES: as many children and operands as PredicateKind says; children are of this
  // builder. A column that is not valid stands for the key of the row.
  PredicateId always();
  PredicateId combine(PredicateKind kind, std::span<const PredicateId> children);
  PredicateId compare(PredicateKind kind, ColumnId column, std::span<const Value> operands);
  // A comparison of two terms. `kind` is that of a column with a constant, which is what it becomes
  // if the left side is a column and the right one a constant.
  PredicateId compare_terms(PredicateKind kind, PredicateId left, PredicateId right);
  // The operand of a Constant; nothing if the node is something else.
  [[nodiscard]] std::optional<Value> constant_of(PredicateId term) const;

  // What an update by predicate makes of `row`, the row of `key`: a row in which each of these
  // columns has the value of its term, calculated from `row`. Nothing if that has more digits than
  // kMostDigits. REQUIRES: no column comes twice.
  struct Assignment {
    ColumnId column;
    PredicateId term;
  };
  [[nodiscard]] std::optional<Value> assigned(KeyId key, Value row,
                                              std::span<const Assignment> assignments);
  // What is true of rows of `keys` only, or of no row of `keys`; and only if `condition` is.
  PredicateId among(PredicateId condition, std::span<const KeyId> keys);
  PredicateId except(PredicateId condition, std::span<const KeyId> keys);
  // What is true of the row of `key` only, if `condition` is and the assignments give `row`: its
  // columns equal the terms that they are assigned, and those that are not assigned are as they
  // were. REQUIRES: `row` is a row.
  PredicateId becomes(PredicateId condition, KeyId key, Value row,
                      std::span<const Assignment> assignments);

  // What holds for the whole history. Initial values: of all keys that have none of their own (null
  // unless said otherwise), and of single keys, where the last call for a key wins.
  void default_initial(Value value);
  void initial(KeyId key, Value value);
  // The versions of `key`, oldest first, without the initial one. See VersionOrder.
  void version_order(KeyId key, std::span<const Value> versions, bool complete);
  // The same where versions may be named by who wrote them, which tells versions of one value
  // apart. `name` is what name() calls the transaction, before or after this call, and the version
  // is its last write of the key; null: `value` says which version it is. freeze() fails if a name
  // is that of no transaction or of several, or if the transaction did not write the key;
  // `position` is where the order stands in its file.
  struct NamedVersion {
    Value value;
    Value name;
  };
  void version_order(KeyId key, std::span<const NamedVersion> versions, bool complete,
                     std::uint64_t position = 0);
  void remark(std::string_view name, std::string_view text);

  // Adds the transactions of `other` behind this builder's own, with all that belongs to them, and
  // empties `other`. Ids and values of `other` become meaningless. Its files are dropped: its
  // transactions count as from the last file of this builder. Its default_initial replaces this
  // builder's unless it is null.
  //
  // `other` keeps its names, so filling it again and absorbing it into this builder (and no other)
  // is cheaper than beginning with a new one.
  //
  // Cost: linear in `other`; hashes each distinct key, session and pooled value once.
  void absorb(HistoryBuilder&& other);

  // The history of all that was added; the builder is of no use afterwards. The error is more than
  // 2^32 - 2 operations or transactions, a transaction with clocks that go back, or a version that
  // is named by a transaction that did not write it; it says where. Cost: linear in the
  // transactions; operations are not copied. A history with counters or sets is rewritten: they
  // become rows (src/history/commuting.h), so operations are others than those that were added.
  [[nodiscard]] Result<History> freeze() &&;

 private:
  struct Storage;
  struct Interner;
  class Translator;
  class Lowering;
  Status lower();
  Status find_named_versions();
  [[nodiscard]] std::string element_json(Value element) const;
  void forget_txns();
  OpId add_op(OpKind kind, KeyId key, Value value, std::uint32_t line);
  PredicateId has_value(PredicateId term, Value value);
  PredicateId is_no_number(PredicateId term);
  [[nodiscard]] OpKind undone_kind(OpKind kind, KeyId key) const;
  [[nodiscard]] std::vector<Value> undone_appends(KeyId key) const;
  OpId add_predicate_read(OpKind kind, PredicateRead read, const Rows& rows);
  Value exact_number(std::string_view digits);
  Value intern(ValueKind kind, std::string_view bytes);
  Value intern_row(std::vector<Cell>& cells);
  Value intern_list(KeyId key, std::span<const Value> elements);

  std::shared_ptr<Storage> storage_;
  std::unique_ptr<Interner> interner_;
};

}  // namespace ouro
