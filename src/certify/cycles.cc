#include "certify/cycles.h"

#include <fmt/format.h>

#include <algorithm>

#include "certify/clock.h"

namespace ouro::recheck {

Cycles::Cycles(const Reading& reading, const PredicateReads& predicates, Level level,
               std::int64_t clock_drift)
    : reading_(reading),
      level_(level),
      clock_drift_(clock_drift),
      versions_(reading, level),
      predicates_(predicates),
      place_(reading.history().txn_count(), 0) {
  const History& h = reading.history();
  for (std::size_t s = 0; s < h.session_count(); ++s) {
    std::uint32_t place = 0;
    for (const TxnId txn : h.session_txns(SessionId{s})) place_[txn.index()] = place++;
  }
}

std::string Cycles::complaint_about_writer(const Choice& choice, TxnId txn) const {
  if (txn == kInitialTxn || !takes_part(txn)) return "is not about transactions that count";
  if (reading_.last_write(txn, choice.key) == kNoAccess) return "is not about writers of a key";
  return "";
}

std::string Cycles::complaint(const Choice& choice) const {
  if (choice.key.index() >= reading_.history().key_count()) return "is about no key";
  const bool initial_source = choice.first == kInitialTxn && (choice.kind == ChoiceKind::Source ||
                                                              choice.kind == ChoiceKind::Later);
  if (!initial_source) {
    if (std::string wrong = complaint_about_writer(choice, choice.first); !wrong.empty()) {
      return wrong;
    }
  }
  switch (choice.kind) {
    case ChoiceKind::Order:
      if (choice.first == choice.second) return "is between a transaction and itself";
      return complaint_about_writer(choice, choice.second);
    case ChoiceKind::Sees:
      if (choice.second != kInitialTxn && !takes_part(choice.second)) {
        return "is not about transactions that count";
      }
      // Elsewhere a begin need be neither before nor behind a commit.
      if (const Family family = rules(choice.second).family;
          family != Family::Snapshot && family != Family::Serial) {
        return "is about what a transaction sees, which the level does not order";
      }
      if (choice.first == choice.second) return "is between a transaction and itself";
      return choice.second != kInitialTxn && takes_part(choice.second)
                 ? ""
                 : "is not about transactions that count";
    default: {
      const AccessId read = reading_.read_of(choice.read, choice.key);
      if (read == kNoAccess || !reading_.is_open(read) || reading_.is_external(read)) {
        return "is not about an open read";
      }
      return takes_part(reading_.access(read).txn) ? "" : "is not about transactions that count";
    }
  }
}

// Whether a side of a choice about an open read, or about what a transaction sees, is the edge.
bool Cycles::rests_on(const Edge& edge, const Choice& choice, bool reversed) const {
  const TxnId reader =
      choice.kind == ChoiceKind::Sees ? choice.second : reading_.history().txn_of(choice.read);
  if (edge.key != choice.key || choice.kind == ChoiceKind::Later) return false;
  if (!reversed) {
    return edge.kind == EdgeKind::WriteRead && edge.from == choice.first && edge.to == reader &&
           choice.first != kInitialTxn;
  }
  return choice.kind == ChoiceKind::Sees && edge.kind == EdgeKind::ReadWrite &&
         edge.from == reader && edge.to == choice.first;
}

std::string Cycles::complaint(std::span<const Choice> choices,
                              std::span<const ChoiceSide> assumed) const {
  for (const ChoiceSide& side : assumed) {
    const Choice& choice = choices[side.choice];
    if (choice.kind != ChoiceKind::Source && choice.kind != ChoiceKind::Later) continue;
    const AccessId read = reading_.read_of(choice.read, choice.key);
    if (leaves_no_source(choices, assumed, read)) return "";
  }
  if (sees_later_version(choices, assumed) || contradicts_result(choices, assumed)) return "";
  return "contradicts neither an open read nor the result of a predicate read";
}

// Whether no version is left that the read can have returned.
bool Cycles::leaves_no_source(std::span<const Choice> choices, std::span<const ChoiceSide> assumed,
                              AccessId read) const {
  std::vector<TxnId> left = reading_.candidates(read);
  for (const ChoiceSide& side : assumed) {
    const Choice* choice = &choices[side.choice];
    if (choice->kind != ChoiceKind::Source && choice->kind != ChoiceKind::Later) continue;
    if (reading_.read_of(choice->read, choice->key) != read) continue;
    std::vector<TxnId> named{choice->first};
    while (choice->previous != Choice::kNone) {
      choice = &choices[choice->previous];
      named.push_back(choice->first);
    }
    const bool among = (choices[side.choice].kind == ChoiceKind::Source) != side.reversed;
    std::erase_if(left, [&](TxnId writer) {
      return (std::find(named.begin(), named.end(), writer) != named.end()) != among;
    });
  }
  return left.empty();
}

// Whether an open read returned a version although its transaction sees one that comes later.
bool Cycles::sees_later_version(std::span<const Choice> choices,
                                std::span<const ChoiceSide> assumed) const {
  const Choice* source = nullptr;
  const Choice* seen = nullptr;
  Assumption assumption;
  for (const ChoiceSide& side : assumed) {
    const Choice& choice = choices[side.choice];
    if (choice.kind == ChoiceKind::Order) {
      assumption = {version_of(choice.first, choice.key), version_of(choice.second, choice.key),
                    true};
      if (side.reversed) std::swap(assumption.first, assumption.second);
    }
    if (choice.kind == ChoiceKind::Source && !side.reversed) source = &choice;
    if (choice.kind == ChoiceKind::Sees && !side.reversed) seen = &choice;
  }
  if (source == nullptr || seen == nullptr) return false;
  if (reading_.history().txn_of(source->read) != seen->second) return false;
  const std::uint32_t early = version_of(source->first, source->key);
  const std::uint32_t late = version_of(seen->first, source->key);
  return late != kNoAccess && early != late && ordered(early, late, assumption);
}

namespace {

// What is assumed of the versions of one key that a transaction may see.
struct AssumedSights {
  KeyId key;
  std::vector<std::uint32_t> seen;
  std::vector<std::uint32_t> unseen;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> orders;  // The first precedes the second.
};

}  // namespace

// Whether a predicate read of a transaction that sees what is assumed cannot have returned what it
// did. It sees the last version that was committed when it began, in the order of versions, which
// is that of commits: so none that precedes one that it sees, nor one behind one that it does not.
bool Cycles::contradicts_result(std::span<const Choice> choices,
                                std::span<const ChoiceSide> assumed) const {
  const auto first = std::find_if(assumed.begin(), assumed.end(), [&](const ChoiceSide& side) {
    return choices[side.choice].kind == ChoiceKind::Sees;
  });
  if (first == assumed.end() || level_ == Level::Mixed) return false;
  const TxnId reader = choices[first->choice].second;
  if (rules(reader).phantoms) return false;
  AssumedSights of;
  const auto look_at = [&](KeyId key) {
    if (of.key == key) return;
    of = {.key = key, .seen = {}, .unseen = {}, .orders = {}};
    const std::uint32_t own = version_of(reader, key);
    if (own != kNoAccess) of.unseen.push_back(own);
    for (const ChoiceSide& side : assumed) {
      const Choice& choice = choices[side.choice];
      if (choice.kind == ChoiceKind::Order && choice.key == key) {
        const std::pair order(version_of(choice.first, key), version_of(choice.second, key));
        of.orders.push_back(side.reversed ? std::pair(order.second, order.first) : order);
      }
      if (choice.kind != ChoiceKind::Sees || choice.second != reader) continue;
      const std::uint32_t version = version_of(choice.first, key);
      if (version != kNoAccess) (side.reversed ? of.unseen : of.seen).push_back(version);
    }
  };
  const auto precedes = [&](std::uint32_t early, std::uint32_t late) {
    if (ordered(early, late, {})) return true;
    return std::any_of(of.orders.begin(), of.orders.end(), [&](const auto& order) {
      return ordered(early, late, {order.first, order.second, true});
    });
  };
  const auto may_see = [&](KeyId key, AccessId write) {
    look_at(key);
    const std::uint32_t version = write == kNoAccess ? versions_.initial(key) : write;
    return std::none_of(of.seen.begin(), of.seen.end(),
                        [&](std::uint32_t v) { return v != version && precedes(version, v); }) &&
           std::none_of(of.unseen.begin(), of.unseen.end(),
                        [&](std::uint32_t v) { return v == version || precedes(v, version); });
  };
  const History& h = reading_.history();
  for (OpId read = h.first_op(reader); read < h.end_op(reader); ++read.value) {
    if (predicates_.is_impossible(read, may_see)) return true;
  }
  return false;
}

std::string Cycles::complaint(std::span<const Edge> cycle, std::span<const Choice> choices,
                              std::span<const ChoiceSide> assumed) const {
  if (cycle.empty()) return "a cycle has no edges";
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    const Edge& edge = cycle[i];
    const std::string name = fmt::format("edge {} of a cycle ({})", i + 1, ouro::name(edge.kind));
    Assumption assumption;
    if (edge.choice != Edge::kNoChoice) {
      const auto side = std::find_if(assumed.begin(), assumed.end(),
                                     [&](const ChoiceSide& s) { return s.choice == edge.choice; });
      if (side == assumed.end()) return name + " rests on a choice that was not made";
      const Choice& choice = choices[side->choice];
      if (edge.key != choice.key) return name + " rests on a choice about another key";
      if (choice.kind != ChoiceKind::Order) {
        if (!rests_on(edge, choice, side->reversed)) return name + " is no side of its choice";
        if (!connects(edge, cycle[(i + 1) % cycle.size()])) {
          return name + " does not lead to the next one";
        }
        continue;
      }
      assumption = {reading_.last_write(choice.first, choice.key),
                    reading_.last_write(choice.second, choice.key), true};
      if (side->reversed) std::swap(assumption.first, assumption.second);
    }
    if (!takes_part(edge.from) || !takes_part(edge.to)) {
      return name + " is between transactions that do not count";
    }
    if (!is_proven(edge, assumption)) return name + " does not follow from the history";
    if (!connects(edge, cycle[(i + 1) % cycle.size()])) {
      return name + " does not lead to the next one";
    }
  }
  if (auto wrong = complaint_about_missed(cycle); !wrong.empty()) return wrong;
  return complaint_about_overwrites(cycle);
}

