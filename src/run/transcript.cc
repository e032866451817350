#include "run/transcript.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace ouro::running {
namespace {

void print_number(std::int64_t number, std::string& out) {
  const fmt::format_int text(number);
  out.append(text.data(), text.size());
}

void print_timestamp(const char* name, Timestamp timestamp, std::string& out) {
  if (timestamp == kNoTimestamp) return;
  out += name;
  if (timestamp.logical == 0) {
    print_number(timestamp.physical, out);
  } else {
    out += fmt::format("[{},{}]", timestamp.physical, timestamp.logical);
  }
  out += ',';
}

}  // namespace

void print_times(Timestamp start, Timestamp commit, std::string& out) {
  print_timestamp("\"start_ts\":", start, out);
  print_timestamp("\"commit_ts\":", commit, out);
}

void print_row(const db::Row& row, std::string& out) {
  char before = '{';
  for (std::size_t i = 0; i < row.size(); ++i) {
    out += before;
    out += '"';
    out += db::kColumnNames[i];
    out += "\":";
    print_number(row[i], out);
    before = ',';
  }
  out += '}';
}

void print_rows(std::span<const db::KeyRow> rows, std::string& out) {
  out += '[';
  for (const db::KeyRow& found : rows) {
    if (out.back() != '[') out += ',';
    out += '[';
    print_number(found.key, out);
    out += ',';
    print_row(found.row, out);
    out += ']';
  }
  out += ']';
}

void Transcript::clear() {
  ops_.clear();
  writes_.clear();
  predicate_ends_.clear();
}

void Transcript::open(std::string_view kind) {
  if (!ops_.empty()) ops_ += ',';
  op_ = ops_.size();
  ops_ += kind;
}

void Transcript::close_write() {
  ops_ += ']';
  note_write();
}

void Transcript::note_write() {
  writes_.push_back({static_cast<std::uint32_t>(op_), static_cast<std::uint32_t>(ops_.size())});
}

// Most operations come here, and clients record them while they hold locks in the database. So the
// text is put together on the stack: appending to a string checks its capacity at every step.
void Transcript::read_or_write(char kind, db::Key key, std::optional<db::Number> number) {
  constexpr std::size_t kLongest = std::string_view(",[\"r\",-,-]").size() + 2 * 19;
  char text[kLongest];
  char* at = text;
  if (!ops_.empty()) *at++ = ',';
  op_ = ops_.size() + static_cast<std::size_t>(at - text);
  for (const char c : {'[', '"', kind, '"', ','}) *at++ = c;
  at = std::to_chars(at, text + kLongest, key).ptr;
  *at++ = ',';
  if (number) {
    at = std::to_chars(at, text + kLongest, *number).ptr;
  } else {
    at = std::copy_n("null", 4, at);
  }
  *at++ = ']';
  ops_.append(text, static_cast<std::size_t>(at - text));
}

void Transcript::number(std::int64_t number) { print_number(number, ops_); }

void Transcript::read(db::Key key, std::optional<db::Number> value) {
  if (!muted_) read_or_write('r', key, value);
}

void Transcript::write(db::Key key, db::Number value) {
  if (muted_) return;
  read_or_write('w', key, value);
  note_write();
}

void Transcript::remove(db::Key key, db::Number tombstone) {
  if (muted_) return;
  read_or_write('d', key, tombstone);
  note_write();
}

void Transcript::remove(db::Key key) {
  if (muted_) return;
  open("[\"d\",");
  number(key);
  close_write();
}

void Transcript::scan(db::Key lower, db::Key upper, std::span<const db::KeyNumber> found) {
  if (muted_) return;
  open("[\"scan\",");
  number(lower);
  ops_ += ',';
  number(upper);
  ops_ += ",[";
  for (const db::KeyNumber& row : found) {
    if (ops_.back() != '[') ops_ += ',';
    ops_ += '[';
    number(row.key);
    ops_ += ',';
    number(row.number);
    ops_ += ']';
  }
  ops_ += "]]";
}

