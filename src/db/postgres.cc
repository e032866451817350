// PostgreSQL, and what speaks its protocol.
//
//   postgres://USER:PASSWORD@HOST:PORT,HOST2:PORT2/DATABASE?isolation=rc|rr|ser
//
// A host may be the folder of a socket (%2Ftmp%2Fx). Clients of hosts that are in recovery
// (standbys) only read.
//
// Evidence of PostgreSQL: the snapshot of every transaction, and the number of every transaction
// that wrote, are returned by statements that are run anyway. After the run they give the exact
// order of starts and commits (snapshot_order.h); commits that no snapshot tells apart are ordered
// by the write-ahead log, read by logical decoding. CockroachDB tells the timestamp of each
// transaction before its commit. Other servers give no evidence.

#include <absl/container/flat_hash_map.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "db/postgres_link.h"
#include "db/postgres_session.h"
#include "db/registry.h"
#include "db/sql.h"
#include "ouro/version.h"

namespace ouro::db {
namespace {

using namespace std::chrono_literals;

// Asks when the server was started, in microseconds since 1970.
constexpr char kStartTime[] =
    "SELECT (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint";

class PostgresDatabase final : public Database {
 public:
  PostgresDatabase(Url url, std::string isolation)
      : url_(std::move(url)), isolation_(std::move(isolation)) {}

  std::string description() const override;
  Level claims() const override;
  // PostgreSQL's serializable transactions need not be in the order of their commits: one that read
  // a value stands before the one that overwrote it, though that may have committed earlier.
  Level claims_by_timestamps() const override {
    const bool weaker = flavour_ == PostgresFlavour::Postgres && implies(claims(), Level::Si);
    return weaker ? Level::Si : claims();
  }
  Features features() const override;
  std::size_t node_count() const override { return url_.hosts.size(); }
  bool read_only(std::size_t node) const override {
    return node < read_only_.size() && read_only_[node];
  }

  Status prepare(const Schema& schema) override;
  Result<std::unique_ptr<Connection>> connect(std::size_t node) override;
  Resolution resolve(std::uint64_t token) override;
  Result<Recovered> recover(std::span<const std::uint64_t> tokens) override;
  Result<std::vector<Recovered::Times>> recover_new() override;
  std::vector<std::string> isolations() const override {
    return {"isolation=rc", "isolation=rr", "isolation=ser"};
  }
  std::optional<bool> waits(std::uint64_t handle) override;
  Status finish() override;

 private:
  Status connect_control();
  Status run_control(const std::string& sql, PostgresRows* rows = nullptr);
  Status look_around();
  Status make_ready(const Schema& schema);
  Status make_table(const Schema& schema);
  void make_slot();
  std::vector<std::uint64_t> read_log(std::span<const std::uint64_t> committed);
  std::uint64_t incarnation(std::int64_t start_time);
  std::optional<bool> given_again(std::uint64_t id);
  Resolution resolve_id(std::uint64_t id);
  std::optional<bool> committed_lately(std::uint64_t id, std::uint64_t incarnation);
  // Whether all statements of a transaction read from the same snapshot.
  [[nodiscard]] bool one_snapshot() const { return isolation_ != "READ COMMITTED"; }

