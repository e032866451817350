// One transaction as a line of the native format, written while it runs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "db/database.h"
#include "ouro/history.h"

namespace ouro::running {

class Transcript {
 public:
  void clear();
  // From here on it takes no notes, and stays empty.
  void mute() { muted_ = true; }

  void read(db::Key key, std::optional<db::Number> number);
  void write(db::Key key, db::Number number);
  void remove(db::Key key, db::Number tombstone);
  void scan(db::Key lower, db::Key upper, std::span<const db::KeyNumber> found);
  void read_list(db::Key key, std::span<const db::Number> elements);
  void append(db::Key key, db::Number element);
  void read_row(db::Key key, const std::optional<db::Row>& row);
  void write_row(db::Key key, const db::Row& row);
  void select(const db::Where& where, std::span<const db::KeyRow> found);
  void aggregate(AggregateKind kind, std::size_t column, const db::Where& where,
                 std::optional<db::Number> result);
  void remove(db::Key key);

  [[nodiscard]] bool empty() const { return ops_.empty(); }
  [[nodiscard]] bool wrote() const { return !writes_.empty(); }

  struct Frame {
    std::int64_t session = 0;
    std::string_view session_name = {};  // Instead of the number, if not empty.
    TxnStatus status = TxnStatus::Committed;
    std::int64_t invoked = kNoClock;
    std::int64_t completed = kNoClock;
    Timestamp start = kNoTimestamp;
    Timestamp commit = kNoTimestamp;
  };
  // Replaces `line` by the transaction so far, with a line break.
  void format(const Frame& frame, std::string& line) const;
  // The same, with what it wrote only.
  void format_writes(const Frame& frame, std::string& line) const;
  // Where in the line of a committed transaction each predicate read ends, before its "]".
  [[nodiscard]] std::vector<std::uint32_t> predicate_ends(std::string_view line) const;

 private:
  struct Part {
    std::uint32_t begin;
    std::uint32_t end;
  };

  void open(std::string_view kind);
  static void begin(const Frame& frame, std::string& line);
  void close_write();
  void note_write();
  void read_or_write(char kind, db::Key key, std::optional<db::Number> number);
  void number(std::int64_t number);
  void where(const db::Where& where);

  std::string ops_;           // "[…],[…]"
  std::vector<Part> writes_;  // Those of them that write.
  std::size_t op_ = 0;        // Where the last one begins.
  bool muted_ = false;
  std::vector<std::uint32_t> predicate_ends_;  // In ops_.
};

// `"start_ts":…,` or nothing; what evidence adds to a line.
void print_times(Timestamp start, Timestamp commit, std::string& out);
// `{"c0":…}`, for version orders.
void print_row(const db::Row& row, std::string& out);
// `[key,{"c0":…}]` and so on, for version sets.
void print_rows(std::span<const db::KeyRow> rows, std::string& out);

}  // namespace ouro::running
