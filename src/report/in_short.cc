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
std::string Narrator::both_updated(TxnId one, TxnId other, std::string_view what,
                                   bool appended) const {
  const auto [first, second] = std::minmax(one, other);
  return fmt::format("{} and {} both read {}, and each {}.", label(first), label(second), what,
                     appended ? "appended to it without having seen what the other appended"
                              : "overwrote what the other relied on: one update is lost");
}

// The same of an anomaly that timestamps show.
std::string Narrator::lost_by_time_in_short() const {
  const auto lost = lost_update_among(history_, ops_, story_.shown_by.front());
  if (!lost) return plain_sentence();
  const Op read = history_.op(lost->one.read);
  return both_updated(history_.txn_of(read.id), history_.txn_of(lost->other.read),
                      assigned(read.key, read.value), is_append(history_.op(lost->one.write).kind));
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
  const bool appended = missed.to_op.valid() && is_append(history_.op(missed.to_op).kind);
  if (std::any_of(ops_.begin(), ops_.end(), same)) {
    return both_updated(missed.from, missed.to, what, appended);
  }
  const std::string lost = work(missed.to, missed.to_op, missed.key);
  if (appended) {
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

// "T2 overwrote T1's x=1 with 2, and T1 overwrote T2's y=3 with 4: they overwrote each other."; or
// "T1 appended 1 to l behind T2's 2, as T3 read l=[2,1], although T1 is before T2 in session a."
std::string Narrator::overwriting_in_short(std::span<const Edge> cycle) const {
  if (cycle.size() != 2) return {};
  const auto overwrites = [](const Edge& edge) { return edge.kind == EdgeKind::WriteWrite; };
  if (!overwrites(cycle[0]) || !overwrites(cycle[1])) {
    const std::size_t first = overwrites(cycle[0]) ? 0 : 1;
    return fmt::format("{}, although {}.", because(cycle[first]), because(cycle[1 - first]));
  }
  const auto appends = [&](const Edge& edge) {
    return edge.to_op.valid() && is_append(history_.op(edge.to_op).kind);
  };
  return fmt::format("{}, and {}: {}.", because(cycle[0]), because(cycle[1]),
                     appends(cycle[0]) || appends(cycle[1]) ? "neither can have been the first"
                                                            : "they overwrote each other");
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

// "it saw T3's z=1, T3 had seen T2's y=1, and T2 had seen T1's x=1": how a reader saw a cause, from
// what it saw itself back to the cause. `steps` lead from the cause to the reader.
std::string Narrator::traced_back(std::span<const Edge> steps) const {
  constexpr std::size_t kMostSteps = 6;
  std::vector<std::string> parts;
  for (std::size_t i = steps.size(); i-- > 0 && parts.size() < kMostSteps;) {
    const Edge& step = steps[i];
    const bool last = i + 1 == steps.size();
    if (step.kind == EdgeKind::WriteRead && step.from.valid()) {
      const std::string who = last ? "it saw" : label(step.to) + " had seen";
      parts.push_back(fmt::format("{} {}", who, work(step.from, step.from_op, step.key)));
    } else {
      parts.push_back(because(step));
    }
  }
  const std::size_t hidden = steps.size() - parts.size();
  if (hidden > 0) parts.push_back(fmt::format("so on through {}", counted(hidden, "more step")));
  std::string out = parts.front();
  for (std::size_t i = 1; i < parts.size(); ++i) {
    out += (i + 1 < parts.size() ? ", " : parts.size() == 2 ? " and " : ", and ") + parts[i];
  }
  return out;
}

// "T3 read x=0 and missed T1's x=1, although it saw T2's y=1 and T2 had seen T1's x=1: an effect
// without its cause."
std::string Narrator::cause_in_short(std::span<const Edge> cycle) const {
  const auto sentence = [&](OpId read, TxnId reader, KeyId key, const std::string& cause,
                            std::span<const Edge> steps) {
    const bool tells = read.valid() && returned(read, key) &&
                       history_.op(read).kind != OpKind::Aggregate;
    const std::string instead = tells ? read_phrase(read, key) + " and " : "";
    return fmt::format("{} {}missed {}, although {}: an effect without its cause.", label(reader),
                       instead, cause,
                       steps.empty() ? "it saw work of those who had seen it" : traced_back(steps));
  };
  if (const Edge* const forced = find_edge(cycle, EdgeKind::Forced);
      forced != nullptr && forced->read.valid()) {
    const TxnId reader = history_.txn_of(forced->read);
    return sentence(forced->read, reader, forced->key,
                    work(forced->from, write_of(forced->from, forced->key), forced->key),
                    path(forced->from, reader));
  }
  const Edge* const missed = find_edge(cycle, EdgeKind::ReadWrite);
  if (missed == nullptr) return {};
  const auto behind = static_cast<std::size_t>(missed - cycle.data()) + 1;
  std::vector<Edge> steps(cycle.begin() + static_cast<std::ptrdiff_t>(behind), cycle.end());
  steps.insert(steps.end(), cycle.begin(), cycle.begin() + static_cast<std::ptrdiff_t>(behind - 1));
  return sentence(missed->from_op, missed->from, missed->key,
                  work(missed->to, missed->to_op, missed->key), steps);
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
      return overwriting_in_short(cycle);
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
  const bool always = story_.pattern == Pattern::LostUpdate && out.find(" both ") != out.npos;
  return naming.plain || always ? out : in_this_case(std::move(out));
}

// What is true of the naming case only says so. Of cases that mirror it the same is true with other
// names.
std::string Narrator::in_this_case(std::string sentence) const {
  const Case* other = nullptr;
  std::size_t same = 0;
  for (std::size_t i = 0; i < story_.cases.size(); ++i) {
    const Case& each = story_.cases[i];
    if (i == story_.named_by || is_other_result(each)) continue;
    if (each.mirrors != story_.named_by) return "At best, " + sentence;
    other = &each;
    ++same;
  }
  if (sentence.starts_with("the ")) sentence[0] = 'T';
  if (same == 0) return sentence;
  return same == 1 ? fmt::format("{} Or the same, with {}.", sentence, other_names(*other))
                   : fmt::format("{} Or the same with other names, in {} other cases.", sentence,
                                 same);
}

}  // namespace ouro
