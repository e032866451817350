// Databases reached by a program that speaks our protocol (docs/drivers.md): "exec:COMMAND".
//
// The program is started when the database is opened, because only its hello says what the database
// promises and can do. If it can serve several clients (ability "threads"), it is the only process;
// otherwise each connection starts the command once more.
//
// What goes wrong with the process must never make a wrong history. A time-out, the end of the
// process and nonsense all end the connection. Before a commit was asked for, the transaction is
// aborted, since only a request can commit it; after that it is unknown.

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <set>

#include "base/printable.h"
#include "base/temporary_folder.h"
#include "base/utf8.h"
#include "db/exec_child.h"
#include "db/exec_protocol.h"
#include "db/has_logs.h"
#include "db/registry.h"

namespace ouro::db {
namespace {

using Heard = ExecChild::Heard;
using Node = JsonTree::Node;

struct ExecSettings {
  std::string command;
  ExecHello hello;
  ExecIsolation isolation;
  std::chrono::milliseconds patience{10'000};
};

// What went wrong with all connections; for the user, after the run.
class ExecTroubles {
 public:
  // An answer breaks the protocol.
  void add_nonsense(const std::string& what) {
    const std::lock_guard lock(mutex_);
    if (nonsense_++ == 0) first_ = what;
  }
  // A transaction that wrote may have committed, and nobody knows when.
  void add_unplaced() { ++unplaced_; }
  // Timestamps that no database can mean, so that none of this driver's can be believed.
  void add_wrong_times() { wrong_times_ = true; }

  [[nodiscard]] std::uint64_t unplaced() const { return unplaced_; }
  [[nodiscard]] bool wrong_times() const { return wrong_times_; }
  [[nodiscard]] Status nonsense(const std::string& command) const {
    const std::lock_guard lock(mutex_);
    if (nonsense_ == 0) return {};
    return Error{.what = fmt::format("exec:{}: {} answer{} broke the protocol; the first: {}",
                                     command, nonsense_, nonsense_ == 1 ? "" : "s", first_)};
  }

 private:
  std::atomic<std::uint64_t> unplaced_{0};
  std::atomic<bool> wrong_times_{false};
  mutable std::mutex mutex_;  // Guards all members below.
  std::uint64_t nonsense_ = 0;
  std::string first_;
};

std::string exec_time(Timestamp timestamp) {
  return timestamp.logical == 0 ? fmt::format("{}", timestamp.physical)
                                : fmt::format("[{},{}]", timestamp.physical, timestamp.logical);
}

// When the transactions of all connections committed, by the timestamps that the driver gave. Two
// writers of one key cannot share one, since nobody could say whose version is the newer.
class ExecCommits {
 public:
  // Notes that a transaction committed which wrote `keys`. Returns one of them that another
  // transaction wrote at the same time; nothing if there is none.
  std::optional<Key> add(const std::vector<Key>& keys, Timestamp commit) {
    const std::lock_guard lock(mutex_);
    ++writers_;
    if (writers_ == 1) first_ = commit;
    differ_ = differ_ || commit != first_;
    const std::set<Key> each(keys.begin(), keys.end());
    std::optional<Key> shared;
    for (const Key key : each) {
      if (!commits_[key].insert(commit).second) shared = key;
    }
    return shared;
  }

  // The only timestamp that there was, if enough transactions wrote to know that this cannot be.
  [[nodiscard]] std::optional<Timestamp> only_one() const {
    const std::lock_guard lock(mutex_);
    constexpr std::uint64_t kEnough = 3;
    return writers_ < kEnough || differ_ ? std::nullopt : std::optional(first_);
  }

