// The part of Narrator that says first, in one sentence, what happened: a sentence for each
// pattern. What is told behind it is the proof.

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "explain/lost_update.h"
#include "history/access.h"
#include "history/moment.h"
#include "report/narrator.h"
#include "report/notation.h"

namespace ouro {
namespace {

constexpr std::size_t kNamed = 4;  // Of more transactions than these only some are named.

// The `nth` edge of the kind; null if there are fewer.
const Edge* find_edge(std::span<const Edge> cycle, EdgeKind kind, std::size_t nth = 0) {
  for (const Edge& edge : cycle) {
    if (edge.kind == kind && nth-- == 0) return &edge;
  }
  return nullptr;
}

// Whether the cycle has edges of these kinds only.
bool only(std::span<const Edge> cycle, EdgeKind one, EdgeKind two) {
  return std::all_of(cycle.begin(), cycle.end(),
                     [&](const Edge& edge) { return edge.kind == one || edge.kind == two; });
}

// Whether all edges of a cycle of more than two can be told in one sentence, that of
// cycle_in_short.cc.
bool is_short_cycle(std::span<const Edge> cycle) { return cycle.size() == 3 || cycle.size() == 4; }

}  // namespace

// "T1, T2 and T3".
std::string Narrator::everybody() const {
  if (txns_.size() > kNamed) return fmt::format("these {} transactions", txns_.size());
  std::string out;
  for (std::size_t i = 0; i < txns_.size(); ++i) {
    out += i == 0 ? "" : i + 1 == txns_.size() ? " and " : ", ";
    out += label(txns_[i]);
  }
  return out;
}

// "T1's x=1", "T1's delete x": what a transaction wrote; by its operation if that is known.
std::string Narrator::work(TxnId txn, OpId write, KeyId key) const {
  if (!txn.valid()) return fmt::format("the initial {}", short_key(history_, key));
  if (!write.valid()) return fmt::format("{}'s {}", label(txn), short_key(history_, key));
  const Op op = history_.op(write);
  return fmt::format("{}'s {}", label(txn),
                     op.kind == OpKind::Write ? assigned(op.key, op.value) : noted(op));
}

// What the transaction wrote to the key, if the story tells of it; invalid otherwise.
OpId Narrator::write_of(TxnId txn, KeyId key) const {
  OpId found;
  for (const OpId id : ops_) {
    const Op op = history_.op(id);
    if (op.key == key && is_write(op.kind) && history_.txn_of(id) == txn) found = id;
  }
  return found;
}

// "T2 and T3 both read stock=10, and each overwrote what the other relied on: one update is lost."
std::string Narrator::both_updated(TxnId one, TxnId other, std::string_view what) const {
  const auto [first, second] = std::minmax(one, other);
  return fmt::format(
      "{} and {} both read {}, and each overwrote what the other relied on: one update is lost.",
      label(first), label(second), what);
}

// The same of an anomaly that timestamps show.
std::string Narrator::lost_by_time_in_short() const {
  const auto lost = lost_update_among(history_, ops_, story_.shown_by.front());
  if (!lost) return plain_sentence();
  const Op read = history_.op(lost->one.read);
  return both_updated(history_.txn_of(read.id), history_.txn_of(lost->other.read),
                      assigned(read.key, read.value));
}

// The same, or what can be said if only one of the two is known to have read that.
std::string Narrator::lost_update_in_short(const Edge& missed) const {
  if (!missed.from_op.valid() || !is_read(history_.op(missed.from_op).kind)) return {};
  const Op read = history_.op(missed.from_op);
  const auto same = [&](OpId id) {
    const Op op = history_.op(id);
    return is_read(op.kind) && op.key == read.key && op.value == read.value &&
           history_.txn_of(id) == missed.to;
  };
  const std::string what = assigned(read.key, read.value);
  if (std::any_of(ops_.begin(), ops_.end(), same)) {
    return both_updated(missed.from, missed.to, what);
  }
  const std::string lost = work(missed.to, missed.to_op, missed.key);
  if (missed.to_op.valid() && is_append(history_.op(missed.to_op).kind)) {
    return fmt::format("{} read {} and appended to it behind {}, which it had not seen.",
                       label(missed.from), what, lost);
  }
  return fmt::format("{} read {} and overwrote {} without having seen it: that update is lost.",
                     label(missed.from), what, lost);
}

// "T1 read x=0, which T2 overwrote with 1, and T2 read y=0, …: each changed what the other relied
// on."
std::string Narrator::skew_in_short(std::span<const Edge> cycle) const {
  if (cycle.size() != 2) return {};
  return fmt::format("{}; and {}: each changed what the other relied on.",
                     missed_in_short(cycle[0]), missed_in_short(cycle[1]));
}

// "T1 read x=0, which T2 overwrote with 1", or "T1's count=2 missed T2's x=1": a read that was
// overwritten.
std::string Narrator::missed_in_short(const Edge& edge) const {
  const bool told = !edge.from_op.valid() || returned(edge.from_op, edge.key);
  if (edge.kind != EdgeKind::ReadWrite || told) return because(edge);
  return fmt::format("{}'s {} missed {}", label(edge.from), noted(history_.op(edge.from_op)),
                     work(edge.to, edge.to_op, edge.key));
}

// "T3's sum=130 counts T2's b=80, but not T2's a=20: no state of the rows gives that."
std::string Narrator::aggregate_in_short(std::span<const Edge> cycle) const {
  const Edge* const saw = find_edge(cycle, EdgeKind::WriteRead);
  const Edge* const missed = find_edge(cycle, EdgeKind::ReadWrite);
  if (saw == nullptr || missed == nullptr) return {};
  return fmt::format("{}'s {} counts {}, but not {}: no state of the rows gives that.",
                     label(missed->from), noted(history_.op(missed->from_op)),
                     work(saw->from, saw->from_op, saw->key),
                     work(missed->to, missed->to_op, missed->key));
}

// "T3 saw T2's x=1, but missed T2's y=1": for a reader that saw a part of a transaction.
std::string Narrator::half_seen(std::span<const Edge> cycle, std::string_view end) const {
  const Edge* const one = find_edge(cycle, EdgeKind::Forced);
  const Edge* const two = find_edge(cycle, EdgeKind::Forced, 1);
  if (two != nullptr) {
    const bool same = one->read.valid() && two->read.valid() &&
                      history_.txn_of(one->read) == history_.txn_of(two->read);
    if (!same || cycle.size() != 2) return {};
    return fmt::format(
        "{} saw a part of {} and a part of {}: whichever came last, it missed the rest.",
        label(history_.txn_of(one->read)), label(one->from), label(two->from));
  }
  for (const Edge& edge : cycle) {  // A rule of the level says that the reader saw edge.from.
    if (edge.kind != EdgeKind::Forced || !edge.read.valid() || !edge.saw.valid()) continue;
    const TxnId reader = history_.txn_of(edge.read);
    return fmt::format("{} saw {}, as {}, but missed {}{}", label(reader), label(edge.from),
                       how_seen(edge, reader),
                       work(edge.from, write_of(edge.from, edge.key), edge.key), end);
  }
  const Edge* const saw = find_edge(cycle, EdgeKind::WriteRead);
  const Edge* const missed = find_edge(cycle, EdgeKind::ReadWrite);
  if (cycle.size() != 2 || saw == nullptr || missed == nullptr) return {};
  return fmt::format("{} saw {}, but missed {}{}", label(missed->from),
                     work(saw->from, saw->from_op, saw->key),
                     work(missed->to, missed->to_op, missed->key), end);
}

// "T2 missed T1's x=1, although T1 is before T2 in session a."
std::string Narrator::stale_in_short(std::span<const Edge> cycle) const {
  if (const Edge* const forced = find_edge(cycle, EdgeKind::Forced);
      forced != nullptr && forced->read.valid()) {
    const TxnId reader = history_.txn_of(forced->read);
    return fmt::format("{} missed {}, although {}.", label(reader),
                       work(forced->from, write_of(forced->from, forced->key), forced->key),
                       how_seen(*forced, reader));
  }
  const Edge* const missed = find_edge(cycle, EdgeKind::ReadWrite);
  if (missed == nullptr || is_short_cycle(cycle)) return {};
  const std::string what = fmt::format("{} missed {}, although", label(missed->from),
                                       work(missed->to, missed->to_op, missed->key));
  if (cycle.size() != 2) return fmt::format("{} {} came before it.", what, label(missed->to));
  return fmt::format("{} {}.", what, because(cycle[missed == &cycle[0] ? 1 : 0]));
}

// "T4 missed T1's x=1, although it saw work of those who had seen it: an effect without its cause."
std::string Narrator::cause_in_short(std::span<const Edge> cycle) const {
  constexpr std::string_view kEnd =
      "although it saw work of those who had seen it: an effect without its cause.";
  if (const Edge* const forced = find_edge(cycle, EdgeKind::Forced);
      forced != nullptr && forced->read.valid()) {
    return fmt::format("{} missed {}, {}", label(history_.txn_of(forced->read)),
                       work(forced->from, write_of(forced->from, forced->key), forced->key), kEnd);
  }
  const Edge* const missed = find_edge(cycle, EdgeKind::ReadWrite);
  if (missed == nullptr) return {};
  return fmt::format("{} missed {}, {}", label(missed->from),
                     work(missed->to, missed->to_op, missed->key), kEnd);
}

// "T3, which only reads, saw T1's y=20 but not T2's x=-11: no order of the others gives that."
std::string Narrator::reader_in_short(std::span<const Edge> cycle) const {
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    const Edge& saw = cycle[i];
    const Edge& missed = cycle[(i + 1) % cycle.size()];
    if (saw.kind != EdgeKind::WriteRead || missed.kind != EdgeKind::ReadWrite ||
        writes(history_, saw.to)) {
      continue;
    }
    return fmt::format(
        "{}, which only reads, saw {} but not {}: no order of the others explains that.",
        label(saw.to), work(saw.from, saw.from_op, saw.key),
        work(missed.to, missed.to_op, missed.key));
  }
  return {};
}

