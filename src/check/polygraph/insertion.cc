#include "check/polygraph/insertion.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace ouro {
namespace {

constexpr std::size_t kFar = 32;       // So many places before the last one that fits are tried,
constexpr std::size_t kPatience = 48;  // and so many lines later once more.
constexpr std::size_t kShortly = 6;  // After these, others are moved for it,
constexpr std::size_t kLong = 12;    // and after these, one more.
constexpr int kMostMoved = 2;
constexpr std::size_t kMostPlaces = 50'000;  // That are tried for one of them.
constexpr std::size_t kMostMisfits = 20;     // With more nothing is moved.
constexpr std::size_t kMostWaiting = 16;
constexpr std::uint32_t kMostSteps = 256;  // Versions that a begin is put before.

// A moment in the order. There is room for more between two commits; the moments right before and
// right behind a commit are those of begins.
using Moment = std::uint64_t;
constexpr Moment kRoom = Moment{1} << 20;
constexpr Moment kNever = ~Moment{0};

class Insertion {
 public:
  // With `apart` a transaction may begin before its commit, if it has two nodes.
  Insertion(const Encoding& encoding, std::span<const Node> recorded, bool apart,
            const Budget& budget)
      : e_(encoding),
        o_(encoding.observed()),
        apart_(apart),
        recorded_(recorded),
        ticker_(budget, 1024, 20),
        has_time_(e_.node_count() > 0 && e_.carries_time(static_cast<Node>(e_.node_count() - 1))),
        at_(recorded.size()),
        keys_(o_.history().key_count()),
        entries_(o_.items_before(KeyId{o_.history().key_count()})) {
    is_open_.assign(o_.items().size(), false);
    for (const ItemId read : o_.searched_reads()) is_open_[read.index()] = true;
    link_sessions();
  }

  Inserted run() {
    for (const Node node : recorded_) {
      const TxnId txn{node};
      if (!o_.counted(txn)) continue;
      if (ticker_.tick(1 + items_of(txn) / 64)) break;
      ++line_;
      if (insert(txn)) {
        insert_waiting();
      } else {
        waiting_.emplace_back(line_, txn);
      }
      mend_waiting();
      while (!waiting_.empty() && has_waited_enough()) force_first();
    }
    while (!waiting_.empty() && !ticker_.tick()) force_first();
    return {order(), misfits_};
  }

 private:
  // Both are zero if a transaction is not inserted. If it has one node, they are the same.
  struct Span {
    Moment begin = 0;
    Moment commit = 0;
  };
  struct Entry {
    TxnId txn;
    ItemId item;
  };
  // Of a key its part of entries_ has the versions, from the front, and the reads, from the back;
  // both as they are in the order.
  struct Key {
    std::uint32_t versions = 0;
    std::uint32_t readers = 0;
  };

  [[nodiscard]] std::uint32_t items_of(TxnId txn) const {
    return o_.items().end(txn).value - o_.items().first(txn).value;
  }

  // Whether its begin is where its commit is.
  [[nodiscard]] bool is_single(TxnId txn) const { return !apart_ || e_.is_single(txn); }

  void link_sessions() {
    previous_.assign(recorded_.size(), TxnId{});
    next_.assign(recorded_.size(), TxnId{});
    if (!e_.sessions()) return;
    const History& h = o_.history();
    for (std::size_t s = 0; s < h.session_count(); ++s) {
      TxnId before;
      for (const TxnId txn : h.session_txns(SessionId{s})) {
        if (!o_.counted(txn)) continue;
        previous_[txn.index()] = before;
        if (before.valid()) next_[before.index()] = txn;
        before = txn;
      }
    }
  }

