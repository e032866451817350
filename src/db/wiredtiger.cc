// WiredTiger, embedded: "wiredtiger:DIR?isolation=snapshot|read-committed|read-uncommitted".
// Without DIR, in a temporary folder that is removed.
//
// WiredTiger leaves timestamps to the application: a transaction reads as of one timestamp and
// commits at another. We hand them out from one counter, as the layers above do in TiDB and
// MongoDB. A commit takes the next number, under a lock that makes it visible before anybody reads
// at that number. So the evidence is exact: start = 2·(timestamp read at) + 1, commit =
// 2·(timestamp of the commit).
//
// Only transactions at snapshot isolation have timestamps.
#include <fmt/format.h>
#include <wiredtiger.h>

#include <algorithm>
#include <mutex>

#include "db/data_folder.h"
#include "db/encoding.h"
#include "db/registry.h"

namespace ouro::db {
namespace {

constexpr char kTable[] = "table:ouro";

Answer answer_of(int code) {
  if (code == 0) return {};
  if (code == WT_ROLLBACK) return Answer::aborted("conflict");
  if (code == WT_PREPARE_CONFLICT) return Answer::aborted("prepared by another");
  return Answer::failed(wiredtiger_strerror(code));
}

// "WiredTiger.lock", "WiredTigerLog.0000000001", "ouro.wt".
bool is_file_of_wiredtiger(std::string_view name) {
  const bool here = name.find('/') == name.npos;
  return here && (name.starts_with("WiredTiger") || name.ends_with(".wt"));
}

Error error_of(const std::string& where, int code) {
  Error error;
  error.file = where;
  error.what = wiredtiger_strerror(code);
  return error;
}

// Hands out timestamps. Thread-safe.
class Oracle {
 public:
  // A timestamp to read at. It counts as in use until it is passed to end().
  std::uint64_t begin() {
    const std::lock_guard lock(mutex_);
    in_use_.push_back(visible_);
    return visible_;
  }
  // Calls commit(timestamp), which must return 0 if it committed; returns what it returned.
  template <class Commit>
  int commit(const Commit& commit) {
    const std::lock_guard lock(mutex_);
    const int code = commit(visible_ + 1);
    if (code == 0) ++visible_;
    return code;
  }
  // A transaction no longer reads at `read_at`. Every 1024th call returns the oldest timestamp that
  // anybody may still read at, so that older versions can be dropped; other calls return zero.
  std::uint64_t end(std::uint64_t read_at) {
    constexpr std::uint64_t kEvery = 1024;
    const std::lock_guard lock(mutex_);
    in_use_.erase(std::find(in_use_.begin(), in_use_.end(), read_at));
    if (++ended_ % kEvery != 0) return 0;
    return in_use_.empty() ? visible_ : *std::min_element(in_use_.begin(), in_use_.end());
  }

 private:
  std::mutex mutex_;
  std::uint64_t visible_ = 1;  // All commits up to it are visible. WiredTiger forbids zero.
  std::vector<std::uint64_t> in_use_;
  std::uint64_t ended_ = 0;  // How often end() was called.
};

struct Shared {
  std::string isolation;
  WT_CONNECTION* connection = nullptr;
  Oracle oracle;
  [[nodiscard]] bool timestamps() const { return isolation == "snapshot"; }
};

class TigerConnection final : public Connection {
 public:
  explicit TigerConnection(Shared& shared) : shared_(shared) {}
  ~TigerConnection() override {
    if (session_ == nullptr) return;
    session_->close(session_, nullptr);  // Rolls back an open transaction.
    end();
  }

  int open() {
    int code = shared_.connection->open_session(shared_.connection, nullptr, nullptr, &session_);
    if (code == 0) code = session_->open_cursor(session_, kTable, nullptr, "overwrite", &cursor_);
    return code;
  }

  Answer begin(bool) override {
    trace_ = {};
    wrote_ = false;
    std::string config = "isolation=" + shared_.isolation;
    if (shared_.timestamps()) {
      read_at_ = shared_.oracle.begin();
      config += fmt::format(",read_timestamp={:x}", read_at_);
      trace_.start = {2 * static_cast<std::int64_t>(read_at_) + 1, 0};
    }
    const int code = session_->begin_transaction(session_, config.c_str());
    if (code != 0) end();
    return answer_of(code);
  }