  Url url_;
  std::string isolation_;
  std::string version_;
  Schema schema_;
  const std::atomic<bool>* stop_ = nullptr;  // What ends prepare() early, while that runs.
  PostgresFlavour flavour_ = PostgresFlavour::Postgres;
  PostgresDialect dialect_;
  std::vector<bool> read_only_;            // For each node, whether it is a standby.
  std::unique_ptr<PostgresLink> control_;  // To the first host; no client uses it.
  // The name of the replication slot; empty: there is none. The server removes the slot when the
  // connection that made it is closed.
  std::string slot_;
  Journals journals_;
  LiveOrder live_;  // If Schema::live is set.
  std::mutex mutex_;
  std::vector<std::int64_t> start_times_;  // Of each run of the server; see incarnation().
};

std::string PostgresDatabase::description() const {
  std::string text = version_.empty() ? "PostgreSQL" : version_;
  const auto standbys = std::count(read_only_.begin(), read_only_.end(), true);
  if (standbys > 0) text += fmt::format(" with {} standby", standbys);
  std::string level = isolation_;
  std::transform(level.begin(), level.end(), level.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return text + ", " + level;
}

// The manual of PostgreSQL says that its repeatable read is snapshot isolation.
Level PostgresDatabase::claims() const {
  if (isolation_ == "SERIALIZABLE") return Level::Serializable;
  return isolation_ == "REPEATABLE READ" ? Level::Si : Level::ReadCommitted;
}

Features PostgresDatabase::features() const {
  const bool postgres = flavour_ == PostgresFlavour::Postgres;
  // No times with standbys, whose snapshots do not list the transactions in progress; nor with read
  // committed, where each statement has its own snapshot.
  const bool times =
      postgres ? one_snapshot() && url_.hosts.size() == 1 : flavour_ == PostgresFlavour::Cockroach;
  return {.registers = true,
          .lists = true,
          .scans = true,
          .rows = true,
          .row_changes = true,
          .removes = true,
          .timestamps = times,
          .live = times,
          .live_unknown = postgres,
          .versions = postgres,
          .version_sets = postgres && times};
}

Status PostgresDatabase::connect_control() {
  if (control_ != nullptr && !control_->lost()) return {};
  slot_.clear();
  const auto patience = std::max<std::chrono::milliseconds>(schema_.patience, 10min);
  Result<std::unique_ptr<PostgresLink>> link = PostgresLink::open(
      url_, url_.hosts[0], patience, waiting_to_connect(schema_.patience, stop_));
  if (!link.ok()) return Error{.what = fmt::format("{}: {}", url_.text, link.error().what)};
  control_ = std::move(*link);
  control_->heed(stop_);
  return {};
}

// Runs `sql` on the control connection. If that is lost, connects again and tries once more: it may
// have been idle for the whole run while the server restarted. REQUIRES: running `sql` twice has
// the effect of running it once.
Status PostgresDatabase::run_control(const std::string& sql, PostgresRows* rows) {
  Answer answer;
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (Status connected = connect_control(); !connected.ok()) return connected;
    answer = control_->run(sql.c_str(), rows);
    if (answer.ok()) return {};
    if (answer.reply != Reply::Lost) break;
  }
  return Error{.what = fmt::format("{}: {}", url_.text, answer.reason)};
}

Status PostgresDatabase::prepare(const Schema& schema) {
  schema_ = schema;
  stop_ = schema.stop;
  const Status prepared = make_ready(schema);
  // What is asked after the run must be answered also if a signal ended the run.
  stop_ = nullptr;
  if (control_ != nullptr) control_->heed(nullptr);
  return prepared;
}

Status PostgresDatabase::make_ready(const Schema& schema) {
  if (Status looked = look_around(); !looked.ok()) return looked;
  dialect_ = PostgresDialect::make(flavour_, control_->version() < 130000, schema, isolation_);
  if (Status made = make_table(schema); !made.ok()) return made;
  if (schema.evidence && flavour_ == PostgresFlavour::Postgres) make_slot();
  return {};
}

// Asks the first host which database it is, and every host whether it is a standby.
Status PostgresDatabase::look_around() {
  PostgresRows rows;
  if (Status asked = run_control("SELECT version()", &rows); !asked.ok()) return asked;
  const std::string banner(rows.text(0, 0));
  if (banner.find(" using H2 ") != std::string::npos) {
    return Error{.what = url_.text +
                         ": this is H2, which knows neither BEGIN ISOLATION LEVEL nor RETURNING; "
                         "use exec: with the driver for JDBC, " +
                         document_address("drivers.md")};
  }
  version_ = banner.substr(0, banner.find_first_of("(", 0));
  if (const std::size_t on = version_.find(" on "); on != std::string::npos) version_.resize(on);
  while (!version_.empty() && version_.back() == ' ') version_.pop_back();
  flavour_ = banner.find("Cockroach") != std::string::npos ? PostgresFlavour::Cockroach
             : banner.find("-YB-") != std::string::npos    ? PostgresFlavour::Other
             : banner.starts_with("PostgreSQL")            ? PostgresFlavour::Postgres
                                                           : PostgresFlavour::Other;
  read_only_.assign(url_.hosts.size(), false);
  for (std::size_t node = 0; node < url_.hosts.size(); ++node) {
    auto link = PostgresLink::open(url_, url_.hosts[node], 10s, waiting_to_connect(10s, stop_));
    if (!link.ok()) return Error{.what = fmt::format("{}: {}", url_.text, link.error().what)};
    if (flavour_ != PostgresFlavour::Postgres) continue;
    const Answer asked = (*link)->run("SELECT pg_is_in_recovery()", &rows);
    if (!asked.ok()) return Error{.what = fmt::format("{}: {}", url_.text, asked.reason)};
    read_only_[node] = rows.text(0, 0) == "t";
  }
  if (!read_only_[0]) return {};
  return Error{
      .what = fmt::format("{}: the first host is a standby; name the primary first", url_.text)};
}

Status PostgresDatabase::make_table(const Schema& schema) {
  const char* columns = schema.model == Model::Registers ? "v bigint"
                        : schema.model == Model::Lists   ? "v text"
                                                         : "c0 bigint, c1 bigint, c2 bigint";
  Status made = run_control("DROP TABLE IF EXISTS ouro_kv");
  if (made.ok()) {
    made = run_control(fmt::format("CREATE TABLE ouro_kv (k bigint PRIMARY KEY, {})", columns));
  }
  // Lets serializable transactions lock ranges instead of the whole table.
  if (made.ok() && schema.model == Model::Rows) {
    made = run_control("CREATE INDEX ouro_kv_c1 ON ouro_kv (c1)");
  }
  if (!made.ok()) return made;
  // Clients may read from a standby at once, so wait until the table is there, too.
  if (std::count(read_only_.begin(), read_only_.end(), true) == 0) return {};
  for (std::size_t node = 0; node < url_.hosts.size(); ++node) {
    auto link = PostgresLink::open(url_, url_.hosts[node], 10s, waiting_to_connect(10s, stop_));
    if (!link.ok()) return Error{.what = fmt::format("{}: {}", url_.text, link.error().what)};
    const std::string sql =
        fmt::format("SELECT {} FROM ouro_kv WHERE k < 0", schema.model == Model::Rows ? "c0" : "v");
    bool there = false;
    for (int attempt = 0; attempt < 1000 && !there; ++attempt) {
      there = (*link)->run(sql.c_str()).ok();
      if (!there) std::this_thread::sleep_for(10ms);
    }
    if (!there) return Error{.what = url_.text + ": the table does not arrive at the standby"};
  }
  return {};
}

// Makes the replication slot through which read_log() gets the order of commits. If that fails,
// commits that no snapshot tells apart are ordered by transaction number. A wrong order of two
// commits matters only if both wrote the same key; from repeatable read up, the snapshot of the
// second then sees the first, so a snapshot does tell them apart.
void PostgresDatabase::make_slot() {
  static std::atomic<int> count{0};
  const std::string name = fmt::format("ouro_{}_{}", ::getpid(), ++count);
  const Status made = run_control(
      fmt::format("SELECT pg_create_logical_replication_slot('{}', 'test_decoding', true)", name));
  if (made.ok()) slot_ = name;
}

Result<std::unique_ptr<Connection>> PostgresDatabase::connect(std::size_t node) {
  auto link = PostgresLink::open(url_, url_.hosts[node], schema_.patience,
                                 waiting_to_connect(schema_.patience, schema_.stop));
  if (!link.ok()) return link.error();
  // With these limits the server itself refuses a statement that waits too long, which is certain,
  // before our patience ends, which would leave us with no answer.
  const auto limit = schema_.patience.count();
  std::string sql = fmt::format("SET lock_timeout = {}; SET statement_timeout = {}", limit / 2 + 1,
                                limit * 9 / 10 + 1);
  const bool postgres = flavour_ == PostgresFlavour::Postgres;
  if (postgres) sql += fmt::format("; {}", kStartTime);
  PostgresRows rows;
  const Answer set = (*link)->run(sql.c_str(), &rows);
  if (!set.ok() && (postgres || set.reply == Reply::Lost)) return Error{.what = set.reason};
  Journal* journal = schema_.evidence && postgres && !read_only(node) ? &journals_.add() : nullptr;
  const std::uint64_t life = postgres && !read_only(node) ? incarnation(rows.number(0, 0)) : 0;
  return std::unique_ptr<Connection>(
      std::make_unique<PostgresSession>(std::move(*link), dialect_, life, journal,
                                        journal != nullptr && schema_.live ? &live_ : nullptr));
}

// Numbers the runs of the server, from 0, in the order in which we first connected to them.
// `start_time`: when the run began (kStartTime).
std::uint64_t PostgresDatabase::incarnation(std::int64_t start_time) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find(start_times_.begin(), start_times_.end(), start_time);
  const auto index = static_cast<std::uint64_t>(found - start_times_.begin());
  if (found == start_times_.end()) start_times_.push_back(start_time);
  return index;
}

// Whether the server crashed and then gave the number of `id` to another transaction. It does so
// only if `id` had left no trace in the log, so `id` did not commit. Nothing: we cannot tell.
std::optional<bool> PostgresDatabase::given_again(std::uint64_t id) {
  PostgresRows rows;
  if (!run_control(kStartTime, &rows).ok()) return std::nullopt;
  const std::uint64_t life = id >> kIncarnationShift;
  if (incarnation(rows.number(0, 0)) == life) return false;
  if (!schema_.evidence) return std::nullopt;
  const std::uint64_t mask = (std::uint64_t{1} << kIncarnationShift) - 1;
  return journals_.any([&](const Journal::Txn& txn) {
    return (txn.id & mask) == (id & mask) && txn.id >> kIncarnationShift > life;
  });
}

std::optional<bool> PostgresDatabase::waits(std::uint64_t handle) {
  if (flavour_ != PostgresFlavour::Postgres || node_count() > 1) return std::nullopt;
  PostgresRows rows;
  const Status asked =
      run_control(fmt::format("SELECT cardinality(pg_blocking_pids({})) > 0", handle), &rows);
  if (!asked.ok() || rows.size() != 1) return std::nullopt;
  return rows.text(0, 0) == "t";
}

Resolution PostgresDatabase::resolve_id(std::uint64_t id) {
  // The server may still be running a transaction whose connection broke; ask for up to 10 s.
  for (int attempt = 0; attempt < 100; ++attempt) {
    PostgresRows rows;
    const Status asked = run_control(dialect_.status_of(id), &rows);
    if (!asked.ok() && asked.error().what.find("in the future") != std::string::npos) {
      return Resolution::Aborted;  // The server crashed before it logged the transaction.
    }
    const std::string_view status = asked.ok() && rows.size() == 1 ? rows.text(0, 0) : "";
    if (status == "aborted") return Resolution::Aborted;
    if (status == "committed") {
      const std::optional<bool> another = given_again(id);
      if (!another) return Resolution::Unknown;
      return *another ? Resolution::Aborted : Resolution::Committed;
    }
    std::this_thread::sleep_for(100ms);
  }
  return Resolution::Unknown;
}

Resolution PostgresDatabase::resolve(std::uint64_t token) {
  if (token == 0 || flavour_ != PostgresFlavour::Postgres) return Resolution::Unknown;
  const std::uint64_t id = schema_.evidence ? journals_.find(token).id : token;
  return id == 0 ? Resolution::Unknown : resolve_id(id);
}

// The transactions of `committed` that the write-ahead log has, in the order of its commits. Empty
// if the log cannot be read.
std::vector<std::uint64_t> PostgresDatabase::read_log(std::span<const std::uint64_t> committed) {
  PostgresRows rows;
  const Status asked = run_control(
      fmt::format("SELECT substr(data, 8) FROM pg_logical_slot_get_changes('{}', NULL, NULL, "
                  "'include-xids', '1', 'skip-empty-xacts', '1') WHERE data LIKE 'COMMIT %'",
                  slot_),
      &rows);
  std::vector<std::uint64_t> logged;
  if (!asked.ok()) return logged;
  // The log has only the lower 32 bits of a transaction's number.
  absl::flat_hash_map<std::uint32_t, std::uint64_t> whole;
  for (const std::uint64_t id : committed) whole.emplace(static_cast<std::uint32_t>(id), id);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto found = whole.find(static_cast<std::uint32_t>(rows.number(i, 0)));
    if (found != whole.end()) logged.push_back(found->second);
  }
  return logged;
}