 private:
  mutable std::mutex mutex_;  // Guards all members below.
  std::map<Key, std::set<Timestamp>> commits_;
  std::uint64_t writers_ = 0;
  Timestamp first_;
  bool differ_ = false;  // Not all are first_.
};

// Asks for something that has no result, before the clients run.
Status demand(ExecChild& child, const std::string& command, std::string_view what,
              const std::string& members, std::chrono::milliseconds patience, JsonTree& answer,
              const std::atomic<bool>* stop = nullptr) {
  const auto outcome = child.ask(members, ExecChild::Clock::now() + patience, answer, stop);
  const auto complain = [&](std::string_view why) {
    return Error{.what = fmt::format("exec:{}: {}: {}", command, what, why)};
  };
  if (!outcome.ok()) return complain(outcome.what);
  const Node root = answer.root();
  if (!root.member("outcome").exists()) return {};
  return complain(printable(root.member("reason").text().value_or("the driver gave no reason")));
}

class ExecConnection final : public Connection {
 public:
  ExecConnection(const ExecSettings& settings, const Schema& schema,
                 std::shared_ptr<ExecChild> child, std::uint64_t number, ExecTroubles& troubles,
                 ExecCommits& commits)
      : settings_(settings),
        schema_(schema),
        child_(std::move(child)),
        number_(number),
        troubles_(troubles),
        commits_(commits) {}
  ~ExecConnection() override {
    if (usable_) (void)ask("close", "", answer_);
    if (usable_ || !settings_.hello.shared) return;  // A process of its own ends with the child.
    // Its transaction may be open and hold locks. We do not wait for the answer.
    (void)child_->ask(fmt::format("\"do\":\"close\",\"connection\":{}", number_),
                      ExecChild::Clock::now(), answer_);
  }

  Answer begin(bool read_only) override {
    forget();
    return statement("begin", read_only_member(read_only));
  }

  Answer read(Key key, std::optional<Number>& number) override {
    return operation(fmt::format("[\"r\",{}]", key),
                     [&](Node result) { return read_number(result, number); });
  }
  Answer write(Key key, Number number) override {
    return change(key, fmt::format("[\"w\",{},{}]", key, number));
  }
  Answer scan(Key lower, Key upper, std::vector<KeyNumber>& found) override {
    const Operation scan{.kind = OperationKind::Scan, .key = lower, .upper = upper};
    Found rows;
    Answer answer =
        operation(text_of(scan), [&](Node result) { return read_result(scan, result, rows); });
    found = std::move(rows.rows);
    if (!answer.ok()) return answer;
    const auto twice = key_twice(found);
    return twice ? nonsense("op", said_twice(*twice)) : answer;
  }
  Answer read_list(Key key, std::vector<Number>& elements) override {
    return operation(fmt::format("[\"r\",{}]", key),
                     [&](Node result) { return read_elements(result, elements); });
  }
  Answer append(Key key, Number element) override {
    return change(key, fmt::format("[\"append\",{},{}]", key, element));
  }

  Answer read_row(Key key, std::optional<Row>& row) override {
    return operation(fmt::format("[\"r\",{}]", key),
                     [&](Node result) { return db::read_row(result, row); });
  }
  Answer write_row(Key key, const Row& row) override {
    return change(key, fmt::format("[\"w\",{},{}]", key, row_text(row)));
  }
  Answer select(const Where& where, std::vector<KeyRow>& found) override {
    return operation(fmt::format("[\"select\",{}]", where_list(where)),
                     [&](Node result) { return read_rows(result, found); });
  }
  Answer aggregate(AggregateKind kind, std::size_t column, const Where& where,
                   std::optional<Number>& result) override {
    return operation(fmt::format("[\"aggregate\",\"{}\",\"{}\",{}]", ouro::name(kind),
                                 kColumnNames[column], where_list(where)),
                     [&](Node told) { return read_number(told, result); });
  }
  Answer update_where(const Where& where, std::span<const Assignment> assignments,
                      std::vector<RowChange>& changed) override {
    wrote_ = true;
    std::string set;
    for (const Assignment& assignment : assignments) {
      set += fmt::format("{}[\"{}\",{}]", set.empty() ? "" : ",", kColumnNames[assignment.column],
                         assignment.number);
    }
    Answer answer = operation(fmt::format("[\"update\",{},[{}]]", where_list(where), set),
                              [&](Node result) { return read_changes(result, changed); });
    if (answer.ok()) {
      for (const RowChange& change : changed) written_.push_back(change.key);
    }
    return answer;
  }
  Answer remove_where(const Where& where, std::vector<KeyRow>& removed) override {
    wrote_ = true;
    Answer answer = operation(fmt::format("[\"delete\",{}]", where_list(where)),
                              [&](Node result) { return read_rows(result, removed); });
    if (answer.ok()) {
      for (const KeyRow& row : removed) written_.push_back(row.key);
    }
    return answer;
  }
  Answer remove(Key key) override { return change(key, fmt::format("[\"d\",{}]", key)); }

