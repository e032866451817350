#include "db/mariadb_session.h"

#include <errmsg.h>
#include <fmt/format.h>
#include <mysqld_error.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "db/sql.h"

namespace ouro::db {
namespace {

Number number_of(const char* text) {
  Number value = 0;
  if (text != nullptr) std::from_chars(text, text + std::string_view(text).size(), value);
  return value;
}

Row row_of(MYSQL_ROW columns) {
  Row row;
  for (std::size_t c = 0; c < kColumns; ++c) row[c] = number_of(columns[c]);
  return row;
}

// The number behind `name` in TiDB's JSON: {"txn_scope":"global","start_ts":4,"commit_ts":5}.
std::int64_t json_number(std::string_view json, std::string_view name) {
  const std::size_t at = json.find(fmt::format("\"{}\":", name));
  if (at == std::string_view::npos) return kNoClock;
  return number_of(json.data() + at + name.size() + 3);
}

// Waits for what the next step of connecting wants, as the library names it. If the waiting is
// over, that is a time-out.
int wait_for_step(MYSQL* connection, int wanted, const Waiting& connecting) {
  struct Kind {
    int step;
    short event;
  };
  constexpr Kind kKinds[] = {
      {MYSQL_WAIT_READ, POLLIN}, {MYSQL_WAIT_WRITE, POLLOUT}, {MYSQL_WAIT_EXCEPT, POLLPRI}};
  int events = 0;
  for (const Kind& kind : kKinds) events |= (wanted & kind.step) != 0 ? kind.event : 0;
  const short ready =
      wait_for_socket(mysql_get_socket(connection), static_cast<short>(events), connecting);
  if (ready == 0) return MYSQL_WAIT_TIMEOUT;
  int happened = 0;
  for (const Kind& kind : kKinds) happened |= (ready & kind.event) != 0 ? kind.step : 0;
  return happened != 0 ? happened : wanted & ~MYSQL_WAIT_TIMEOUT;  // An error shows in the step.
}

}  // namespace

Result<std::unique_ptr<MariaDbLink>> MariaDbLink::open(const Url& url, const Host& host,
                                                       std::chrono::milliseconds patience,
                                                       const Waiting& connecting) {
  auto link = std::make_unique<MariaDbLink>();
  link->connection_.reset(mysql_init(nullptr));
  MYSQL* connection = link->connection_.get();
  if (connection == nullptr) return Error{.what = "out of memory"};
  const unsigned seconds =
      static_cast<unsigned>(std::max<std::int64_t>(1, patience.count() / 1000));
  for (const mysql_option option :
       {MYSQL_OPT_CONNECT_TIMEOUT, MYSQL_OPT_READ_TIMEOUT, MYSQL_OPT_WRITE_TIMEOUT}) {
    mysql_optionsv(connection, option, &seconds);
  }
  // A name with a slash is a socket; the server is then this machine.
  const bool socket = host.name.starts_with('/');
  const auto or_null = [](const std::string& text) {
    return text.empty() ? nullptr : text.c_str();
  };
  // Step by step, so that it can be ended. What follows waits within the call, as usual.
  mysql_optionsv(connection, MYSQL_OPT_NONBLOCK, nullptr);
  MYSQL* made = nullptr;
  bool over = false;
  int wanted = mysql_real_connect_start(
      &made, connection, socket ? nullptr : or_null(host.name),
      url.user.empty() ? "root" : url.user.c_str(), or_null(url.password), nullptr,
      static_cast<unsigned>(host.port), socket ? host.name.c_str() : nullptr, CLIENT_FOUND_ROWS);
  while (wanted != 0) {
    const int happened = wait_for_step(connection, wanted, connecting);
    over = over || happened == MYSQL_WAIT_TIMEOUT;
    wanted = mysql_real_connect_cont(&made, connection, happened);
  }
  if (made != nullptr) return link;
  return Error{.what = over ? connecting.reason() : mysql_error(connection)};
}

Answer MariaDbLink::run(const std::string& sql) {
  rows_.reset();
  certain_ = false;
  if (lost_) return Answer::lost("connection lost");
  if (mysql_real_query(connection_.get(), sql.data(), sql.size()) != 0) return explain();
  rows_.reset(mysql_store_result(connection_.get()));
  if (rows_ == nullptr && mysql_errno(connection_.get()) != 0) return explain();
  affected_ = mysql_affected_rows(connection_.get());
  return {};
}

// The runner rolls back after an error, so any statement but COMMIT that the server refuses leaves
// no effect. Whether a refused COMMIT leaves none depends on the error: see certain().
Answer MariaDbLink::explain() {
  const unsigned code = mysql_errno(connection_.get());
  if (code >= CR_MIN_ERROR && code <= CR_MAX_ERROR) {
    lost_ = true;
    connection_.reset();
    return Answer::lost(code == CR_SERVER_LOST || code == CR_SERVER_GONE_ERROR
                            ? "connection lost"
                            : fmt::format("client error {}", code));
  }
  struct Known {
    unsigned code;
    const char* reason;
    bool certain;
  };
  // Errors by which the server rolled back or refused the statement. `certain`: also during COMMIT.
  constexpr std::array<Known, 8> known = {{
      {ER_LOCK_DEADLOCK, "deadlock", true},  // In a cluster, also a conflict with another node.
      {ER_CHECKREAD, "the row has changed since", true},
      {ER_LOCK_WAIT_TIMEOUT, "lock timeout", false},
      {ER_QUERY_INTERRUPTED, "interrupted", false},
      {ER_DUP_ENTRY, "duplicate key", false},
      {ER_UNKNOWN_COM_ERROR, "the node is not part of the cluster", false},
      {9007, "write conflict", true},       // TiDB only.
      {8002, "transaction aborted", true},  // TiDB only.
  }};
  for (const Known& error : known) {
    if (error.code != code) continue;
    certain_ = error.certain;
    return Answer::aborted(error.reason);
  }
  return Answer::failed(fmt::format("{} ({})", mysql_error(connection_.get()), code));
}

Answer MariaDbSession::begin(bool read_only) {
  trace_ = {};
  wrote_ = false;
  if (journal_ != nullptr) journal_->begin();
  return link_->run(read_only ? "START TRANSACTION READ ONLY" : "START TRANSACTION");
}

Answer MariaDbSession::read(Key key, std::optional<Number>& number) {
  number.reset();
  return link_->run(fmt::format("SELECT v FROM ouro_kv WHERE k = {}", key),
                    [&](MYSQL_ROW row) { number = number_of(row[0]); });
}

Answer MariaDbSession::read_list(Key key, std::vector<Number>& elements) {
  elements.clear();
  return link_->run(fmt::format("SELECT v FROM ouro_kv WHERE k = {}", key), [&](MYSQL_ROW row) {
    if (row[0] != nullptr) elements = parse_list(row[0]);
  });
}

Answer MariaDbSession::read_row(Key key, std::optional<Row>& found) {
  found.reset();
  return link_->run(fmt::format("SELECT c0, c1, c2 FROM ouro_kv WHERE k = {}", key),
                    [&](MYSQL_ROW row) { found = row_of(row); });
}

Answer MariaDbSession::scan(Key lower, Key upper, std::vector<KeyNumber>& found) {
  found.clear();
  return link_->run(fmt::format("SELECT k, v FROM ouro_kv WHERE k BETWEEN {} AND {}", lower, upper),
                    [&](MYSQL_ROW row) {
                      found.push_back({number_of(row[0]), number_of(row[1])});
                    });
}

// Tries UPDATE first, since most keys exist, and INSERT if it matched no row.
Answer MariaDbSession::upsert(Key key, const Row& row, const std::string& update,
                              const std::string& insert) {
  Answer answer = link_->run(update);
  if (answer.ok() && link_->affected() == 0) answer = link_->run(insert);
  if (answer.ok()) wrote(key, row, false);
  return answer;
}

Answer MariaDbSession::write(Key key, Number number) {
  return upsert(key, {number}, fmt::format("UPDATE ouro_kv SET v = {} WHERE k = {}", number, key),
                fmt::format("INSERT INTO ouro_kv VALUES ({}, {}) ON DUPLICATE KEY UPDATE v = "
                            "VALUES(v)",
                            key, number));
}

Answer MariaDbSession::append(Key key, Number element) {
  return upsert(key, {element},
                fmt::format("UPDATE ouro_kv SET v = CONCAT(v, ',{}') WHERE k = {}", element, key),
                fmt::format("INSERT INTO ouro_kv VALUES ({}, '{}') ON DUPLICATE KEY UPDATE v = "
                            "CONCAT(v, ',', VALUES(v))",
                            key, element));
}

Answer MariaDbSession::write_row(Key key, const Row& row) {
  return upsert(key, row,
                fmt::format("UPDATE ouro_kv SET c0 = {}, c1 = {}, c2 = {} WHERE k = {}", row[0],
                            row[1], row[2], key),
                fmt::format("INSERT INTO ouro_kv VALUES ({}, {}, {}, {}) ON DUPLICATE KEY UPDATE "
                            "c0 = VALUES(c0), c1 = VALUES(c1), c2 = VALUES(c2)",
                            key, row[0], row[1], row[2]));
}

Answer MariaDbSession::remove(Key key) {
  Answer answer = link_->run(fmt::format("DELETE FROM ouro_kv WHERE k = {}", key));
  if (answer.ok() && link_->affected() > 0) wrote(key, {}, true);
  return answer;
}

Answer MariaDbSession::find_rows(const std::string& sql, std::vector<KeyRow>& found) {
  found.clear();
  return link_->run(sql, [&](MYSQL_ROW row) {
    found.push_back({number_of(row[0]), row_of(row + 1)});
  });
}

Answer MariaDbSession::select(const Where& where, std::vector<KeyRow>& found) {
  Answer answer = find_rows("SELECT k, c0, c1, c2 FROM ouro_kv" + where_text(where), found);
  asked(false);
  return answer;
}

Answer MariaDbSession::aggregate(AggregateKind kind, std::size_t column, const Where& where,
                                 std::optional<Number>& result) {
  result.reset();
  Answer answer = link_->run(fmt::format("SELECT {}({}) FROM ouro_kv{}", name(kind),
                                         kColumnNames[column], where_text(where)),
                             [&](MYSQL_ROW row) {
                               if (row[0] != nullptr) result = number_of(row[0]);
                             });
  asked(false);
  return answer;
}

// MariaDB's UPDATE returns no rows, so we read them first, with locks that keep them unchanged
// until the UPDATE.
Answer MariaDbSession::update_where(const Where& where, std::span<const Assignment> assignments,
                                    std::vector<RowChange>& changed) {
  changed.clear();
  std::vector<KeyRow> found;
  Answer answer =
      find_rows("SELECT k, c0, c1, c2 FROM ouro_kv" + where_text(where) + " FOR UPDATE", found);
  asked(true);
  if (!answer.ok() || found.empty()) return answer;
  answer =
      link_->run(fmt::format("UPDATE ouro_kv SET {}{}", set_text(assignments), where_text(where)));
  if (!answer.ok()) return answer;
  if (link_->affected() != found.size()) return Answer::failed("the update met other rows");
  for (const KeyRow& row : found) {
    RowChange& change = changed.emplace_back(RowChange{row.key, row.row, row.row});
    for (const Assignment& assignment : assignments) {
      change.after[assignment.column] = assignment.number;
    }
    wrote(row.key, change.after, false);
  }
  return answer;
}

Answer MariaDbSession::remove_where(const Where& where, std::vector<KeyRow>& removed) {
  Answer answer =
      find_rows("SELECT k, c0, c1, c2 FROM ouro_kv" + where_text(where) + " FOR UPDATE", removed);
  asked(true);
  if (!answer.ok() || removed.empty()) return answer;
  answer = link_->run("DELETE FROM ouro_kv" + where_text(where));
  if (!answer.ok()) return answer;
  if (link_->affected() != removed.size()) return Answer::failed("the delete met other rows");
  for (const KeyRow& row : removed) wrote(row.key, {}, true);
  return answer;
}

// TiDB's pessimistic transactions read what they lock as it is then, not as it was when they began.
void MariaDbSession::asked(bool locking) {
  if (journal_ == nullptr || order_ != MariaDbOrder::TiDb) return;
  Journal::Txn& txn = journal_->last();
  txn.asked.push_back(static_cast<std::uint32_t>(txn.writes.size()));
  txn.asked_at.push_back(kNoTimestamp);
  if (!locking || link_->lost()) return;
  (void)link_->run("SELECT @@tidb_last_query_info", [&](MYSQL_ROW row) {
    const std::int64_t at = row[0] == nullptr ? 0 : json_number(row[0], "for_update_ts");
    if (at > 0) txn.asked_at.back() = {at, 0};
  });
}

// Only a transaction that is open has a timestamp at which it began; TiDB forgets it at the end,
// and what it tells of the last transaction is about the last one that wrote.
void MariaDbSession::learn_start() {
  if (journal_ == nullptr || order_ != MariaDbOrder::TiDb) return;
  (void)link_->run("SELECT @@tidb_current_ts", [&](MYSQL_ROW row) {
    const Number start = number_of(row[0]);
    if (start > 0) trace_.start = {start, 0};
  });
  journal_->last().start = trace_.start;
}

Answer MariaDbSession::commit() {
  learn_start();
  Answer answer = link_->run("COMMIT");
  if (answer.reply == Reply::Aborted && !link_->certain()) answer.reply = Reply::Failed;
  if (journal_ != nullptr) {
    journal_->last().end = answer.ok()                      ? Journal::End::Committed
                           : answer.reply == Reply::Aborted ? Journal::End::Aborted
                                                            : Journal::End::Unknown;
    trace_.token = journal_->token();
  }
  if (answer.ok()) learn_order();
  return answer;
}

// Asks the server for the position of the transaction that was just committed. Costs a round trip,
// after the commit and before the next transaction.
void MariaDbSession::learn_order() {
  if (journal_ == nullptr || order_ == MariaDbOrder::None || !wrote_) return;
  if (order_ == MariaDbOrder::TiDb) {
    (void)link_->run("SELECT @@tidb_last_txn_info", [&](MYSQL_ROW row) {
      if (row[0] == nullptr) return;
      // If the server saw no change, it tells of an earlier transaction.
      if (json_number(row[0], "start_ts") != trace_.start.physical) return;
      trace_.commit = {json_number(row[0], "commit_ts"), 0};
    });
    journal_->last().commit = trace_.commit;
    return;
  }
  // "0-1-26723": domain, server, and the sequence number, which gives the order.
  const char* sql =
      order_ == MariaDbOrder::Galera ? "SELECT WSREP_LAST_WRITTEN_GTID()" : "SELECT @@last_gtid";
  (void)link_->run(sql, [&](MYSQL_ROW row) {
    const std::string_view gtid = row[0] == nullptr ? "" : row[0];
    const std::size_t dash = gtid.rfind('-');
    if (dash == std::string_view::npos) return;
    journal_->last().commit = {number_of(gtid.data() + dash + 1), 0};
  });
}

Answer MariaDbSession::rollback() {
  Answer answer = link_->run("ROLLBACK");
  if (journal_ != nullptr) {
    journal_->last().end = Journal::End::Aborted;
    trace_.token = journal_->token();
  }
  return answer;
}

void MariaDbSession::wrote(Key key, const Row& row, bool removed) {
  wrote_ = true;
  if (journal_ != nullptr) journal_->last().writes.push_back({key, row, removed});
}

}  // namespace ouro::db