// What a transaction at parallel SI read must not be overwritten by what it saw: by session order,
// reads and overwritten versions.
std::string Cycles::complaint_about_overwrites(std::span<const Edge> cycle) const {
  std::size_t overwritten = 0;
  bool parallel = false;
  bool others = false;  // Edges that do not say what is seen.
  for (const Edge& edge : cycle) {
    switch (edge.kind) {
      case EdgeKind::ReadWrite:
        ++overwritten;
        parallel |= rules(edge.from).family == Family::Parallel;
        break;
      case EdgeKind::WriteWrite:
        others |= rules(edge.to).lost_updates;
        break;
      case EdgeKind::Session:
      case EdgeKind::WriteRead:
        break;
      default:
        others = true;
    }
  }
  if (!parallel) return "";
  if (overwritten > 1) return "a cycle has more than one rw edge, which the level allows";
  return others ? "a cycle does not say what its reader saw" : "";
}

// ---- begins and commits ----

// From and to which end of a transaction an edge of this kind leads. Where transactions begin and
// commit at one moment, this does not matter.
Cycles::Arc Cycles::arc(const Edge& edge) const {
  const Rules to = rules(edge.to);
  switch (edge.kind) {
    case EdgeKind::ReadWrite:
      return {End::Begin, End::Commit};
    case EdgeKind::WriteWrite:
      return {End::Commit, to.lost_updates ? End::Commit : End::Begin};
    case EdgeKind::RealTime:
      return {End::Commit, to.real_time && !to.commit_to_commit ? End::Begin : End::Commit};
    case EdgeKind::Session:
      return {End::Commit, to.sessions ? End::Begin : End::Commit};
    case EdgeKind::CommitTime:
    case EdgeKind::Forced:
      return {End::Commit, End::Commit};
    case EdgeKind::BeginTime:
      return {End::Begin, End::Commit};
    default:
      return {End::Commit, End::Begin};
  }
}