  Answer commit() override {
    Answer answer = ask("commit", "", answer_);
    answer = answer.ok() ? ended("commit") : Answer::lost(std::move(answer.reason));
    if (!answer.ok() && answer.reply != Reply::Aborted && wrote_) troubles_.add_unplaced();
    return answer;
  }
  Answer rollback() override {
    if (!usable_) return Answer::lost("no connection");
    return statement("rollback", "");
  }

  [[nodiscard]] bool takes_whole() const override { return settings_.hello.whole; }
  Answer whole(std::span<const Operation> operations, bool read_only,
               std::vector<Found>& found) override {
    Answer answer = ask_whole(operations, read_only, found);
    if (answer.reply == Reply::Lost && wrote_) troubles_.add_unplaced();
    return answer;
  }

  Trace trace() override { return trace_; }

 private:
  [[nodiscard]] static std::string read_only_member(bool read_only) {
    return read_only ? ",\"read_only\":true" : ",\"read_only\":false";
  }

  // Sends a request of this connection; Ok: there is an answer, whatever it says.
  Answer ask(std::string_view what, const std::string& members, JsonTree& answer) {
    if (!usable_) return Answer::lost("no connection");
    const auto outcome =
        child_->ask(fmt::format("\"do\":\"{}\",\"connection\":{}{}", what, number_, members),
                    ExecChild::Clock::now() + schema_.patience, answer);
    if (outcome.ok()) return {};
    usable_ = false;
    switch (outcome.heard) {
      case Heard::Late:
        return Answer::lost("time-out of the driver");
      case Heard::Ended:
        return Answer::lost("the driver ended");
      default:
        return nonsense(what, outcome.what);
    }
  }

  Answer ask_whole(std::span<const Operation> operations, bool read_only,
                   std::vector<Found>& found) {
    forget();
    found.clear();
    std::string members = read_only_member(read_only) + ",\"ops\":[";
    for (const Operation& operation : operations) {
      if (&operation != &operations.front()) members += ',';
      members += text_of(operation);
      if (operation.kind != OperationKind::Write && operation.kind != OperationKind::Append) {
        continue;
      }
      wrote_ = true;
      written_.push_back(operation.key);
    }
    members += ']';
    Answer answer = ask("txn", members, answer_);
    if (!answer.ok()) return Answer::lost(std::move(answer.reason));
    answer = ended("txn");
    std::string why;
    if (!read_results(operations, found) || (answer.ok() && found.size() < operations.size())) {
      why = "\"results\" do not fit the operations";
    }
    for (std::size_t i = 0; i < found.size() && why.empty(); ++i) {
      if (const auto twice = key_twice(found[i].rows)) why = said_twice(*twice);
    }
    if (why.empty()) return answer;
    found.clear();
    return Answer::lost(nonsense("txn", why).reason);
  }
  // The results of the first operations of a whole transaction. False: they are none.
  [[nodiscard]] bool read_results(std::span<const Operation> operations,
                                  std::vector<Found>& found) const {
    const Node results = answer_.root().member("results");
    if (!results.exists()) return true;
    if (!results.is_list()) return false;
    bool good = true;
    results.for_each([&](Node result) {
      good = good && found.size() < operations.size();
      if (!good) return;
      const Operation& operation = operations[found.size()];
      good = read_result(operation, result, found.emplace_back());
    });
    return good;
  }

