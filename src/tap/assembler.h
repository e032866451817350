// Puts what clients saw and what the log says on one timeline.
//
// Snapshots of a server form a chain: each sees all that the one before it sees. The *rank* of a
// snapshot, the number of ids of transactions that had ended, grows along the chain, and snapshots
// of equal rank see the same. So a rank is a start timestamp as soon as the snapshot is known. A
// commit belongs in front of the first snapshot that sees it; commits that no snapshot tells apart
// are in the order of the log. The place is known once all snapshots are that could be first, so
// commits wait for transactions that are open (Ledger::Taken).
//
// Which value a key held at first is taken from those who read it before anything wrote it. What is
// not certain is left out: a read of which it is not known what it could have returned is dropped
// and counted, never judged.
//
// This file knows no connection, so it can be tested without a server. Thread safety: none.
#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "db/snapshot_order.h"
#include "tap/decoded.h"
#include "tap/ledger.h"

namespace ouro::tapping {

// A moment on the timeline. A commit is seen by a snapshot if it is not later.
struct Position {
  std::int64_t rank = 0;
  std::int64_t order = 0;
  auto operator<=>(const Position&) const = default;
};

// A snapshot of our own.
struct Poll {
  db::Snapshot snapshot;
  Nanos sent = 0;
  Nanos received = 0;
};

// A transaction of the log.
struct Logged {
  std::uint64_t id = 0;
  std::vector<Decoded> changes;
};

// A transaction on the timeline.
struct Placed {
  struct Operation {
    bool writes = false;
    std::string key;
    std::string value;      // JSON.
    std::string column;     // What predicates call the column; empty: none asks for it.
    std::string predicate;  // JSON. Not empty: it returned `rows` of all rows, and has no key.
    std::vector<Read> rows;
  };
  std::string name;     // Unique.
  std::string session;  // Empty: nobody knows.
  std::string application, isolation;
  Nanos began = 0;  // Zero: nobody knows.
  Nanos ended = 0;
  std::optional<Position> start;
  std::optional<Position> commit;
  std::vector<Operation> operations;
  std::vector<std::shared_ptr<const Text>> statements;
};

class Receiver {
 public:
  virtual ~Receiver() = default;
  // `column` is what predicates call it, or empty.
  virtual void initial(const std::string& key, const std::string& value,
                       const std::string& column) = 0;
  virtual void transaction(const Placed& placed) = 0;
  // For every read in the transactions that were told so far, the writer of what it returned has
  // been told as well, so that they can be judged.
  virtual void settled() {}
  // From now on nothing can be concluded from the whole. What was told before is true.
  virtual void undecided(const std::string& why) = 0;
};

struct Coverage {
  std::uint64_t judged = 0;  // Statements that read.
  std::uint64_t not_judged = 0;
  // By reason and shape of the statement.
  std::map<std::pair<std::string, std::string>, std::uint64_t> why;
  std::uint64_t dropped_reads = 0;  // Single reads of which it is not known what was there.
};

class Assembler {
 public:
  struct Options {
    // Whether every transaction gets a start: at read committed each statement then stands for
    // itself.
    bool split = false;
    // Transactions that are open for longer are not waited for.
    Nanos patience = 10'000'000'000;
  };
  Assembler(Options options, Receiver& output) : options_(options), output_(output) {}

  // What clients did from `time` on goes by this catalog. REQUIRES: before settle() there is one
  // that was read after all polls that were added. So what settle() places happened between two
  // catalogs, and a table that both describe alike did not change meanwhile.
  void set_catalog(std::shared_ptr<const Catalog> catalog, Nanos time);
  // A row that a table had before anything in the log. REQUIRES: before all else of that table.
  void load(const Table& table, const std::vector<LogCell>& cells);
  // To be called after load() was called for every row of `table`.
  void end_load(const Table& table) { loaded_.insert(table.oid); }
  [[nodiscard]] bool loaded(Oid table) const { return loaded_.contains(table); }
  // Adds a transaction of the log. REQUIRES: transactions are added in the order of the log.
  void add(Logged logged);
  // Adds what the server answered to our own poll. REQUIRES: all commits that the poll sees have
  // been added, and polls are added in the order in which they were sent.
  void add(Poll poll);
  // Takes what clients did up to `time`, which is now, and tells the receiver of all transactions
  // that can be placed on the timeline.
  void settle(Ledger::Taken taken, Nanos time);
  // Whether something was added that is not placed yet.
  [[nodiscard]] bool waits() const { return !logged_.empty() || !pending_.empty(); }

