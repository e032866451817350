#include "db/postgres_link.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace ouro::db {
namespace {

// Numbers as the text that libpq wants.
struct Parameters {
  std::vector<std::array<char, 24>> texts;
  std::vector<const char*> pointers;

  explicit Parameters(std::span<const Number> numbers) : texts(numbers.size()) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      std::array<char, 24>& text = texts[i];
      *std::to_chars(text.data(), text.data() + text.size() - 1, numbers[i]).ptr = 0;
      pointers.push_back(text.data());
    }
  }
  [[nodiscard]] int count() const { return static_cast<int>(pointers.size()); }
};

std::string first_line(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  return std::string(text.substr(0, text.find('\n')));
}

std::string_view field(const PGresult* result, int which) {
  const char* text = PQresultErrorField(result, which);
  return text == nullptr ? std::string_view{} : text;
}

}  // namespace

Number PostgresRows::number(std::size_t row, std::size_t column) const {
  const std::string_view digits = text(row, column);
  Number value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

std::string place_of(const Host& host) {
  const std::string name = host.name.empty() ? "localhost" : host.name;
  return host.port == 0 ? name : fmt::format("{}:{}", name, host.port);
}

namespace {

// Connects as far as it goes; false if the waiting was over before.
bool shake_hands(PGconn* connection, const Waiting& connecting) {
  PostgresPollingStatusType wanted = PGRES_POLLING_WRITING;
  while (wanted == PGRES_POLLING_READING || wanted == PGRES_POLLING_WRITING) {
    if (PQstatus(connection) == CONNECTION_BAD) return true;
    const short events = wanted == PGRES_POLLING_READING ? POLLIN : POLLOUT;
    if (wait_for_socket(PQsocket(connection), events, connecting) == 0) return false;
    wanted = PQconnectPoll(connection);
  }
  return true;
}

}  // namespace

Result<std::unique_ptr<PostgresLink>> PostgresLink::open(const Url& url, const Host& host,
                                                         std::chrono::milliseconds patience,
                                                         const Waiting& connecting) {
  const std::string port = host.port == 0 ? "" : std::to_string(host.port);
  std::vector<const char*> names = {"application_name"};
  std::vector<const char*> values = {"ouro"};
  const auto give = [&](const char* name, const std::string& value) {
    if (value.empty()) return;
    names.push_back(name);
    values.push_back(value.c_str());
  };
  give("host", host.name);
  give("port", port);
  give("user", url.user);
  give("password", url.password);
  give("dbname", url.path);
  names.push_back(nullptr);
  values.push_back(nullptr);
  auto link = std::make_unique<PostgresLink>();
  link->patience_ = patience;
  link->connection_.reset(PQconnectStartParams(names.data(), values.data(), 0));
  PGconn* connection = link->connection_.get();
  if (connection != nullptr && !shake_hands(connection, connecting)) {
    return Error{.what = fmt::format("{}: {}", place_of(host), connecting.reason())};
  }
  if (connection == nullptr || PQstatus(connection) != CONNECTION_OK) {
    return Error{.what =
                     fmt::format("{}: {}", place_of(host),
                                 connection == nullptr ? "out of memory"
                                                       : first_line(PQerrorMessage(connection)))};
  }
  PQsetnonblocking(connection, 1);
  PQsetNoticeProcessor(
      connection, [](void*, const char*) {}, nullptr);
  return link;
}

Answer PostgresLink::run(const char* sql, PostgresRows* rows) {
  if (lost_) return Answer::lost("connection lost");
  return answer(PQsendQuery(connection_.get(), sql) == 1, rows);
}

Answer PostgresLink::run(const std::string& sql, std::span<const Number> parameters,
                         PostgresRows& rows) {
  if (lost_) return Answer::lost("connection lost");
  const Parameters given(parameters);
  return answer(PQsendQueryParams(connection_.get(), sql.c_str(), given.count(), nullptr,
                                  given.pointers.data(), nullptr, nullptr, 0) == 1,
                &rows);
}

Answer PostgresLink::run_prepared(const char* name, const char* sql,
                                  std::span<const Number> parameters, PostgresRows& rows) {
  if (lost_) return Answer::lost("connection lost");
  if (std::find(prepared_.begin(), prepared_.end(), name) == prepared_.end()) {
    Answer prepared = answer(PQsendPrepare(connection_.get(), name, sql, 0, nullptr) == 1, nullptr);
    if (!prepared.ok()) return prepared;
    prepared_.push_back(name);
  }
  const Parameters given(parameters);
  return answer(PQsendQueryPrepared(connection_.get(), name, given.count(), given.pointers.data(),
                                    nullptr, nullptr, 0) == 1,
                &rows);
}

// Waits for all results of what was sent. Answers with the first error: the server skips the
// statements after it.
Answer PostgresLink::answer(bool sent, PostgresRows* rows) {
  certain_ = false;
  tag_.clear();
  if (!sent) return lose(first_line(PQerrorMessage(connection_.get())));
  const Waiting waiting{Clock::now() + patience_, stop_};
  Answer first;
  for (;;) {
    if (auto failed = wait(waiting)) return *failed;
    PostgresRows result(PQgetResult(connection_.get()));
    if (result.get() == nullptr) break;
    const ExecStatusType status = PQresultStatus(result.get());
    if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) {
      tag_ = PQcmdStatus(result.get());
      if (status == PGRES_TUPLES_OK && rows != nullptr) *rows = std::move(result);
    } else if (first.ok()) {
      first = explain(result.get());
    }
    if (lost_) return first;
  }
  return first;
}

