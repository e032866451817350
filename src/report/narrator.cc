#include "report/narrator.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "explain/source.h"
#include "history/access.h"
#include "history/commuting.h"
#include "report/notation.h"

namespace ouro {
namespace {

constexpr std::size_t kShortTxn = 8;   // Operations shown if the story is about none of them.
constexpr std::size_t kShortPath = 8;  // Steps within a sentence; of more the middle is left out.

// About how many columns of a terminal `text` fills: characters, not bytes.
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

// Adds to `told` how many of these rows each column tells apart from the others. A column that a
// row does not have is a value of its own.
void count_differences(const History& history, std::span<const Value> rows,
                       absl::flat_hash_map<ColumnId, std::size_t>& told) {
  std::vector<Cell> cells;
  for (const Value row : rows) {
    const auto all = history.row(row);
    cells.insert(cells.end(), all.begin(), all.end());
  }
  std::sort(cells.begin(), cells.end());
  for (std::size_t i = 0; i < cells.size();) {
    const ColumnId column = cells[i].column;
    std::size_t values = 0;
    const std::size_t begin = i;
    for (; i < cells.size() && cells[i].column == column; ++i) {
      if (i == begin || cells[i].value != cells[i - 1].value) ++values;
    }
    if (i - begin < rows.size()) ++values;
    if (values > 1) told[column] += values - 1;
  }
}

}  // namespace

std::vector<std::string> without_middle(std::vector<std::string> lines, std::string_view noun,
                                        std::size_t limit) {
  if (lines.size() <= limit) return lines;
  const std::size_t half = limit / 2;
  const std::size_t hidden = lines.size() - 2 * half;
  std::vector<std::string> out(lines.begin(), lines.begin() + half);
  out.push_back(fmt::format("… {} more {} …", grouped(hidden), noun));
  out.insert(out.end(), lines.end() - half, lines.end());
  return out;
}

Narrator::Narrator(const History& history, const Story& story) : history_(history), story_(story) {
  for (const TxnId txn : story.txns) add(txn);
  for (const OpId op : story.ops) add(op);
  for (const OpId op : story.shown_by) add(op);
  for (const Case& each : story.cases) {
    for (const Edge& edge : each.cycle) {
      add(edge.from);
      add(edge.to);
    }
    for (const ReadSource& said : each.sources) add(said.writer);
    for (const ReadSight& sight : each.sights) add(sight.writer);
  }
  std::sort(ops_.begin(), ops_.end());
  ops_.erase(std::unique(ops_.begin(), ops_.end()), ops_.end());
  find_columns();
  find_elements();
}

// Finds the columns in which versions of a row differ, and those that aggregates are about; those
// first that tell most versions apart.
void Narrator::find_columns() {
  absl::flat_hash_map<KeyId, Value> first;
  absl::flat_hash_map<KeyId, std::vector<Value>> versions;  // Of keys with different ones.
  const auto look_at = [&](KeyId key, Value value) {
    if (value.kind() != ValueKind::Row) return;
    const auto [seen, added] = first.try_emplace(key, value);
    if (added || seen->second == value) return;
    std::vector<Value>& all = versions[key];
    if (all.empty()) all.push_back(seen->second);
    if (std::find(all.begin(), all.end(), value) == all.end()) all.push_back(value);
  };
  absl::flat_hash_map<ColumnId, std::size_t> told;  // How many versions the column tells apart.
  for (const OpId id : ops_) {
    const Op op = history_.op(id);
    if (!is_predicate_read(op.kind)) {
      look_at(op.key, op.value);
      continue;
    }
    const PredicateRead& read = history_.predicate_read(id);
    if (op.kind == OpKind::Aggregate && read.column.valid()) ++told[read.column];
    for (const KeyVersion& row : history_.rows(read)) look_at(row.key, row.value);
  }
  for (const auto& [key, all] : versions) count_differences(history_, all, told);
  for (const auto& [column, count] : told) columns_.push_back(column);
  std::sort(columns_.begin(), columns_.end(), [&](ColumnId one, ColumnId other) {
    return std::pair(told[other], one) < std::pair(told[one], other);
  });
}

// Finds where lists that were read disagree: the first elements that are not the same in two reads
// of a key. In the middle of a long list, they would not be seen.
void Narrator::find_elements() {
  constexpr std::size_t kMostElements = 4;
  for (std::size_t i = 0; i < ops_.size(); ++i) {
    const Op one = history_.op(ops_[i]);
    if (!is_read(one.kind) || !one.value.is_list()) continue;
    const auto list = history_.list(one.value);
    for (std::size_t j = i + 1; j < ops_.size(); ++j) {
      const Op two = history_.op(ops_[j]);
      if (two.key != one.key || !is_read(two.kind) || !two.value.is_list()) continue;
      const auto other = history_.list(two.value);
      const std::size_t common = std::min(list.size(), other.size());
      std::size_t first = 0;
      while (first < common && list[first] == other[first]) ++first;
      if (first == common || elements_.size() >= kMostElements) continue;
      elements_.push_back(list[first]);
      elements_.push_back(other[first]);
    }
  }
}

std::string Narrator::text(Value value) const { return short_text(history_, value, focus()); }
std::string Narrator::assigned(KeyId key, Value value) const {
  return assignment(history_, key, value, focus());
}
std::string Narrator::noted(const Op& op) const { return notation(history_, op, focus()); }

void Narrator::add(TxnId txn) {
  if (txn.valid() && number_.try_emplace(txn, txns_.size() + 1).second) txns_.push_back(txn);
}

void Narrator::add(OpId op) {
  if (!op.valid()) return;
  ops_.push_back(op);
  add(history_.txn_of(op));
}

std::string Narrator::label(TxnId txn) const {
  const auto at = number_.find(txn);
  return at == number_.end() ? "the initial state" : fmt::format("T{}", at->second);
}

// The operations that the story is about, with dots for the gaps; if there are none, the first
// ones.
std::string Narrator::shown_ops(TxnId txn) const {
  const OpId first = history_.first_op(txn);
  const OpId end = history_.end_op(txn);
  // A compare-and-set is shown as one operation, whichever of its halves the story is about.
  const auto is_second = [&](OpId op) { return info(history_.op(op).kind).second; };
  std::size_t count = 0;
  for (OpId op = first; op != end; ++op.value) count += is_second(op) ? 0 : 1;
  const auto matter_first = std::lower_bound(ops_.begin(), ops_.end(), first);
  const auto matter_end = std::lower_bound(matter_first, ops_.end(), end);
  std::vector<OpId> shown(matter_first, matter_end);
  if (shown.empty()) {
    for (OpId op = first; op != end && shown.size() < kShortTxn; ++op.value) shown.push_back(op);
  }
  std::string out;
  OpId expected = first;
  std::size_t told = 0;
  for (const OpId op : shown) {
    if (told > 0 && OpId{op.index() + 1} == expected) continue;  // Shown with its first half.
    const bool gap = OpId{op.index() - (is_second(op) ? 1 : 0)} != expected;
    expected = OpId{op.index() + (info(history_.op(op).kind).first ? 2 : 1)};
    ++told;
    if (!out.empty() || gap) out += !gap ? "   " : out.empty() ? "…   " : "   …   ";
    out += noted(history_.op(op));
  }
  if (expected != end) out += "   …";
  if (told < count) out += fmt::format("   ({} operations)", grouped(count));
  return count == 0 ? "no operations" : out;
}

std::vector<std::string> Narrator::cast() const {
  std::vector<std::string> places;
  std::size_t widest = 0;
  for (const TxnId txn : txns_) {
    places.push_back(whereabouts(history_, txn));
    if (is_about_timestamps()) places.back() += ", " + timestamps_text(history_, txn);
    widest = std::max(widest, width(places.back()));
  }
  const std::size_t label_width = label(txns_.empty() ? TxnId{} : txns_.back()).size();
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < txns_.size(); ++i) {
    const std::string padding(widest - width(places[i]), ' ');
    lines.push_back(fmt::format("{:<{}}  {}{}   {}", label(txns_[i]), label_width, places[i],
                                padding, shown_ops(txns_[i])));
  }
  return without_middle(std::move(lines), "transactions");
}

