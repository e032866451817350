#include "tap/recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "tap/load.h"

namespace ouro::tapping {
namespace {

using namespace std::chrono_literals;

constexpr auto kPollEvery = 50ms;
constexpr Nanos kPushAfter = 200'000'000;
constexpr Nanos kSilence = 5'000'000'000;  // So long, in the end, an answer is waited for.
// How often what was recorded is placed, at most; and how many times longer than the catalog takes
// to load, since it is loaded each time.
constexpr Nanos kSettleEvery = 100'000'000;
constexpr Nanos kLoadShare = 10;

Error recorder_error(std::string what) {
  Error error;
  error.what = std::move(what);
  return error;
}

}  // namespace

Recorder::~Recorder() { finish(); }

Result<std::unique_ptr<Recorder>> Recorder::open(const db::Url& url, Assembler::Options options,
                                                 const std::string& load, Ledger& ledger,
                                                 Receiver& output, const std::atomic<bool>& stop) {
  auto recorder = std::unique_ptr<Recorder>(new Recorder(url, options, ledger, output));
  auto control = db::PostgresLink::open(url, url.hosts[0], 30s, db::waiting_to_connect(30s, &stop));
  if (!control.ok()) return recorder_error(fmt::format("{}: {}", url.text, control.error().what));
  recorder->control_ = std::move(*control);
  recorder->control_->heed(&stop);
  if (Status looked = recorder->look_around(); !looked.ok()) return looked.error();
  // The catalog first: it is compared with later ones, so that no change of a table is missed.
  if (Status loaded = recorder->load_catalog(); !loaded.ok()) return loaded.error();
  auto log = LogStream::open(url, url.hosts[0], stop);
  if (!log.ok()) return recorder_error(fmt::format("{}: {}", url.text, log.error().what));
  recorder->log_ = std::move(*log);
  if (!load.empty()) {
    const auto rows = load_tables(*recorder->control_, recorder->log_->snapshot(),
                                  *recorder->catalog_, load, recorder->assembler_);
    if (!rows.ok()) return recorder_error(fmt::format("{}: {}", url.text, rows.error().what));
    recorder->rows_loaded_ = *rows;
    // What clients read and what the log has must both be told as of tables that are loaded.
    if (Status again = recorder->load_catalog(); !again.ok()) return again.error();
  }
  if (Status started = recorder->log_->start(); !started.ok()) {
    return recorder_error(fmt::format("{}: {}", url.text, started.error().what));
  }
  if (Status polled = recorder->poll(); !polled.ok()) return polled.error();
  recorder->control_->heed(&recorder->giving_up_);
  return recorder;
}

Status Recorder::ask(const std::string& sql, db::PostgresRows& rows) {
  const db::Answer answer = control_->run(sql.c_str(), &rows);
  if (giving_up_ && !answer.ok()) return recorder_error(url_.text + ": the server is silent");
  if (!answer.ok()) return recorder_error(fmt::format("{}: {}", url_.text, answer.reason));
  heard_ = now();
  return {};
}

Status Recorder::look_around() {
  db::PostgresRows rows;
  Status asked =
      ask("SELECT version(), pg_is_in_recovery(), current_setting('server_encoding'), "
          "current_setting('wal_level')",
          rows);
  if (!asked.ok()) return asked;
  const std::string banner(rows.text(0, 0));
  if (!banner.starts_with("PostgreSQL ") || control_->version() < 130000) {
    return recorder_error(url_.text + ": this is not PostgreSQL 13 or later, but " + banner);
  }
  server_ = banner.substr(0, banner.find(' ', std::string_view("PostgreSQL ").size()));
  if (rows.text(0, 1) == "t") {
    return recorder_error(url_.text +
                          ": this server is a standby; its snapshots do not tell "
                          "which transactions were under way. Name the primary");
  }
  if (rows.text(0, 2) != "UTF8") {
    return recorder_error(
        fmt::format("{}: the database's encoding is {}, not UTF8", url_.text, rows.text(0, 2)));
  }
  if (rows.text(0, 3) != "logical") {
    return recorder_error(
        fmt::format("{}: wal_level is {}; set wal_level = logical in "
                    "postgresql.conf and restart the server",
                    url_.text, rows.text(0, 3)));
  }
  // The slot's messages are sent once they are flushed; the texts of values must not depend on
  // settings of the database.
  return ask("SET synchronous_commit = on; SET statement_timeout = 0; SET lock_timeout = 0", rows);
}

Status Recorder::load_catalog() {
  const Nanos begin = now();
  db::PostgresRows rows;
  if (Status asked = ask(Catalog::query(), rows); !asked.ok()) return asked;
  auto catalog = std::make_shared<Catalog>();
  std::vector<Oid> loaded;
  constexpr std::size_t kColumns = 11;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<std::string> row;
    for (std::size_t column = 0; column < kColumns; ++column) {
      row.emplace_back(rows.text(i, column));
    }
    catalog->add(row);
  }
  for (const auto& [oid, table] : catalog->tables()) {
    if (assembler_.loaded(oid)) loaded.push_back(oid);
  }
  for (const Oid oid : loaded) catalog->set_loaded(oid);
  catalog_ = std::move(catalog);
  ledger_.set_catalog(catalog_);
  const Nanos end = now();
  assembler_.set_catalog(catalog_, end);
  next_settling_ = end + std::max(kSettleEvery, (end - begin) * kLoadShare);
  return {};
}

