// SQLite, embedded: "sqlite:FILE?mode=wal|rollback|shared&read_uncommitted=off|on". Without FILE,
// in a temporary folder that is removed. Touches the tables ouro_data and ouro_count only.
//
//   wal       readers see a snapshot; to write after it became stale is refused (BUSY_SNAPSHOT).
//   rollback  readers and the writer exclude each other.
//   shared    all connections share one cache in this process and lock tables in it; with
//             read_uncommitted they do not, and read what others have not committed yet.
//
// Transactions begin deferred, as BEGIN does by default, so that a reader may become a writer.
//
// Evidence, except with read_uncommitted: there is one writer at a time, so we keep a count of
// commits in the table ouro_count. A transaction reads the count with its first statement, and its
// first write raises it: start = 2·count + 1, commit = 2·(new count).
#include <fmt/format.h>
#include <sqlite3.h>

#include <array>

#include "db/data_folder.h"
#include "db/encoding.h"
#include "db/registry.h"
#include "db/sql.h"

namespace ouro::db {
namespace {

enum class Mode : std::uint8_t { Wal, Rollback, Shared };

struct SqliteSettings {
  Mode mode = Mode::Wal;
  bool read_uncommitted = false;
  std::string path;
};

Answer answer_of(int code, sqlite3* db) {
  switch (code & 0xff) {
    case SQLITE_OK:
    case SQLITE_ROW:
    case SQLITE_DONE:
      return {};
    case SQLITE_BUSY:
      return Answer::aborted(code == SQLITE_BUSY_SNAPSHOT ? "stale snapshot" : "busy");
    case SQLITE_LOCKED:
      return Answer::aborted("table locked");
    case SQLITE_INTERRUPT:
      return Answer::aborted("interrupted");
    default:
      return Answer::failed(sqlite3_errmsg(db));
  }
}

// A prepared statement, which can be run many times.
class Statement {
 public:
  Statement() = default;
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  // Makes the statement ready to run: prepares `sql` at the first call, later only resets it. So
  // `sql` must be the same each time.
  int ready(sqlite3* db, const std::string& sql) {
    if (statement_ != nullptr) return sqlite3_reset(statement_), SQLITE_OK;
    return sqlite3_prepare_v3(db, sql.c_str(), -1, SQLITE_PREPARE_PERSISTENT, &statement_, nullptr);
  }
  void bind(int index, Number number) { sqlite3_bind_int64(statement_, index, number); }
  void bind(int index, std::string_view text) {
    sqlite3_bind_text(statement_, index, text.data(), static_cast<int>(text.size()),
                      SQLITE_TRANSIENT);
  }
  int step() { return sqlite3_step(statement_); }
  void reset() { sqlite3_reset(statement_); }
  [[nodiscard]] Number number(int column) const { return sqlite3_column_int64(statement_, column); }
  [[nodiscard]] bool is_null(int column) const {
    return sqlite3_column_type(statement_, column) == SQLITE_NULL;
  }
  [[nodiscard]] std::string_view blob(int column) const {
    const void* data = sqlite3_column_blob(statement_, column);
    const int size = sqlite3_column_bytes(statement_, column);
    return {static_cast<const char*>(data), static_cast<std::size_t>(size)};
  }

 private:
  sqlite3_stmt* statement_ = nullptr;
};

class SqliteConnection final : public Connection {
 public:
  SqliteConnection(const SqliteSettings& settings, const Schema& schema)
      : settings_(settings),
        schema_(schema),
        counts_(schema.evidence && !settings.read_uncommitted) {}
  Status open() {
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI |
                      (settings_.mode == Mode::Shared ? SQLITE_OPEN_SHAREDCACHE : 0);
    sqlite3* made = nullptr;
    int code = sqlite3_open_v2(settings_.path.c_str(), &made, flags, nullptr);
    db_.reset(made);
    if (code == SQLITE_OK) code = sqlite3_extended_result_codes(db_.get(), 1);
    if (code == SQLITE_OK) code = sqlite3_busy_timeout(db_.get(), kBusyTimeout_ms);
    if (code == SQLITE_OK) code = execute("PRAGMA synchronous=OFF");
    if (code == SQLITE_OK && settings_.read_uncommitted) {
      code = execute("PRAGMA read_uncommitted=ON");
    }
    return code == SQLITE_OK ? Status() : error();
  }