std::string Narrator::sentence(std::span<const Edge> cycle, std::size_t i) const {
  const bool last = i + 1 == cycle.size();
  std::string out =
      fmt::format("{}{} < {}, because {}{}", last && i != 0 ? "But " : "", label(cycle[i].from),
                  label(cycle[i].to), because(cycle[i]), last ? ": a contradiction." : ".");
  if (i == 0 && !cycle[i].from.valid()) out[0] = 'T';  // "The initial state".
  return out;
}

std::vector<std::string> Narrator::sentences(std::span<const Edge> cycle) const {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < cycle.size(); ++i) lines.push_back(sentence(cycle, i));
  return without_middle(std::move(lines), "steps");
}

std::string Narrator::because(const Edge& edge) const {
  switch (edge.kind) {
    case EdgeKind::Session:
      if (!edge.from.valid()) return "the initial state precedes every transaction";
      return fmt::format("{} is before {} in session {}", label(edge.from), label(edge.to),
                         history_.label(history_.session_name(history_.session(edge.from))));
    case EdgeKind::WriteRead:
      return because_read(edge);
    case EdgeKind::WriteWrite:
      return because_overwritten(edge);
    case EdgeKind::ReadWrite:
      return because_missed(edge);
    case EdgeKind::RealTime:
    case EdgeKind::CommitTime:
    case EdgeKind::BeginTime:
      return because_of_time(edge);
    case EdgeKind::Forced:
      return because_forced(edge);
  }
  return {};
}

