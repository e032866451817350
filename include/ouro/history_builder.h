// Builds a History, one operation after the other.
//
// Values and keys are made by the builder that will hold them. Transactions of one
// session are begun in session order; operations go to the transaction begun last.
//
// Thread safety: none. To build in parallel, give each thread a builder and let one
// absorb the others in order.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
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

  // Values.
  [[nodiscard]] Value integer(std::int64_t number);
  [[nodiscard]] Value unsigned_integer(std::uint64_t number);
  [[nodiscard]] Value text(std::string_view string);
  using NamedCell = std::pair<std::string_view, Value>;
  [[nodiscard]] Value row(std::span<const NamedCell> cells);  // Columns in any order, once each.

  // Keys, sessions, columns: the same name gives the same id.
  KeyId key(Value name);  // REQUIRES: an integer or text of this builder.
  KeyId key(std::int64_t name) { return key(integer(name)); }
  KeyId key(std::string_view name) { return key(text(name)); }
  SessionId session(Value name);
  SessionId session(std::int64_t name) { return session(integer(name)); }
  SessionId session(std::string_view name) { return session(text(name)); }
  ColumnId column(std::string_view name);
  [[nodiscard]] Value key_name(KeyId key) const;

  // Sources. Transactions begun from here on come from `file`.
  void file(std::string_view name, PlaceUnit unit);

  // Transactions.
  TxnId begin_txn(SessionId session, std::uint64_t position = 0);
  // For formats that name the session last. REQUIRES: no later transaction was begun.
  void set_session(SessionId session);
  void status(TxnStatus status);
  void name(Value name);
  // The client's clock before the first operation and after the end; kNoClock: not known. One that
  // completed before it was invoked makes freeze() fail.
  void clocks(std::int64_t invoked, std::int64_t completed);
  void timestamps(Timestamp start, Timestamp commit);  // kNoTimestamp: not known.
  [[nodiscard]] std::size_t txn_count() const;
  [[nodiscard]] std::size_t op_count() const;

  // Operations. `line` is for formats with one operation a line.
  OpId read(KeyId key, Value result, std::uint32_t line = 0);
  OpId write(KeyId key, Value value, std::uint32_t line = 0);
  OpId remove(KeyId key, Value tombstone, std::uint32_t line = 0);
  OpId append(KeyId key, Value element, std::uint32_t line = 0);
  OpId read_list(KeyId key, std::span<const Value> elements, std::uint32_t line = 0);
  // A compare-and-set, in two places: returns the first. It wrote `desired` if it succeeded.
  OpId cas(KeyId key, Value expected, Value desired, bool succeeded, std::uint32_t line = 0);
  // One of a kind that is known from elsewhere. REQUIRES: it has a key, and the value is no list.
  OpId add(OpKind kind, KeyId key, Value value, std::uint32_t line = 0);

  // For formats where what comes later decides what a value means. REQUIRES: not a predicate read.
  [[nodiscard]] Op op(OpId id) const;
  void set_value(OpId id, Value value);

  // What a predicate read returned, and the versions it saw if the database told.
  struct Rows {
    std::span<const KeyVersion> rows;
    bool has_version_set = false;
    std::span<const KeyVersion> version_set;
  };
  OpId scan(Value lower, Value upper, const Rows& rows);
  OpId select(PredicateId predicate, const Rows& rows);
  // `column` invalid: count(*).
  OpId aggregate(AggregateKind kind, ColumnId column, PredicateId predicate, Value result,
                 const Rows& rows);

  // Predicates, from the leaves up.
  PredicateId always();
  PredicateId combine(PredicateKind kind, std::span<const PredicateId> children);
  PredicateId compare(PredicateKind kind, ColumnId column, std::span<const Value> operands);

  // What holds for the whole history.
  void default_initial(Value value);
  void initial(KeyId key, Value value);  // The last call for a key wins.
  void version_order(KeyId key, std::span<const Value> versions, bool complete);
  void remark(std::string_view name, std::string_view text);

  // Adds the transactions of `other` behind this builder's own, with all that belongs to them;
  // ids and values of `other` become meaningless. Its files are dropped: the transactions count as
  // from the absorbing builder's last file. Its default_initial holds unless it is null. `other` is
  // left empty but keeps names: to fill it again for this builder, and no other, is cheaper than to
  // begin with a new one. Cost: linear in `other`, hashing once per distinct key, session and
  // pooled value.
  void absorb(HistoryBuilder&& other);

  // Fails when a limit is exceeded (2^32 - 2 operations or transactions), or if a transaction
  // completed before it was invoked; the error says where that stands.
  [[nodiscard]] Result<History> freeze() &&;

 private:
  struct Storage;
  struct Interner;
  class Translator;
  void forget_txns();
  OpId add_op(OpKind kind, KeyId key, Value value, std::uint32_t line);
  OpId add_predicate_read(OpKind kind, PredicateRead read, const Rows& rows);
  Value intern(ValueKind kind, std::string_view bytes);
  Value intern_row(std::vector<Cell>& cells);
  Value intern_list(KeyId key, std::span<const Value> elements);

  std::shared_ptr<Storage> storage_;
  std::unique_ptr<Interner> interner_;
};

}  // namespace ouro