// Takes a snapshot, and leaves a mark behind it in the log: what the snapshot sees is before that.
Status Recorder::poll() {
  const Nanos time = now();
  // A mark that is not part of a transaction costs no transaction id, but an idle server takes its
  // time to write it.
  const bool push = !unsettled_.empty() && unsettled_.front().second.sent < time - kPushAfter &&
                    pushed_ < time - kPushAfter;
  if (push) pushed_ = time;
  db::PostgresRows rows;
  Poll poll;
  poll.sent = now();
  Status asked = ask(fmt::format("SELECT pg_current_snapshot()::text, "
                                 "pg_logical_emit_message({}, '{}', '{}')::text",
                                 push, prefix_, polls_ + 1),
                     rows);
  poll.received = now();
  if (!asked.ok()) return asked;
  auto snapshot = db::parse_snapshot(rows.text(0, 0));
  if (!snapshot) return recorder_error(url_.text + ": a snapshot that cannot be read");
  poll.snapshot = *std::move(snapshot);
  near_ = poll.snapshot.next;
  unsettled_.emplace_back(++polls_, std::move(poll));
  return {};
}

// The log has the lower 32 bits of ids.
std::uint64_t Recorder::whole_id(std::uint32_t id) const {
  constexpr std::uint64_t kEpoch = std::uint64_t{1} << 32;
  std::uint64_t whole = (near_ & ~(kEpoch - 1)) | id;
  if (whole > near_ + kEpoch / 2 && whole >= kEpoch) whole -= kEpoch;
  if (whole + kEpoch / 2 < near_) whole += kEpoch;
  return whole;
}

Status Recorder::take_line(const std::string& line) {
  auto decoded = parse_decoded(line);
  if (!decoded) {
    return recorder_error("a line of the log cannot be read: " + line.substr(0, 200));
  }
  switch (decoded->kind) {
    case Decoded::Kind::Begin:
      open_txn_ = {whole_id(decoded->txn), {}};
      break;
    case Decoded::Kind::Commit:
      if (!open_txn_.changes.empty()) assembler_.add(std::exchange(open_txn_, {}));
      break;
    case Decoded::Kind::Message: {
      if (!decoded->message.starts_with(prefix_ + ' ')) break;
      const std::string_view digits = std::string_view(decoded->message).substr(prefix_.size() + 1);
      std::uint64_t number = 0;
      std::from_chars(digits.data(), digits.data() + digits.size(), number);
      settled_ = std::max(settled_, number);
      break;
    }
    default:
      open_txn_.changes.push_back(*std::move(decoded));
      break;
  }
  return {};
}

Status Recorder::read_log(std::chrono::milliseconds wait) {
  std::vector<std::string> lines;
  if (Status read = log_->read(wait, lines); !read.ok()) return read;
  for (const std::string& line : lines) {
    if (Status taken = take_line(line); !taken.ok()) return taken;
  }
  return {};
}

Status Recorder::step(std::chrono::milliseconds wait) {
  if (Status read = read_log(wait); !read.ok()) return read;
  const bool fresh = !unsettled_.empty() && unsettled_.front().first <= settled_;
  return fresh && now() >= next_settling_ ? settle() : Status();
}

// The log does not tell when a table was altered. So the catalog is loaded after all snapshots that
// what is placed now goes by, and compared with the one before; nothing is told of a table that
// changed in between.
Status Recorder::settle() {
  while (!unsettled_.empty() && unsettled_.front().first <= settled_) {
    assembler_.add(std::move(unsettled_.front().second));
    unsettled_.pop_front();
  }
  Ledger::Taken taken = ledger_.take();
  const bool idle = taken.finished.empty() && !assembler_.waits();
  if (ledger_.catalog_is_wanted() || !idle) {
    if (Status loaded = load_catalog(); !loaded.ok()) return loaded;
  }
  assembler_.settle(std::move(taken), now());
  output_.settled();
  return {};
}

void Recorder::start() {
  thread_ = std::thread([this] {
    run();
    ended_ = true;
  });
}

void Recorder::run() {
  auto next = std::chrono::steady_clock::now();
  Status status;
  while (status.ok() && !finishing_) {
    const auto time = std::chrono::steady_clock::now();
    if (time >= next) {
      status = poll();
      next = std::max(next + kPollEvery, time);
    }
    if (!status.ok()) break;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        next - std::chrono::steady_clock::now());
    status = step(std::clamp(left, 0ms, std::chrono::milliseconds(kPollEvery)));
  }
  if (status.ok()) status = end();
  if (status.ok()) return;
  problem_ = status.error().what;
  output_.undecided("recording ended early: " + problem_);
  ledger_.stop();
  log_.reset();  // Else the server would keep its log for us.
}

// Waits for a snapshot that was taken after all that clients did.
Status Recorder::end() {
  if (Status polled = poll(); !polled.ok()) return polled;
  const std::uint64_t last = polls_;
  const auto deadline = std::chrono::steady_clock::now() + 30s;
  while (settled_ < last) {
    if (giving_up_) return recorder_error(url_.text + ": the server is silent");
    if (std::chrono::steady_clock::now() > deadline) {
      return recorder_error(url_.text + ": the server's log does not arrive");
    }
    if (Status polled = poll(); !polled.ok()) return polled;
    if (Status stepped = step(50ms); !stepped.ok()) return stepped;
  }
  return settle();
}

void Recorder::finish() {
  finishing_ = true;
  if (!thread_.joinable()) return;
  const Nanos begin = now();
  while (!ended_) {
    if (now() - std::max(begin, heard_.load()) > kSilence) giving_up_ = true;
    std::this_thread::sleep_for(10ms);
  }
  thread_.join();
}

}  // namespace ouro::tapping