  Answer read(Key key, std::optional<Number>& number) override {
    number.reset();
    bool found = false;
    Answer answer = get(key, found);
    if (found) number = decode_number(value_);
    return answer;
  }
  Answer write(Key key, Number number) override { return put(key, encode_number(number)); }
  Answer scan(Key lower, Key upper, std::vector<KeyNumber>& found) override {
    found.clear();
    return each(lower, upper, [&](Key key, std::string_view bytes) {
      found.push_back({key, decode_number(bytes)});
    });
  }

  Answer read_list(Key key, std::vector<Number>& elements) override {
    elements.clear();
    bool found = false;
    Answer answer = get(key, found);
    if (found) decode_numbers(value_, elements);
    return answer;
  }
  Answer append(Key key, Number element) override {
    bool found = false;
    Answer answer = get(key, found);
    if (!answer.ok()) return answer;
    if (!found) value_.clear();
    return put(key, value_ + encode_number(element));
  }

  Answer read_row(Key key, std::optional<Row>& row) override {
    row.reset();
    bool found = false;
    Answer answer = get(key, found);
    if (found) row = decode_row(value_);
    return answer;
  }
  Answer write_row(Key key, const Row& row) override { return put(key, encode_row(row)); }
  Answer select(const Where& where, std::vector<KeyRow>& found) override {
    found.clear();
    return each(kLeastKey, kGreatestKey, [&](Key key, std::string_view bytes) {
      const Row row = decode_row(bytes);
      if (matches(where, row)) found.push_back({key, row});
    });
  }
  Answer aggregate(AggregateKind kind, std::size_t column, const Where& where,
                   std::optional<Number>& result) override {
    Answer answer = select(where, rows_);
    result = ouro::db::aggregate(kind, column, rows_);
    return answer;
  }
  Answer update_where(const Where& where, std::span<const Assignment> assignments,
                      std::vector<RowChange>& changed) override {
    changed.clear();
    Answer answer = select(where, rows_);
    for (const KeyRow& row : rows_) {
      if (!answer.ok()) break;
      changed.push_back({row.key, row.row, assigned(row.row, assignments)});
      answer = write_row(row.key, changed.back().after);
    }
    return answer;
  }
  Answer remove_where(const Where& where, std::vector<KeyRow>& removed) override {
    Answer answer = select(where, removed);
    for (const KeyRow& row : removed) {
      if (!answer.ok()) break;
      answer = remove(row.key);
    }
    return answer;
  }
  Answer remove(Key key) override {
    wrote_ = true;
    cursor_->set_key(cursor_, key);
    const int code = cursor_->remove(cursor_);
    return code == WT_NOTFOUND ? Answer{} : answer_of(code);
  }

  Answer commit() override {
    cursor_->reset(cursor_);
    int code = 0;
    if (shared_.timestamps() && wrote_) {
      code = shared_.oracle.commit([&](std::uint64_t timestamp) {
        const std::string config = fmt::format("commit_timestamp={:x}", timestamp);
        trace_.commit = {2 * static_cast<std::int64_t>(timestamp), 0};
        return session_->commit_transaction(session_, config.c_str());
      });
    } else {
      code = session_->commit_transaction(session_, nullptr);
    }
    // WiredTiger rolls back if a commit fails.
    if (code != 0) trace_.commit = kNoTimestamp;
    end();
    return answer_of(code);
  }
  Answer rollback() override {
    cursor_->reset(cursor_);
    const int code = session_->rollback_transaction(session_, nullptr);
    end();
    return answer_of(code);
  }

  Trace trace() override { return trace_; }

 private:
  // Gives back the timestamp to read at. Now and then tells WiredTiger the oldest one in use, so
  // that it can drop versions that nobody can read any more.
  void end() {
    if (read_at_ == 0) return;
    const std::uint64_t oldest = shared_.oracle.end(std::exchange(read_at_, 0));
    if (oldest == 0) return;
    const std::string config = fmt::format("oldest_timestamp={:x}", oldest);
    static_cast<void>(shared_.connection->set_timestamp(shared_.connection, config.c_str()));
  }