  // Makes the tables anew, replacing those of an earlier run.
  Status make_table() {
    const char* columns = schema_.model == Model::Registers ? "v INTEGER"
                          : schema_.model == Model::Lists   ? "v BLOB"
                                                            : "c0 INTEGER, c1 INTEGER, c2 INTEGER";
    const std::string journal = settings_.mode == Mode::Wal        ? "PRAGMA journal_mode=WAL"
                                : settings_.mode == Mode::Rollback ? "PRAGMA journal_mode=DELETE"
                                                                   : "SELECT 1";
    const std::string table =
        fmt::format("CREATE TABLE ouro_data (k INTEGER PRIMARY KEY, {})", columns);
    for (const std::string& sql : {journal, std::string("DROP TABLE IF EXISTS ouro_data"), table,
                                   std::string("DROP TABLE IF EXISTS ouro_count"),
                                   std::string("CREATE TABLE ouro_count (n INTEGER)"),
                                   std::string("INSERT INTO ouro_count VALUES (0)")}) {
      if (execute(sql) != SQLITE_OK) return error();
    }
    return {};
  }

  Answer begin(bool) override {
    trace_ = {};
    raised_ = false;
    started_ = false;
    return run(begin_, "BEGIN");
  }

  Answer read(Key key, std::optional<Number>& number) override {
    number.reset();
    return query(read_, "SELECT v FROM ouro_data WHERE k = ?1", {key},
                 [&](const Statement& row) { number = row.number(0); });
  }
  Answer write(Key key, Number number) override {
    return change(write_, "INSERT INTO ouro_data VALUES (?1, ?2) ON CONFLICT DO UPDATE SET v = ?2",
                  {key, number});
  }
  Answer scan(Key lower, Key upper, std::vector<KeyNumber>& found) override {
    found.clear();
    return query(scan_, "SELECT k, v FROM ouro_data WHERE k BETWEEN ?1 AND ?2", {lower, upper},
                 [&](const Statement& row) {
                   found.push_back({row.number(0), row.number(1)});
                 });
  }

  Answer read_list(Key key, std::vector<Number>& elements) override {
    elements.clear();
    return query(read_, "SELECT v FROM ouro_data WHERE k = ?1", {key},
                 [&](const Statement& row) { decode_numbers(row.blob(0), elements); });
  }
  Answer append(Key key, Number element) override {
    if (Answer answer = count_commit(); !answer.ok()) return answer;
    const std::string bytes = encode_number(element);
    int code = append_.ready(db_.get(),
                             "INSERT INTO ouro_data VALUES (?1, CAST(?2 AS BLOB)) "
                             "ON CONFLICT DO UPDATE SET v = CAST(v || ?2 AS BLOB)");
    if (code != SQLITE_OK) return answer_of(code, db_.get());
    append_.bind(1, key);
    append_.bind(2, bytes);
    return finish(append_);
  }

  Answer read_row(Key key, std::optional<Row>& row) override {
    row.reset();
    return query(read_row_, "SELECT c0, c1, c2 FROM ouro_data WHERE k = ?1", {key},
                 [&](const Statement& at) {
                   row = Row{at.number(0), at.number(1), at.number(2)};
                 });
  }
  Answer write_row(Key key, const Row& row) override {
    return change(write_row_, "INSERT OR REPLACE INTO ouro_data VALUES (?1, ?2, ?3, ?4)",
                  {key, row[0], row[1], row[2]});
  }
  Answer select(const Where& where, std::vector<KeyRow>& found) override {
    found.clear();
    Statement once;
    return query(once, "SELECT k, c0, c1, c2 FROM ouro_data" + where_text(where), {},
                 [&](const Statement& at) {
                   found.push_back({at.number(0), {at.number(1), at.number(2), at.number(3)}});
                 });
  }
  Answer aggregate(AggregateKind kind, std::size_t column, const Where& where,
                   std::optional<Number>& result) override {
    result.reset();
    Statement once;
    return query(once,
                 fmt::format("SELECT {}({}) FROM ouro_data{}", name(kind), kColumnNames[column],
                             where_text(where)),
                 {}, [&](const Statement& at) {
                   if (!at.is_null(0)) result = at.number(0);
                 });
  }
  Answer update_where(const Where& where, std::span<const Assignment> assignments,
                      std::vector<RowChange>& changed) override {
    changed.clear();
    Answer answer = select(where, rows_);
    for (const KeyRow& row : rows_) {
      if (!answer.ok()) return answer;
      changed.push_back({row.key, row.row, assigned(row.row, assignments)});
      answer = write_row(row.key, changed.back().after);
    }
    return answer;
  }
  Answer remove_where(const Where& where, std::vector<KeyRow>& removed) override {
    Answer answer = select(where, removed);
    for (const KeyRow& row : removed) {
      if (!answer.ok()) return answer;
      answer = remove(row.key);
    }
    return answer;
  }
  Answer remove(Key key) override {
    return change(remove_, "DELETE FROM ouro_data WHERE k = ?1", {key});
  }

