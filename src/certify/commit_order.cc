// Checks a commit order against the axioms of read committed, read atomic and causal: if T3 reads x
// from T1, and T3 knew of T2, which writes x too, then T2 commits before T1, or is T1.
//
// So, for every key that T2 writes, T2 must be no later than the earliest writer T3 read the key
// from. For a T2 that T3 read from we look at the keys that T2 writes or at those that T3 reads,
// whichever are fewer: O(n^1.5) in all. For T2 before T3 in its session only the last writer of
// each key matters. What else is in the causal past we find with one clock per transaction, which
// says how far it reaches into each session: O(n · sessions), in blocks of sessions to bound the
// memory.
//
// By version orders, whoever wrote a change that a predicate read of T3 did not see, or a later
// version of its key, is no such T2, either.
//
// Parallel SI has another rule, for which the same clocks serve: the commit order is the order of
// versions, and whoever overwrote what a transaction read must not be in its past, which here is
// that by session order, reads and overwritten versions.

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <fmt/format.h>

#include <algorithm>

#include "certify/orders.h"
#include "certify/predicate_reads.h"
#include "certify/rules.h"

namespace ouro::recheck {
namespace {

class CommitOrder {
 public:
  CommitOrder(const Reading& reading, const PredicateReads& reads, Level level)
      : reading_(reading),
        reads_(reads),
        h_(reading.history()),
        rules_(rules_of(level)),
        position_(h_.txn_count(), 0),
        place_(h_.txn_count(), 0),
        before_(h_.txn_count()) {
    for (std::size_t s = 0; s < h_.session_count(); ++s) {
      TxnId before;
      std::uint32_t place = 0;
      for (const TxnId txn : h_.session_txns(SessionId{s})) {
        if (!reading_.counts(txn)) continue;
        place_[txn.index()] = ++place;
        before_[txn.index()] = before;
        before = txn;
      }
    }
  }

  std::string run(std::span<const TxnId> order) {
    if (auto wrong = number(order); !wrong.empty()) return wrong;
    if (auto wrong = compare_lists(reading_, order); !wrong.empty()) return wrong;
    if (auto wrong = compare_orders(reading_, order); !wrong.empty()) return wrong;
    collect_written();
    note_predicates();
    if (rules_.family == Family::Parallel) {
      find_neighbours(order);
      return through_past(order);
    }
    for (const TxnId txn : order) {
      if (auto wrong = through_reads(txn); !wrong.empty()) return wrong;
    }
    if (rules_.knows == Knows::Direct) return through_sessions();
    if (rules_.knows == Knows::Past) return through_past(order);
    return "";
  }

 private:
  // By version orders, a predicate read follows a writer (`seen`) or precedes it.
  struct Predicate {
    TxnId reader;
    OpId read;
    TxnId writer;
    KeyId key;
    bool seen = false;
  };

  // Positions count from 1; the initial transaction has 0.
  [[nodiscard]] std::uint32_t position(TxnId txn) const {
    return txn == kInitialTxn ? 0 : position_[txn.index()];
  }

  // Numbers the transactions in `order`. It must have each that counts once, and keep session order
  // and reads-from.
  std::string number(std::span<const TxnId> order) {
    std::uint32_t next = 0;
    for (const TxnId txn : order) {
      if (txn == kInitialTxn || txn.index() >= h_.txn_count()) {
        return "the order has a transaction that the history does not have";
      }
      if (!reading_.counts(txn)) return txn_name(txn) + " does not count";
      if (position_[txn.index()] != 0) return txn_name(txn) + " commits twice";
      position_[txn.index()] = ++next;
      const TxnId before = before_[txn.index()];
      if (before.valid() && position_[before.index()] == 0) {
        return fmt::format("{} commits before {} of its session", txn_name(txn), txn_name(before));
      }
      for (AccessId id = reading_.first(txn); id < reading_.end(txn); ++id) {
        if (!reading_.is_external(id)) continue;
        const TxnId source = reading_.source_txn(id);
        if (source != kInitialTxn && position_[source.index()] == 0) {
          return fmt::format("{} commits before {}, which it read from", txn_name(txn),
                             txn_name(source));
        }
      }
    }
    return next == reading_.counted() ? "" : "the order leaves out a transaction";
  }

  // Notes the keys that each transaction wrote.
  void collect_written() {
    written_first_.push_back(0);
    for (std::size_t t = 0; t < h_.txn_count(); ++t) {
      const TxnId txn{t};
      for (AccessId id = reading_.first(txn); reading_.counts(txn) && id < reading_.end(txn);
           ++id) {
        if (reading_.is_write(id) && reading_.is_last(id)) {
          written_.push_back(reading_.access(id).key);
          writes_.insert({txn, reading_.access(id).key});
        }
      }
      written_first_.push_back(written_.size());
    }
  }
  [[nodiscard]] std::span<const KeyId> written(TxnId txn) const {
    const std::size_t first = written_first_[txn.index()];
    return std::span(written_).subspan(first, written_first_[txn.index() + 1] - first);
  }