  // Notes that an answer breaks the protocol. Nothing more is asked on this connection.
  Answer nonsense(std::string_view what, std::string_view why) {
    usable_ = false;
    troubles_.add_nonsense(fmt::format("to \"{}\": {}", what, why));
    return Answer::failed(fmt::format("wrong answer of the driver to \"{}\"", what));
  }

  [[nodiscard]] static std::string said_twice(Key key) {
    return fmt::format("a scan has the key {} twice", key);
  }

  // Nothing is known of the transaction that begins.
  void forget() {
    trace_ = {};
    wrote_ = false;
    written_.clear();
  }

  // The reason that the driver gave, without what makes equal reasons differ.
  [[nodiscard]] std::string reason() const {
    constexpr std::size_t kLongest = 80;
    std::string text(answer_.root().member("reason").text().value_or("no reason given"));
    std::erase_if(text, [](char c) { return c >= '0' && c <= '9'; });
    if (text.size() > kLongest) text.resize(utf8_prefix(text.substr(0, kLongest)));
    return printable(text);
  }

  // A request that does not commit.
  Answer statement(std::string_view what, const std::string& members) {
    if (Answer asked = ask(what, members, answer_); !asked.ok()) return asked;
    const Node outcome = answer_.root().member("outcome");
    if (!outcome.exists()) return {};
    if (outcome.text() == "aborted") return Answer::aborted(reason());
    if (outcome.text() == "failed") return Answer::failed(reason());
    if (outcome.text() == "lost") {
      usable_ = false;
      return Answer::lost(reason());
    }
    return nonsense(what, "\"outcome\" is none of aborted, failed, lost");
  }

  template <class Read>
  Answer operation(const std::string& text, const Read& read) {
    if (Answer answer = statement("op", ",\"op\":" + text); !answer.ok()) return answer;
    if (read(answer_.root().member("result"))) return {};
    return nonsense("op", fmt::format("no good \"result\" of {}", text));
  }
  Answer change(Key key, const std::string& text) {
    wrote_ = true;
    written_.push_back(key);
    return statement("op", ",\"op\":" + text);
  }

  // How the transaction ended, by the answer to `what`, which asked for a commit.
  Answer ended(std::string_view what) {
    const Node root = answer_.root();
    const auto outcome = root.member("outcome").text();
    if (outcome == "aborted") return Answer::aborted(reason());
    if (outcome == "failed") return Answer::failed(reason());
    if (outcome == "unknown") return Answer::lost(reason());
    if (outcome != "committed") {
      return Answer::lost(
          nonsense(what, "\"outcome\" is none of committed, aborted, failed, unknown").reason);
    }
    if (!schema_.evidence) return {};
    if (!read_timestamp(root.member("start_ts"), trace_.start) ||
        !read_timestamp(root.member("commit_ts"), trace_.commit) || trace_.start == kNoTimestamp ||
        (wrote_ && trace_.commit == kNoTimestamp)) {
      trace_ = {};
      return Answer::lost(
          nonsense(what, "it has no \"start_ts\", or wrote and has no \"commit_ts\"").reason);
    }
    const std::string why = wrong_times();
    if (why.empty()) return {};
    trace_ = {};
    troubles_.add_wrong_times();
    return Answer::lost(nonsense(what, why).reason);
  }

  // Why the timestamps of the transaction, which committed, cannot be; "" if they can. Taken for
  // those of a database, they would look like violations.
  [[nodiscard]] std::string wrong_times() {
    if (trace_.commit == kNoTimestamp) return {};
    if (trace_.commit < trace_.start) {
      return fmt::format("\"commit_ts\" {} is before \"start_ts\" {}", exec_time(trace_.commit),
                         exec_time(trace_.start));
    }
    if (!wrote_) return {};
    const auto shared = commits_.add(written_, trace_.commit);
    if (!shared) return {};
    return fmt::format("\"commit_ts\" {} is that of another transaction that wrote the key {}, too",
                       exec_time(trace_.commit), *shared);
  }