  // A COMMIT that is refused because the database is busy leaves the transaction open; we roll it
  // back.
  Answer commit() override {
    Answer answer = run(commit_, "COMMIT");
    if (answer.ok()) return answer;
    trace_.commit = kNoTimestamp;
    const bool undone = rollback().ok();
    return answer.reply == Reply::Aborted && !undone ? Answer::lost(answer.reason) : answer;
  }
  Answer rollback() override {
    trace_.commit = kNoTimestamp;
    if (sqlite3_get_autocommit(db_.get()) != 0) return {};  // SQLite rolled back on its own.
    return run(rollback_, "ROLLBACK");
  }

  Trace trace() override { return trace_; }

 private:
  static constexpr int kBusyTimeout_ms = 200;  // How long a statement waits for a lock.

  int execute(const std::string& sql) {
    return sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  }
  [[nodiscard]] Error error() const {
    Error error;
    error.file = settings_.path;
    error.what = sqlite3_errmsg(db_.get());
    return error;
  }

  // Runs a statement that returns no rows and whose parameters are bound.
  Answer finish(Statement& statement) {
    const int code = statement.step();
    Answer answer = answer_of(code, db_.get());
    statement.reset();
    return answer;
  }
  Answer run(Statement& statement, const char* sql) {
    const int code = statement.ready(db_.get(), sql);
    return code == SQLITE_OK ? finish(statement) : answer_of(code, db_.get());
  }

  // Runs a read: binds `numbers` to ?1, ?2 … and calls visit(statement) for each row.
  template <class Visit>
  Answer query(Statement& statement, const std::string& sql, std::initializer_list<Number> numbers,
               const Visit& visit) {
    if (Answer answer = start(); !answer.ok()) return answer;
    return rows(statement, sql, numbers, visit);
  }
  // The same without noting the start of the transaction.
  template <class Visit>
  Answer rows(Statement& statement, const std::string& sql, std::initializer_list<Number> numbers,
              const Visit& visit) {
    int code = statement.ready(db_.get(), sql);
    if (code != SQLITE_OK) return answer_of(code, db_.get());
    int index = 0;
    for (const Number number : numbers) statement.bind(++index, number);
    while ((code = statement.step()) == SQLITE_ROW) visit(statement);
    Answer answer = answer_of(code, db_.get());
    statement.reset();
    return answer;
  }
  // Runs a write.
  Answer change(Statement& statement, const char* sql, std::initializer_list<Number> numbers) {
    if (Answer answer = count_commit(); !answer.ok()) return answer;
    return rows(statement, sql, numbers, [](const Statement&) {});
  }

  // Before the first statement of a transaction: reads the count of commits. SQLite takes the
  // snapshot here.
  Answer start() {
    if (!counts_ || std::exchange(started_, true)) return {};
    return rows(read_count_, "SELECT n FROM ouro_count", {}, [&](const Statement& row) {
      trace_.start = {2 * row.number(0) + 1, 0};
    });
  }
  // Before the first write of a transaction: raises the count, which gives the commit timestamp.
  Answer count_commit() {
    if (Answer answer = start(); !answer.ok()) return answer;
    if (!counts_ || std::exchange(raised_, true)) return {};
    return rows(raise_count_, "UPDATE ouro_count SET n = n + 1 RETURNING n", {},
                [&](const Statement& row) {
                  trace_.commit = {2 * row.number(0), 0};
                });
  }