  // `reader` read `key` from before `known`, of which it knew, and which wrote the key.
  [[nodiscard]] std::string objection(TxnId reader, KeyId key, TxnId known) const {
    return fmt::format("{} reads {} from before {}, which it knew of", txn_name(reader),
                       h_.key_label(key), txn_name(known));
  }

  // Compares the reads of T3 = `txn` with each T2 that it read from. At rc only reads by later
  // operations than the first that saw T2 count: we go from the last access to the first, and
  // `earliest_` has the reads of later operations. At the other levels it has all reads.
  std::string through_reads(TxnId txn) {
    earliest_.clear();
    first_seen_.clear();
    for (AccessId id = reading_.end(txn); id-- > reading_.first(txn);) {
      if (!reading_.is_external(id)) continue;
      first_seen_[reading_.source_txn(id)] = id;
      if (rules_.knows != Knows::EarlierReads) note_read(id);
    }
    const auto predicates = predicates_of(txn);
    std::size_t first = predicates.size();  // All predicates from here on are noted.
    for (; rules_.knows != Knows::EarlierReads && first > 0; --first) note(predicates[first - 1]);
    AccessId later = reading_.end(txn);  // All accesses from here on are noted.
    for (AccessId id = reading_.end(txn); id-- > reading_.first(txn);) {
      if (!reading_.is_external(id)) continue;
      for (; rules_.knows == Knows::EarlierReads && is_later(later - 1, id); --later) {
        if (reading_.is_external(later - 1)) note_read(later - 1);
      }
      for (; first > 0 && predicates[first - 1].read > reading_.access(id).op; --first) {
        note(predicates[first - 1]);
      }
      const TxnId known = reading_.source_txn(id);
      if (known != kInitialTxn && first_seen_.at(known) == id) {
        if (auto wrong = compare(txn, known); !wrong.empty()) return wrong;
      }
    }
    return "";
  }
  [[nodiscard]] bool is_later(AccessId a, AccessId b) const {
    return reading_.access(a).op > reading_.access(b).op;
  }

  // Adds a read to `earliest_`.
  void note_read(AccessId read) {
    note(reading_.access(read).key, position(reading_.source_txn(read)));
  }
  // A change that a predicate read did not see is like a read of what was there right before it.
  void note(const Predicate& predicate) {
    if (!predicate.seen) note(predicate.key, position(predicate.writer) - 1);
  }
  void note(KeyId key, std::uint32_t here) {
    const auto [at, added] = earliest_.try_emplace(key, here);
    if (!added) at->second = std::min(at->second, here);
  }

  // Compares `earliest_` with the keys that `known` wrote.
  std::string compare(TxnId reader, TxnId known) const {
    const std::uint32_t here = position(known);
    const auto keys = written(known);
    if (keys.size() <= earliest_.size()) {
      for (const KeyId key : keys) {
        const auto found = earliest_.find(key);
        if (found != earliest_.end() && found->second < here) return objection(reader, key, known);
      }
      return "";
    }
    for (const auto& [key, earliest] : earliest_) {
      if (earliest < here && writes_.contains({known, key})) return objection(reader, key, known);
    }
    return "";
  }

  // Compares the reads of each transaction with what its session wrote before.
  std::string through_sessions() const {
    std::vector<TxnId> last(h_.key_count());
    for (std::size_t s = 0; s < h_.session_count(); ++s) {
      for (const TxnId txn : h_.session_txns(SessionId{s})) {
        if (!reading_.counts(txn)) continue;
        for (AccessId id = reading_.first(txn); id < reading_.end(txn); ++id) {
          if (!reading_.is_external(id)) continue;
          const KeyId key = reading_.access(id).key;
          const TxnId known = last[key.index()];
          if (!known.valid() || h_.session(known).index() != s) continue;
          if (position(reading_.source_txn(id)) < position(known)) {
            return objection(txn, key, known);
          }
        }
        for (const Predicate& missed : predicates_of(txn)) {
          const TxnId known = last[missed.key.index()];
          if (missed.seen || !known.valid() || h_.session(known).index() != s) continue;
          if (position(missed.writer) <= position(known)) return objection(txn, missed.key, known);
        }
        for (const KeyId key : written(txn)) last[key.index()] = txn;
      }
    }
    return "";
  }

  // ---- causal ----

  // Sessions in a block.
  static constexpr std::size_t kBlock = 64;