// "T1 completed at 5, before T2 was invoked at 7".
std::string Narrator::because_of_time(const Edge& edge) const {
  const bool begin = edge.kind == EdgeKind::BeginTime;
  const bool committing = edge.to.valid() && history_.committing(edge.to).has_value();
  const bool asked = edge.kind != EdgeKind::RealTime && committing;
  const auto at = [](std::optional<std::int64_t> clock) {
    return clock ? fmt::format(" at {}", *clock) : std::string();
  };
  const auto first = !edge.from.valid() ? std::nullopt
                     : begin            ? history_.began(edge.from)
                                        : history_.completed(edge.from);
  const auto second = !edge.to.valid() ? std::nullopt
                      : asked          ? history_.committing(edge.to)
                                       : history_.invoked(edge.to);
  return fmt::format("{} {}{}, before {} {}{} ({})", label(edge.from),
                     begin ? "had begun" : "completed", at(first), label(edge.to),
                     asked ? "asked for its commit" : "was invoked", at(second), whose_clocks());
}

// "by the clients' clocks, in nanoseconds"
std::string Narrator::whose_clocks() const {
  const std::string_view unit = clock_unit(history_);
  return fmt::format("by the clients' clocks{}{}", unit.empty() ? "" : ", in ", unit);
}

// "read x=1", or what a predicate read returned for `key`; if that is invalid, just what it did.
std::string Narrator::read_phrase(OpId id, KeyId key) const {
  const Op op = history_.op(id);
  if (is_open_read(op.kind)) return "failed at " + cas_notation(history_, op);
  if (!is_predicate_read(op.kind)) return "read " + assigned(op.key, op.value);
  if (!key.valid() || op.kind == OpKind::Aggregate) return "did " + noted(op);
  for (const KeyVersion& row : history_.rows(history_.predicate_read(id))) {
    if (row.key == key) {
      return fmt::format("read {} by {}", assigned(key, row.value), noted(op));
    }
  }
  return fmt::format("found no {} by {}", short_key(history_, key), noted(op));
}

// Whether the read returned something for `key`; false if a predicate read passed over it.
bool Narrator::returned(OpId read, KeyId key) const {
  if (!is_predicate_read(history_.op(read).kind)) return true;
  const auto rows = history_.rows(history_.predicate_read(read));
  return std::any_of(rows.begin(), rows.end(),
                     [&](const KeyVersion& row) { return row.key == key; });
}

// Whether the operation is a read of a counter or a set, which sees increments and adds.
bool Narrator::reads_counter_or_set(const Op& op) const {
  if (!is_predicate_read(op.kind)) return false;
  const PredicateRead& read = history_.predicate_read(op.id);
  return !counter_read(history_, op.kind, read).is_null() ||
         !set_read(history_, op.kind, read).empty();
}

// A write that makes an edge with a count changes which rows match; with another aggregate it may
// change only what their column has.
std::string_view Narrator::what_changes(OpId aggregate) const {
  return history_.predicate_read(aggregate).column.valid() ? "counts" : "matches";
}