bool Cycles::connects(const Edge& edge, const Edge& next) const {
  if (edge.to != next.from) return false;
  if (rules(edge.to).family != Family::Snapshot) return true;
  // A transaction begins before it commits, not the other way round.
  return arc(edge).to == End::Begin || arc(next).from == End::Commit;
}

// ---- edges ----

AccessId Cycles::read_at(OpId op, TxnId txn, KeyId key) const {
  if (!op.valid() || op.index() >= reading_.history().op_count()) return kNoAccess;
  const auto [first, end] = reading_.accesses_of(op);
  for (AccessId id = first; id < end; ++id) {
    const Access& a = reading_.access(id);
    if (a.txn == txn && a.key == key && reading_.is_external(id)) return id;
  }
  return kNoAccess;
}

std::uint32_t Cycles::version_at(OpId op, TxnId txn, KeyId key) const {
  if (!key.valid() || key.index() >= reading_.history().key_count()) return kNoAccess;
  if (txn == kInitialTxn) return op.valid() ? kNoAccess : versions_.initial(key);
  if (!op.valid() || op.index() >= reading_.history().op_count()) return kNoAccess;
  const auto [first, end] = reading_.accesses_of(op);
  if (first == end || !reading_.is_write(first)) return kNoAccess;
  const Access& a = reading_.access(first);
  return a.txn == txn && a.key == key ? reading_.last_write(first) : kNoAccess;
}