// Waits until PQgetResult() would not block. Returns nothing then, or Lost if the connection broke
// or the waiting was over.
std::optional<Answer> PostgresLink::wait(const Waiting& waiting) {
  PGconn* connection = connection_.get();
  for (;;) {
    const int unsent = PQflush(connection);
    if (unsent < 0) return lose("connection lost");
    if (unsent == 0 && PQisBusy(connection) == 0) return std::nullopt;
    const auto events = static_cast<short>(unsent > 0 ? POLLIN | POLLOUT : POLLIN);
    const short ready = wait_for_socket(PQsocket(connection), events, waiting);
    if (ready == 0) return lose(stop_ != nullptr && *stop_ ? "interrupted" : "no answer in time");
    if ((ready & ~POLLOUT) != 0 && PQconsumeInput(connection) == 0) {
      return lose("connection lost");
    }
  }
}

Answer PostgresLink::lose(std::string reason) {
  lost_ = true;
  connection_.reset();  // Now, not later: it makes the server roll back an open transaction.
  return Answer::lost(std::move(reason));
}

// Turns an error into an answer. An error ends the transaction on the server, so any statement but
// COMMIT that failed leaves no effect. Whether a failed COMMIT leaves none depends on the error:
// see certain().
Answer PostgresLink::explain(const PGresult* result) {
  const std::string_view code = field(result, PG_DIAG_SQLSTATE);
  const std::string_view severity = field(result, PG_DIAG_SEVERITY_NONLOCALIZED);
  if (code.empty() || severity == "FATAL" || severity == "PANIC") {
    return lose(code.empty() ? "connection lost" : fmt::format("connection closed ({})", code));
  }
  struct Known {
    std::string_view code;
    const char* reason;
  };
  constexpr std::array<Known, 6> known = {{{"40001", "serialization failure"},
                                           {"40P01", "deadlock"},
                                           {"40002", "constraint at commit"},
                                           {"55P03", "lock timeout"},
                                           {"57014", "statement timeout"},
                                           {"23505", "duplicate key"}}};
  for (const Known& error : known) {
    if (error.code != code) continue;
    certain_ = code.starts_with("40");
    return Answer::aborted(error.reason);
  }
  return Answer::failed(fmt::format("{} ({})", field(result, PG_DIAG_MESSAGE_PRIMARY), code));
}

}  // namespace ouro::db