void Transcript::read_list(db::Key key, std::span<const db::Number> elements) {
  if (muted_) return;
  open("[\"r\",");
  number(key);
  ops_ += ",[";
  for (const db::Number element : elements) {
    if (ops_.back() != '[') ops_ += ',';
    number(element);
  }
  ops_ += "]]";
}

void Transcript::append(db::Key key, db::Number element) {
  if (muted_) return;
  open("[\"append\",");
  number(key);
  ops_ += ',';
  number(element);
  close_write();
}

void Transcript::read_row(db::Key key, const std::optional<db::Row>& row) {
  if (muted_) return;
  open("[\"r\",");
  number(key);
  ops_ += ',';
  if (row) {
    print_row(*row, ops_);
  } else {
    ops_ += "null";
  }
  ops_ += ']';
}

void Transcript::write_row(db::Key key, const db::Row& row) {
  if (muted_) return;
  open("[\"w\",");
  number(key);
  ops_ += ',';
  print_row(row, ops_);
  close_write();
}

void Transcript::where(const db::Where& where) {
  if (where.empty()) {
    ops_ += "true";
    return;
  }
  if (where.size() > 1) ops_ += "{\"and\":[";
  for (const db::ColumnRange& range : where) {
    if (&range != &where.front()) ops_ += ',';
    ops_ += fmt::format("{{\"between\":[\"{}\",{},{}]}}", db::kColumnNames[range.column],
                        range.lower, range.upper);
  }
  if (where.size() > 1) ops_ += "]}";
}

void Transcript::select(const db::Where& condition, std::span<const db::KeyRow> found) {
  if (muted_) return;
  open("[\"select\",");
  where(condition);
  ops_ += ',';
  print_rows(found, ops_);
  predicate_ends_.push_back(static_cast<std::uint32_t>(ops_.size()));
  ops_ += ']';
}

void Transcript::aggregate(AggregateKind kind, std::size_t column, const db::Where& condition,
                           std::optional<db::Number> result) {
  if (muted_) return;
  open("[\"aggregate\",");
  ops_ += fmt::format("\"{}\",\"{}\",", name(kind), db::kColumnNames[column]);
  where(condition);
  ops_ += ',';
  if (result) {
    number(*result);
  } else {
    ops_ += "null";
  }
  predicate_ends_.push_back(static_cast<std::uint32_t>(ops_.size()));
  ops_ += ']';
}

void Transcript::begin(const Frame& frame, std::string& line) {
  line = "{\"session\":";
  if (frame.session_name.empty()) {
    print_number(frame.session, line);
  } else {
    line += '"';
    line += frame.session_name;
    line += '"';
  }
  if (frame.status == TxnStatus::Aborted) line += ",\"status\":\"aborted\"";
  if (frame.status == TxnStatus::Unknown) line += ",\"status\":\"unknown\"";
  const auto clock = [&](std::string_view field, std::int64_t time) {
    if (time == kNoClock) return;
    line += field;
    print_number(time, line);
  };
  clock(",\"invoked\":", frame.invoked);
  clock(",\"began\":", frame.began);
  clock(",\"committing\":", frame.committing);
  clock(",\"completed\":", frame.completed);
  line += ',';
  print_times(frame.start, frame.commit, line);
  line += "\"ops\":[";
}

void Transcript::format(const Frame& frame, std::string& line) const {
  begin(frame, line);
  line += ops_;
  line += "]}\n";
}

void Transcript::format_writes(const Frame& frame, std::string& line) const {
  begin(frame, line);
  for (const Part& write : writes_) {
    if (&write != &writes_.front()) line += ',';
    line.append(ops_, write.begin, write.end - write.begin);
  }
  line += "]}\n";
}

std::vector<std::uint32_t> Transcript::predicate_ends(std::string_view line) const {
  const std::size_t before = line.size() - ops_.size() - std::string_view("]}\n").size();
  std::vector<std::uint32_t> ends = predicate_ends_;
  for (std::uint32_t& end : ends) end += static_cast<std::uint32_t>(before);
  return ends;
}

}  // namespace ouro::running