bool Cycles::is_proven(const Edge& edge, const Assumption& assumption) const {
  if (edge.from == edge.to && edge.kind != EdgeKind::RealTime) return false;
  switch (edge.kind) {
    case EdgeKind::Session:
      return is_session(edge);
    case EdgeKind::RealTime:
    case EdgeKind::CommitTime:
    case EdgeKind::BeginTime:
      return follows_from_clocks(edge);
    case EdgeKind::WriteRead:
      return is_write_read(edge);
    case EdgeKind::WriteWrite:
      return is_write_write(edge, assumption);
    case EdgeKind::ReadWrite:
      return rules(edge.from).family == Family::Weak ? is_missed(edge)
                                                     : is_read_write(edge, assumption);
    case EdgeKind::Forced:
      return is_forced(edge);
  }
  return false;
}

bool Cycles::before_in_session(TxnId from, TxnId to) const {
  const History& h = reading_.history();
  return from != kInitialTxn && to != kInitialTxn && h.session(from) == h.session(to) &&
         place_[from.index()] < place_[to.index()];
}

bool Cycles::is_session(const Edge& edge) const {
  const bool counts = rules(edge.from).sessions || rules(edge.to).sessions;
  return counts && before_in_session(edge.from, edge.to);
}

bool Cycles::follows_from_clocks(const Edge& edge) const {
  if (edge.from == kInitialTxn || edge.to == kInitialTxn) return false;
  if (!rules(edge.from).real_time && !rules(edge.to).real_time) return false;
  const History& h = reading_.history();
  const bool whole = edge.kind == EdgeKind::RealTime;
  if (!whole && rules_of(level_).family != Family::Snapshot) return false;
  const auto answered =
      edge.kind == EdgeKind::BeginTime ? latest_begin(h, edge.from) : h.completed(edge.from);
  const auto asked = whole ? h.invoked(edge.to) : earliest_commit(h, edge.to);
  return answered && asked && precedes_in_time(*answered, *asked, clock_drift_);
}

bool Cycles::is_write_read(const Edge& edge) const {
  if (edge.from == kInitialTxn || edge.to == kInitialTxn) return false;
  const AccessId read = read_at(edge.to_op, edge.to, edge.key);
  if (read != kNoAccess && reading_.source_txn(read) == edge.from &&
      reading_.access(reading_.source(read)).op == edge.from_op) {
    return true;
  }
  const std::uint32_t version = version_at(edge.from_op, edge.from, edge.key);
  return version != kNoAccess && is_op_of(edge.to_op, edge.to) &&
         predicates_.follows(edge.to_op, version);
}

bool Cycles::is_op_of(OpId op, TxnId txn) const {
  const History& h = reading_.history();
  return op.valid() && op >= h.first_op(txn) && op < h.end_op(txn);
}

bool Cycles::ordered(std::uint32_t early, std::uint32_t late, const Assumption& assumption) const {
  if (versions_.precedes(early, late)) return true;
  return assumption.made && versions_.precedes_if(assumption.first, assumption.second, early, late);
}

bool Cycles::is_write_write(const Edge& edge, const Assumption& assumption) const {
  const std::uint32_t early = version_at(edge.from_op, edge.from, edge.key);
  const std::uint32_t late = version_at(edge.to_op, edge.to, edge.key);
  return early != kNoAccess && late != kNoAccess && ordered(early, late, assumption);
}

bool Cycles::is_read_write(const Edge& edge, const Assumption& assumption) const {
  if (edge.from == kInitialTxn) return false;
  const AccessId read = read_at(edge.from_op, edge.from, edge.key);
  const std::uint32_t late = version_at(edge.to_op, edge.to, edge.key);
  if (late == kNoAccess) return false;
  const bool phantoms = rules(edge.from).phantoms;
  const bool absence = read != kNoAccess && phantoms && reading_.is_phantom(read);
  if (read != kNoAccess && !absence && ordered(versions_.returned(read), late, assumption)) {
    return true;
  }
  return !phantoms && edge.to != kInitialTxn && is_op_of(edge.from_op, edge.from) &&
         predicates_.precedes(edge.from_op, late);
}

// ---- the rules of the weak levels ----

// Whether a predicate read of edge.from, which says what it saw, did not see a change that edge.to
// wrote, or that comes before a version that edge.to wrote.
bool Cycles::is_missed(const Edge& edge) const {
  const std::uint32_t late = version_at(edge.to_op, edge.to, edge.key);
  if (late == kNoAccess || edge.to == kInitialTxn || !is_op_of(edge.from_op, edge.from)) {
    return false;
  }
  const auto reads = predicates_.reads();
  return std::binary_search(reads.begin(), reads.end(), edge.from_op) &&
         predicates_.precedes(edge.from_op, late);
}

