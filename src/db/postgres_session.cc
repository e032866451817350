#include "db/postgres_session.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "db/sql.h"

namespace ouro::db {
namespace {

template <class Integer>
Integer parse(std::string_view digits) {
  Integer value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

Row row_at(const PostgresRows& rows, std::size_t row, std::size_t first_column) {
  Row result;
  for (std::size_t c = 0; c < kColumns; ++c) result[c] = rows.number(row, first_column + c);
  return result;
}

// CockroachDB's "1630000000000000000.0000000003": nanoseconds and a counter of ten digits.
Timestamp parse_hybrid(std::string_view text) {
  const std::size_t point = std::min(text.find('.'), text.size());
  const std::string_view counter = text.substr(std::min(point + 1, text.size()));
  return {parse<std::int64_t>(text.substr(0, point)), parse<std::int64_t>(counter)};
}

}  // namespace

std::string PostgresDialect::transaction_id() const {
  if (flavour != PostgresFlavour::Postgres) return "'0'";
  return before_13 ? "txid_current()::text" : "pg_current_xact_id()::text";
}

std::string PostgresDialect::snapshot() const {
  return before_13 ? "txid_current_snapshot()::text" : "pg_current_snapshot()::text";
}

std::string PostgresDialect::status_of(std::uint64_t id) const {
  id &= (std::uint64_t{1} << kIncarnationShift) - 1;
  return before_13 ? fmt::format("SELECT txid_status({})", id)
                   : fmt::format("SELECT pg_xact_status('{}'::xid8)", id);
}

PostgresDialect PostgresDialect::make(PostgresFlavour flavour, bool before_13, const Schema& schema,
                                      const std::string& isolation) {
  PostgresDialect dialect;
  dialect.flavour = flavour;
  dialect.before_13 = before_13;
  dialect.model = schema.model;
  dialect.evidence = schema.evidence;
  dialect.begin = "BEGIN ISOLATION LEVEL " + isolation;
  dialect.begin_read_only = dialect.begin + " READ ONLY";
  if (schema.evidence && flavour == PostgresFlavour::Postgres) {
    // One round trip for both statements. At read committed the snapshot is only that of the
    // SELECT, else it is that of the whole transaction.
    for (std::string* begin : {&dialect.begin, &dialect.begin_read_only}) {
      *begin += "; SELECT " + dialect.snapshot();
    }
  }
  const std::string id = dialect.transaction_id();
  std::string columns = "v";
  std::string set = "v = $2";
  std::string overwrite = "v = EXCLUDED.v";
  std::string values = "$1, $2";
  if (schema.model == Model::Lists) {
    set = "v = v || ',' || $2::bigint::text";
    overwrite = "v = ouro_kv.v || ',' || EXCLUDED.v";
    values = "$1, $2::bigint::text";
  } else if (schema.model == Model::Rows) {
    columns = "c0, c1, c2";
    set = "c0 = $2, c1 = $3, c2 = $4";
    overwrite = "c0 = EXCLUDED.c0, c1 = EXCLUDED.c1, c2 = EXCLUDED.c2";
    values = "$1, $2, $3, $4";
  }
  dialect.read = {"read", fmt::format("SELECT {} FROM ouro_kv WHERE k = $1", columns)};
  dialect.scan = {"scan",
                  fmt::format("SELECT k, {} FROM ouro_kv WHERE k BETWEEN $1 AND $2", columns)};
  dialect.update = {"update",
                    fmt::format("UPDATE ouro_kv SET {} WHERE k = $1 RETURNING {}", set, id)};
  dialect.insert = {"insert",
                    fmt::format("INSERT INTO ouro_kv VALUES ({}) ON CONFLICT (k) DO UPDATE "
                                "SET {} RETURNING {}",
                                values, overwrite, id)};
  dialect.remove = {"remove", fmt::format("DELETE FROM ouro_kv WHERE k = $1 RETURNING {}", id)};
  return dialect;
}

PostgresSession::~PostgresSession() { end_live(Journal::End::Aborted); }

Answer PostgresSession::begin(bool read_only) {
  id_ = 0;
  trace_ = {};
  end_live(Journal::End::Aborted);
  if (live_ != nullptr) ticket_ = live_->begin();
  const std::string& sql = read_only ? dialect_.begin_read_only : dialect_.begin;
  PostgresRows rows;
  Answer answer = link_->run(sql.c_str(), &rows);
  if (journal_ == nullptr) return answer;
  Journal::Txn& txn = journal_->begin();
  if (answer.ok() && rows.get() != nullptr && rows.size() == 1) {
    auto snapshot = parse_snapshot(rows.text(0, 0));
    txn.has_snapshot = snapshot.has_value();
    if (!snapshot) return answer;
    snapshot->next += first_id_;
    for (std::uint64_t& open : snapshot->in_progress) open += first_id_;
    txn.snapshot = std::move(*snapshot);
  }
  return answer;
}

Answer PostgresSession::read(Key key, std::optional<Number>& number) {
  PostgresRows rows;
  const std::array parameters{key};
  Answer answer =
      link_->run_prepared(dialect_.read.name, dialect_.read.sql.c_str(), parameters, rows);
  number.reset();
  if (answer.ok() && rows.size() > 0) number = rows.number(0, 0);
  return answer;
}

Answer PostgresSession::read_list(Key key, std::vector<Number>& elements) {
  PostgresRows rows;
  const std::array parameters{key};
  Answer answer =
      link_->run_prepared(dialect_.read.name, dialect_.read.sql.c_str(), parameters, rows);
  elements.clear();
  if (answer.ok() && rows.size() > 0) elements = parse_list(rows.text(0, 0));
  return answer;
}

Answer PostgresSession::read_row(Key key, std::optional<Row>& row) {
  PostgresRows rows;
  const std::array parameters{key};
  Answer answer =
      link_->run_prepared(dialect_.read.name, dialect_.read.sql.c_str(), parameters, rows);
  row.reset();
  if (answer.ok() && rows.size() > 0) row = row_at(rows, 0, 0);
  return answer;
}

Answer PostgresSession::write(Key key, Number number) {
  const std::array parameters{key, number};
  return upsert(key, {number}, parameters);
}

Answer PostgresSession::write_row(Key key, const Row& row) {
  const std::array parameters{key, row[0], row[1], row[2]};
  return upsert(key, row, parameters);
}

// Tries UPDATE first, since most keys exist. INSERT … ON CONFLICT alone would do, too, but is
// slower and not what an application does to change a row.
Answer PostgresSession::upsert(Key key, const Row& row, std::span<const Number> parameters) {
  for (const PreparedSql* statement : {&dialect_.update, &dialect_.insert}) {
    PostgresRows rows;
    Answer answer = link_->run_prepared(statement->name, statement->sql.c_str(), parameters, rows);
    if (!answer.ok()) return answer;
    if (rows.size() == 0) continue;
    wrote(rows.text(0, 0), key, row, false);
    return answer;
  }
  return Answer::failed("the write changed no row");
}

Answer PostgresSession::scan(Key lower, Key upper, std::vector<KeyNumber>& found) {
  PostgresRows rows;
  const std::array parameters{lower, upper};
  Answer answer =
      link_->run_prepared(dialect_.scan.name, dialect_.scan.sql.c_str(), parameters, rows);
  found.clear();
  if (!answer.ok()) return answer;
  for (std::size_t i = 0; i < rows.size(); ++i)
    found.push_back({rows.number(i, 0), rows.number(i, 1)});
  return answer;
}

Answer PostgresSession::remove(Key key) {
  PostgresRows rows;
  const std::array parameters{key};
  Answer answer =
      link_->run_prepared(dialect_.remove.name, dialect_.remove.sql.c_str(), parameters, rows);
  if (answer.ok() && rows.size() > 0) wrote(rows.text(0, 0), key, {}, true);
  return answer;
}

Answer PostgresSession::select(const Where& where, std::vector<KeyRow>& found) {
  PostgresRows rows;
  asked();
  Answer answer = link_->run("SELECT k, c0, c1, c2 FROM ouro_kv" + where_text(where), {}, rows);
  found.clear();
  if (!answer.ok()) return answer;
  for (std::size_t i = 0; i < rows.size(); ++i)
    found.push_back({rows.number(i, 0), row_at(rows, i, 1)});
  return answer;
}

Answer PostgresSession::aggregate(AggregateKind kind, std::size_t column, const Where& where,
                                  std::optional<Number>& result) {
  PostgresRows rows;
  asked();
  const std::string sql = fmt::format("SELECT {}({})::bigint FROM ouro_kv{}", name(kind),
                                      kColumnNames[column], where_text(where));
  Answer answer = link_->run(sql, {}, rows);
  result.reset();
  if (answer.ok() && rows.size() == 1 && !rows.null(0, 0)) result = rows.number(0, 0);
  return answer;
}

// The rows are locked as they are found, so that RowChange::before is the row that was changed.
Answer PostgresSession::update_where(const Where& where, std::span<const Assignment> assignments,
                                     std::vector<RowChange>& changed) {
  PostgresRows rows;
  asked();
  const std::string sql = fmt::format(
      "WITH old AS (SELECT k, c0, c1, c2 FROM ouro_kv{} FOR UPDATE) UPDATE ouro_kv new SET {} "
      "FROM old WHERE new.k = old.k "
      "RETURNING {}, new.k, old.c0, old.c1, old.c2, new.c0, new.c1, new.c2",
      where_text(where), set_text(assignments), dialect_.transaction_id());
  Answer answer = link_->run(sql, {}, rows);
  changed.clear();
  if (!answer.ok()) return answer;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    changed.push_back({rows.number(i, 1), row_at(rows, i, 2), row_at(rows, i, 5)});
    wrote(rows.text(i, 0), changed.back().key, changed.back().after, false);
  }
  return answer;
}

Answer PostgresSession::remove_where(const Where& where, std::vector<KeyRow>& removed) {
  PostgresRows rows;
  asked();
  const std::string sql = fmt::format("DELETE FROM ouro_kv{} RETURNING {}, k, c0, c1, c2",
                                      where_text(where), dialect_.transaction_id());
  Answer answer = link_->run(sql, {}, rows);
  removed.clear();
  if (!answer.ok()) return answer;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    removed.push_back({rows.number(i, 1), row_at(rows, i, 2)});
    wrote(rows.text(i, 0), removed.back().key, {}, true);
  }
  return answer;
}

