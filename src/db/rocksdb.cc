// RocksDB, embedded: "rocksdb:DIR?mode=pessimistic|optimistic&snapshot=on|off". Without DIR, in a
// temporary folder that is removed.
//
// With snapshots a transaction reads what was committed when it began, and its commit is refused if
// another transaction has committed a write of one of its keys since: snapshot isolation. Without
// snapshots, reads return the newest committed value and only simultaneous writes of a key are
// refused, so updates get lost.
//
// Evidence is exact. RocksDB numbers the writes of all commits: each write of a commit takes the
// next sequence number. A snapshot has a sequence number s and sees the commits whose last number
// is at most s: start = 2s + 1, commit = 2·last. To learn `last`, a transaction puts a mark with
// its token into the write-ahead log before it commits. A record of the log is a group of commits
// back to back, each ended by its mark; reading it, we count one number per write, and the count at
// a mark is the last number of that transaction.
#include <fmt/format.h>
#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/utilities/optimistic_transaction_db.h>
#include <rocksdb/utilities/transaction.h>
#include <rocksdb/utilities/transaction_db.h>
#include <rocksdb/version.h>
#include <rocksdb/write_batch.h>

#include <atomic>
#include <unordered_map>

#include "db/data_folder.h"
#include "db/encoding.h"
#include "db/registry.h"

namespace ouro::db {
namespace {

struct RocksdbSettings {
  bool optimistic = false;
  bool snapshot = true;
};

Answer answer_of(const rocksdb::Status& status) {
  if (status.ok()) return {};
  if (status.IsBusy()) return Answer::aborted("conflict");
  if (status.IsTimedOut()) return Answer::aborted("lock time-out");
  if (status.IsTryAgain()) return Answer::aborted("conflict check impossible");
  if (status.IsDeadlock()) return Answer::aborted("deadlock");
  if (status.IsExpired()) return Answer::aborted("expired");
  return Answer::failed(status.ToString());
}

Error error_of(const std::string& where, const rocksdb::Status& status) {
  Error error;
  error.file = where;
  error.what = status.ToString();
  return error;
}

// "000012.sst", "MANIFEST-000004", "LOG.old.1794812683", "archive/000003.log".
bool is_file_of_rocksdb(std::string_view name) {
  const auto is_number = [](std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
  };
  for (const std::string_view whole : {"CURRENT", "IDENTITY", "LOCK", "LOG"}) {
    if (name == whole) return true;
  }
  for (const std::string_view end : {".sst", ".log", ".blob", ".dbtmp"}) {
    if (name.ends_with(end)) name.remove_suffix(end.size());
  }
  for (const std::string_view begin : {"MANIFEST-", "OPTIONS-", "LOG.old.", "archive/"}) {
    if (name.starts_with(begin)) name.remove_prefix(begin.size());
  }
  return is_number(name);
}

// Owns the RocksDB database, optimistic or pessimistic.
class Store {
 public:
  rocksdb::Status open(const RocksdbSettings& settings, const std::string& path,
                       std::chrono::milliseconds patience) {
    rocksdb::Options options;
    options.create_if_missing = true;
    options.WAL_ttl_seconds = 24 * 3600;  // Keeps the whole log of the run, for evidence.
    if (settings.optimistic) {
      rocksdb::OptimisticTransactionDB* made = nullptr;
      const rocksdb::Status status = rocksdb::OptimisticTransactionDB::Open(options, path, &made);
      optimistic_.reset(made);
      return status;
    }
    rocksdb::TransactionDBOptions locking;
    locking.transaction_lock_timeout = patience.count();
    rocksdb::TransactionDB* made = nullptr;
    const rocksdb::Status status = rocksdb::TransactionDB::Open(options, locking, path, &made);
    pessimistic_.reset(made);
    return status;
  }

  // Begins a transaction in `txn`, reusing the object that is there, if any.
  void begin(std::unique_ptr<rocksdb::Transaction>& txn, bool snapshot) {
    rocksdb::Transaction* made = nullptr;
    if (optimistic_) {
      rocksdb::OptimisticTransactionOptions options;
      options.set_snapshot = snapshot;
      made = optimistic_->BeginTransaction({}, options, txn.release());
    } else {
      rocksdb::TransactionOptions options;
      options.set_snapshot = snapshot;
      options.deadlock_detect = true;
      made = pessimistic_->BeginTransaction({}, options, txn.release());
    }
    txn.reset(made);
  }

  [[nodiscard]] rocksdb::DB* db() const {
    if (optimistic_) return optimistic_->GetBaseDB();
    return pessimistic_.get();
  }

 private:
  std::unique_ptr<rocksdb::OptimisticTransactionDB> optimistic_;
  std::unique_ptr<rocksdb::TransactionDB> pessimistic_;
};

// What all connections share.
struct Shared {
  RocksdbSettings settings;
  Schema schema;
  Store store;
  std::atomic<std::uint64_t> last_token{0};  // Tokens are counted from 1.
};

class RocksConnection final : public Connection {
 public:
  explicit RocksConnection(Shared& shared) : shared_(shared) {}

