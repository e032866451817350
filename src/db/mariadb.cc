// MariaDB and MySQL, single or as a Galera cluster, and what speaks their protocol.
//
//   mysql://USER:PASSWORD@HOST:PORT,HOST2:PORT2/DATABASE
//       ?isolation=ru|rc|rr|ser&snapshot_isolation=0|1&sync_wait=N
//
// A host may be a socket (%2Ftmp%2Fx.sock). Several hosts are the nodes of one cluster, all of
// which take writes. snapshot_isolation sets innodb_snapshot_isolation: repeatable read then
// refuses to overwrite what has changed since the snapshot. sync_wait sets wsrep_sync_wait.
//
//   tidb://HOST:4000/DATABASE?isolation=rc|rr&txn_mode=optimistic|pessimistic&status=PORT
//
// TiDB's repeatable read is snapshot isolation only if transactions are optimistic: pessimistic
// ones overwrite what has changed since their snapshot.
//
// Evidence: the order of commits, from the transaction ids of Galera or of the binary log, which
// gives version orders. No server but TiDB tells when the snapshot of a transaction was taken; TiDB
// tells the timestamps of start and commit, and its status port all versions that are stored.

#include <fmt/format.h>
#include <mysql.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <thread>

#include "db/mariadb_session.h"
#include "db/registry.h"
#include "db/sql.h"
#include "db/tidb_store.h"
#include "net/http_client.h"

namespace ouro::db {
namespace {

using namespace std::chrono_literals;

struct MariaDbSettings {
  std::string isolation;           // As SQL writes it: "REPEATABLE READ".
  std::string snapshot_isolation;  // "0" or "1"; empty: the server's own setting stays.
  std::string sync_wait;           // For wsrep_sync_wait; empty: the server's own setting stays.
  std::string txn_mode;            // For tidb_txn_mode; empty: the server's own setting stays.
  bool tidb = false;               // The URL says that it is TiDB.
  std::string status;              // TiDB's status port; empty: the usual one, if it is there.
};

class MariaDbDatabase final : public Database {
 public:
  MariaDbDatabase(Url url, MariaDbSettings settings)
      : url_(std::move(url)), settings_(std::move(settings)) {
    if (url_.path.empty()) url_.path = "test";
  }

  std::string description() const override;
  Level claims() const override;
  Features features() const override;
  std::size_t node_count() const override { return url_.hosts.size(); }

  Status prepare(const Schema& schema) override;
  Result<std::unique_ptr<Connection>> connect(std::size_t node) override;
  Resolution resolve(std::uint64_t token) override;
  Result<Recovered> recover(std::span<const std::uint64_t> tokens) override;
  std::vector<std::string> isolations() const override;
  std::optional<bool> waits(std::uint64_t handle) override;
  Status finish() override;

 private:
  Result<std::unique_ptr<MariaDbLink>> open(std::size_t node);
  Error wrong(std::string_view what) const {
    return Error{.what = fmt::format("{}: {}", url_.text, what)};
  }
  Status look_around(MariaDbLink& link);
  Status wait_for_table();
  Result<StoredSettlement> settle();
  Status settle_once();

