#include "tap/log_stream.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <random>

#include "db/postgres_link.h"
#include "tap/wire.h"

namespace ouro::tapping {
namespace {

struct ResultClear {
  void operator()(PGresult* result) const { PQclear(result); }
};

Error problem(const std::string& place, std::string_view what) {
  while (!what.empty() && (what.back() == '\n' || what.back() == ' ')) what.remove_suffix(1);
  return Error{.what = fmt::format("{}: {}", place, what.substr(0, what.find('\n')))};
}

// What to do about an error of the server.
std::string advice(std::string_view what) {
  if (what.find("wal_level") != what.npos) {
    return "; set wal_level = logical in postgresql.conf and restart the server";
  }
  if (what.find("replication slots are in use") != what.npos) {
    return "; raise max_replication_slots";
  }
  if (what.find("permission") != what.npos || what.find("must be") != what.npos) {
    return "; the user needs the attribute REPLICATION";
  }
  if (what.find("test_decoding") != what.npos) {
    return "; install the server's contrib package";
  }
  return "";
}

}  // namespace

Result<std::unique_ptr<LogStream>> LogStream::open(const db::Url& url, const db::Host& host,
                                                   const std::atomic<bool>& stop) {
  static std::atomic<int> count{0};
  const std::string port = host.port == 0 ? "" : std::to_string(host.port);
  std::vector<const char*> names = {"application_name", "replication", "connect_timeout"};
  std::vector<const char*> values = {"ouro tap", "database", "10"};
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
  auto stream = std::make_unique<LogStream>();
  stream->place_ = db::place_of(host);
  stream->stop_ = &stop;
  stream->connection_.reset(PQconnectdbParams(names.data(), values.data(), 0));
  if (PQstatus(stream->connection_.get()) != CONNECTION_OK) {
    return problem(stream->place_, PQerrorMessage(stream->connection_.get()));
  }
  stream->slot_ = fmt::format("ouro_tap_{}_{}_{:08x}", ::getpid(), ++count, std::random_device{}());
  Status made = stream->run(fmt::format("CREATE_REPLICATION_SLOT \"{}\" TEMPORARY LOGICAL "
                                        "test_decoding EXPORT_SNAPSHOT",
                                        stream->slot_),
                            &stream->snapshot_);
  if (!made.ok()) return made.error();
  return stream;
}

Status LogStream::start() {
  confirmed_ = std::chrono::steady_clock::now();
  Status started =
      run(fmt::format("START_REPLICATION SLOT \"{}\" LOGICAL 0/0 (\"include-xids\" '1', "
                      "\"skip-empty-xacts\" '1', \"include-timestamp\" '0')",
                      slot_));
  // A server that does not read must not keep us from ending.
  if (started.ok()) PQsetnonblocking(connection_.get(), 1);
  return started;
}

bool LogStream::await_answer() const {
  while (PQisBusy(connection_.get()) != 0) {
    if (*stop_) return false;
    pollfd watched{PQsocket(connection_.get()), POLLIN, 0};
    if (::poll(&watched, 1, 100) > 0 && PQconsumeInput(connection_.get()) == 0) break;
  }
  return true;
}

Status LogStream::run(const std::string& command, std::string* snapshot) {
  std::unique_ptr<PGresult, ResultClear> result;
  if (PQsendQuery(connection_.get(), command.c_str()) == 1) {
    // After the result of an ordinary command comes a null, after that of a stream nothing.
    do {
      if (!await_answer()) return problem(place_, "interrupted while the server was silent");
      std::unique_ptr<PGresult, ResultClear> next(PQgetResult(connection_.get()));
      if (next == nullptr) break;
      result = std::move(next);
    } while (PQresultStatus(result.get()) != PGRES_COPY_BOTH);
  }
  const ExecStatusType status = PQresultStatus(result.get());
  if (snapshot != nullptr && status == PGRES_TUPLES_OK && PQntuples(result.get()) == 1) {
    *snapshot = PQgetvalue(result.get(), 0, 2);
  }
  if (status == PGRES_TUPLES_OK || status == PGRES_COPY_BOTH || status == PGRES_COMMAND_OK) {
    return {};
  }
  Error error = problem(place_, PQerrorMessage(connection_.get()));
  error.what += advice(error.what);
  return error;
}

Status LogStream::read(std::chrono::milliseconds wait, std::vector<std::string>& lines) {
  pollfd watched{PQsocket(connection_.get()), POLLIN, 0};
  if (Status taken = take(lines); !taken.ok() || !lines.empty()) return taken;
  if (::poll(&watched, 1, static_cast<int>(wait.count())) > 0 &&
      PQconsumeInput(connection_.get()) == 0) {
    return problem(place_, PQerrorMessage(connection_.get()));
  }
  if (Status taken = take(lines); !taken.ok()) return taken;
  constexpr std::chrono::seconds kOften(2);
  if (std::chrono::steady_clock::now() - confirmed_ > kOften) return confirm();
  return {};
}

Status LogStream::take(std::vector<std::string>& lines) {
  for (;;) {
    char* bytes = nullptr;
    const int size = PQgetCopyData(connection_.get(), &bytes, 1);
    if (size == 0) return {};
    if (size < 0) return problem(place_, "the server ended the stream of its log");
    Body body(std::string_view(bytes, static_cast<std::size_t>(size)));
    const char kind = body.byte();
    const auto high = static_cast<std::uint32_t>(body.int32());
    const auto low = static_cast<std::uint32_t>(body.int32());
    position_ = std::max(position_, static_cast<std::int64_t>(std::uint64_t{high} << 32 | low));
    if (kind == 'w') {
      constexpr int kHead = 1 + 8 + 8 + 8;
      if (size > kHead) lines.emplace_back(bytes + kHead, static_cast<std::size_t>(size - kHead));
    }
    PQfreemem(bytes);
    if (kind == 'k') {
      if (Status confirmed = confirm(); !confirmed.ok()) return confirmed;
    }
  }
}

// Tells the server what has come, so that it keeps no log for us and knows that we live.
Status LogStream::confirm() {
  confirmed_ = std::chrono::steady_clock::now();
  std::string message = "r";
  for (int i = 0; i < 3; ++i) put_int64(message, position_);
  put_int64(message, 0);
  message += '\0';
  // If the server reads nothing at present, it is told later.
  const bool sent =
      PQputCopyData(connection_.get(), message.data(), static_cast<int>(message.size())) >= 0 &&
      PQflush(connection_.get()) >= 0;
  if (!sent) return problem(place_, PQerrorMessage(connection_.get()));
  return {};
}

}  // namespace ouro::tapping
