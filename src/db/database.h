// The interface of a driver: a database to prepare, connections that run transactions, and evidence
// of the order of commits.
//
// One file per driver. A driver opens connections and passes single operations on; it knows nothing
// of workloads, threads, retries or recording, which belong to the runner (src/run). The data is
// one table: integer keys, each with a register, a list or a row.
//
// A history is worth as much as the answers in it, so each answer has an exact meaning:
//   Ok       the operation took place within its transaction.
//   Aborted  the database refused, and is certain that the transaction has no effect, now or later
//            (conflict, deadlock, lock time-out, standby recovery …). Worth a retry.
//   Failed   anything else that went wrong with a statement (syntax, full disk …).
//   Lost     no answer came: the connection broke, or Schema::patience ran out.
// If a statement does not answer Ok, the runner rolls the transaction back and never commits it.
// Only a commit() that answers Ok makes a transaction committed; Aborted makes it aborted; Failed
// and Lost leave it unknown. So a commit() that is not certain must not answer Aborted.
//
// Thread safety: a Database may be asked from any thread once prepare() returned; a Connection
// belongs to one thread at a time.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ouro/history.h"
#include "ouro/level.h"
#include "ouro/predicate.h"
#include "ouro/result.h"

namespace ouro::db {

enum class Reply : std::uint8_t { Ok, Aborted, Failed, Lost };

// What one call returned. `reason` is shown to people, and equal reasons are counted together; so
// it is short and has no values in it: "serialization failure", "deadlock". Empty if Ok.
struct [[nodiscard]] Answer {
  Reply reply = Reply::Ok;
  std::string reason = {};

  [[nodiscard]] bool ok() const { return reply == Reply::Ok; }
  static Answer aborted(std::string reason) { return {Reply::Aborted, std::move(reason)}; }
  static Answer failed(std::string reason) { return {Reply::Failed, std::move(reason)}; }
  static Answer lost(std::string reason) { return {Reply::Lost, std::move(reason)}; }
};

using Key = std::int64_t;
using Number = std::int64_t;

// Rows have the columns c0, c1 and c2. Workloads put a value into c0 that no other write of the
// key uses, so that versions can be told apart; drivers do not rely on this.
inline constexpr std::size_t kColumns = 3;
using Row = std::array<Number, kColumns>;
inline constexpr std::array<const char*, kColumns> kColumnNames{"c0", "c1", "c2"};

// What each key holds during one run.
enum class Model : std::uint8_t {
  Registers,  // One number.
  Lists,      // A list of numbers that grows by append().
  Rows,       // A Row.
};

struct KeyNumber {
  Key key = 0;
  Number number = 0;
};
struct KeyRow {
  Key key = 0;
  Row row{};
};
// What an update by predicate did to one row.
struct RowChange {
  Key key = 0;
  Row before{};
  Row after{};
};

// A condition on one column. `lower` and `upper` are both included.
struct ColumnRange {
  std::size_t column = 0;  // Below kColumns.
  Number lower = 0;
  Number upper = 0;
};
// The rows that meet all conditions; an empty list selects all rows.
using Where = std::vector<ColumnRange>;

// `column` is set to `number`.
struct Assignment {
  std::size_t column = 0;
  Number number = 0;
};

// An operation of a transaction that is handed over as a whole.
enum class OperationKind : std::uint8_t { Read, Write, ReadList, Append, Scan };
struct Operation {
  OperationKind kind = OperationKind::Read;
  Key key = 0;        // Scan: the first key of the range.
  Key upper = 0;      // Scan: the last key.
  Number number = 0;  // What is written or appended.
};
// What an operation returned. Which member counts depends on its kind; for writes none.
struct Found {
  std::optional<Number> number = {};
  std::vector<Number> elements = {};
  std::vector<KeyNumber> rows = {};
};

// What a driver knows about one transaction as soon as it ended. `start` and `commit` are set if
// the driver knows them at once. Otherwise `token`, a number that only the driver understands, lets
// recover(), recover_new() and resolve() find the transaction later; 0: there is nothing to find.
struct Trace {
  Timestamp start = kNoTimestamp;
  Timestamp commit = kNoTimestamp;
  std::uint64_t token = 0;
};

// A connection runs one transaction at a time. Operations are called only between begin() and
// commit() or rollback(). An operation that a driver does not implement (see Features) answers
// Failed. Results go into the last parameter, which is emptied first.
class Connection {
 public:
  Connection() = default;
  // Closes the connection; an open transaction is rolled back.
  virtual ~Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // `read_only`: the client promises not to write; a driver may tell the database.
  virtual Answer begin(bool read_only) = 0;

