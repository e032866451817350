// What a driver is: a database to prepare, connections to run transactions on, and evidence.
//
// One driver a file. A driver opens connections and passes single operations on; it knows nothing
// of workloads, threads, retries or recording, which are the runner's (src/run). The data is one
// table: integer keys, each with a register, a list or a row.
//
// Answers are honest or the history is worthless:
//   Ok       it happened, as far as the transaction goes.
//   Aborted  the database refused, and is certain that the transaction has no effect, now or later
//            (conflict, deadlock, lock time-out, standby recovery …). Worth a retry.
//   Failed   anything else that went wrong with a statement (syntax, full disk …).
//   Lost     no answer came: the connection broke or its patience ended.
// Whatever a statement answers but Ok, the runner rolls the transaction back and never commits it.
// Only commit() answering Ok makes a transaction committed; Aborted makes it aborted; Failed and
// Lost leave it unknown. So a commit() that is not certain must not answer Aborted.
//
// Thread safety: a Database may be asked from any thread once prepare() returned; a Connection
// belongs to one thread at a time.
#pragma once

#include <array>
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

// What came back from one call. `reason` is for people and for counting: short, without values,
// such as "serialization failure" or "deadlock"; empty if Ok.
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
// key uses, so that versions can be told apart; drivers need not know.
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

// A conjunction: every column named lies in its range, both ends included. Empty: all rows.
struct ColumnRange {
  std::size_t column = 0;  // Below kColumns.
  Number lower = 0;
  Number upper = 0;
};
using Where = std::vector<ColumnRange>;

struct Assignment {
  std::size_t column = 0;
  Number number = 0;
};

// What a transaction leaves behind for evidence. Times that the driver knows at once go into
// `start` and `commit`; what only the database can tell after the run is found again by `token`,
// which is the driver's own (0: nothing to ask for).
struct Trace {
  Timestamp start = kNoTimestamp;
  Timestamp commit = kNoTimestamp;
  std::uint64_t token = 0;
};

// A connection runs one transaction at a time. Operations are called between begin() and commit()
// or rollback() only. Those that a database cannot do (Features) answer Failed by default.
class Connection {
 public:
  Connection() = default;
  // Closing rolls back what is open.
  virtual ~Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // `read_only` is a promise of the client that the driver may pass on.
  virtual Answer begin(bool read_only) = 0;

  // Registers. Nothing: the key is absent. write() inserts or overwrites.
  virtual Answer read(Key key, std::optional<Number>& number);
  virtual Answer write(Key key, Number number);
  // The keys from `lower` to `upper`, both included, that are there; in any order.
  virtual Answer scan(Key lower, Key upper, std::vector<KeyNumber>& found);

  // Lists. An absent key is an empty list; append() makes it.
  virtual Answer read_list(Key key, std::vector<Number>& elements);
  virtual Answer append(Key key, Number element);

  // Rows. write_row() inserts or overwrites.
  virtual Answer read_row(Key key, std::optional<Row>& row);
  virtual Answer write_row(Key key, const Row& row);
  virtual Answer select(const Where& where, std::vector<KeyRow>& found);
  // Min, Max, Sum or Count of `column` over the rows selected. Nothing: SQL's null, of no rows.
  virtual Answer aggregate(AggregateKind kind, std::size_t column, const Where& where,
                           std::optional<Number>& result);
  virtual Answer update_where(const Where& where, std::span<const Assignment> assignments,
                              std::vector<RowChange>& changed);
  virtual Answer remove_where(const Where& where, std::vector<KeyRow>& removed);

  // Deletes the key, of whatever model; also if it is absent.
  virtual Answer remove(Key key);

  // See the table at the top. After any answer the transaction is over for the client.
  virtual Answer commit() = 0;
  // May be called after any failed statement, also if the database rolled back on its own. If it
  // does not answer Ok, the runner throws the connection away and opens another.
  virtual Answer rollback() = 0;

  // Of the transaction that ended last, committed or not.
  [[nodiscard]] virtual Trace trace() { return {}; }
};

// What a database can do with its settings.
struct Features {
  bool registers = true;
  bool lists = false;
  bool scans = false;         // scan()
  bool rows = false;          // Rows, select() and aggregate().
  bool row_changes = false;   // update_where() and remove_where().
  bool removes = false;       // remove()
  bool timestamps = false;    // trace() or recover() yield start and commit of transactions, …
  bool live = false;          // … also while the run goes on: trace() or recover_new() do, …
  bool versions = false;      // … recover() yields version orders, …
  bool version_sets = false;  // … and what predicate reads saw.
};

struct Schema {
  Model model = Model::Registers;
  // Keys that the workload will use at first are [0, keys): a hint for splitting or sizing.
  std::uint64_t keys = 0;
  std::uint32_t clients = 1;
  // Collect what recover() needs; if not, it must cost nothing.
  bool evidence = false;
  // No call takes longer: what hangs is Aborted if that is certain, else Lost.
  std::chrono::milliseconds patience{10'000};
};

enum class Resolution : std::uint8_t { Committed, Aborted, Unknown };

// What the database tells after the run.
struct Recovered {
  struct Times {
    std::uint64_t token = 0;
    Timestamp start = kNoTimestamp;   // Sees exactly the commits before it.
    Timestamp commit = kNoTimestamp;  // Of transactions that wrote and committed.
  };
  // Versions in the order they were installed. Deletes are left out; then it is not complete.
  struct Order {
    Key key = 0;
    bool complete = false;
    std::vector<Number> numbers;  // Of rows: c0.
    std::vector<Row> rows = {};   // Of rows, if the driver has them.
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
  // The strongest level it promises with its settings; what a run is checked against by default.
  [[nodiscard]] virtual Level claims() const = 0;
  // The same in the order of its own timestamps, which need not be the order that makes a history
  // serializable.
  [[nodiscard]] virtual Level claims_by_timestamps() const { return claims(); }
  [[nodiscard]] virtual Features features() const = 0;
  // Client i talks to node i modulo this.
  [[nodiscard]] virtual std::size_t node_count() const { return 1; }
  // Clients of such a node only read. Node 0 takes writes.
  [[nodiscard]] virtual bool read_only(std::size_t) const { return false; }

  // Connects and makes an empty table, in place of one left over from an earlier run. Once.
  virtual Status prepare(const Schema& schema) = 0;
  // A new connection to `node`. Called again for a client whose connection was lost; the runner
  // repeats it for a while if it fails.
  [[nodiscard]] virtual Result<std::unique_ptr<Connection>> connect(std::size_t node) = 0;

  // After the run, with all connections closed:
  // whether a transaction whose commit was not heard took effect, if the database can tell;
  [[nodiscard]] virtual Resolution resolve(std::uint64_t) { return Resolution::Unknown; }
  // the evidence for the transactions with these tokens (ended in any way). REQUIRES:
  // Schema::evidence was set.
  [[nodiscard]] virtual Result<Recovered> recover(std::span<const std::uint64_t>) {
    return Recovered{};
  }
  // While the run goes on, from one thread: the times of transactions that committed since the last
  // call and are not all in their traces. A commit that was answered before the call is among them.
  [[nodiscard]] virtual Result<std::vector<Recovered::Times>> recover_new() {
    return std::vector<Recovered::Times>{};
  }
  // Removes what prepare() made where that is temporary. Called once, also after failures.
  virtual Status finish() { return {}; }
};

}  // namespace ouro::db
