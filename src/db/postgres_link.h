// One connection to a PostgreSQL server: statements in, rows out. A statement that is not answered
// within the patience closes the connection.
#pragma once

#include <libpq-fe.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "db/database.h"
#include "db/url.h"
#include "db/wait_socket.h"

namespace ouro::db {

struct ResultClose {
  void operator()(PGresult* result) const { PQclear(result); }
};
// The rows that one statement returned.
class PostgresRows {
 public:
  PostgresRows() = default;
  explicit PostgresRows(PGresult* result) : result_(result) {}

  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(PQntuples(get())); }
  [[nodiscard]] bool null(std::size_t row, std::size_t column) const {
    return PQgetisnull(get(), static_cast<int>(row), static_cast<int>(column)) != 0;
  }
  [[nodiscard]] std::string_view text(std::size_t row, std::size_t column) const {
    return PQgetvalue(get(), static_cast<int>(row), static_cast<int>(column));
  }
  // The text as a number; zero if it is none.
  [[nodiscard]] Number number(std::size_t row, std::size_t column) const;
  [[nodiscard]] PGresult* get() const { return result_.get(); }

 private:
  std::unique_ptr<PGresult, ResultClose> result_;
};

class PostgresLink {
 public:
  // `patience`: how long each answer may take. The error is also that connecting was over.
  static Result<std::unique_ptr<PostgresLink>> open(const Url& url, const Host& host,
                                                    std::chrono::milliseconds patience,
                                                    const Waiting& connecting);
  // From now on, `stop` turning true loses the connection while it waits for an answer. Null:
  // nothing does.
  void heed(const std::atomic<bool>* stop) { stop_ = stop; }

  // Runs `sql`, which may be several statements. `rows` gets the rows of the last statement that
  // returns any.
  Answer run(const char* sql, PostgresRows* rows = nullptr);
  // Runs one statement with `parameters` for $1, $2 …; at most 16.
  Answer run(const std::string& sql, std::span<const Number> parameters, PostgresRows& rows);
  // The same, but `sql` is prepared under `name` at its first use. REQUIRES: a name is always used
  // with the same `sql` and is the same pointer each time.
  Answer run_prepared(const char* name, const char* sql, std::span<const Number> parameters,
                      PostgresRows& rows);

  // What the server says that the last statement did: "COMMIT", "UPDATE 1".
  [[nodiscard]] const std::string& tag() const { return tag_; }
  // Whether the last statement's error leaves no doubt that the transaction has no effect, even if
  // the statement was COMMIT.
  [[nodiscard]] bool certain() const { return certain_; }
  // 130004 for 13.4.
  [[nodiscard]] int version() const { return PQserverVersion(connection_.get()); }
  [[nodiscard]] bool lost() const { return lost_; }
  // The process of the server that serves this connection.
  [[nodiscard]] int server_process() const { return PQbackendPID(connection_.get()); }

 private:
  struct Finish {
    void operator()(PGconn* connection) const { PQfinish(connection); }
  };
  using Clock = std::chrono::steady_clock;

  Answer answer(bool sent, PostgresRows* rows);
  std::optional<Answer> wait(const Waiting& waiting);
  Answer explain(const PGresult* result);
  Answer lose(std::string reason);

  std::unique_ptr<PGconn, Finish> connection_;
  std::chrono::milliseconds patience_{0};
  const std::atomic<bool>* stop_ = nullptr;
  std::vector<const char*> prepared_;  // The names of the statements that were prepared.
  std::string tag_;
  bool certain_ = false;
  bool lost_ = false;
};

// "db1:5432", for messages; "localhost" if the host has no name.
[[nodiscard]] std::string place_of(const Host& host);

}  // namespace ouro::db