  [[nodiscard]] const Coverage& coverage() const { return coverage_; }
  // Why nothing can be concluded from the whole, in the order in which it happened.
  [[nodiscard]] const std::vector<std::string>& problems() const { return problems_; }

  struct Totals {
    std::uint64_t txns = 0;           // Of clients.
    std::uint64_t automatic = 0;      // Of these, single statements.
    std::uint64_t others = 0;         // Transactions of the log alone.
    std::uint64_t without_start = 0;  // Read committed, and read more than once or wrote after it.
    std::uint64_t read_committed = 0, repeatable_read = 0, serializable = 0;
    std::uint64_t revived = 0;     // See revives().
    std::uint64_t selections = 0;  // Statements of which it is judged that they found all rows.
  };
  [[nodiscard]] const Totals& totals() const { return totals_; }

 private:
  // What is known of a key.
  struct Key {
    enum class Initial : std::uint8_t {
      Open,     // Nobody read or wrote the key before `first`.
      Loaded,   // By load(), and not told to the output.
      Known,    // Told; or absent.
      Guessed,  // That of the row after an update that need not have set it.
    };
    Initial initial = Initial::Open;
    std::string first_value;        // Of the initial state, unless that is Open.
    std::optional<Position> first;  // The first change, or when the value was guessed.
    // In order of commit, as far back as moments are asked for, and one more. Most keys have none.
    std::vector<std::pair<Position, std::string>> versions;
    bool forgot = false;                  // There were more.
    const std::string* column = nullptr;  // What predicates call it, if it was loaded.
    [[nodiscard]] const std::string* last() const;
    // Drops versions that are not needed for moments after `from`, once they are half of all.
    void forget_before(Position from);
  };
  struct Pending {
    ClientTxn txn;
    std::optional<Position> start;
  };
  using Operations = std::vector<Placed::Operation>;

  void take_client(ClientTxn txn);
  // From now on nothing of the table is judged.
  void spoil(const Table& table, const std::string& why);
  void complain(std::string why);
  // Spoils tables that have the name of another one that is recorded.
  void compare_names();
  // The tables that were young begin to count, as far as the horizon is later than their catalog.
  void grow_up();
  // Tells what all keys of a column held at first, before the first predicate asks for it.
  void tell_column(const std::string& column);
  // Tells what a key held at first, if that was loaded.
  void tell_loaded(const std::string& name, Key& key);
  // Places the clients of which all is known.
  void place_clients(Nanos& oldest);
  void forget_sessions();
  void place_commits(const Poll& horizon);
  void learn(const Pending& reader);
  void place_commit(const Logged& logged, Position at, const Pending* pending);
  // Whether a change of a transaction with a snapshot inserts a row that another one deleted behind
  // that snapshot. PostgreSQL allows that at all its levels: of an INSERT it checks only that there
  // is no such row now. So the transaction as a whole is not judged.
  [[nodiscard]] bool revives(const Decoded& change, const Table& table, Position start,
                             Position at) const;
  void apply(const Decoded& change, const Table& table, Position at,
             const std::vector<std::string>* assigned, Operations& writes);
  void set(const std::string& key, const std::string& value, const std::string& column, Position at,
           Operations& writes);
  void insert_row(const Table& table, const std::string& row, const Decoded& change, Position at,
                  Operations& writes);
  void delete_row(const Table& table, const std::string& row, Position at, Operations& writes);
  void update_row(const Table& table, const std::string& row, const Decoded& change, Position at,
                  const std::vector<std::string>* assigned, Operations& writes);
  [[nodiscard]] std::optional<std::string> row_of(const Table& table,
                                                  const std::vector<LogCell>& cells) const;