  const ExecSettings& settings_;
  const Schema& schema_;
  std::shared_ptr<ExecChild> child_;
  std::uint64_t number_;
  ExecTroubles& troubles_;
  ExecCommits& commits_;
  bool usable_ = true;
  bool wrote_ = false;        // The open transaction has written.
  std::vector<Key> written_;  // What it has written, as far as is known.
  Trace trace_;
  JsonTree answer_;
};

class ExecDatabase final : public Database, public HasLogs {
 public:
  explicit ExecDatabase(ExecSettings settings) : settings_(std::move(settings)) {}

  // Starts the program and greets it. `isolation` is the name of the one to use; empty: the first.
  Status start(const std::string& isolation) {
    auto folder = TemporaryFolder::make("ouro-exec");
    if (!folder.ok()) return folder.error();
    folder_ = *std::move(folder);
    auto child = greet(&settings_.hello);
    if (!child.ok()) return child.error();
    child_ = *std::move(child);
    return choose(isolation);
  }

  [[nodiscard]] std::string description() const override {
    return fmt::format("{}, {}", settings_.hello.name, settings_.isolation.name);
  }
  [[nodiscard]] Level claims() const override { return settings_.isolation.promises; }
  [[nodiscard]] Level claims_by_timestamps() const override {
    return settings_.isolation.by_timestamps;
  }
  [[nodiscard]] Features features() const override {
    Features features = settings_.hello.features;
    features.timestamps = features.live = settings_.isolation.timestamps;
    return features;
  }
  [[nodiscard]] std::vector<std::string> isolations() const override {
    std::vector<std::string> all;
    for (const ExecIsolation& isolation : settings_.hello.isolations) {
      all.push_back("isolation=" + isolation.name);
    }
    return all;
  }

  Status prepare(const Schema& schema) override {
    schema_ = schema;
    schema_.patience = settings_.patience;
    return demand(*child_, settings_.command, "setup",
                  fmt::format("\"do\":\"setup\",\"keys\":{},\"clients\":{}{}", schema.keys,
                              schema.clients, common_members()),
                  kSlowness * settings_.patience, answer_, schema_.stop);
  }

  Result<std::unique_ptr<Connection>> connect(std::size_t) override {
    std::shared_ptr<ExecChild> child = child_;
    if (!settings_.hello.shared) {
      auto own = greet(nullptr);
      if (!own.ok()) return own.error();
      child = *std::move(own);
    }
    const std::uint64_t number = ++last_connection_;
    JsonTree answer;
    auto opened =
        demand(*child, settings_.command, "open",
               fmt::format("\"do\":\"open\",\"connection\":{}{}", number, common_members()),
               settings_.patience, answer, schema_.stop);
    if (!opened) return opened.error();
    return std::unique_ptr<Connection>(std::make_unique<ExecConnection>(
        settings_, schema_, std::move(child), number, troubles_, commits_));
  }

  [[nodiscard]] bool gone() const override { return settings_.hello.shared && child_->broken(); }

  // Answers have all there is to know. If one is missing, others may have read what its transaction
  // wrote, and by timestamps that would look like a violation.
  Result<Recovered> recover(std::span<const std::uint64_t>) override {
    if (troubles_.wrong_times()) {
      const Status why = troubles_.nonsense(settings_.command);
      return Error{.what = why.error().what + "; there is no verdict by timestamps"};
    }
    if (const auto only = commits_.only_one()) {
      return Error{.what =
                       fmt::format("exec:{}: all transactions that wrote have \"commit_ts\" {}, "
                                   "so there is no verdict by timestamps",
                                   settings_.command, exec_time(*only))};
    }
    if (troubles_.unplaced() == 0) return Recovered{};
    return Error{.what = fmt::format(
                     "{}: {} commits were not answered, so their timestamps are missing and there "
                     "is no verdict by timestamps; run without --evidence",
                     description(), troubles_.unplaced())};
  }