  Answer begin(bool) override {
    shared_.store.begin(txn_, shared_.settings.snapshot);
    read_options_.snapshot = txn_->GetSnapshot();
    trace_ = {};
    wrote_ = false;
    if (shared_.schema.evidence) {
      // Without a snapshot we take the number that a snapshot would have now.
      const rocksdb::SequenceNumber sequence = read_options_.snapshot != nullptr
                                                   ? read_options_.snapshot->GetSequenceNumber()
                                                   : shared_.store.db()->GetLatestSequenceNumber();
      trace_.start = {2 * static_cast<std::int64_t>(sequence) + 1, 0};
    }
    return {};
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
  // An append is a read and a write, so without snapshots appends can get lost.
  Answer append(Key key, Number element) override {
    bool found = false;
    Answer answer = get(key, found);
    if (!answer.ok()) return answer;
    if (!found) value_.clear();
    value_ += encode_number(element);
    return put(key, value_);
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
    return answer_of(txn_->Delete(encode_key(key)));
  }

  Answer commit() override {
    if (wrote_ && shared_.schema.evidence) {
      trace_.token = shared_.last_token.fetch_add(1) + 1;
      txn_->PutLogData(encode_number(static_cast<Number>(trace_.token)));
    }
    Answer answer = answer_of(txn_->Commit());
    // After a failed commit an optimistic transaction still has its writes; drop them.
    if (!answer.ok()) static_cast<void>(txn_->Rollback());
    return answer;
  }
  Answer rollback() override { return answer_of(txn_->Rollback()); }

  Trace trace() override { return trace_; }

 private:
  Answer get(Key key, bool& found) {
    const rocksdb::Status status = txn_->Get(read_options_, encode_key(key), &value_);
    found = status.ok();
    return status.IsNotFound() ? Answer{} : answer_of(status);
  }
  Answer put(Key key, const std::string& bytes) {
    wrote_ = true;
    return answer_of(txn_->Put(encode_key(key), bytes));
  }
  template <class Visit>
  Answer each(Key lower, Key upper, const Visit& visit) {
    const std::unique_ptr<rocksdb::Iterator> at(txn_->GetIterator(read_options_));
    const std::string last = encode_key(upper);
    for (at->Seek(encode_key(lower)); at->Valid() && at->key().compare(last) <= 0; at->Next()) {
      visit(decode_key(at->key().ToStringView()), at->value().ToStringView());
    }
    return answer_of(at->status());
  }

  Shared& shared_;
  std::unique_ptr<rocksdb::Transaction> txn_;
  rocksdb::ReadOptions read_options_;
  Trace trace_;
  bool wrote_ = false;
  std::string value_;
  std::vector<KeyRow> rows_;
};

// Reads one record of the log, a group of commits (see the top of the file): notes for each token
// the sequence number of its transaction's last write.
class LogReader final : public rocksdb::WriteBatch::Handler {
 public:
  // `sequence` is the number of the record's first write.
  LogReader(std::uint64_t sequence, std::unordered_map<std::uint64_t, std::int64_t>& last_of)
      : next_(sequence), last_of_(last_of) {}

  rocksdb::Status PutCF(std::uint32_t, const rocksdb::Slice&, const rocksdb::Slice&) override {
    ++next_;
    return rocksdb::Status::OK();
  }
  rocksdb::Status DeleteCF(std::uint32_t, const rocksdb::Slice&) override {
    ++next_;
    return rocksdb::Status::OK();
  }
  void LogData(const rocksdb::Slice& mark) override {
    const auto token = static_cast<std::uint64_t>(decode_number(mark.ToStringView()));
    last_of_[token] = static_cast<std::int64_t>(next_ - 1);
  }
  rocksdb::Status MarkBeginPrepare(bool) override { return rocksdb::Status::OK(); }
  rocksdb::Status MarkEndPrepare(const rocksdb::Slice&) override { return rocksdb::Status::OK(); }
  rocksdb::Status MarkCommit(const rocksdb::Slice&) override { return rocksdb::Status::OK(); }
  rocksdb::Status MarkNoop(bool) override { return rocksdb::Status::OK(); }

 private:
  std::uint64_t next_;                                        // Number of the next write.
  std::unordered_map<std::uint64_t, std::int64_t>& last_of_;  // By token.
};

class RocksDatabase final : public Database {
 public:
  RocksDatabase(const RocksdbSettings& settings, std::string path) : path_(std::move(path)) {
    shared_.settings = settings;
  }