Answer PostgresSession::commit() {
  if (dialect_.evidence && dialect_.flavour == PostgresFlavour::Cockroach) {
    // Once asked for its timestamp, CockroachDB commits the transaction at that one or not at all.
    PostgresRows rows;
    if (Answer asked = link_->run("SELECT cluster_logical_timestamp()", &rows); !asked.ok()) {
      (void)rollback();
      return Answer::aborted(asked.reason);
    }
    trace_.start = trace_.commit = parse_hybrid(rows.text(0, 0));
  }
  Answer answer = link_->run("COMMIT");
  // If a statement of the transaction failed, COMMIT succeeds but rolls back; the tag is
  // "ROLLBACK".
  if (answer.ok() && link_->tag() != "COMMIT")
    answer = Answer::aborted("failed before its commit");
  else if (answer.reply == Reply::Aborted && !link_->certain())
    answer.reply = Reply::Failed;
  end(answer.ok()                      ? Journal::End::Committed
      : answer.reply == Reply::Aborted ? Journal::End::Aborted
                                       : Journal::End::Unknown);
  return answer;
}

Answer PostgresSession::rollback() {
  Answer answer = link_->run("ROLLBACK");
  end(Journal::End::Aborted);
  return answer;
}

void PostgresSession::wrote(std::string_view id, Key key, const Row& row, bool removed) {
  id_ = first_id_ + parse<std::uint64_t>(id);
  if (journal_ == nullptr) return;
  journal_->last().id = id_;
  journal_->last().writes.push_back({key, row, removed});
}

void PostgresSession::asked() {
  if (journal_ == nullptr) return;
  journal_->last().asked.push_back(static_cast<std::uint32_t>(journal_->last().writes.size()));
}

void PostgresSession::end(Journal::End how) {
  if (journal_ != nullptr) journal_->last().end = how;
  trace_.token = journal_ != nullptr ? journal_->token() : id_;
  end_live(how);
}

void PostgresSession::end_live(Journal::End how) {
  if (ticket_ == 0) return;
  const LiveOrder::Ticket ticket = std::exchange(ticket_, 0);
  const Journal::Txn* txn = how == Journal::End::Aborted ? nullptr : &journal_->last();
  if (txn == nullptr || !txn->has_snapshot) return live_->drop(ticket);
  live_->end(ticket, {.token = journal_->token(),
                      .id = txn->id,
                      .snapshot = txn->snapshot,
                      .certain = how == Journal::End::Committed});
}

}  // namespace ouro::db