// "T1's scan a..z (0 rows) missed T2's c=2, and T2's scan …: each decided without the other's row."
std::string Narrator::phantom_in_short(std::span<const Edge> cycle) const {
  if (cycle.size() == 2 && only(cycle, EdgeKind::ReadWrite, EdgeKind::ReadWrite)) {
    return fmt::format("{}, and {}: each decided without what the other wrote.",
                       missed_in_short(cycle[0]), missed_in_short(cycle[1]));
  }
  const Edge* const missed = find_edge(cycle, EdgeKind::ReadWrite);
  if (missed == nullptr || find_edge(cycle, EdgeKind::ReadWrite, 1) != nullptr) return {};
  if (is_short_cycle(cycle)) return {};
  if (cycle.size() != 2) {
    return fmt::format("{}, although {} came before it.", missed_in_short(*missed),
                       label(missed->to));
  }
  return fmt::format("{}, although {}.", missed_in_short(*missed),
                     because(cycle[missed == &cycle[0] ? 1 : 0]));
}

// The sentence of the pattern; empty if the cycle has another form than those it is written for, or
// if that of any cycle says it best.
std::string Narrator::pattern_in_short(std::span<const Edge> cycle) const {
  const Edge* const missed = find_edge(cycle, EdgeKind::ReadWrite);
  switch (story_.pattern) {
    case Pattern::DirtyWrite:
      if (cycle.size() != 2) return {};
      return fmt::format("{}, and {}: they overwrote each other.", because(cycle[0]),
                         because(cycle[1]));
    case Pattern::CircularFlow:
      if (cycle.size() != 2) return {};
      return fmt::format("{}, and {}: neither can have been the first.", because(cycle[0]),
                         because(cycle[1]));
    case Pattern::NonMonotonicRead:
      return half_seen(cycle, " afterwards: it went back in time.");
    case Pattern::FracturedRead:
      return half_seen(cycle, ": it saw one half of a transaction.");
    case Pattern::WrongAggregate:
      return aggregate_in_short(cycle);
    case Pattern::CausalityViolation:
      return cause_in_short(cycle);
    case Pattern::LostUpdate:
      return missed == nullptr ? std::string() : lost_update_in_short(*missed);
    case Pattern::StaleRead:
    case Pattern::ReadSkew:
      return stale_in_short(cycle);
    case Pattern::LongFork:
      return fork_in_short(cycle);
    case Pattern::WriteSkew:
    case Pattern::PredicateSkew:
      return skew_in_short(cycle);
    case Pattern::ReadOnlyAnomaly:
      return reader_in_short(cycle);
    case Pattern::Phantom:
      return phantom_in_short(cycle);
    default:
      return {};
  }
}

bool Narrator::has_proof() const {
  return !story_.cases.empty() || story_.pattern == Pattern::LostUpdate;
}

std::string Narrator::in_short() const {
  if (story_.cases.empty()) {
    return story_.pattern == Pattern::LostUpdate ? lost_by_time_in_short() : plain_sentence();
  }
  const Case& naming = story_.cases[story_.named_by];
  std::string out = naming.plain ? wrong_anyway_in_short(naming) : pattern_in_short(naming.cycle);
  if (out.empty() && !naming.plain) out = cycle_in_short(naming.cycle);
  if (out.empty()) {
    return fmt::format("No order explains what {} saw: {}.", everybody(),
                       info(story_.pattern).meaning);
  }
  // What is said of one case is true of all if these are the same but for two names.
  const auto differs = [&](const Case& other) {
    return &other != &naming && !other.mirrors && !is_other_result(other);
  };
  const bool always = story_.pattern == Pattern::LostUpdate && out.find(" both ") != out.npos;
  if (naming.plain) return out;
  if (!always && std::any_of(story_.cases.begin(), story_.cases.end(), differs)) {
    out = "At best, " + out;
  } else if (out.starts_with("the ")) {
    out[0] = 'T';
  }
  return out;
}

}  // namespace ouro