Result<Recovered> PostgresDatabase::recover(std::span<const std::uint64_t> tokens) {
  if (flavour_ != PostgresFlavour::Postgres) return Recovered{};
  std::vector<std::uint64_t> committed;
  std::vector<Journal::Txn*> readers;  // The transaction that took each of `snapshots`.
  std::vector<Snapshot> snapshots;
  for (const std::uint64_t token : tokens) {
    Journal::Txn& txn = journals_.find(token);
    if (txn.end == Journal::End::Unknown && txn.id != 0) {
      const Resolution resolution = resolve_id(txn.id);
      if (resolution == Resolution::Committed) txn.end = Journal::End::Committed;
      if (resolution == Resolution::Aborted) txn.end = Journal::End::Aborted;
    }
    if (txn.end == Journal::End::Committed && txn.id != 0) committed.push_back(txn.id);
    if (!txn.has_snapshot) continue;
    readers.push_back(&txn);
    snapshots.push_back(std::move(txn.snapshot));
    // The server's list of transactions in progress lacks the one that takes the snapshot.
    std::vector<std::uint64_t>& open = snapshots.back().in_progress;
    if (txn.id != 0) open.insert(std::upper_bound(open.begin(), open.end(), txn.id), txn.id);
  }
  std::sort(committed.begin(), committed.end());
  const bool has_log = !slot_.empty() && control_ != nullptr && !control_->lost();
  const std::vector<std::uint64_t> logged =
      has_log ? read_log(committed) : std::vector<std::uint64_t>{};
  const SnapshotOrder order = order_snapshots(snapshots, committed, logged);
  if (features().timestamps) {
    for (std::size_t i = 0; i < readers.size(); ++i) readers[i]->start = {order.starts[i], 0};
  }
  for (const std::uint64_t token : tokens) {
    Journal::Txn& txn = journals_.find(token);
    if (txn.end != Journal::End::Committed || txn.id == 0) continue;
    const auto at = std::lower_bound(committed.begin(), committed.end(), txn.id);
    txn.commit = {order.commits[static_cast<std::size_t>(at - committed.begin())], 0};
  }
  Recovered recovered = journals_.recover(tokens, schema_.model);
  if (order.breaks > 0) {
    recovered.notes.push_back(
        fmt::format("{} snapshots contradict each other: start and commit "
                    "positions are not exact",
                    order.breaks));
  }
  if (logged.size() < committed.size() && !one_snapshot()) {
    recovered.notes.push_back(
        "no logical decoding (it needs wal_level=logical and the right to "
        "replicate): commits that no snapshot tells apart are in order of "
        "transaction number");
  }
  return recovered;
}