std::string Narrator::because_read(const Edge& edge) const {
  if (!edge.to_op.valid()) {
    return fmt::format("{} read {} from {}", label(edge.to), short_key(history_, edge.key),
                       label(edge.from));
  }
  const std::string read = fmt::format("{} {}", label(edge.to), read_phrase(edge.to_op, edge.key));
  if (!edge.from.valid() || !edge.from_op.valid()) return read + ", the initial value";
  const Op write = history_.op(edge.from_op);
  if (reads_counter_or_set(history_.op(edge.to_op))) {
    return fmt::format("{}'s {} saw {}'s {}", label(edge.to), noted(history_.op(edge.to_op)),
                       label(edge.from), noted(write));
  }
  if (is_open_read(history_.op(edge.to_op).kind)) {
    return fmt::format("{}, having read {}'s {}", read, label(edge.from),
                       assigned(write.key, write.value));
  }
  if (history_.op(edge.to_op).kind == OpKind::Aggregate) {
    return fmt::format("{} with {}'s {}, which changes what {}", read, label(edge.from),
                       noted(write), what_changes(edge.to_op));
  }
  if (!returned(edge.to_op, edge.key)) {
    return fmt::format("{}, after {} did {}", read, label(edge.from), noted(write));
  }
  if (!is_append(write.kind)) return fmt::format("{}, which {} wrote", read, label(edge.from));
  const Op list = history_.op(edge.to_op);
  const std::string seen =
      list.value.is_list()
          ? fmt::format("{} read {}={}", label(edge.to), short_key(history_, list.key),
                        list_around(history_, list.value, {&write.value, 1}))
          : read;
  return fmt::format("{}, whose {} {} appended", seen, text(write.value), label(edge.from));
}

std::string Narrator::because_overwritten(const Edge& edge) const {
  if (!edge.from.valid()) return "the initial state precedes every write";
  if (!edge.from_op.valid() || !edge.to_op.valid()) {
    return fmt::format("{} overwrote {}'s {}", label(edge.to), label(edge.from),
                       short_key(history_, edge.key));
  }
  const Op older = history_.op(edge.from_op);
  const Op newer = history_.op(edge.to_op);
  if (newer.kind == OpKind::IncMark) {
    return fmt::format("{}'s {} came after {}'s {}", label(edge.to), noted(newer), label(edge.from),
                       noted(older));
  }
  if (is_append(newer.kind)) {
    return fmt::format("{} appended {} to {} behind {}'s {}{}", label(edge.to), text(newer.value),
                       short_key(history_, edge.key), label(edge.from), text(older.value),
                       as_read(edge.key, older.value, newer.value));
  }
  return fmt::format("{} overwrote {}'s {} with {}", label(edge.to), label(edge.from),
                     assigned(older.key, older.value), text(newer.value));
}

// ", as T3 read l=[1,2]": a read of the story that shows the order of two elements; "" if none
// does.
std::string Narrator::as_read(KeyId key, Value older, Value newer) const {
  for (const OpId id : ops_) {
    const Op op = history_.op(id);
    if (!is_read(op.kind) || op.key != key || !op.value.is_list()) continue;
    const auto elements = history_.list(op.value);
    const auto first = std::find(elements.begin(), elements.end(), older);
    if (std::find(first, elements.end(), newer) == elements.end()) continue;
    return fmt::format(", as {} read {}={}", label(history_.txn_of(id)), short_key(history_, key),
                       list_around(history_, op.value, std::array{older, newer}));
  }
  return "";
}

std::string Narrator::because_missed(const Edge& edge) const {
  if (!edge.from_op.valid() || !edge.to_op.valid()) {
    return fmt::format("{} read {} before {} overwrote it", label(edge.from),
                       short_key(history_, edge.key), label(edge.to));
  }
  const Op write = history_.op(edge.to_op);
  if (reads_counter_or_set(history_.op(edge.from_op))) {
    return fmt::format("{}'s {} missed {}'s {}", label(edge.from), noted(history_.op(edge.from_op)),
                       label(edge.to), noted(write));
  }
  const std::string read =
      fmt::format("{} {}", label(edge.from), read_phrase(edge.from_op, edge.key));
  if (is_open_read(history_.op(edge.from_op).kind)) {
    return fmt::format("{}, having read what {} overwrote with {}", read, label(edge.to),
                       text(write.value));
  }
  if (history_.op(edge.from_op).kind == OpKind::Aggregate) {
    return fmt::format("{} without {}'s {}, which changes what {}", read, label(edge.to),
                       noted(write), what_changes(edge.from_op));
  }
  if (!returned(edge.from_op, edge.key)) {
    return fmt::format("{}, before {} did {}", read, label(edge.to), noted(write));
  }
  if (is_append(write.kind)) {
    return fmt::format("{}, to which {} appended {}", read, label(edge.to), text(write.value));
  }
  return fmt::format("{}, which {} overwrote with {}", read, label(edge.to), text(write.value));
}

// The edges of story_.support that lead from one transaction to the other; empty if none do.
std::span<const Edge> Narrator::path(TxnId from, TxnId to) const {
  const std::span<const Edge> support = story_.support;
  for (std::size_t first = 0; first < support.size(); ++first) {
    if (support[first].from != from) continue;
    for (std::size_t i = first; i < support.size(); ++i) {
      if (i != first && support[i].from != support[i - 1].to) break;
      if (support[i].to == to) return support.subspan(first, i + 1 - first);
    }
  }
  return {};
}

