// One connection to a PostgreSQL server: statements in, rows out, nothing ever waits longer than
// its patience.
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

namespace ouro::db {

struct ResultClose {
  void operator()(PGresult* result) const { PQclear(result); }
};
// The rows of one statement.
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
  // Zero if it is no number.
  [[nodiscard]] Number number(std::size_t row, std::size_t column) const;
  [[nodiscard]] PGresult* get() const { return result_.get(); }

 private:
  std::unique_ptr<PGresult, ResultClose> result_;
};

class PostgresLink {
 public:
  static Result<std::unique_ptr<PostgresLink>> open(const Url& url, const Host& host,
                                                    std::chrono::milliseconds patience);

  // Runs `sql`, which may be several statements; `rows` are those of the last one that has any.
  Answer run(const char* sql, PostgresRows* rows = nullptr);
  // Runs one statement with numbers for $1, $2 …
  Answer run(const std::string& sql, std::span<const Number> parameters, PostgresRows& rows);
  // The same, prepared at its first use. `name` stands for `sql`.
  Answer run_prepared(const char* name, const char* sql, std::span<const Number> parameters,
                      PostgresRows& rows);

  // What the last statement did: "COMMIT", "UPDATE 1".
  [[nodiscard]] const std::string& tag() const { return tag_; }
  // Whether the last statement's error leaves no doubt that the transaction has no effect, even if
  // the statement was COMMIT.
  [[nodiscard]] bool certain() const { return certain_; }
  [[nodiscard]] int version() const { return PQserverVersion(connection_.get()); }
  [[nodiscard]] bool lost() const { return lost_; }

 private:
  struct Finish {
    void operator()(PGconn* connection) const { PQfinish(connection); }
  };
  using Clock = std::chrono::steady_clock;

  Answer answer(bool sent, PostgresRows* rows);
  std::optional<Answer> wait(Clock::time_point deadline);
  Answer explain(const PGresult* result);
  Answer lose(std::string reason);

  std::unique_ptr<PGconn, Finish> connection_;
  std::chrono::milliseconds patience_{0};
  std::vector<const char*> prepared_;
  std::string tag_;
  bool certain_ = false;
  bool lost_ = false;
};

// What a URL means to libpq: for messages.
[[nodiscard]] std::string place_of(const Host& host);

}  // namespace ouro::db