// Whether a transaction that has ended, and whose COMMIT was not answered, took effect. Nothing if
// the server was restarted: it may have given the number to another one.
std::optional<bool> PostgresDatabase::committed_lately(std::uint64_t id,
                                                       std::uint64_t incarnation) {
  PostgresRows rows;
  if (id >> kIncarnationShift != incarnation) return std::nullopt;
  const Status asked = run_control(dialect_.status_of(id), &rows);
  if (!asked.ok() || rows.size() != 1) return std::nullopt;
  if (rows.text(0, 0) == "committed") return true;
  return rows.text(0, 0) == "aborted" ? std::optional(false) : std::nullopt;
}

Result<std::vector<Recovered::Times>> PostgresDatabase::recover_new() {
  if (!schema_.live || flavour_ != PostgresFlavour::Postgres) {
    return std::vector<Recovered::Times>{};
  }
  PostgresRows rows;
  const Status asked =
      run_control(fmt::format("SELECT {}, ({})", dialect_.snapshot(), kStartTime), &rows);
  if (!asked.ok()) return asked.error();
  auto snapshot = parse_snapshot(rows.text(0, 0));
  if (!snapshot) return Error{.what = url_.text + ": a snapshot that cannot be read"};
  const std::uint64_t life = incarnation(rows.number(0, 1));
  snapshot->next += life << kIncarnationShift;
  for (std::uint64_t& open : snapshot->in_progress) open += life << kIncarnationShift;
  live_.add(*std::move(snapshot));
  return live_.settle([&](std::uint64_t id) { return committed_lately(id, life); });
}

Status PostgresDatabase::finish() {
  if (version_.empty()) return {};  // It never answered.
  Status dropped = run_control("DROP TABLE IF EXISTS ouro_kv");
  control_.reset();
  return dropped;
}

}  // namespace

Result<std::unique_ptr<Database>> open_postgres(Url url) {
  const std::string wanted = url.take("isolation", "ser");
  if (const Status left = url.nothing_left("isolation"); !left.ok()) return left.error();
  const std::string isolation(isolation_text(wanted));
  if (isolation.empty() || isolation == "READ UNCOMMITTED") {
    return Error{.what =
                     fmt::format("{}: no isolation '{}'; there are rc, rr, ser", url.text, wanted)};
  }
  if (url.hosts.empty()) url.hosts.push_back({});
  return std::unique_ptr<Database>(std::make_unique<PostgresDatabase>(std::move(url), isolation));
}

}  // namespace ouro::db