  // Registers. read() gives nothing if the key is absent. write() inserts or overwrites.
  virtual Answer read(Key key, std::optional<Number>& number);
  virtual Answer write(Key key, Number number);
  // Finds the keys from `lower` to `upper`, both included, that exist; in any order.
  virtual Answer scan(Key lower, Key upper, std::vector<KeyNumber>& found);

  // Lists. An absent key is an empty list; append() creates it.
  virtual Answer read_list(Key key, std::vector<Number>& elements);
  virtual Answer append(Key key, Number element);

  // Rows. write_row() inserts or overwrites.
  virtual Answer read_row(Key key, std::optional<Row>& row);
  virtual Answer write_row(Key key, const Row& row);
  virtual Answer select(const Where& where, std::vector<KeyRow>& found);
  // Min, Max, Sum or Count of `column` over the rows selected. If no row is selected, Count gives 0
  // and the others give nothing (null in SQL).
  virtual Answer aggregate(AggregateKind kind, std::size_t column, const Where& where,
                           std::optional<Number>& result);
  virtual Answer update_where(const Where& where, std::span<const Assignment> assignments,
                              std::vector<RowChange>& changed);
  virtual Answer remove_where(const Where& where, std::vector<KeyRow>& removed);

  // Deletes the key, whatever the model. Deleting an absent key is Ok.
  virtual Answer remove(Key key);

  // For the meaning of the answers see the top of the file. After any of them the transaction is
  // over for the client.
  virtual Answer commit() = 0;
  // May be called after any failed statement, also if the database rolled back on its own. If
  // rollback() does not answer Ok, the runner closes the connection and opens another.
  virtual Answer rollback() = 0;

  // Whether whole() is there: a transaction in one trip.
  [[nodiscard]] virtual bool takes_whole() const { return false; }
  // Begins a transaction, runs `operations` and commits. `found` gets what the operations returned
  // that were answered, from the first on. Only here Failed means that a statement failed and no
  // commit was tried, so the transaction has no effect; Lost means that it is unknown.
  virtual Answer whole(std::span<const Operation> operations, bool read_only,
                       std::vector<Found>& found);

  // The trace of the transaction that ended last, committed or not.
  [[nodiscard]] virtual Trace trace() { return {}; }