  [[nodiscard]] std::string description() const override {
    return fmt::format("RocksDB {}, {} transactions {} snapshots",
                       rocksdb::GetRocksVersionAsString(),
                       shared_.settings.optimistic ? "optimistic" : "pessimistic",
                       shared_.settings.snapshot ? "with" : "without");
  }
  [[nodiscard]] Level claims() const override {
    return shared_.settings.snapshot ? Level::Si : Level::ReadCommitted;
  }
  [[nodiscard]] Features features() const override {
    return {.lists = true,
            .scans = true,
            .rows = true,
            .row_changes = true,
            .removes = true,
            .timestamps = true,
            .live = true,
            .in_process = true};
  }

  [[nodiscard]] std::vector<std::string> isolations() const override {
    return {"mode=pessimistic", "mode=pessimistic&snapshot=off", "mode=optimistic",
            "mode=optimistic&snapshot=off"};
  }

  Status prepare(const Schema& schema) override {
    shared_.schema = schema;
    if (auto made = folder_.make(path_, "ouro-rocksdb", is_file_of_rocksdb); !made) return made;
    const rocksdb::Status opened =
        shared_.store.open(shared_.settings, folder_.path(), schema.patience);
    if (!opened.ok()) return error_of(folder_.path(), opened);
    return {};
  }

  Result<std::unique_ptr<Connection>> connect(std::size_t) override {
    return std::unique_ptr<Connection>(std::make_unique<RocksConnection>(shared_));
  }

  Result<Recovered> recover(std::span<const std::uint64_t> tokens) override {
    std::unordered_map<std::uint64_t, std::int64_t> last_of;
    if (auto read = read_log(0, last_of); !read.ok()) return read.error();
    Recovered recovered;
    for (const std::uint64_t token : tokens) {
      const auto found = last_of.find(token);
      if (found == last_of.end()) continue;  // It did not commit.
      recovered.times.push_back(
          {.token = token, .start = kNoTimestamp, .commit = {2 * found->second, 0}});
    }
    return recovered;
  }

  Result<std::vector<Recovered::Times>> recover_new() override {
    std::unordered_map<std::uint64_t, std::int64_t> last_of;
    const auto end = read_log(unread_, last_of);
    if (!end.ok()) return end.error();
    unread_ = *end;
    std::vector<Recovered::Times> times;
    for (const auto& [token, last] : last_of) {
      times.push_back({.token = token, .start = kNoTimestamp, .commit = {2 * last, 0}});
    }
    return times;
  }

  Status finish() override {
    shared_.store = Store();
    return folder_.remove();
  }

 private:
  // Reads the log from sequence number `first` on and adds the last number of each transaction to
  // `last_of`. Returns the first sequence number that was not read.
  Result<std::uint64_t> read_log(std::uint64_t first,
                                 std::unordered_map<std::uint64_t, std::int64_t>& last_of) {
    // GetUpdatesSince() begins with the oldest record if it is asked for one that does not exist
    // yet.
    if (first > shared_.store.db()->GetLatestSequenceNumber()) return first;
    std::unique_ptr<rocksdb::TransactionLogIterator> log;
    rocksdb::Status status = shared_.store.db()->FlushWAL(false);
    if (status.ok()) status = shared_.store.db()->GetUpdatesSince(first, &log);
    if (status.IsNotFound()) return first;  // Nothing was written.
    for (; status.ok() && log->Valid(); log->Next()) {
      const rocksdb::BatchResult batch = log->GetBatch();
      if (batch.sequence + static_cast<std::uint64_t>(batch.writeBatchPtr->Count()) <= first) {
        continue;
      }
      LogReader reader(batch.sequence, last_of);
      status = batch.writeBatchPtr->Iterate(&reader);
      first = batch.sequence + static_cast<std::uint64_t>(batch.writeBatchPtr->Count());
    }
    if (status.ok()) status = log->status();
    if (status.IsTryAgain()) return first;  // The end of a log that is still being written.
    if (!status.ok()) return error_of(folder_.path(), status);
    return first;
  }

  std::string path_;
  DataFolder folder_;
  Shared shared_;
  std::uint64_t unread_ = 0;  // The first sequence number that recover_new() has not read yet.
};

}  // namespace

Result<std::unique_ptr<Database>> open_rocksdb(Url url) {
  const std::string mode = url.take("mode", "pessimistic");
  const std::string snapshot = url.take("snapshot", "on");
  if (auto left = url.nothing_left("mode, snapshot"); !left) return left.error();
  if (auto ok = one_of(url, "mode", mode, {"pessimistic", "optimistic"}); !ok) return ok.error();
  if (auto ok = one_of(url, "snapshot", snapshot, {"on", "off"}); !ok) return ok.error();
  const RocksdbSettings settings{.optimistic = mode == "optimistic", .snapshot = snapshot == "on"};
  return std::unique_ptr<Database>(std::make_unique<RocksDatabase>(settings, url.path));
}

}  // namespace ouro::db