  Answer get(Key key, bool& found) {
    cursor_->set_key(cursor_, key);
    int code = cursor_->search(cursor_);
    WT_ITEM item{};
    if (code == 0) code = cursor_->get_value(cursor_, &item);
    found = code == 0;
    if (found) value_.assign(static_cast<const char*>(item.data), item.size);
    cursor_->reset(cursor_);
    return code == WT_NOTFOUND ? Answer{} : answer_of(code);
  }
  Answer put(Key key, const std::string& bytes) {
    wrote_ = true;
    WT_ITEM item{};
    item.data = bytes.data();
    item.size = bytes.size();
    cursor_->set_key(cursor_, key);
    cursor_->set_value(cursor_, &item);
    const int code = cursor_->insert(cursor_);
    cursor_->reset(cursor_);
    return answer_of(code);
  }
  template <class Visit>
  Answer each(Key lower, Key upper, const Visit& visit) {
    int compared = 0;
    cursor_->set_key(cursor_, lower);
    int code = cursor_->search_near(cursor_, &compared);
    if (code == 0 && compared < 0) code = cursor_->next(cursor_);
    for (; code == 0; code = cursor_->next(cursor_)) {
      std::int64_t key = 0;
      WT_ITEM item{};
      code = cursor_->get_key(cursor_, &key);
      if (code == 0) code = cursor_->get_value(cursor_, &item);
      if (code != 0 || key > upper) break;
      visit(key, std::string_view(static_cast<const char*>(item.data), item.size));
    }
    cursor_->reset(cursor_);
    return code == WT_NOTFOUND ? Answer{} : answer_of(code);
  }

  Shared& shared_;
  WT_SESSION* session_ = nullptr;
  WT_CURSOR* cursor_ = nullptr;
  std::uint64_t read_at_ = 0;  // The timestamp that the open transaction reads at; zero: none.
  bool wrote_ = false;
  Trace trace_;
  std::string value_;
  std::vector<KeyRow> rows_;
};

class TigerDatabase final : public Database {
 public:
  TigerDatabase(std::string isolation, std::string path) : path_(std::move(path)) {
    shared_.isolation = std::move(isolation);
  }
  ~TigerDatabase() override { static_cast<void>(TigerDatabase::finish()); }

  [[nodiscard]] std::string description() const override {
    return fmt::format("WiredTiger {}.{}.{}, {}", WIREDTIGER_VERSION_MAJOR,
                       WIREDTIGER_VERSION_MINOR, WIREDTIGER_VERSION_PATCH, shared_.isolation);
  }
  [[nodiscard]] Level claims() const override {
    return shared_.timestamps() ? Level::Si : Level::ReadCommitted;
  }
  [[nodiscard]] Features features() const override {
    return {.lists = true,
            .scans = true,
            .rows = true,
            .row_changes = true,
            .removes = true,
            .timestamps = shared_.timestamps(),
            .live = true,
            .in_process = true};
  }

  [[nodiscard]] std::vector<std::string> isolations() const override {
    return {"isolation=read-uncommitted", "isolation=read-committed", "isolation=snapshot"};
  }

  Status prepare(const Schema& schema) override {
    auto made = folder_.make(path_, "ouro-wiredtiger", is_file_of_wiredtiger);
    if (!made) return made;
    const std::string config =
        fmt::format("create,session_max={},error_prefix=ouro", schema.clients + 64);
    int code =
        wiredtiger_open(folder_.path().c_str(), nullptr, config.c_str(), &shared_.connection);
    WT_SESSION* session = nullptr;
    if (code == 0) {
      code = shared_.connection->open_session(shared_.connection, nullptr, nullptr, &session);
    }
    if (code == 0) code = session->create(session, kTable, "key_format=q,value_format=u");
    if (session != nullptr) session->close(session, nullptr);
    return code == 0 ? Status() : error_of(folder_.path(), code);
  }
  Result<std::unique_ptr<Connection>> connect(std::size_t) override {
    auto connection = std::make_unique<TigerConnection>(shared_);
    if (const int code = connection->open(); code != 0) return error_of(folder_.path(), code);
    return std::unique_ptr<Connection>(std::move(connection));
  }
  Status finish() override {
    WT_CONNECTION* connection = std::exchange(shared_.connection, nullptr);
    const int code = connection == nullptr ? 0 : connection->close(connection, nullptr);
    if (auto removed = folder_.remove(); !removed) return removed;
    return code == 0 ? Status() : error_of(folder_.path(), code);
  }

 private:
  std::string path_;
  DataFolder folder_;
  Shared shared_;
};

}  // namespace

Result<std::unique_ptr<Database>> open_wiredtiger(Url url) {
  std::string isolation = url.take("isolation", "snapshot");
  if (auto left = url.nothing_left("isolation"); !left) return left.error();
  if (auto ok =
          one_of(url, "isolation", isolation, {"snapshot", "read-committed", "read-uncommitted"});
      !ok) {
    return ok.error();
  }
  return std::unique_ptr<Database>(std::make_unique<TigerDatabase>(std::move(isolation), url.path));
}

}  // namespace ouro::db
