// Builds the line of one transaction, in the native text format, while it runs.
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
  // Begins another transaction.
  void clear();
  // From now on operations are ignored, so the transcript stays empty.
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

  // All of a line but the operations.
  struct Frame {
    std::int64_t session = 0;
    std::string_view session_name = {};  // Used instead of the number if it is not empty.
    TxnStatus status = TxnStatus::Committed;
    std::int64_t invoked = kNoClock;
    std::int64_t began = kNoClock;
    std::int64_t committing = kNoClock;
    std::int64_t completed = kNoClock;
    Timestamp start = kNoTimestamp;
    Timestamp commit = kNoTimestamp;
  };
  // Replaces `line` by the transaction so far, with a line break.
  void format(const Frame& frame, std::string& line) const;
  // The same with the writes only.
  void format_writes(const Frame& frame, std::string& line) const;
  // The offset in `line` of the "]" that ends each predicate read; a version set goes before it.
  // REQUIRES: format() made `line`.
  [[nodiscard]] std::vector<std::uint32_t> predicate_ends(std::string_view line) const;

 private:
  struct Part {
    std::uint32_t begin;
    std::uint32_t end;
  };

  // Begins an operation with `kind`, such as `["append",`.
  void open(std::string_view kind);
  static void begin(const Frame& frame, std::string& line);
  // Ends an operation that writes.
  void close_write();
  void note_write();
  void read_or_write(char kind, db::Key key, std::optional<db::Number> number);
  void number(std::int64_t number);
  void where(const db::Where& where);

  std::string ops_;           // The operations: "[…],[…]"
  std::vector<Part> writes_;  // Where in ops_ the writes are.
  std::size_t op_ = 0;        // Where in ops_ the last operation begins.
  bool muted_ = false;
  std::vector<std::uint32_t> predicate_ends_;  // As predicate_ends(), but in ops_.
};

// Appends `"start_ts":…,"commit_ts":…,` without those that are kNoTimestamp.
void print_times(Timestamp start, Timestamp commit, std::string& out);
// Appends `{"c0":…,"c1":…,"c2":…}`.
void print_row(const db::Row& row, std::string& out);
// Appends `[[key,{"c0":…}],…]`, as in results of selects and in version sets.
void print_rows(std::span<const db::KeyRow> rows, std::string& out);

}  // namespace ouro::running
