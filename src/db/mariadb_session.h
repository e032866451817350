// Transactions on one connection to MariaDB, for mariadb.cc.
#pragma once

#include <mysql.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "db/database.h"
#include "db/journal.h"
#include "db/url.h"
#include "db/wait_socket.h"

namespace ouro::db {

// How the server tells the order of commits.
enum class MariaDbOrder : std::uint8_t {
  None,    // It does not.
  Binlog,  // MariaDB's @@last_gtid.
  Galera,  // WSREP_LAST_WRITTEN_GTID(), whose numbers are the same on all nodes.
  TiDb,    // @@tidb_current_ts and @@tidb_last_txn_info: the timestamps of start and commit.
};

// One connection to a server: statements in, rows out.
class MariaDbLink {
 public:
  using Rows = std::unique_ptr<MYSQL_RES, void (*)(MYSQL_RES*)>;

  static Result<std::unique_ptr<MariaDbLink>> open(const Url& url, const Host& host,
                                                   std::chrono::milliseconds patience,
                                                   const Waiting& connecting);

  // Runs one statement. If no answer comes within the patience, the connection is lost.
  Answer run(const std::string& sql);
  // The same for a statement that returns rows: calls visit(row) for each. A row is an array of
  // texts; a null column is a null pointer.
  template <class Visit>
  Answer run(const std::string& sql, const Visit& visit) {
    Answer answer = run(sql);
    for (MYSQL_ROW row = nullptr; answer.ok() && (row = next()) != nullptr;) visit(row);
    rows_.reset();
    return answer;
  }
  // How many rows the last statement matched, whether or not it changed them.
  [[nodiscard]] std::uint64_t affected() const { return affected_; }
  [[nodiscard]] bool lost() const { return lost_; }
  // The thread of the server that serves this connection.
  [[nodiscard]] std::uint64_t server_thread() const { return mysql_thread_id(connection_.get()); }
  // Whether the last statement's error leaves no doubt that the transaction has no effect, even if
  // the statement was COMMIT.
  [[nodiscard]] bool certain() const { return certain_; }

 private:
  struct Close {
    void operator()(MYSQL* connection) const { mysql_close(connection); }
  };
  MYSQL_ROW next() { return rows_ == nullptr ? nullptr : mysql_fetch_row(rows_.get()); }
  // Turns the error of the last statement into an answer, and sets lost_ and certain_.
  Answer explain();

  std::unique_ptr<MYSQL, Close> connection_;
  Rows rows_{nullptr, mysql_free_result};
  std::uint64_t affected_ = 0;
  bool lost_ = false;
  bool certain_ = false;
};

class MariaDbSession final : public Connection {
 public:
  // `journal` is null unless evidence is collected; it must outlive this object.
  MariaDbSession(std::unique_ptr<MariaDbLink> link, Model model, MariaDbOrder order,
                 Journal* journal)
      : link_(std::move(link)),
        model_(model),
        order_(order),
        journal_(journal),
        handle_(link_->server_thread()) {}

  Answer begin(bool read_only) override;
  Answer read(Key key, std::optional<Number>& number) override;
  Answer write(Key key, Number number) override;
  Answer scan(Key lower, Key upper, std::vector<KeyNumber>& found) override;
  Answer read_list(Key key, std::vector<Number>& elements) override;
  Answer append(Key key, Number element) override;
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
  Answer upsert(Key key, const Row& row, const std::string& update, const std::string& insert);
  Answer find_rows(const std::string& sql, std::vector<KeyRow>& found);
  void wrote(Key key, const Row& row, bool removed);
  // Notes that a predicate read was answered, by a statement that locked what it read or not.
  void asked(bool locking);
  void learn_start();
  void learn_order();

  std::unique_ptr<MariaDbLink> link_;
  Model model_;
  MariaDbOrder order_;
  Journal* journal_;
  bool wrote_ = false;  // Whether the open transaction has written.
  Trace trace_;
  const std::uint64_t handle_;
};

}  // namespace ouro::db
