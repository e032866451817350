// The sentences for what timestamps show to be wrong.

#include <fmt/format.h>

#include "report/notation.h"
#include "report/story.h"

namespace ouro {
namespace {

constexpr std::size_t kLongResult = 120;  // Bytes of an expected result; longer ones are cut.

std::string shown(const std::string& json) {
  if (json.size() <= kLongResult) return json;
  std::size_t end = kLongResult;
  while (end > 0 && (static_cast<unsigned char>(json[end]) & 0xc0) == 0x80) --end;
  return json.substr(0, end) + "…";
}

}  // namespace

// "which T2 wrote and committed at 17", "which T3 wrote and then aborted".
std::string Story::written_by(OpId write) const {
  const TxnId txn = history_.txn_of(write);
  const std::string who = fmt::format("which {} wrote", label(txn));
  if (history_.status(txn) == TxnStatus::Aborted) return who + " and then aborted";
  const auto commit = history_.commit_ts(txn);
  return commit ? fmt::format("{} and committed at {}", who, notation(*commit))
                : who + ", of which no commit is known";
}

std::string Story::mismatch_sentence() const {
  const Op read = history_.op(anomaly_.ops.front());
  const std::string key = history_.key_label(read.key);
  OpId expected;
  OpId source;
  for (std::size_t i = 1; i < anomaly_.ops.size(); ++i) {
    const bool returned = history_.op(anomaly_.ops[i]).value == read.value;
    (returned ? source : expected) = anomaly_.ops[i];
  }
  std::string from = ", the initial value";
  if (expected.valid() && history_.op(expected).kind == OpKind::Append) {
    from = fmt::format(", last appended to by {}", label(history_.txn_of(expected)));
  } else if (expected.valid()) {
    from = ", " + written_by(expected);
  }
  return fmt::format("{} read {}{}; but by its timestamp it should have read {}={}{}.",
                     label(history_.txn_of(read.id)), assignment(history_, read.key, read.value),
                     source.valid() ? ", " + written_by(source) : "", key, shown(anomaly_.expected),
                     from);
}

std::string Story::missing_sentence() const {
  const TxnId txn = anomaly_.txns.front();
  const std::string_view which = history_.commit_ts(txn)  ? "start"
                                 : history_.start_ts(txn) ? "commit"
                                                          : "start or commit";
  return fmt::format("{} has no {} timestamp, so it has no place among the others.", label(txn),
                     which);
}

std::string Story::precedence_sentence() const {
  const std::string first = label(anomaly_.txns[0]);
  const std::string other = label(anomaly_.txns[1]);
  if (anomaly_.kind == AnomalyKind::SessionInversion) {
    return fmt::format("By timestamps {} does not follow {}, but it comes after it in session {}.",
                       first, other,
                       history_.label(history_.session_name(history_.session(anomaly_.txns[0]))));
  }
  return fmt::format(
      "By timestamps {} does not follow {}, but {} had completed, at {}, when {} was invoked, at "
      "{}.",
      first, other, other, history_.completed(anomaly_.txns[1]).value_or(0), first,
      history_.invoked(anomaly_.txns[0]).value_or(0));
}

bool Story::is_about_timestamps() const {
  return anomaly_.kind >= AnomalyKind::SnapshotMismatch ||
         (anomaly_.kind == AnomalyKind::ResultSetMismatch && !anomaly_.expected.empty());
}

// REQUIRES: is_about_timestamps().
std::string Story::timestamp_sentence() const {
  const std::string first = label(anomaly_.txns.front());
  const std::string other = anomaly_.txns.size() > 1 ? label(anomaly_.txns[1]) : std::string();
  const std::string key = anomaly_.ops.empty() || !history_.op(anomaly_.ops[0]).key.valid()
                              ? std::string()
                              : history_.key_label(history_.op(anomaly_.ops[0]).key);
  const auto start = history_.start_ts(anomaly_.txns.front()).value_or(Timestamp{});
  const auto commit = history_.commit_ts(anomaly_.txns.front()).value_or(Timestamp{});
  switch (anomaly_.kind) {
    case AnomalyKind::SnapshotMismatch:
      return mismatch_sentence();
    case AnomalyKind::ResultSetMismatch:
      return fmt::format("{} did {}; but what it should have seen gives {}.", first,
                         notation(history_, history_.op(anomaly_.ops[0])),
                         shown(anomaly_.expected));
    case AnomalyKind::WriteConflict:
      return fmt::format(
          "{} and {} both wrote {}, and neither had committed when the other started.", first,
          other, key);
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
          "{} and {} both wrote {} and committed at {}: nobody can say whose is the newer.", first,
          other, key, notation(commit));
  }
}

}  // namespace ouro