  const SqliteSettings& settings_;
  const Schema& schema_;
  struct Close {
    void operator()(sqlite3* db) const { sqlite3_close(db); }
  };
  std::unique_ptr<sqlite3, Close> db_;  // Before the statements below, which it must outlive.
  bool counts_;                         // Whether evidence is collected.
  bool started_ = false;                // The open transaction has read the count.
  bool raised_ = false;                 // The open transaction has raised the count.
  Trace trace_;
  std::vector<KeyRow> rows_;
  Statement begin_, commit_, rollback_, read_, write_, scan_, append_, read_row_, write_row_,
      remove_, read_count_, raise_count_;
};

class SqliteDatabase final : public Database {
 public:
  explicit SqliteDatabase(SqliteSettings settings) : settings_(std::move(settings)) {}

  [[nodiscard]] std::string description() const override {
    constexpr std::array<const char*, 3> kModes{"write-ahead log", "rollback journal",
                                                "shared cache"};
    return fmt::format("SQLite {}, {}{}", sqlite3_libversion(),
                       kModes[static_cast<std::size_t>(settings_.mode)],
                       settings_.read_uncommitted ? ", read uncommitted" : "");
  }
  // Read uncommitted promises less than any level that can be checked. We claim the weakest of
  // them, so that a run shows how it is violated.
  [[nodiscard]] Level claims() const override {
    return settings_.read_uncommitted ? Level::ReadCommitted : Level::Serializable;
  }
  [[nodiscard]] Features features() const override {
    return {.lists = true,
            .scans = true,
            .rows = true,
            .row_changes = true,
            .removes = true,
            .timestamps = !settings_.read_uncommitted,
            .live = true,
            .in_process = true};
  }

  [[nodiscard]] std::vector<std::string> isolations() const override {
    return {"mode=wal", "mode=rollback", "mode=shared", "mode=shared&read_uncommitted=on"};
  }

  Status prepare(const Schema& schema) override {
    schema_ = schema;
    if (settings_.path.empty()) {
      if (auto made = folder_.make("", "ouro-sqlite", nullptr); !made) return made;
      settings_.path = folder_.path() + "/data.db";
    }
    keeper_ = std::make_unique<SqliteConnection>(settings_, schema_);
    if (auto opened = keeper_->open(); !opened) return opened;
    return keeper_->make_table();
  }
  Result<std::unique_ptr<Connection>> connect(std::size_t) override {
    auto connection = std::make_unique<SqliteConnection>(settings_, schema_);
    if (auto opened = connection->open(); !opened) return opened.error();
    return std::unique_ptr<Connection>(std::move(connection));
  }
  Status finish() override {
    keeper_.reset();
    return folder_.remove();
  }

 private:
  SqliteSettings settings_;
  Schema schema_;
  DataFolder folder_;
  std::unique_ptr<SqliteConnection> keeper_;  // Keeps a shared cache alive when no client is there.
};

}  // namespace

Result<std::unique_ptr<Database>> open_sqlite(Url url) {
  const std::string mode = url.take("mode", "wal");
  const std::string dirty = url.take("read_uncommitted", "off");
  if (auto left = url.nothing_left("mode, read_uncommitted"); !left) return left.error();
  if (auto ok = one_of(url, "mode", mode, {"wal", "rollback", "shared"}); !ok) return ok.error();
  if (auto ok = one_of(url, "read_uncommitted", dirty, {"on", "off"}); !ok) return ok.error();
  if (dirty == "on" && mode != "shared") {
    Error error;
    error.what = url.text + ": read_uncommitted has no effect without mode=shared; add that";
    return error;
  }
  SqliteSettings settings{.mode = mode == "wal"        ? Mode::Wal
                                  : mode == "rollback" ? Mode::Rollback
                                                       : Mode::Shared,
                          .read_uncommitted = dirty == "on",
                          .path = url.path};
  return std::unique_ptr<Database>(std::make_unique<SqliteDatabase>(std::move(settings)));
}

}  // namespace ouro::db