  // Compares the reads of each transaction with what its whole past wrote.
  std::string through_past(std::span<const TxnId> order) {
    for (std::size_t s = 0; s < h_.session_count(); ++s) {
      for (const TxnId txn : h_.session_txns(SessionId{s})) {
        if (!reading_.counts(txn)) continue;
        for (const KeyId key : written(txn)) {
          writers_[{key, SessionId{s}}].push_back(txn);
        }
      }
    }
    std::vector<std::vector<SessionId>> sessions(h_.key_count());
    for (const auto& [where, txns] : writers_)
      sessions[where.first.index()].push_back(where.second);
    for (auto& list : sessions) std::sort(list.begin(), list.end());
    std::vector<std::uint32_t> clocks(h_.txn_count() * std::min(kBlock, h_.session_count()));
    for (std::size_t first = 0; first < h_.session_count(); first += kBlock) {
      const std::size_t width = std::min(kBlock, h_.session_count() - first);
      for (const TxnId txn : order) {
        tick(txn, clocks, first, width);
        const std::uint32_t* const clock = &clocks[txn.index() * width];
        const auto wrong = rules_.family == Family::Parallel
                               ? overwriters(txn, clock, first, width)
                               : past(txn, clock, first, width, sessions);
        if (!wrong.empty()) return wrong;
      }
    }
    return "";
  }

  // Sets the clock of `txn`: how far its past, itself included, reaches into each session.
  void tick(TxnId txn, std::vector<std::uint32_t>& clocks, std::size_t first,
            std::size_t width) const {
    std::uint32_t* const mine = &clocks[txn.index() * width];
    std::fill(mine, mine + width, 0);
    const auto join = [&](TxnId other) {
      const std::uint32_t* const theirs = &clocks[other.index() * width];
      for (std::size_t s = 0; s < width; ++s) mine[s] = std::max(mine[s], theirs[s]);
    };
    if (before_[txn.index()].valid()) join(before_[txn.index()]);
    for (AccessId id = reading_.first(txn); id < reading_.end(txn); ++id) {
      if (!reading_.is_external(id)) continue;
      const TxnId source = reading_.source_txn(id);
      if (source != kInitialTxn) join(source);
    }
    for (const TxnId other : overwritten(txn)) join(other);
    for (const Predicate& predicate : predicates_of(txn)) {
      if (predicate.seen && rules_.family == Family::Parallel) join(predicate.writer);
    }
    const std::size_t session = h_.session(txn).index();
    if (session >= first && session < first + width) mine[session - first] = place_[txn.index()];
  }

  // Compares the reads of `txn` with the last writers of their keys in its past, in one block of
  // sessions.
  std::string past(TxnId txn, const std::uint32_t* clock, std::size_t first, std::size_t width,
                   const std::vector<std::vector<SessionId>>& sessions) const {
    // Nobody in the past may have written `key` behind the position `here`.
    const auto compare = [&](KeyId key, std::uint32_t here) -> std::string {
      const auto& writing = sessions[key.index()];
      auto s = std::lower_bound(writing.begin(), writing.end(), SessionId{first});
      for (; s != writing.end() && s->index() < first + width; ++s) {
        const TxnId known = last_known(txn, key, *s, clock[s->index() - first]);
        if (known.valid() && here < position(known)) return objection(txn, key, known);
      }
      return "";
    };
    for (AccessId id = reading_.first(txn); id < reading_.end(txn); ++id) {
      if (!reading_.is_external(id)) continue;
      const std::uint32_t here = position(reading_.source_txn(id));
      if (auto wrong = compare(reading_.access(id).key, here); !wrong.empty()) return wrong;
    }
    for (const Predicate& missed : predicates_of(txn)) {
      if (missed.seen) continue;
      const std::uint32_t here = position(missed.writer) - 1;
      if (auto wrong = compare(missed.key, here); !wrong.empty()) return wrong;
    }
    return "";
  }

  // The last writer of `key` among the first `reach` transactions of `session`, but `reader`.
  [[nodiscard]] TxnId last_known(TxnId reader, KeyId key, SessionId session,
                                 std::uint32_t reach) const {
    const auto& writers = writers_.at({key, session});
    auto after = std::partition_point(writers.begin(), writers.end(),
                                      [&](TxnId w) { return place_[w.index()] <= reach; });
    if (after != writers.begin() && *(after - 1) == reader) --after;
    return after == writers.begin() ? TxnId{} : *(after - 1);
  }

  // ---- parallel SI ----

  // Finds, for every version, the ones before and after it in the order.
  void find_neighbours(std::span<const TxnId> order) {
    previous_.assign(reading_.access_count(), kNoAccess);
    next_.assign(reading_.access_count(), kNoAccess);
    first_.assign(h_.key_count(), kNoAccess);
    std::vector<AccessId> latest(h_.key_count(), kNoAccess);
    for (const TxnId txn : order) {
      for (AccessId id = reading_.first(txn); id < reading_.end(txn); ++id) {
        if (!reading_.is_write(id) || !reading_.is_last(id)) continue;
        const std::size_t key = reading_.access(id).key.index();
        previous_[id] = latest[key];
        (latest[key] == kNoAccess ? first_[key] : next_[latest[key]]) = id;
        latest[key] = id;
      }
    }
  }