  // What Database::waits() knows this connection by; zero: nothing. Never changes, and may be asked
  // from any thread.
  [[nodiscard]] virtual std::uint64_t handle() const { return 0; }
};

// What a database can do, given the options of its URL.
struct Features {
  bool registers = true;
  bool lists = false;
  bool scans = false;         // scan()
  bool rows = false;          // Rows, select() and aggregate().
  bool row_changes = false;   // update_where() and remove_where().
  bool removes = false;       // remove()
  bool timestamps = false;    // trace() or recover() give the start and commit of transactions.
  bool live = false;          // trace() or recover_new() give them while the run goes on.
  bool live_unknown = false;  // recover_new() tells also of those whose commit() was not answered.
  bool versions = false;      // recover() gives version orders.
  bool version_sets = false;  // recover() gives the rows that predicate reads saw.
  bool in_process = false;    // Statements are run by the thread that calls, in this process.
};

// What a run needs of the database.
struct Schema {
  Model model = Model::Registers;
  // The workload begins with the keys [0, keys); a hint for splitting or sizing the table.
  std::uint64_t keys = 0;
  std::uint32_t clients = 1;
  // Whether to collect what recover() needs. If not set, a driver must not spend time on it.
  bool evidence = false;
  bool live = false;  // Likewise what recover_new() needs.
  // No call takes longer than this: a call that hangs is Aborted if that is certain, else Lost.
  std::chrono::milliseconds patience{10'000};
  // Turns true: prepare() and connect() give up soon, if they wait for a server. May be null.
  const std::atomic<bool>* stop = nullptr;
};

enum class Resolution : std::uint8_t { Committed, Aborted, Unknown };

// What the database reveals about the order of transactions.
struct Recovered {
  struct Times {
    std::uint64_t token = 0;
    Timestamp start = kNoTimestamp;   // The transaction sees exactly the commits before it.
    Timestamp commit = kNoTimestamp;  // Set for transactions that wrote and committed.
  };
  // The versions of `key` in the order they were installed. Deletes are left out; an order with a
  // delete is not `complete`.
  struct Order {
    Key key = 0;
    bool complete = false;
    std::vector<Number> numbers;  // If the model is Rows: the column c0 of each version.
    std::vector<Row> rows = {};   // If the model is Rows: the versions, if the driver has them.
  };
  // The versions visible to the `read`-th select, aggregate or update/delete by predicate of a
  // transaction, from 0.
  struct VersionSet {
    std::uint64_t token = 0;
    std::uint32_t read = 0;
    std::vector<KeyRow> versions;
  };
  std::vector<Times> times;
  std::vector<Order> orders;
  std::vector<VersionSet> version_sets;
  std::vector<std::string> notes;  // For the user: what is missing or approximate, one line each.
};

class Database {
 public:
  Database() = default;
  virtual ~Database() = default;
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // For people: "RocksDB 7.8.3, transactions with snapshots". May be called before prepare().
  [[nodiscard]] virtual std::string description() const = 0;
  // The strongest level that the database promises, given the options of its URL. A run is checked
  // against it by default.
  [[nodiscard]] virtual Level claims() const = 0;
  // The strongest level it promises in the order of its own timestamps. That may be weaker than
  // claims(): a history can be serializable in another order.
  [[nodiscard]] virtual Level claims_by_timestamps() const { return claims(); }
  [[nodiscard]] virtual Features features() const = 0;
  // How many nodes clients connect to: client i talks to node i modulo node_count().
  [[nodiscard]] virtual std::size_t node_count() const { return 1; }
  // Whether clients of this node may only read. Node 0 always takes writes.
  [[nodiscard]] virtual bool read_only(std::size_t) const { return false; }

  // Connects and makes an empty table, replacing one left over from an earlier run. Called once.
  virtual Status prepare(const Schema& schema) = 0;
  // A new connection to `node`. Called again for a client whose connection was lost; the runner
  // repeats it for a while if it fails.
  [[nodiscard]] virtual Result<std::unique_ptr<Connection>> connect(std::size_t node) = 0;

  // Whether connect() can never succeed again. If so, the run ends with its error.
  [[nodiscard]] virtual bool gone() const { return false; }
  // What to add to the options of the URL to choose each isolation that the database offers:
  // "isolation=rc". Empty: there is only one.
  [[nodiscard]] virtual std::vector<std::string> isolations() const { return {}; }

  // Whether the statement that the connection with this handle is running waits for another
  // transaction. Nothing: the database does not tell. One thread at a time.
  [[nodiscard]] virtual std::optional<bool> waits(std::uint64_t) { return std::nullopt; }

  // Whether the transaction with this token, whose commit() was not answered, took effect; Unknown
  // if the database cannot tell. REQUIRES: the run is over and all connections are closed.
  [[nodiscard]] virtual Resolution resolve(std::uint64_t) { return Resolution::Unknown; }
  // The evidence for the transactions with these tokens, committed or not. REQUIRES: the run is
  // over, all connections are closed, and Schema::evidence was set.
  [[nodiscard]] virtual Result<Recovered> recover(std::span<const std::uint64_t>) {
    return Recovered{};
  }
  // The times of transactions that committed and whose traces lack some of them, as far as they can
  // be told now and were not before; with Features::live_unknown also of those whose commit() was
  // not answered, without a commit if they turned out to have no effect. When no transaction is
  // open, it has told of all. REQUIRES: called during the run, always from the same thread.
  [[nodiscard]] virtual Result<std::vector<Recovered::Times>> recover_new() {
    return std::vector<Recovered::Times>{};
  }
  // Removes what prepare() made if that is temporary. Called once, also after failures.
  virtual Status finish() { return {}; }
};

}  // namespace ouro::db
