// Transactions on one connection to PostgreSQL, for postgres.cc.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "db/database.h"
#include "db/journal.h"
#include "db/live_order.h"
#include "db/postgres_link.h"

namespace ouro::db {

// The databases that speak the protocol. They differ in what they reveal about the order of
// commits.
enum class PostgresFlavour : std::uint8_t { Postgres, Cockroach, Other };

// A server that crashed may use the number of a transaction again if that had left no trace in the
// log. So our ids have the number of restarts above the bits of the server's number: ids are
// unique and in order across restarts, too.
inline constexpr int kIncarnationShift = 48;

struct PreparedSql {
  const char* name = "";
  std::string sql;
};

// The SQL of one run, which all connections share.
struct PostgresDialect {
  PostgresFlavour flavour = PostgresFlavour::Other;
  bool before_13 = false;  // The functions for transaction numbers and snapshots had other names.
  Model model = Model::Registers;
  bool evidence = false;
  std::string begin;            // For transactions that may write.
  std::string begin_read_only;  // For transactions that promised not to write.
  PreparedSql read, scan, update, insert, remove;

  // `isolation` is as SQL writes it: "REPEATABLE READ".
  static PostgresDialect make(PostgresFlavour flavour, bool before_13, const Schema& schema,
                              const std::string& isolation);
  // Expressions for the number of the transaction, "0" for a database that has none, and for its
  // snapshot; both are texts. status_of() is the query for how transaction `id` ended.
  [[nodiscard]] std::string transaction_id() const;
  [[nodiscard]] std::string snapshot() const;
  [[nodiscard]] std::string status_of(std::uint64_t id) const;
};

class PostgresSession final : public Connection {
 public:
  // `incarnation` is the number of restarts so far. `journal` is null unless evidence is collected;
  // so is `live` unless that is wanted while the run goes on. What they refer to must outlive this
  // object.
  PostgresSession(std::unique_ptr<PostgresLink> link, const PostgresDialect& dialect,
                  std::uint64_t incarnation, Journal* journal, LiveOrder* live)
      : link_(std::move(link)),
        dialect_(dialect),
        first_id_(incarnation << kIncarnationShift),
        journal_(journal),
        live_(live),
        handle_(static_cast<std::uint64_t>(link_->server_process())) {}

  ~PostgresSession() override;

  Answer begin(bool read_only) override;
  Answer read(Key key, std::optional<Number>& number) override;
  Answer write(Key key, Number number) override;
  Answer scan(Key lower, Key upper, std::vector<KeyNumber>& found) override;
  Answer read_list(Key key, std::vector<Number>& elements) override;
  Answer append(Key key, Number element) override { return write(key, element); }
  Answer read_row(Key key, std::optional<Row>& row) override;
  Answer write_row(Key key, const Row& row) override;
  Answer select(const Where& where, std::vector<KeyRow>& found) override;
  Answer aggregate(AggregateKind kind, std::size_t column, const Where& where,
                   std::optional<Number>& result) override;
  Answer update_where(const Where& where, std::span<const Assignment> assignments,
                      std::vector<RowChange>& changed) override;
  Answer remove_where(const Where& where, std::vector<KeyRow>& removed) override;
  Answer remove(Key key) override;
  Answer commit() override;
  Answer rollback() override;
  Trace trace() override { return trace_; }
  std::uint64_t handle() const override { return handle_; }

 private:
  Answer upsert(Key key, const Row& row, std::span<const Number> parameters);
  // Notes a write, a predicate read, or the end of the transaction in the journal, if there is one.
  void wrote(std::string_view id, Key key, const Row& row, bool removed);
  void asked();
  void end(Journal::End how);
  void end_live(Journal::End how);

  std::unique_ptr<PostgresLink> link_;
  const PostgresDialect& dialect_;
  std::uint64_t first_id_;  // Added to the server's numbers; see kIncarnationShift.
  Journal* journal_;
  LiveOrder* live_;
  LiveOrder::Ticket ticket_ = 0;  // Of the open transaction, if there is live_; else zero.
  std::uint64_t id_ = 0;  // Of the open transaction; zero until it wrote.
  Trace trace_;
  const std::uint64_t handle_;
};

}  // namespace ouro::db