  Url url_;
  MariaDbSettings settings_;
  std::string version_;
  Schema schema_;
  MariaDbOrder order_ = MariaDbOrder::None;
  Journals journals_;
  std::optional<StoredSettlement> stored_;  // TiDB: what its store said, once it was asked.
  std::unique_ptr<MariaDbLink> control_;    // For waits(); null until that is called.
};

std::string MariaDbDatabase::description() const {
  std::string text = version_.empty() ? "MariaDB or MySQL" : version_;
  if (node_count() > 1) text += fmt::format(", {} nodes", node_count());
  std::string level = settings_.isolation;
  std::transform(level.begin(), level.end(), level.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  text += ", " + level;
  if (settings_.snapshot_isolation == "1") text += " with innodb_snapshot_isolation";
  if (!settings_.txn_mode.empty()) text += ", " + settings_.txn_mode;
  return text;
}

// Repeatable read is documented to read from one snapshot, so users take it for snapshot isolation.
// It is checked against that level; a run shows whether they are right.
Level MariaDbDatabase::claims() const {
  if (settings_.tidb && settings_.txn_mode != "optimistic") return Level::ReadCommitted;
  if (settings_.isolation == "SERIALIZABLE") return Level::Serializable;
  return settings_.isolation == "REPEATABLE READ" ? Level::Si : Level::ReadCommitted;
}

// TiDB's read committed has a snapshot for each statement, so one timestamp does not tell what a
// transaction saw.
Features MariaDbDatabase::features() const {
  // Before the server was asked, it is what the URL says.
  const bool tidb = version_.empty() ? settings_.tidb : order_ == MariaDbOrder::TiDb;
  const bool times = tidb && settings_.isolation == "REPEATABLE READ";
  return {.registers = true,
          .lists = true,
          .scans = true,
          .rows = true,
          .row_changes = true,
          .removes = true,
          .timestamps = times,
          .live = times,
          .versions = version_.empty() || order_ != MariaDbOrder::None,  // Empty: not asked yet.
          .version_sets = times};
}

Result<std::unique_ptr<MariaDbLink>> MariaDbDatabase::open(std::size_t node) {
  auto link = MariaDbLink::open(url_, url_.hosts[node], schema_.patience,
                                waiting_to_connect(schema_.patience, schema_.stop));
  if (!link.ok()) return link.error();
  const auto seconds = std::max<std::int64_t>(1, schema_.patience.count() / 2000);
  // Servers without InnoDB, such as Dolt, do not have it and need not.
  const Answer timeout =
      (*link)->run(fmt::format("SET SESSION innodb_lock_wait_timeout = {}", seconds));
  if (timeout.reply == Reply::Lost) return Error{.what = timeout.reason};
  std::vector<std::string> statements = {
      fmt::format("SET SESSION TRANSACTION ISOLATION LEVEL {}", settings_.isolation)};
  if (!settings_.txn_mode.empty()) {
    statements.push_back(fmt::format("SET SESSION tidb_txn_mode = '{}'", settings_.txn_mode));
  }
  if (!settings_.snapshot_isolation.empty()) {
    statements.push_back("SET SESSION innodb_snapshot_isolation = " + settings_.snapshot_isolation);
  }
  if (!settings_.sync_wait.empty()) {
    statements.push_back("SET SESSION wsrep_sync_wait = " + settings_.sync_wait);
  }
  if (!version_.empty()) statements.push_back(fmt::format("USE `{}`", url_.path));
  for (const std::string& sql : statements) {
    if (const Answer set = (*link)->run(sql); !set.ok()) return Error{.what = set.reason};
  }
  return link;
}

Status MariaDbDatabase::prepare(const Schema& schema) {
  schema_ = schema;
  static std::once_flag started;  // The library is not started safely by two threads at once.
  std::call_once(started, [] { mysql_library_init(0, nullptr, nullptr); });
  auto link = open(0);
  if (!link.ok()) return wrong(link.error().what);
  if (Status looked = look_around(**link); !looked.ok()) return looked;
  const char* columns = schema.model == Model::Registers ? "v BIGINT"
                        : schema.model == Model::Lists
                            ? "v LONGTEXT"
                            : "c0 BIGINT, c1 BIGINT, c2 BIGINT, KEY (c1)";
  const std::string table = fmt::format("`{}`.ouro_kv", url_.path);
  for (const std::string& sql :
       {fmt::format("CREATE DATABASE IF NOT EXISTS `{}`", url_.path),
        "DROP TABLE IF EXISTS " + table,
        fmt::format("CREATE TABLE {} (k BIGINT PRIMARY KEY, {}) ENGINE=InnoDB", table, columns)}) {
    if (const Answer made = (*link)->run(sql); !made.ok()) return wrong(made.reason);
  }
  return wait_for_table();
}

// Asks the server what it is, and how it tells the order of commits.
Status MariaDbDatabase::look_around(MariaDbLink& link) {
  bool tidb = false;
  std::string version;
  const Answer asked = link.run("SELECT VERSION()", [&](MYSQL_ROW row) { version = row[0]; });
  if (!asked.ok()) return wrong(asked.reason);
  tidb = version.find("TiDB") != std::string::npos;
  const bool mariadb = version.find("MariaDB") != std::string::npos;
  version_ = fmt::format("{} {}",
                         tidb      ? "TiDB"
                         : mariadb ? "MariaDB"
                                   : "MySQL",
                         version.substr(0, version.find('-')));
  if (tidb) {
    if (!settings_.tidb && claims() != Level::ReadCommitted) {
      return wrong(
          "this is TiDB, whose pessimistic transactions do not promise si; say tidb:// "
          "instead, with txn_mode=optimistic for snapshot isolation");
    }
    order_ = MariaDbOrder::TiDb;
    return {};
  }
  // Dolt calls itself a MySQL; others do not know this function.
  (void)link.run("SELECT dolt_version()",
                 [&](MYSQL_ROW row) { version_ = fmt::format("Dolt {}", row[0]); });
  bool galera = false;
  (void)link.run("SHOW GLOBAL VARIABLES LIKE 'wsrep_on'",
                 [&](MYSQL_ROW row) { galera = std::string_view(row[1]) == "ON"; });
  if (galera) version_ += " with Galera";
  bool binlog = false;
  (void)link.run("SHOW GLOBAL VARIABLES LIKE 'log_bin'",
                 [&](MYSQL_ROW row) { binlog = std::string_view(row[1]) == "ON"; });
  // Several servers, each with its own binary log, have no common order of commits.
  order_ = galera                                   ? MariaDbOrder::Galera
           : mariadb && binlog && node_count() == 1 ? MariaDbOrder::Binlog
                                                    : MariaDbOrder::None;
  return {};
}

// Waits until all nodes have the table.
Status MariaDbDatabase::wait_for_table() {
  for (std::size_t node = 0; node < node_count(); ++node) {
    std::string problem;
    for (int attempt = 0; attempt < 200; ++attempt) {
      auto link = open(node);
      if (link.ok()) {
        const Answer seen = (*link)->run("SELECT COUNT(*) FROM ouro_kv");
        if (seen.ok()) {
          problem.clear();
          break;
        }
        problem = seen.reason;
      } else {
        problem = link.error().what;
        if (schema_.stop != nullptr && *schema_.stop) return wrong(problem);
      }
      std::this_thread::sleep_for(50ms);
    }
    if (!problem.empty()) return wrong(problem);
  }
  return {};
}

Result<std::unique_ptr<Connection>> MariaDbDatabase::connect(std::size_t node) {
  auto link = open(node);
  if (!link.ok()) return wrong(link.error().what);
  Journal* journal = schema_.evidence && order_ != MariaDbOrder::None ? &journals_.add() : nullptr;
  return std::unique_ptr<Connection>(
      std::make_unique<MariaDbSession>(std::move(*link), schema_.model, order_, journal));
}

// Asks the status port of the first server. REQUIRES: it is TiDB.
Result<StoredSettlement> MariaDbDatabase::settle() {
  const std::string host = url_.hosts[0].name.empty() ? "127.0.0.1" : url_.hosts[0].name;
  const std::string base = fmt::format("http://{}:{}", host.starts_with('/') ? "127.0.0.1" : host,
                                       settings_.status.empty() ? "10080" : settings_.status);
  auto client = net::HttpClient::make(base);
  if (!client.ok()) return client.error();
  return settle_by_store(
      [&](Key key) -> Result<std::string> {
        net::HttpAnswer answer =
            client->get(fmt::format("/mvcc/key/{}/ouro_kv/{}?decode=1", url_.path, key));
        if (answer.ok()) return std::move(answer.body);
        return Error{
            .what = fmt::format("{}: the status port {} answered {}", url_.text, base,
                                answer.status == 0 ? answer.body : std::to_string(answer.status))};
      },
      schema_.model, journals_);
}

// The store is asked once. If its port was not named and does not answer, there is a note, and what
// the sessions were told has to do.
Status MariaDbDatabase::settle_once() {
  if (stored_) return {};
  auto settled = settle();
  if (!settled.ok() && !settings_.status.empty()) return settled.error();
  stored_ = settled.ok() ? *std::move(settled) : StoredSettlement{};
  if (!settled.ok()) {
    stored_->notes.push_back(settled.error().what +
                             "; version orders rest on what sessions were told (status=PORT)");
  }
  return {};
}

Resolution MariaDbDatabase::resolve(std::uint64_t token) {
  if (order_ != MariaDbOrder::TiDb || !settle_once()) return Resolution::Unknown;
  const Journal::Txn& txn = journals_.find(token);
  return txn.end == Journal::End::Committed ? Resolution::Committed
         : txn.end == Journal::End::Aborted ? Resolution::Aborted
                                            : Resolution::Unknown;
}

Result<Recovered> MariaDbDatabase::recover(std::span<const std::uint64_t> tokens) {
  if (order_ == MariaDbOrder::TiDb) {
    if (Status settled = settle_once(); !settled) return settled.error();
  }
  Recovered recovered = journals_.recover(tokens, schema_.model);
  if (stored_) {
    for (Recovered::Order& order : recovered.orders) {
      order.complete = order.complete && !stored_->unexplained.contains(order.key);
    }
    recovered.notes.insert(recovered.notes.end(), stored_->notes.begin(), stored_->notes.end());
  }
  if (order_ == MariaDbOrder::None) {
    recovered.notes.push_back(
        "the server does not tell the order of commits; MariaDB does with --log-bin");
  }
  return recovered;
}

std::vector<std::string> MariaDbDatabase::isolations() const {
  if (settings_.tidb) return {"isolation=rc", "isolation=rr", "isolation=rr&txn_mode=optimistic"};
  return {"isolation=ru", "isolation=rc", "isolation=rr", "isolation=rr&snapshot_isolation=1",
          "isolation=ser"};
}

// InnoDB answers from a copy of its lists, which it makes anew only if nobody has asked for 100 ms.
std::optional<bool> MariaDbDatabase::waits(std::uint64_t handle) {
  if (node_count() > 1 || order_ == MariaDbOrder::TiDb) return std::nullopt;
  if (control_ == nullptr) {
    auto link = open(0);
    if (!link.ok()) return std::nullopt;
    control_ = *std::move(link);
  }
  std::this_thread::sleep_for(120ms);
  bool waiting = false;
  const Answer asked = control_->run(
      fmt::format("SELECT 1 FROM information_schema.innodb_trx WHERE trx_mysql_thread_id = {} AND "
                  "trx_state = 'LOCK WAIT'",
                  handle),
      [&](MYSQL_ROW) { waiting = true; });
  if (!asked.ok()) return std::nullopt;
  return waiting;
}

Status MariaDbDatabase::finish() {
  control_.reset();
  if (version_.empty()) return {};  // It never answered.
  schema_.stop = nullptr;           // The table goes also if a signal ended the run.
  auto link = open(0);
  if (!link.ok()) return wrong(link.error().what);
  const Answer dropped = (*link)->run("DROP TABLE IF EXISTS ouro_kv");
  return dropped.ok() ? Status{} : Status{wrong(dropped.reason)};
}

}  // namespace

Result<std::unique_ptr<Database>> open_mariadb(Url url) {
  MariaDbSettings settings;
  settings.tidb = url.scheme == "tidb";
  const std::string wanted = url.take("isolation", settings.tidb ? "rr" : "ser");
  settings.isolation = isolation_text(wanted);
  settings.txn_mode = url.take("txn_mode");
  settings.snapshot_isolation = url.take("snapshot_isolation");
  settings.sync_wait = url.take("sync_wait");
  settings.status = url.take("status");
  const auto wrong = [&](std::string_view what) {
    return Error{.what = fmt::format("{}: {}", url.text, what)};
  };
  const Status left =
      url.nothing_left("isolation, snapshot_isolation, sync_wait, txn_mode, status");
  if (!left.ok()) return left.error();
  if (!settings.txn_mode.empty()) {
    const Status known = one_of(url, "txn_mode", settings.txn_mode, {"optimistic", "pessimistic"});
    if (!known.ok()) return known.error();
    if (!settings.tidb) return wrong("only tidb:// has txn_mode");
  }
  if (!settings.status.empty() && !settings.tidb) return wrong("only tidb:// has status");
  if (settings.tidb && wanted != "rc" && wanted != "rr") {
    return wrong(fmt::format("TiDB has no isolation '{}'; there are rc, rr", wanted));
  }
  if (settings.isolation.empty()) {
    return wrong(fmt::format("no isolation '{}'; there are ru, rc, rr, ser", wanted));
  }
  for (const std::string* number :
       {&settings.snapshot_isolation, &settings.sync_wait, &settings.status}) {
    if (number->find_first_not_of("0123456789") != std::string::npos) {
      return wrong(fmt::format("'{}' is no number", *number));
    }
  }
  if (url.hosts.empty()) url.hosts.push_back({});
  for (Host& host : url.hosts) {
    if (settings.tidb && host.port == 0 && !host.name.starts_with('/')) host.port = 4000;
  }
  return std::unique_ptr<Database>(
      std::make_unique<MariaDbDatabase>(std::move(url), std::move(settings)));
}

}  // namespace ouro::db
