// The part of Narrator that tells anomalies that are no cycle, in one sentence.

#include <absl/container/flat_hash_set.h>
#include <fmt/format.h>

#include <algorithm>

#include "check/predicates/aggregate.h"
#include "history/access.h"
#include "history/value_order.h"
#include "report/narrator.h"
#include "report/notation.h"

namespace ouro {
namespace {

// The first element that occurs twice; null if none does.
Value repeated_element(const History& history, Value list) {
  absl::flat_hash_set<Value> seen;
  for (const Value element : history.list(list)) {
    if (!seen.insert(element).second) return element;
  }
  return Value::null();
}

bool has_version_set(const History& history, OpId id) {
  return is_predicate_read(history.op(id).kind) && history.predicate_read(id).has_version_set;
}

// Whether a predicate read asks for the row: it is in the range, or fulfils the condition.
bool selects(const History& history, OpId id, const KeyVersion& row) {
  const PredicateRead& read = history.predicate_read(id);
  if (has_condition(history.op(id).kind)) {
    return evaluate(history, read.predicate, row.key, row.value) == Truth::True;
  }
  const Value name = history.key_name(row.key);
  return (read.lower.is_null() || compare_values(history, read.lower, name) <= 0) &&
         (read.upper.is_null() || compare_values(history, name, read.upper) <= 0);
}

}  // namespace

// The `nth` write, or read, among the operations that show the anomaly; invalid if there are fewer.
OpId Narrator::find_op(bool writes, std::size_t nth) const {
  for (const OpId op : story_.shown_by) {
    if (!op.valid()) continue;
    const OpKind kind = history_.op(op).kind;
    if ((is_write(kind) || is_undone(kind)) == writes && nth-- == 0) return op;
  }
  return OpId{};
}

// The sentence for a read that contradicts a write: one that aborted, was overwritten by its own
// transaction, came later, or is of the reader itself. `write` may be invalid.
std::string Narrator::dirty_sentence(OpId read, OpId write) const {
  const std::string who = label(history_.txn_of(read));
  const std::string what = read_phrase(read, history_.op(read).key);
  const bool own = write.valid() && history_.txn_of(write) == history_.txn_of(read);
  const std::string writer = own             ? "it"
                             : write.valid() ? label(history_.txn_of(write))
                                             : std::string("its transaction");
  const bool append = write.valid() && is_append(history_.op(write).kind);
  const std::string which =
      append ? fmt::format("whose {}", text(history_.op(write).value)) : "which";
  const std::string_view wrote = append ? "appended" : "wrote";
  switch (story_.kind) {
    case AnomalyKind::AbortedRead:
      if (write.valid() && is_undone(history_.op(write).kind)) {
        return fmt::format("{} {}, {} {} {} and then rolled back.", who, what, which, writer,
                           wrote);
      }
      return fmt::format("{} {}, {} {} {}; but {} aborted.", who, what, which, writer, wrote,
                         writer);
    case AnomalyKind::IntermediateRead: {
      const OpId final_write = find_op(true, 1);
      std::string later =
          final_write.valid() ? " with " + text(history_.op(final_write).value) : std::string();
      if (append)
        return fmt::format("{} {}, {} {} {} and then went on.", who, what, which, writer, wrote);
      return fmt::format("{} {}, which {} wrote and then overwrote{} itself.", who, what, writer,
                         later);
    }
    case AnomalyKind::FutureRead:
      return fmt::format("{} {}, {} it {} only later.", who, what, which, wrote);
    default:
      if (!write.valid()) return fmt::format("{} {}, which contradicts its own write.", who, what);
      if (has_version_set(history_, read)) {
        return fmt::format("{} {}, and saw another version than its own {} before.", who, what,
                           noted(history_.op(write)));
      }
      return fmt::format("{} {}, although it had {} before.", who, what,
                         done_before(history_.op(write)));
  }
}

// "written x=2", "appended 1 to l", "deleted x": what a transaction had done.
std::string Narrator::done_before(Op write) const {
  const OpKind kind = write.kind;
  const bool undone = is_undone(kind);
  const std::string_view then = undone ? " (which it rolled back later)" : "";
  if (kind == OpKind::Append || kind == OpKind::UndoneAppend) {
    return fmt::format("appended {} to {}{}", text(write.value), short_key(history_, write.key),
                       then);
  }
  if (info(kind).deletes || kind == OpKind::UndoneDelete) {
    return fmt::format("deleted {}{}", short_key(history_, write.key), then);
  }
  if (kind == OpKind::Write || kind == OpKind::UndoneWrite) {
    return fmt::format("written {}{}", assigned(write.key, write.value), then);
  }
  return fmt::format("done {}", noted(write));
}

// The key that two contradicting reads have in common. Both may be predicate reads.
KeyId Narrator::common_key(OpId one, OpId two) const {
  for (const OpId id : {one, two}) {
    if (history_.op(id).key.valid()) return history_.op(id).key;
  }
  for (const KeyVersion& row : history_.rows(history_.predicate_read(one))) {
    for (const KeyVersion& other : history_.rows(history_.predicate_read(two))) {
      if (row.key == other.key && row.value != other.value) return row.key;
    }
  }
  return {};
}

// What a version set says that the read should have returned: "T2's count=1 should be 2 …".
std::string Narrator::implied_sentence(OpId id) const {
  const Op op = history_.op(id);
  const PredicateRead& read = history_.predicate_read(id);
  const std::string whose = fmt::format("{}'s {}", label(history_.txn_of(id)), noted(op));
  std::vector<KeyVersion> selected;
  for (const KeyVersion& version : history_.version_set(read)) {
    if (version.value.is_null() || !selects(history_, id, version)) continue;
    selected.push_back(version);
    if (op.kind != OpKind::Aggregate && !returned(id, version.key)) {
      return fmt::format("{} lacks {}, although that is among the versions that it saw.", whose,
                         assigned(version.key, version.value));
    }
  }
  const bool alone = first_own_write(id) == id;
  if (op.kind == OpKind::Aggregate && alone) {
    return fmt::format("{} should be {}, by the versions that it saw.", whose,
                       aggregate(history_, read, selected));
  }
  return fmt::format("{} is not what the versions that it saw imply.", whose);
}

// The first write of the same transaction before a read; the read itself if there is none.
OpId Narrator::first_own_write(OpId read) const {
  for (OpId id = history_.first_op(history_.txn_of(read)); id < read; ++id.value) {
    if (is_write(history_.op(id).kind)) return id;
  }
  return read;
}

// ", such as T1's a={"v":50}": the rows that a predicate read asks for, as far as the story tells
// of them.
std::string Narrator::rows_asked_for(OpId read) const {
  constexpr std::size_t kMost = 4;
  std::vector<std::string> rows;
  for (const OpId id : ops_) {
    const Op op = history_.op(id);
    const bool own = history_.txn_of(id) == history_.txn_of(read);
    if (op.kind != OpKind::Write || (own && id > read)) continue;
    if (!selects(history_, read, {op.key, op.value})) continue;
    rows.push_back(work(history_.txn_of(id), id, op.key));
  }
  if (rows.empty()) return {};
  const std::size_t hidden = rows.size() - std::min(rows.size(), kMost);
  rows.resize(std::min(rows.size(), kMost));
  return fmt::format(", such as {}{}", fmt::join(rows, ", "),
                     hidden > 0 ? fmt::format(" and {} more", hidden) : "");
}

// The sentence for a result that its version set does not imply, or that has a row which the read
// did not ask for, or one row twice.
std::string Narrator::result_sentence(OpId read) const {
  const std::string who = label(history_.txn_of(read));
  const std::string what = noted(history_.op(read));
  if (has_version_set(history_, read)) return implied_sentence(read);
  absl::flat_hash_set<KeyId> keys;
  for (const KeyVersion& row : history_.rows(history_.predicate_read(read))) {
    if (!keys.insert(row.key).second) {
      return fmt::format("{} got {} from {} more than once.", who, history_.key_label(row.key),
                         what);
    }
    if (!selects(history_, read, row)) {
      return fmt::format("{} got {} from {}, which does not ask for it.", who,
                         assigned(row.key, row.value), what);
    }
  }
  if (reads_counter_or_set(history_.op(read))) {
    return fmt::format("No increments add up to what {}'s {} returned.", who, what);
  }
  return fmt::format("{} got {}, which no versions of the rows give{}.", who, what,
                     rows_asked_for(read));
}

std::string Narrator::plain_sentence() const {
  if (is_about_timestamps()) return timestamp_sentence();
  if (story_.kind == AnomalyKind::VersionOrderMismatch) {
    const OpId write = find_op(true, 0);
    if (!write.valid()) return fmt::format("{}.", info(story_.kind).meaning);
    const TxnId writer = history_.txn_of(write);
    const Op op = history_.op(write);
    const std::string what = assigned(op.key, op.value);
    if (history_.status(writer) == TxnStatus::Aborted) {
      return fmt::format("The version order of {} has {}, but {}, which wrote it, aborted.",
                         short_key(history_, op.key), what, label(writer));
    }
    return fmt::format("The version order of {} lacks {}, which {} wrote.",
                       short_key(history_, op.key), what, label(writer));
  }
  const OpId read = find_op(false, 0);
  const OpId other = find_op(false, 1);
  if (!read.valid()) return fmt::format("{}.", info(story_.kind).meaning);
  const Op op = history_.op(read);
  const std::string who = label(history_.txn_of(read));
  const std::string what = read_phrase(read, op.key);
  switch (story_.kind) {
    case AnomalyKind::ThinAirRead:
      if (is_open_read(op.kind)) {
        return fmt::format("{} {}, although {} never held anything else.", who, what,
                           assigned(op.key, op.value));
      }
      if (op.value.is_list()) {
        return fmt::format("{} {}, with an element that nobody appended.", who, what);
      }
      if (has_version_set(history_, read)) {
        return fmt::format(
            "{} {}; but its version set has what nobody wrote, or lacks a key that was never "
            "absent.",
            who, what);
      }
      return fmt::format("{} {}, which nobody wrote.", who, what);
    case AnomalyKind::DuplicateElements:
      if (!op.value.is_list()) break;
      return fmt::format("{} {}, which holds {} more than once.", who, what,
                         text(repeated_element(history_, op.value)));
    case AnomalyKind::IncompatibleOrder:
      if (!other.valid()) break;
      return fmt::format("{} {} and {} {}: neither continues the other.", who, what,
                         label(history_.txn_of(other)), read_phrase(other, history_.op(other).key));
    case AnomalyKind::NonRepeatableRead:
      if (!other.valid()) break;
      return fmt::format("{} {} and then {}, and wrote nothing to it in between.", who,
                         read_phrase(std::min(read, other), common_key(read, other)),
                         read_phrase(std::max(read, other), common_key(read, other)));
    case AnomalyKind::ResultSetMismatch:
      return result_sentence(read);
    case AnomalyKind::AbortedRead:
    case AnomalyKind::IntermediateRead:
    case AnomalyKind::FutureRead:
    case AnomalyKind::Internal:
      return dirty_sentence(read, find_op(true, 0));
    default:
      break;
  }
  return fmt::format("{} {}: {}.", who, what, info(story_.kind).meaning);
}

}  // namespace ouro