// By which key the reader of a forced edge saw edge.from in an aggregate; invalid if nothing tells.
KeyId Narrator::key_seen(const Edge& edge) const {
  const OpId seen = edge.from.valid() ? write_behind(history_, edge.from, edge.saw) : OpId{};
  if (seen.valid()) return history_.op(seen).key;
  for (const Case& each : story_.cases) {
    const bool is_of_case = std::any_of(each.cycle.begin(), each.cycle.end(),
                                        [&](const Edge& other) { return &other == &edge; });
    for (const ReadSource& said : each.sources) {
      const bool saw = said.read == edge.saw && said.writer == edge.from && said.key != edge.key;
      if (is_of_case && saw) return said.key;
    }
  }
  return {};
}

// What the reader of a forced edge read although it saw edge.from: "read x=1 from T1", "its count=2
// saw T1's x".
std::string Narrator::yet_read(const Edge& forced) const {
  const Op read = history_.op(forced.read);
  const std::string key = short_key(history_, forced.key);
  const bool initial = !forced.to.valid();
  if (read.kind != OpKind::Aggregate) {
    return fmt::format("{}{}", read_phrase(forced.read, forced.key),
                       initial ? ", the initial value" : " from " + label(forced.to));
  }
  const std::string which = forced.read == forced.saw ? "it" : "its " + noted(read);
  if (!initial) return fmt::format("{} saw {}'s {}", which, label(forced.to), key);
  const bool none = history_.initial(forced.key).is_null();
  return none ? fmt::format("{} found no {}", which, key)
              : fmt::format("{} saw {} as it was at first", which, key);
}

// How the reader of a forced edge saw edge.from: by a read, in its session, or through others.
std::string Narrator::how_seen(const Edge& edge, TxnId reader) const {
  const auto session_of = [&](TxnId txn) {
    return history_.label(history_.session_name(history_.session(txn)));
  };
  if (edge.saw.valid()) {
    const OpId seen = edge.from.valid() ? write_behind(history_, edge.from, edge.saw) : OpId{};
    const KeyId key = seen.valid() ? history_.op(seen).key : history_.op(edge.saw).key;
    if (history_.op(edge.saw).kind == OpKind::Aggregate) {
      const KeyId which = key_seen(edge);
      return fmt::format("its {} saw {}{}", noted(history_.op(edge.saw)), label(edge.from),
                         which.valid() ? "'s " + short_key(history_, which) : "");
    }
    const bool open = is_open_read(history_.op(edge.saw).kind);
    return fmt::format("it {}{} from {}", read_phrase(edge.saw, key), open ? ", having read" : "",
                       label(edge.from));
  }
  if (edge.from.valid() && history_.session(edge.from) == history_.session(reader)) {
    return fmt::format("{} is before it in session {}", label(edge.from), session_of(reader));
  }
  std::vector<std::string> steps;
  for (const Edge& step : path(edge.from, reader)) {
    steps.push_back(
        step.kind == EdgeKind::Session
            ? fmt::format("{} is after {} in session {}", label(step.to), label(step.from),
                          session_of(step.to))
            : fmt::format("{} {}{} from {}", label(step.to), read_phrase(step.to_op, step.key),
                          is_open_read(history_.op(step.to_op).kind) ? ", having read" : "",
                          label(step.from)));
  }
  if (steps.empty()) return "through other transactions";
  return fmt::format("{}", fmt::join(without_middle(std::move(steps), "steps", kShortPath), ", "));
}

// A forced edge follows from the level's rule: a reader that saw `from` must not read a version of
// a key older than the one that `from` wrote. So the version it did read, of `to`, is newer.
std::string Narrator::because_forced(const Edge& edge) const {
  if (!edge.read.valid()) {
    return fmt::format("someone who saw {} read {} from {}", label(edge.from),
                       short_key(history_, edge.key), label(edge.to));
  }
  const TxnId reader = history_.txn_of(edge.read);
  const std::string how = how_seen(edge, reader);
  const std::string key = short_key(history_, edge.key);
  return fmt::format("{} saw {} ({}), yet {}; so {}'s {} {}", label(reader), label(edge.from), how,
                     yet_read(edge), label(edge.from), key,
                     edge.to.valid() ? "must be older" : "would be older still");
}

}  // namespace ouro
