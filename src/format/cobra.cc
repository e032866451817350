#include "format/cobra.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <future>
#include <memory>
#include <vector>

#include "base/byte_order.h"
#include "base/parallel.h"
#include "format/input.h"
#include "format/log_folder.h"

namespace ouro {
namespace {

// Ids of writes that have a special meaning.
constexpr std::uint64_t kInit = 0xbebeebee;
constexpr std::uint64_t kNull = 0xdeadbeef;
constexpr std::uint64_t kDeleted = 0xabcdefab;
constexpr std::uint64_t kSameForAll = 0xabddefee;  // VeriStrong's: use the value's hash instead.
// Read by the recorder itself, to know whether to collect garbage.
constexpr std::uint64_t kCollectTrue = 0x23332333;
constexpr std::uint64_t kCollectFalse = 0x66666666;

// Sizes of records: a letter and one to four numbers of eight bytes, big endian.
constexpr std::size_t kMarkBytes = 9;
constexpr std::size_t kTimedMarkBytes = 17;
constexpr std::size_t kWriteBytes = 25;
constexpr std::size_t kReadBytes = 33;

bool is_record(char c) { return c == 'S' || c == 'C' || c == 'A' || c == 'W' || c == 'R'; }
bool is_initial(std::uint64_t id) { return id == kInit || id == kNull; }

class LogParser {
 public:
  LogParser(std::string_view bytes, std::string_view file, SessionId session,
            HistoryBuilder& builder)
      : bytes_(bytes), file_(file), session_(session), b_(builder) {
    // If clocks were recorded, begins and commits have one more number. Nothing in the file says
    // so, but the first byte of a time in milliseconds is not the letter of a record.
    timed_ = bytes.size() > kTimedMarkBytes && !is_record(bytes[kMarkBytes]) &&
             is_record(bytes[kTimedMarkBytes]);
  }

  Status parse() {
    while (at_ < bytes_.size()) {
      const char kind = bytes_[at_];
      if (!is_record(kind))
        return error(
            fmt::format("expected a record S, R, W, C or A, found byte 0x{:02x}; the file is "
                        "damaged or no Cobra log",
                        static_cast<unsigned>(static_cast<unsigned char>(kind))));
      const std::size_t size = record_bytes(kind);
      if (bytes_.size() - at_ < size) {
        return error(fmt::format("the file ends within a record '{}' of {} bytes; it is truncated",
                                 kind, size));
      }
      if (auto status = record(kind); !status.ok()) return status;
      at_ += size;
    }
    if (!in_txn_) return {};
    return error(fmt::format("the file ends within transaction 0x{:x}; it is truncated", txn_id_));
  }

 private:
  [[nodiscard]] std::size_t record_bytes(char kind) const {
    if (kind == 'W') return kWriteBytes;
    if (kind == 'R') return kReadBytes;
    return timed_ && kind != 'A' ? kTimedMarkBytes : kMarkBytes;
  }
  // Number `index`, from 0, of the record at at_.
  [[nodiscard]] std::uint64_t number(std::size_t index) const {
    return load_big_endian(bytes_.data() + at_ + 1 + 8 * index);
  }
  [[nodiscard]] Error error(std::string what) const {
    return error_at_byte(file_, at_, std::move(what));
  }

  Status record(char kind) {
    if (kind == 'S') return begin();
    if (!in_txn_)
      return error(
          fmt::format("a record '{}' outside of a transaction; the file is damaged", kind));
    if (kind == 'W') {
      write();
    } else if (kind == 'R') {
      read();
    } else {
      return end(kind == 'A');
    }
    return {};
  }

  Status begin() {
    if (in_txn_) {
      return error(fmt::format(
          "a transaction begins within transaction 0x{:x}; the file is damaged", txn_id_));
    }
    in_txn_ = true;
    txn_id_ = number(0);
    b_.begin_txn(session_, at_);
    b_.name(b_.unsigned_integer(txn_id_));
    return timed_ ? clock(true) : Status{};
  }

