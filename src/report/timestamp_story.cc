// The part of Narrator that tells anomalies found by timestamps.

#include <fmt/format.h>

#include <algorithm>

#include "explain/row_difference.h"
#include "history/access.h"
#include "report/narrator.h"
#include "report/notation.h"

namespace ouro {
namespace {

constexpr std::size_t kLongResult = 120;  // Bytes; a longer expected result is cut.

std::string shown(const std::string& json) {
  if (json.size() <= kLongResult) return json;
  std::size_t end = kLongResult;
  while (end > 0 && (static_cast<unsigned char>(json[end]) & 0xc0) == 0x80) --end;
  return json.substr(0, end) + "…";
}

}  // namespace

// "which T2 wrote and committed at 17", "which T3 wrote and then aborted".
std::string Narrator::written_by(OpId write) const {
  const TxnId txn = history_.txn_of(write);
  const std::string who = fmt::format("which {} wrote", label(txn));
  if (history_.status(txn) == TxnStatus::Aborted) return who + " and then aborted";
  const auto commit = history_.commit_ts(txn);
  return commit ? fmt::format("{} and committed at {}", who, notation(*commit))
                : who + ", of which no commit is known";
}

// ", which T2 wrote and committed at 17": where a read has what it returned from, `source` if that
// is known. `due`: the write that it should have seen.
std::string Narrator::returned_from(const Op& read, OpId source, OpId due) const {
  const TxnId reader = history_.txn_of(read.id);
  for (OpId id = read.id; id < history_.end_op(reader); ++id.value) {
    const Op own = history_.op(id);
    if (is_write(own.kind) && own.key == read.key && own.value == read.value) {
      return ", which it wrote only later";
    }
  }
  if (!source.valid()) return {};
  const TxnId writer = history_.txn_of(source);
  const bool intermediate = due.valid() && history_.txn_of(due) == writer && source < due;
  return intermediate ? fmt::format(", which {} wrote and then overwrote itself", label(writer))
                      : ", " + written_by(source);
}

std::string Narrator::mismatch_sentence() const {
  const Op read = history_.op(story_.shown_by.front());
  const std::string key = short_key(history_, read.key);
  OpId expected;
  OpId source;
  for (std::size_t i = 1; i < story_.shown_by.size(); ++i) {
    const bool returned =
        !is_open_read(read.kind) && history_.op(story_.shown_by[i]).value == read.value;
    (returned ? source : expected) = story_.shown_by[i];
  }
  if (story_.pattern == Pattern::ThinAirRead) {
    return fmt::format("{} read {}, which nobody wrote; by its timestamp it should have read {}.",
                       label(history_.txn_of(read.id)), assigned(read.key, read.value),
                       shown(story_.expected));
  }
  std::string from = ", the initial value";
  if (expected.valid() && is_append(history_.op(expected).kind)) {
    from = fmt::format(", last appended to by {}", label(history_.txn_of(expected)));
  } else if (expected.valid()) {
    from = ", " + written_by(expected);
  }
  if (is_open_read(read.kind)) {
    return fmt::format("{} {}; but by its timestamp {} was {}{}.", label(history_.txn_of(read.id)),
                       read_phrase(read.id, read.key), key, shown(story_.expected), from);
  }
  return fmt::format("{} read {}{}; but by its timestamp it should have read {}={}{}.",
                     label(history_.txn_of(read.id)), assigned(read.key, read.value),
                     returned_from(read, source, expected), key, shown(story_.expected), from);
}

// "T3's scan k..l (2 rows) missed k3={"price":7}, which T2 wrote and committed at 4, before T3
// began."
std::string Narrator::rows_sentence() const {
  const OpId read = story_.shown_by[0];
  const std::string whose =
      fmt::format("{}'s {}", label(history_.txn_of(read)), noted(history_.op(read)));
  const std::string_view by =
      story_.evidence == Evidence::Timestamps ? "its timestamp" : "the version orders";
  if (history_.op(read).kind == OpKind::Aggregate) {
    return fmt::format("{} should be {}, by {}.", whose, shown(story_.expected), by);
  }
  const RowDifference rows = row_difference(history_, read, story_.expected);
  if (rows.missed.empty() && rows.surplus.empty()) {
    return fmt::format("{} should give {}, by {}.", whose, shown(story_.expected), by);
  }
  if (rows.missed.empty()) {
    const KeyVersion& row = rows.surplus.front();
    return fmt::format("{} returned {}, which by {} it should not.", whose,
                       assigned(row.key, row.value), by);
  }
  const OpId write = story_.shown_by.size() > 1 ? story_.shown_by[1]
                                                : write_of_row(history_, ops_, rows.missed.front());
  const std::size_t more = rows.missed.size() - 1;
  const std::string others = more > 0 ? fmt::format("; and {}", counted(more, "more row")) : "";
  if (!write.valid()) {
    return fmt::format("{} missed {}, which by {} it should have found{}.", whose,
                       shown(rows.missed.front()), by, others);
  }
  const Op row = history_.op(write);
  const std::string what = assigned(row.key, row.value);
  const std::string whose_row = story_.evidence == Evidence::Timestamps
                                    ? written_by(write)
                                    : fmt::format("which {} wrote", label(history_.txn_of(write)));
  if (returned(read, row.key)) {
    return fmt::format("{} {}; but by {} it should have found {}, {}{}.",
                       label(history_.txn_of(read)), read_phrase(read, row.key), by, what,
                       whose_row, others);
  }
  return fmt::format("{} missed {}, {}; by {} it should have found it{}.", whose, what, whose_row,
                     by, others);
}

std::string Narrator::missing_sentence() const {
  const TxnId txn = story_.shown_in.front();
  const std::string_view which = history_.commit_ts(txn)  ? "start"
                                 : history_.start_ts(txn) ? "commit"
                                                          : "start or commit";
  return fmt::format("{} has no {} timestamp, so it has no place among the others.", label(txn),
                     which);
}

// "T2 comes after T1 in session a, but its timestamps do not say so: T1 runs from 4 to 9, and T2
// from 3 to 5."
std::string Narrator::precedence_sentence() const {
  const TxnId later = story_.shown_in[0];
  const TxnId earlier = story_.shown_in[1];
  const std::string why =
      story_.kind == AnomalyKind::SessionInversion
          ? fmt::format("{} comes after {} in session {}", label(later), label(earlier),
                        history_.label(history_.session_name(history_.session(later))))
          : fmt::format("{} ({})", real_time_reason(earlier, later), whose_clocks());
  return fmt::format("{}, but by their timestamps it is not so: {} runs {}, and {} {}.", why,
                     label(earlier), timestamps_text(history_, earlier), label(later),
                     timestamps_text(history_, later));
}

// Why `later` should follow `earlier` in real time: the strongest of the reasons that there are.
std::string Narrator::real_time_reason(TxnId earlier, TxnId later) const {
  const auto completed = history_.completed(earlier);
  const auto began = history_.began(earlier);
  const auto committing = history_.committing(later);
  const std::int64_t invoked = history_.invoked(later).value_or(0);
  const bool whole = completed && history_.invoked(later) && *completed < invoked;
  const std::string asked =
      committing && !whole ? fmt::format("{} asked for its commit at {}", label(later), *committing)
                           : fmt::format("{} was invoked at {}", label(later), invoked);
  const bool done = whole || (completed && committing && *completed < *committing) || !began;
  return done ? fmt::format("{} completed at {}, before {}", label(earlier), completed.value_or(0),
                            asked)
              : fmt::format("{} had begun at {}, before {}", label(earlier), *began, asked);
}

bool Narrator::is_about_timestamps() const {
  return info(story_.kind).sign == AnomalySign::Timestamps ||
         (story_.kind == AnomalyKind::ResultSetMismatch && !story_.expected.empty());
}

// REQUIRES: is_about_timestamps().
std::string Narrator::timestamp_sentence() const {
  const std::string first = label(story_.shown_in.front());
  // The two that conflict, in the order of the history.
  const auto [one, two] = std::minmax(story_.shown_in.front(), story_.shown_in.back());
  const std::string key = story_.shown_by.empty() || !history_.op(story_.shown_by[0]).key.valid()
                              ? std::string()
                              : short_key(history_, history_.op(story_.shown_by[0]).key);
  const auto start = history_.start_ts(story_.shown_in.front()).value_or(Timestamp{});
  const auto commit = history_.commit_ts(story_.shown_in.front()).value_or(Timestamp{});
  switch (story_.kind) {
    case AnomalyKind::SnapshotMismatch:
      return mismatch_sentence();
    case AnomalyKind::ResultSetMismatch:
      return rows_sentence();
    case AnomalyKind::WriteConflict:
      return fmt::format(
          "{} and {} both wrote {}, and neither had committed when the other started.", label(one),
          label(two), key);
    case AnomalyKind::SessionInversion:
    case AnomalyKind::RealTimeInversion:
      return precedence_sentence();
    case AnomalyKind::MissingTimestamp:
      return missing_sentence();
    case AnomalyKind::InvertedTimestamps:
      return fmt::format("{} starts at {}, but had committed at {}.", first, notation(start),
                         notation(commit));
    default:
      return fmt::format(
          "{} and {} both wrote {} and committed at {}: nobody can say whose is the newer.",
          label(one), label(two), key, notation(commit));
  }
}

}  // namespace ouro