  [[nodiscard]] bool is_asked(ItemId item) const {
    return o_.items().is_read(item) && (o_.external(item) || is_open_[item.index()]);
  }
  [[nodiscard]] bool is_final_write(ItemId item) const {
    return o_.items().is_write(item) && o_.final(item);
  }
  [[nodiscard]] bool fits(ItemId read, ItemId write) const {
    return is_open_[read.index()] ? o_.fits(read, write) : o_.write(read) == write;
  }
  [[nodiscard]] KeyId key_of(ItemId item) const { return o_.items().key(item); }
  [[nodiscard]] std::size_t versions(KeyId key) const { return keys_[key.index()].versions; }
  [[nodiscard]] std::size_t readers(KeyId key) const { return keys_[key.index()].readers; }
  [[nodiscard]] std::size_t version_slot(KeyId key, std::size_t at) const {
    return o_.items_before(key) + at;
  }
  [[nodiscard]] std::size_t reader_slot(KeyId key, std::size_t at) const {
    return o_.items_before(KeyId{key.index() + 1}) - 1 - at;
  }
  // The versions of a key by number; the initial one is before the first.
  [[nodiscard]] ItemId version(KeyId key, std::size_t at) const {
    return entries_[version_slot(key, at)].item;
  }
  [[nodiscard]] Moment since(KeyId key, std::size_t at) const {
    return at_[entries_[version_slot(key, at)].txn.index()].commit;
  }
  [[nodiscard]] Moment begin_of(KeyId key, std::size_t at) const {
    return at_[entries_[version_slot(key, at)].txn.index()].begin;
  }
  [[nodiscard]] ItemId reader(KeyId key, std::size_t at) const {
    return entries_[reader_slot(key, at)].item;
  }
  [[nodiscard]] Moment reads_at(KeyId key, std::size_t at) const {
    return at_[entries_[reader_slot(key, at)].txn.index()].begin;
  }
  // The version before the one with this number.
  [[nodiscard]] ItemId version_before(KeyId key, std::size_t at) const {
    return at == 0 ? ItemId{} : version(key, at - 1);
  }
  // The number of the first version of a key that is later than a moment. Mostly it is one of the
  // last.
  [[nodiscard]] std::size_t first_behind(KeyId key, Moment moment) const {
    std::size_t high = versions(key);
    for (int steps = 8; high > 0 && since(key, high - 1) >= moment; --high) {
      if (steps-- > 0) continue;
      std::size_t low = 0;
      while (low < high) {
        const std::size_t middle = (low + high) / 2;
        if (since(key, middle) < moment) {
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      return low;
    }
    return high;
  }

  // The latest moment, from `begin` down, at which the transaction sees what it read; zero if there
  // is none behind `earliest`. It is `begin`, or right before the commit of some other.
  [[nodiscard]] Moment latest_begin(TxnId txn, Moment begin, Moment earliest) const {
    std::uint32_t steps = 0;
    for (bool again = true; again;) {
      again = false;
      for (ItemId i = o_.items().first(txn); i < o_.items().end(txn); ++i.value) {
        if (!is_asked(i)) continue;
        const KeyId key = key_of(i);
        std::size_t behind = first_behind(key, begin);
        while (!fits(i, version_before(key, behind))) {
          if (behind == 0 || since(key, behind - 1) <= earliest) return 0;
          if (++steps > kMostSteps) return 0;
          begin = since(key, --behind) - 1;
          again = true;
        }
      }
    }
    return begin > earliest ? begin : 0;
  }

  // The latest moment that the begin has to be behind: the commit before in its session and, where
  // updates must not be lost, the last versions, before its commit, of what it writes.
  [[nodiscard]] Moment earliest_begin(TxnId txn, Moment commit) const {
    const TxnId previous = previous_[txn.index()];
    Moment moment = previous.valid() ? at_[previous.index()].commit : 0;
    if (!e_.chained(txn) || is_single(txn)) return moment;
    for (ItemId i = o_.items().first(txn); i < o_.items().end(txn); ++i.value) {
      if (!is_final_write(i)) continue;
      const std::size_t behind = first_behind(key_of(i), commit);
      if (behind > 0) moment = std::max(moment, since(key_of(i), behind - 1));
    }
    return moment;
  }

  // Whether what the transaction writes, if it commits at a moment before the end, makes something
  // wrong: a read of another one, or that the next writer knew of it.
  [[nodiscard]] bool disturbs(TxnId txn, Moment commit) const {
    for (ItemId i = o_.items().first(txn); i < o_.items().end(txn); ++i.value) {
      if (!is_final_write(i)) continue;
      const KeyId key = key_of(i);
      const std::size_t next = first_behind(key, commit);
      const bool last = next == versions(key);
      if (!last && e_.chained(txn) && begin_of(key, next) < commit) return true;
      for (std::size_t r = readers(key); r > 0 && reads_at(key, r - 1) > commit; --r) {
        ticker_.tick();
        if (!last && reads_at(key, r - 1) > since(key, next)) continue;
        if (!fits(reader(key, r - 1), i)) return true;
      }
    }
    return false;
  }

  // Where the transaction may be, if so many that are in the order come behind it.
  [[nodiscard]] std::optional<Span> place(TxnId txn, std::size_t behind) const {
    const std::size_t count = done_.size() - behind;
    const Moment low = count == 0 ? 0 : at_[done_[count - 1].index()].commit;
    Moment commit = low + kRoom;
    if (behind > 0) {
      const Moment high = at_[done_[count].index()].commit;
      if (high - low < 8) return std::nullopt;
      commit = low + (high - low) / 2;
    }
    const bool single = is_single(txn);
    const Moment last = single ? commit : commit - 1;
    const Moment begin = latest_begin(txn, last, earliest_begin(txn, commit));
    if (begin == 0 || (single && begin != last)) return std::nullopt;
    if (behind > 0 && disturbs(txn, commit)) return std::nullopt;
    return Span{begin, commit};
  }

  bool insert(TxnId txn) {
    const TxnId previous = previous_[txn.index()];
    const Moment earliest = previous.valid() ? at_[previous.index()].commit : 0;
    if (previous.valid() && earliest == 0) return false;
    if (const auto span = place(txn, 0)) {
      perform(txn, *span, 0);
      return true;
    }
    const std::size_t first = std::max<std::size_t>(1, behind_reads(txn, earliest));
    const std::size_t far = std::min(first + kFar, done_.size());
    for (std::size_t behind = first; behind <= far; ++behind) {
      const TxnId next = done_[done_.size() - behind];
      ticker_.tick(1 + items_of(txn) / 64);
      if (at_[next.index()].commit <= earliest || completed_before(next, txn)) return false;
      if (const auto span = place(txn, behind)) {
        perform(txn, *span, behind);
        return true;
      }
    }
    return false;
  }
  // How many commits are behind the last moment that fits what the transaction read: it is before
  // them, if it does all at one moment.
  [[nodiscard]] std::size_t behind_reads(TxnId txn, Moment earliest) const {
    if (!is_single(txn) || done_.empty()) return 0;
    const Moment end = at_[done_.back().index()].commit + kRoom;
    const Moment last = latest_begin(txn, end, earliest);
    if (last == end) return 0;
    if (last == 0) return done_.size() + 1;
    const auto behind = std::partition_point(done_.begin(), done_.end(), [&](TxnId other) {
      return at_[other.index()].commit <= last;
    });
    return static_cast<std::size_t>(done_.end() - behind);
  }
  // By clients' clocks, if the level asks for that.
  [[nodiscard]] bool completed_before(TxnId a, TxnId b) const {
    if (!has_time_) return false;
    const auto completed = o_.history().completed(a);
    const auto invoked = o_.history().invoked(b);
    return completed && invoked && *completed < *invoked;
  }

  void perform(TxnId txn, Span span, std::size_t behind) {
    at_[txn.index()] = span;
    done_.insert(done_.end() - static_cast<std::ptrdiff_t>(behind), txn);
    for (ItemId i = o_.items().first(txn); i < o_.items().end(txn); ++i.value) {
      if (is_asked(i)) add_reader(txn, i, span.begin);
      if (is_final_write(i)) add_version(txn, i, span.commit);
    }
  }
  void add_reader(TxnId txn, ItemId item, Moment begin) {
    const KeyId key = key_of(item);
    std::size_t at = keys_[key.index()].readers++;
    for (; at > 0 && reads_at(key, at - 1) > begin; --at) {
      entries_[reader_slot(key, at)] = entries_[reader_slot(key, at - 1)];
    }
    entries_[reader_slot(key, at)] = {txn, item};
  }
  void add_version(TxnId txn, ItemId item, Moment commit) {
    const KeyId key = key_of(item);
    std::size_t at = keys_[key.index()].versions++;
    for (; at > 0 && since(key, at - 1) > commit; --at) {
      entries_[version_slot(key, at)] = entries_[version_slot(key, at - 1)];
    }
    entries_[version_slot(key, at)] = {txn, item};
  }

  // ---- taking out what is in the way ----

  // Inserts a transaction, and moves up to `depth` others for it, one for the other. Only what is
  // among the last ones and shares a key is moved. `before` is where it was, if it was taken out.
  bool fit_in(TxnId txn, Moment before, int depth) {
    if (fit_alone(txn, before, [] { return true; })) return true;
    if (depth == 0) return false;
    const std::size_t far = std::min(kFar, done_.size());
    for (std::size_t behind = 1; behind <= far && places_left_ > 0; ++behind) {
      const TxnId other = done_[done_.size() - behind];
      ticker_.tick(1 + items_of(other) / 8);
      if (!shares_key(txn, other)) continue;
      const Span span = at_[other.index()];
      take_out(other, behind);
      const auto then = [&] { return fit_in(other, span.commit, depth - 1); };
      if (fit_alone(txn, before, then)) return true;
      perform(other, span, behind - 1);
    }
    return false;
  }
  // The same without moving others, where then() is true as well.
  template <class F>
  bool fit_alone(TxnId txn, Moment before, const F& then) {
    const TxnId next = next_[txn.index()];
    const Moment end = next.valid() ? at_[next.index()].begin : 0;
    const TxnId previous = previous_[txn.index()];
    const Moment earliest = previous.valid() ? at_[previous.index()].commit : 0;
    if (previous.valid() && earliest == 0) return false;
    const std::size_t far = std::min(2 * kFar, done_.size());
    for (std::size_t behind = 0; behind <= far && places_left_ > 0; ++behind) {
      --places_left_;
      if (ticker_.tick(1 + items_of(txn) / 64)) return false;
      if (behind > 0 && at_[done_[done_.size() - behind].index()].commit <= earliest) return false;
      const auto span = place(txn, behind);
      if (!span || (end != 0 && span->commit >= end)) continue;
      perform(txn, *span, behind);
      if (all_fit(txn, std::min(before, span->commit)) && then()) return true;
      take_out(txn, behind_of(txn));
    }
    return false;
  }
  // Whether all who read what the transaction writes, behind a moment, see what they read.
  [[nodiscard]] bool all_fit(TxnId txn, Moment first) const {
    for (ItemId i = o_.items().first(txn); i < o_.items().end(txn); ++i.value) {
      if (!is_final_write(i)) continue;
      const KeyId key = key_of(i);
      for (std::size_t r = readers(key); r > 0 && reads_at(key, r - 1) > first; --r) {
        const std::size_t behind = first_behind(key, reads_at(key, r - 1));
        ticker_.tick();
        if (!fits(reader(key, r - 1), version_before(key, behind))) return false;
      }
    }
    return true;
  }
  [[nodiscard]] bool shares_key(TxnId a, TxnId b) const {
    const Items& items = o_.items();
    for (ItemId i = items.first(a); i < items.end(a); ++i.value) {
      for (ItemId j = items.first(b); j < items.end(b); ++j.value) {
        if (items.key(i) == items.key(j)) return true;
      }
    }
    return false;
  }
  // How many from the end the transaction is.
  [[nodiscard]] std::size_t behind_of(TxnId txn) const {
    std::size_t behind = 1;
    while (done_[done_.size() - behind] != txn) ++behind;
    return behind;
  }
  // REQUIRES: the transaction is so many from the end.
  void take_out(TxnId txn, std::size_t behind) {
    for (ItemId i = o_.items().first(txn); i < o_.items().end(txn); ++i.value) {
      const KeyId key = key_of(i);
      if (is_asked(i)) {
        std::size_t at = --keys_[key.index()].readers;
        while (reader(key, at) != i) --at;
        for (; at < readers(key); ++at) {
          entries_[reader_slot(key, at)] = entries_[reader_slot(key, at + 1)];
        }
      }
      if (is_final_write(i)) {
        std::size_t at = --keys_[key.index()].versions;
        while (version(key, at) != i) --at;
        for (; at < versions(key); ++at) {
          entries_[version_slot(key, at)] = entries_[version_slot(key, at + 1)];
        }
      }
    }
    done_.erase(done_.end() - static_cast<std::ptrdiff_t>(behind));
    at_[txn.index()] = {};
  }

  // ---- those that wait ----

  // What waits mostly read what comes a few lines later. If not, one before may be in the way.
  void mend_waiting() {
    if (misfits_ > kMostMisfits || ticker_.stopped()) return;
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      const auto [line, txn] = waiting_[i];
      const TxnId previous = previous_[txn.index()];
      const std::size_t waited = line_ - line;
      if (waited != kShortly && waited != kLong) continue;
      const int most = waited == kLong ? kMostMoved + 1 : kMostMoved;
      places_left_ = kMostPlaces;
      const bool early = previous.valid() && at_[previous.index()].commit == 0;
      if (early || !fit_in(txn, kNever, most)) continue;
      waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
      return insert_waiting();
    }
  }

  void insert_waiting() {
    for (std::size_t i = 0; i < waiting_.size();) {
      if (!insert(waiting_[i].second)) {
        ++i;
        continue;
      }
      waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
      i = 0;
    }
  }
  [[nodiscard]] bool has_waited_enough() const {
    return waiting_.size() > kMostWaiting || waiting_.front().first + kPatience < line_;
  }
  void force_first() {
    const TxnId txn = waiting_.front().second;
    waiting_.erase(waiting_.begin());
    const Moment commit = (done_.empty() ? 0 : at_[done_.back().index()].commit) + kRoom;
    perform(txn, {is_single(txn) ? commit : commit - 1, commit}, 0);
    ++misfits_;
    insert_waiting();
  }

  // ---- the result ----

  // Transactions that do not count, or that the budget did not last for, come last.
  [[nodiscard]] std::vector<Node> order() const {
    std::vector<Node> order;
    order.reserve(e_.node_count());
    for (Node node = e_.first_readers(); node < e_.node_count(); ++node) order.push_back(node);
    std::vector<std::pair<Moment, Node>> begins;
    for (const TxnId txn : done_) {
      if (e_.split()) begins.emplace_back(at_[txn.index()].begin, txn.value * 2);
    }
    std::sort(begins.begin(), begins.end());
    auto begin = begins.begin();
    for (const TxnId txn : done_) {
      const Moment commit = at_[txn.index()].commit;
      for (; begin != begins.end() && begin->first <= commit; ++begin) {
        order.push_back(begin->second);
      }
      order.push_back(e_.commit(txn));
    }
    for (const Node txn : recorded_) {
      if (at_[txn].commit != 0) continue;
      if (e_.split()) order.push_back(txn * 2);
      order.push_back(e_.commit(TxnId{txn}));
    }
    return order;
  }

  const Encoding& e_;
  const Observed& o_;
  const bool apart_;
  const std::span<const Node> recorded_;
  mutable BudgetTicker ticker_;
  const bool has_time_;          // Whether real time is among the arcs.
  std::vector<bool> is_open_;    // By item.
  // By transaction: the one before and the one behind in its session, if that counts.
  std::vector<TxnId> previous_;
  std::vector<TxnId> next_;
  std::vector<Span> at_;         // By transaction.
  std::vector<Key> keys_;
  std::vector<Entry> entries_;
  std::vector<TxnId> done_;  // As they commit.
  std::size_t line_ = 0;     // How many transactions there were so far.
  std::vector<std::pair<std::size_t, TxnId>> waiting_;  // With their lines.
  std::size_t places_left_ = 0;  // That may be tried for the one at hand.
  std::size_t misfits_ = 0;
};

}  // namespace

// What is serializable is so where begins may be apart, too; but then there are more places, and
// the wrong one is taken more easily.
Inserted inserted(const Encoding& encoding, std::span<const Node> txns, const Budget& budget) {
  Inserted apart = Insertion(encoding, txns, true, budget).run();
  if (!encoding.split() || apart.misfits == 0) return apart;
  Inserted together = Insertion(encoding, txns, false, budget).run();
  return together.misfits < apart.misfits ? together : apart;
}

}  // namespace ouro