  Status end(bool aborted) {
    if (number(0) != txn_id_) {
      return error(fmt::format("transaction 0x{:x} ends as 0x{:x}; the file is damaged", txn_id_,
                               number(0)));
    }
    in_txn_ = false;
    if (aborted) b_.status(TxnStatus::Aborted);
    return timed_ && !aborted ? clock(false) : Status{};
  }

  Status clock(bool invoked) {
    const std::uint64_t time = number(1);
    if (time > static_cast<std::uint64_t>(INT64_MAX))
      return error("a time of more than 63 bits; the file is damaged");
    const auto signed_time = static_cast<std::int64_t>(time);
    b_.clocks(invoked ? signed_time : kNoClock, invoked ? kNoClock : signed_time);
    return {};
  }

  void write() {
    const KeyId key = b_.key(b_.unsigned_integer(number(1)));
    if (number(0) == kDeleted) {
      b_.remove(key, Value::null());
    } else {
      b_.write(key, version(number(0), number(2)));
    }
  }

  void read() {
    const KeyId key = b_.key(b_.unsigned_integer(number(2)));
    const std::uint64_t writer = number(0);
    const std::uint64_t id = number(1);
    if (is_initial(writer) && is_initial(id)) {
      b_.read(key, Value::null());
    } else if (writer == kInit && (id == kCollectTrue || id == kCollectFalse)) {
      b_.read(key, Value::unobserved());
    } else if (id == kDeleted) {
      b_.read(key, Value::null());
    } else {
      b_.read(key, version(id, number(3)));
    }
  }

  [[nodiscard]] Value version(std::uint64_t id, std::uint64_t value_hash) {
    return b_.unsigned_integer(id == kSameForAll ? value_hash : id);
  }

  std::string_view bytes_;
  std::string_view file_;
  SessionId session_;
  HistoryBuilder& b_;
  bool timed_ = false;  // Begins and commits have times.
  std::size_t at_ = 0;
  bool in_txn_ = false;
  std::uint64_t txn_id_ = 0;
};

struct Parsed {
  Status status;
  HistoryBuilder builder;
};

Parsed parse_file(const LogFile& log) {
  Parsed parsed;
  auto input = Input::open(log.path);
  if (!input.ok()) {
    parsed.status = std::move(input).error();
    return parsed;
  }
  auto bytes = input->read_all();
  if (!bytes.ok()) {
    parsed.status = std::move(bytes).error();
    return parsed;
  }
  const SessionId session = session_of(log, parsed.builder);
  parsed.status = parse_cobra_log(*bytes, log.path, session, parsed.builder);
  return parsed;
}

}  // namespace

Status parse_cobra_log(std::string_view bytes, std::string_view file, SessionId session,
                       HistoryBuilder& builder) {
  return LogParser(bytes, file, session, builder).parse();
}

bool detect_cobra(const std::string& folder) { return has_log(folder, 'T'); }

// Several files are parsed at the same time; their builders are joined in order.
Result<History> read_cobra(const std::string& folder, unsigned threads) {
  const auto logs = list_logs(folder);
  if (!logs.ok()) return logs.error();
  if (logs->empty()) return error_in(folder, "no files named like T15.log, so no Cobra history");
  const unsigned workers = thread_count(threads);
  const auto policy = workers == 1 ? std::launch::deferred : std::launch::async;
  HistoryBuilder builder;
  std::deque<std::future<Parsed>> pending;
  for (std::size_t next = 0, joined = 0; joined < logs->size(); ++joined) {
    while (next < logs->size() && pending.size() < workers) {
      pending.push_back(std::async(policy, parse_file, std::cref((*logs)[next++])));
    }
    Parsed parsed = pending.front().get();
    pending.pop_front();
    if (!parsed.status.ok()) return parsed.status.error();
    builder.file((*logs)[joined].path, PlaceUnit::Byte);
    builder.absorb(std::move(parsed.builder));
  }
  return std::move(builder).freeze();
}

}  // namespace ouro