  // The writers of the versions that `txn` overwrote; none but at parallel SI.
  [[nodiscard]] std::vector<TxnId> overwritten(TxnId txn) const {
    std::vector<TxnId> out;
    if (rules_.family != Family::Parallel) return out;
    for (AccessId id = reading_.first(txn); id < reading_.end(txn); ++id) {
      if (reading_.is_write(id) && previous_[id] != kNoAccess) {
        out.push_back(reading_.access(previous_[id]).txn);
      }
    }
    return out;
  }

  // Whoever overwrote what `txn` read must not be in its past; looks at one block of sessions.
  std::string overwriters(TxnId txn, const std::uint32_t* clock, std::size_t first,
                          std::size_t width) const {
    for (AccessId id = reading_.first(txn); id < reading_.end(txn); ++id) {
      if (!reading_.is_external(id)) continue;
      const KeyId key = reading_.access(id).key;
      const AccessId source = reading_.source(id);
      const AccessId next = source == kNoAccess ? first_[key.index()] : next_[source];
      if (next == kNoAccess || reading_.access(next).txn == txn) continue;
      const TxnId writer = reading_.access(next).txn;
      const std::size_t session = h_.session(writer).index();
      if (session < first || session >= first + width) continue;
      if (place_[writer.index()] <= clock[session - first]) return objection(txn, key, writer);
    }
    for (const Predicate& predicate : predicates_of(txn)) {
      const std::size_t session = h_.session(predicate.writer).index();
      if (predicate.seen || session < first || session >= first + width) continue;
      if (place_[predicate.writer.index()] <= clock[session - first]) {
        return objection(txn, predicate.key, predicate.writer);
      }
    }
    return "";
  }

  void note_predicates() {
    for (const OpId read : reads_.reads()) {
      for (const PredicateReads::Link& link : reads_.links(read)) {
        const Access& write = reading_.access(link.write);
        const TxnId reader = h_.txn_of(read);
        if (write.txn == reader) continue;
        predicates_.push_back({reader, read, write.txn, write.key, link.seen});
      }
    }
    // Elsewhere nothing is asked of what these missed.
    const bool parallel = rules_.family == Family::Parallel;
    for (const OpId read : parallel ? reads_.unplaced() : std::span<const OpId>()) {
      for (const PredicateReads::Link& link : reads_.settled_links(read)) {
        const Access& write = reading_.access(link.write);
        const TxnId reader = h_.txn_of(read);
        if (write.txn == reader) continue;
        predicates_.push_back({reader, read, write.txn, write.key, link.seen});
      }
    }
    std::stable_sort(predicates_.begin(), predicates_.end(),
                     [](const Predicate& a, const Predicate& b) { return a.read < b.read; });
  }
  [[nodiscard]] std::span<const Predicate> predicates_of(TxnId reader) const {
    const auto first = std::partition_point(predicates_.begin(), predicates_.end(),
                                            [&](const Predicate& p) { return p.reader < reader; });
    const auto end = std::partition_point(first, predicates_.end(),
                                          [&](const Predicate& p) { return p.reader == reader; });
    return std::span(predicates_)
        .subspan(static_cast<std::size_t>(first - predicates_.begin()),
                 static_cast<std::size_t>(end - first));
  }

  const Reading& reading_;
  const PredicateReads& reads_;
  const History& h_;
  const Rules rules_;
  std::vector<std::uint32_t> position_;
  std::vector<std::uint32_t> place_;  // By transaction: its number in its session, from 1.
  std::vector<TxnId> before_;         // By transaction: the one before it in its session.
  std::vector<std::size_t> written_first_;
  std::vector<KeyId> written_;
  absl::flat_hash_set<std::pair<TxnId, KeyId>> writes_;
  absl::flat_hash_map<KeyId, std::uint32_t> earliest_;  // Position of the earliest version read.
  // By transaction read from: the first access that read from it.
  absl::flat_hash_map<TxnId, AccessId> first_seen_;
  // By version: the one before it. As next_ and first_, at parallel SI only.
  std::vector<AccessId> previous_;
  std::vector<AccessId> next_;
  std::vector<AccessId> first_;  // By key: the first version after the initial one.
  std::vector<Predicate> predicates_;
  // The writers of each key in each session, in session order.
  absl::flat_hash_map<std::pair<KeyId, SessionId>, std::vector<TxnId>> writers_;
};

}  // namespace

std::string check_commit_order(const Reading& reading, const PredicateReads& predicates,
                               Level level, std::span<const TxnId> order) {
  return CommitOrder(reading, predicates, level).run(order);
}

}  // namespace ouro::recheck