// If a cycle says what a predicate read missed, the rest of it must say how its transaction knew of
// that.
std::string Cycles::complaint_about_missed(std::span<const Edge> cycle) const {
  const auto missed = std::find_if(cycle.begin(), cycle.end(), [&](const Edge& edge) {
    return edge.kind == EdgeKind::ReadWrite && rules(edge.from).family == Family::Weak;
  });
  if (missed == cycle.end()) return "";
  const Knows knows = rules(missed->from).knows;
  if (knows != Knows::Past && cycle.size() != 2) return "a cycle is longer than what is known";
  for (const Edge& edge : cycle) {
    if (&edge == &*missed) continue;
    const AccessId read =
        edge.kind == EdgeKind::WriteRead ? read_at(edge.to_op, edge.to, edge.key) : kNoAccess;
    const bool by_read = read != kNoAccess && reading_.source_txn(read) == edge.from;
    const bool by_session = edge.kind == EdgeKind::Session && knows != Knows::EarlierReads;
    if (!by_read && !by_session) return "a cycle does not say what its reader knew of";
    if (knows == Knows::EarlierReads && edge.to_op >= missed->from_op) {
      return "a cycle is about a later read";
    }
  }
  return "";
}

// Whether a read of the key returned the version of `to`, by a transaction that knew of `from`,
// which wrote the key, too.
bool Cycles::is_forced(const Edge& edge) const {
  if (edge.from == kInitialTxn || !edge.read.valid()) return false;
  if (edge.read.index() >= reading_.history().op_count()) return false;
  if (version_at(edge.from_op, edge.from, edge.key) == kNoAccess) return false;
  const TxnId reader = reading_.history().txn_of(edge.read);
  if (!reading_.counts(reader)) return false;
  // In a mixture, what parallel SI forces is at least what causal does.
  const Family family = rules(reader).family;
  const bool parallel = family == Family::Parallel && level_ == Level::Mixed;
  if (family != Family::Weak && !parallel) return false;
  const auto [first, end] = reading_.accesses_of(edge.read);
  for (AccessId read = first; read < end; ++read) {
    if (!reading_.is_external(read) || reading_.access(read).key != edge.key) continue;
    if (reading_.source_txn(read) == edge.to && saw(reader, edge, read)) return true;
  }
  return false;
}

// Whether `reader`, which made `read`, knew of edge.from as the level means it.
bool Cycles::saw(TxnId reader, const Edge& edge, AccessId read) const {
  const Rules own = rules(reader);
  const Knows knows = own.family == Family::Parallel ? Knows::Past : own.knows;
  if (edge.saw.valid()) {
    if (edge.saw.index() >= reading_.history().op_count()) return false;
    const auto [first, end] = reading_.accesses_of(edge.saw);
    for (AccessId id = first; id < end; ++id) {
      if (reading_.access(id).txn != reader || !reading_.is_external(id)) continue;
      if (reading_.source_txn(id) != edge.from) continue;
      // The rows of one operation have no order among them.
      const bool earlier = reading_.access(id).op < reading_.access(read).op;
      if (knows != Knows::EarlierReads || earlier) return true;
    }
    return false;
  }
  if (knows == Knows::EarlierReads) return false;
  if (before_in_session(edge.from, reader)) return true;
  return knows == Knows::Past && caused(edge.from, reader);
}

// Whether `from` is in the causal past of `reader`, found by a walk through that past.
bool Cycles::caused(TxnId from, TxnId reader) const {
  const History& h = reading_.history();
  std::vector<bool> seen(h.txn_count(), false);
  std::vector<TxnId> pending = {reader};
  const auto visit = [&](TxnId txn) {
    if (txn == kInitialTxn || seen[txn.index()]) return;
    seen[txn.index()] = true;
    pending.push_back(txn);
  };
  while (!pending.empty() && !seen[from.index()]) {
    const TxnId txn = pending.back();
    pending.pop_back();
    for (AccessId id = reading_.first(txn); id < reading_.end(txn); ++id) {
      if (reading_.is_external(id)) visit(reading_.source_txn(id));
    }
    const auto session = h.session_txns(h.session(txn));
    for (std::uint32_t place = place_[txn.index()]; place-- > 0;) {
      if (!reading_.counts(session[place])) continue;
      const bool sessions = rules(session[place]).sessions;
      if (sessions || rules(txn).sessions) visit(session[place]);
      if (sessions) break;  // It follows all before it.
    }
  }
  return seen[from.index()];
}

}  // namespace ouro::recheck