  [[nodiscard]] std::vector<ServerLog> logs() const override {
    std::error_code ignored;
    if (!std::filesystem::exists(log(), ignored)) return {};
    return {{"driver.log", log()}};
  }

  Status finish() override {
    // Whoever interrupted the run does not want to wait for a driver that hangs.
    constexpr std::chrono::milliseconds kBriefly(2000);
    const bool stopped = schema_.stop != nullptr && *schema_.stop;
    const Status ended =
        demand(*child_, settings_.command, "end", "\"do\":\"end\"",
               stopped ? std::min(settings_.patience, kBriefly) : settings_.patience, answer_);
    if (ended.ok()) child_->stop(std::chrono::seconds(2));
    const Status nonsense = troubles_.nonsense(settings_.command);
    return nonsense ? ended : nonsense;
  }

 private:
  // Starting a program, and making a table, may take so many times longer than a statement.
  static constexpr int kSlowness = 3;

  // What setup and open have in common.
  [[nodiscard]] std::string common_members() const {
    return fmt::format(",\"model\":\"{}\",\"isolation\":{},\"timestamps\":{},\"folder\":{}",
                       name(schema_.model), json_text(settings_.isolation.name),
                       schema_.evidence ? "true" : "false", json_text(folder_.path().string()));
  }

  // The standard error of all the programs.
  [[nodiscard]] std::filesystem::path log() const { return folder_.path() / "driver.log"; }

  // Starts the program. If `hello` is not null, it gets the answer to the greeting.
  Result<std::shared_ptr<ExecChild>> greet(ExecHello* hello) {
    auto child = ExecChild::start(settings_.command, log());
    if (!child.ok()) return child.error();
    JsonTree answer;
    auto greeted = demand(**child, settings_.command, "hello",
                          fmt::format("\"do\":\"hello\",\"protocol\":{}", kExecProtocol),
                          kSlowness * settings_.patience, answer, schema_.stop);
    if (!greeted) return greeted.error();
    auto told = read_hello(answer.root());
    if (!told.ok()) {
      return Error{.what = fmt::format("exec:{}: {}", settings_.command, told.error().what)};
    }
    if (hello != nullptr) *hello = *std::move(told);
    return child;
  }

  Status choose(const std::string& name) {
    std::string names;
    for (const ExecIsolation& isolation : settings_.hello.isolations) {
      if (name.empty() || isolation.name == name) {
        settings_.isolation = isolation;
        return {};
      }
      names += (names.empty() ? "" : ", ") + isolation.name;
    }
    return Error{.what = fmt::format("exec:{}: no isolation '{}'; there are: {}", settings_.command,
                                     name, names)};
  }

  ExecSettings settings_;
  Schema schema_;
  TemporaryFolder folder_;
  ExecTroubles troubles_;
  ExecCommits commits_;
  JsonTree answer_;
  std::atomic<std::uint64_t> last_connection_{0};
  std::shared_ptr<ExecChild> child_;  // The first one; for all clients if the driver can do that.
};

}  // namespace

Result<std::unique_ptr<Database>> open_exec(Url url) {
  const std::string isolation = url.take("isolation");
  const std::string patience = url.take("patience_ms");
  if (auto left = url.nothing_left("isolation"); !left) return left.error();
  if (url.path.empty())
    return Error{.what = "exec: names no command; give one, as in exec:./driver"};
  ExecSettings settings;
  settings.command = url.path;
  if (!patience.empty()) settings.patience = std::chrono::milliseconds(std::stoll(patience));
  auto database = std::make_unique<ExecDatabase>(std::move(settings));
  if (auto started = database->start(isolation); !started) return started.error();
  return std::unique_ptr<Database>(std::move(database));
}

}  // namespace ouro::db