  void place_client(Pending& pending);
  // The columns that the client set in the `nth` of `entries` updates of a row; null: not known.
  [[nodiscard]] static const std::vector<std::string>* assigned_to(const ClientTxn* client,
                                                                   const Table& table,
                                                                   const std::string& row,
                                                                   std::size_t nth,
                                                                   std::size_t entries);
  // Each statement's reads at its snapshot or that of the transaction, and the writes, which
  // `placed` has, at the commit.
  void place_split(const ClientTxn& txn, Placed placed,
                   std::vector<std::pair<const Execution*, Operations>> parts);
  // The reads of an execution that can be judged.
  Operations reads_of(const Execution& execution, const std::optional<Position>& start,
                      const std::unordered_set<std::string>& own);
  [[nodiscard]] bool usable(const Read& read, Nanos sent, Position low, Position high);
  [[nodiscard]] bool usable_table(Oid table, Nanos sent, Position low);
  // The selection of an execution, if it can be judged: its transaction has a snapshot, at `start`,
  // and had written nothing before.
  void add_selection(const Execution& execution, Position start, Operations& reads);
  // Whether a key had a value.
  enum class Answer : std::uint8_t { No, Yes, Unknown };
  [[nodiscard]] Answer held_at(const Placed::Operation& read, Position at) const;
  // A moment from `low` to `high` at which all `reads` are what was there; nothing if there is
  // none.
  [[nodiscard]] std::optional<Position> fit(const Operations& reads, Position low,
                                            Position high) const;
  // Whether the key of each read had its value at some moment from `low` to `high`, or may have
  // had.
  [[nodiscard]] bool each_possible(const Operations& reads, Position low, Position high) const;
  // The moments from `low` to `high` at which something about the keys of `reads` changed.
  [[nodiscard]] std::vector<Position> moments(const Operations& reads, Position low,
                                              Position high) const;
  // The moment for a statement with a snapshot of its own. Drops the reads if none fits, but it is
  // not certain that they are wrong: commits of which no known snapshot tells the order may have
  // become visible in another one, or the statement may have seen rows of different moments.
  Position moment_of(const Execution& execution, const std::string& session, Operations& reads);
  [[nodiscard]] std::pair<Position, Position> bounds(const Execution& execution) const;
  void count(const Execution& execution, const std::string& why);
  void emit(const Placed& placed);

  const Options options_;
  Receiver& output_;
  std::shared_ptr<const Catalog> catalog_;
  std::deque<Poll> polls_;  // Those that may still matter.
  std::optional<Poll> horizon_;
  Position kept_from_;         // No moment before it is asked for any more.
  std::deque<Logged> logged_;  // Not placed yet.
  std::int64_t order_ = 0;     // Commits placed so far.
  std::deque<Pending> pending_;
  Nanos given_up_ = 0;  // Transactions that began earlier came too late.
  struct Written {
    Position at;
    Operations writes;
    bool revives = false;
  };
  std::unordered_map<std::uint64_t, Written> writes_;  // Of pending_.
  std::unordered_map<std::string, Key> keys_;
  std::unordered_map<std::string, Position> session_end_;
  std::unordered_set<Oid> used_;                  // Tables of which reads are recorded.
  std::unordered_map<Oid, std::string> spoiled_;  // Name and why.
  std::unordered_set<Oid> touched_;               // Tables of which rows or writes are recorded.
  std::unordered_set<Oid> loaded_;
  std::unordered_set<std::string> columns_;        // What predicates call those that were loaded.
  std::unordered_set<std::string> told_columns_;   // See tell_column().
  std::unordered_map<std::string, Oid> first_of_;  // The first table of each name.
  // Tables that a catalog described for the first time, and when. What the log has of them from
  // before that is not judged, since they may have been altered in between.
  std::unordered_map<Oid, Nanos> young_;
  // Tables that were young, and from where on they count.
  std::unordered_map<Oid, std::pair<Position, Nanos>> since_;
  std::vector<std::string> problems_;
  bool broken_ = false;  // Snapshots contradict each other.
  Coverage coverage_;
  Totals totals_;
  std::uint64_t names_ = 0;
};

}  // namespace ouro::tapping
