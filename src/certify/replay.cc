// Replays a schedule of begins and commits, and compares every read with what is committed when its
// transaction begins.

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "certify/clock.h"
#include "certify/orders.h"
#include "certify/rules.h"
#include "history/columns.h"

namespace ouro::recheck {

std::string txn_name(TxnId txn) { return fmt::format("transaction {}", txn.index() + 1); }

std::string misplaced(const Reading& reading, const Event& event) {
  if (event.txn == kInitialTxn || event.txn.index() >= reading.history().txn_count()) {
    return "the schedule has a transaction that the history does not have";
  }
  return reading.counts(event.txn) ? "" : txn_name(event.txn) + " does not count";
}

namespace {

class Replay {
 public:
  Replay(const Reading& reading, Level level, std::int64_t clock_drift)
      : reading_(reading),
        h_(reading.history()),
        rules_(rules_of(level)),
        clock_drift_(clock_drift),
        began_(h_.txn_count(), kNever),
        committed_(h_.txn_count(), kNever),
        before_(before_in_sessions(h_, [&](TxnId txn) { return reading.counts(txn); })),
        latest_(h_.key_count()),
        length_(h_.key_count(), 0) {}

  std::string run(std::span<const Event> schedule) {
    std::vector<TxnId> order;
    for (const Event& event : schedule) {
      std::string wrong = misplaced(reading_, event);
      if (wrong.empty()) wrong = event.commit ? commit(event.txn) : begin(event.txn);
      if (!wrong.empty()) return wrong;
      if (event.commit) order.push_back(event.txn);
      ++now_;
    }
    if (order.size() != reading_.counted()) return "the schedule leaves out a transaction";
    if (auto wrong = compare_orders(reading_, order); !wrong.empty()) return wrong;
    return compare_lists(reading_, order);
  }

 private:
  static constexpr std::size_t kNever = ~std::size_t{0};

  std::string begin(TxnId txn) {
    if (began_[txn.index()] != kNever) return txn_name(txn) + " begins twice";
    began_[txn.index()] = now_;
    const TxnId before = before_[txn.index()];
    if (rules_.sessions && before.valid() && committed_[before.index()] == kNever) {
      return fmt::format("{} begins before {} of its session commits", txn_name(txn),
                         txn_name(before));
    }
    if (rules_.real_time && !rules_.commit_to_commit) note_invocation(txn);
    if (orders_commits() && precedes(h_.began(txn), last_asked_)) {
      return txn_name(txn) + " had begun before one asked for its commit that it does not precede";
    }
    for (AccessId id = reading_.first(txn); id < reading_.end(txn); ++id) {
      if (!reading_.is_external(id)) continue;
      const KeyId key = reading_.access(id).key;
      if (!fits(id)) {
        return fmt::format("{} reads {} as it was not when it began", txn_name(txn),
                           h_.key_label(key));
      }
    }
    return "";
  }

  // Whether a read returned what is there now. At levels that allow phantoms, what a scan did not
  // find may have been written since.
  [[nodiscard]] bool fits(AccessId read) const {
    const KeyId key = reading_.access(read).key;
    const TxnId source = reading_.source_txn(read);
    if (rules_.phantoms && reading_.is_phantom(read)) {
      return source == kInitialTxn || committed_[source.index()] != kNever;
    }
    return source == latest_[key.index()] &&
           (!reading_.is_list(key) || reading_.others(read) == length_[key.index()]);
  }

  std::string commit(TxnId txn) {
    const std::size_t began = began_[txn.index()];
    if (began == kNever) return txn_name(txn) + " commits before it begins";
    if (committed_[txn.index()] != kNever) return txn_name(txn) + " commits twice";
    committed_[txn.index()] = now_;
    if (rules_.real_time && precedes(h_.completed(txn), last_invoked_)) {
      return txn_name(txn) + " completed before one was invoked that it does not precede";
    }
    if (orders_commits() && precedes(h_.completed(txn), last_asked_)) {
      return txn_name(txn) + " completed before one asked for its commit that it does not precede";
    }
    note_commit(txn);
    for (AccessId id = reading_.first(txn); id < reading_.end(txn); ++id) {
      if (!reading_.is_write(id)) continue;
      const KeyId key = reading_.access(id).key;
      TxnId& latest = latest_[key.index()];
      if (!rules_.lost_updates && latest.valid() && latest != txn &&
          committed_[latest.index()] > began) {
        return fmt::format("{} and {} write {} at the same time", txn_name(latest), txn_name(txn),
                           h_.key_label(key));
      }
      latest = txn;
      ++length_[key.index()];
    }
    return "";
  }

  // Whether real time orders begins and commits before later commits.
  [[nodiscard]] bool orders_commits() const {
    return rules_.real_time && rules_.family == Family::Snapshot;
  }
  // Notes when a transaction that now begins was invoked, and when one that now commits asked for
  // that. What was answered before should have come before.
  void note_invocation(TxnId txn) {
    last_invoked_ = std::max(last_invoked_, h_.invoked(txn).value_or(last_invoked_));
  }
  void note_commit(TxnId txn) {
    last_asked_ = std::max(last_asked_, earliest_commit(h_, txn).value_or(last_asked_));
  }
  [[nodiscard]] bool precedes(std::optional<std::int64_t> answered, std::int64_t asked) const {
    return answered && precedes_in_time(*answered, asked, clock_drift_);
  }

  const Reading& reading_;
  const History& h_;
  const Rules rules_;
  const std::int64_t clock_drift_;
  std::size_t now_ = 0;
  // By transaction: the position of its begin, and of its commit; or kNever.
  std::vector<std::size_t> began_;
  std::vector<std::size_t> committed_;
  std::vector<TxnId> before_;        // By transaction: the one before it in its session.
  std::vector<TxnId> latest_;        // By key: who wrote the last committed version.
  std::vector<std::size_t> length_;  // By key: how many elements of a list are committed.
  // The latest clocks noted so far: of invocations, and of commits that were asked for.
  std::int64_t last_invoked_ = std::numeric_limits<std::int64_t>::min();
  std::int64_t last_asked_ = std::numeric_limits<std::int64_t>::min();
};

}  // namespace

std::string replay(const Reading& reading, Level level, std::int64_t clock_drift,
                   std::span<const Event> schedule) {
  return Replay(reading, level, clock_drift).run(schedule);
}

std::string compare_lists(const Reading& reading, std::span<const TxnId> order) {
  const History& h = reading.history();
  std::vector<std::vector<Value>> lists(h.key_count());
  for (const TxnId txn : order) {
    for (AccessId id = reading.first(txn); id < reading.end(txn); ++id) {
      const Access& a = reading.access(id);
      if (a.kind == OpKind::Append) lists[a.key.index()].push_back(a.value);
    }
  }
  // How far each trunk is known to agree with its list.
  std::vector<std::size_t> agreed(columns_of(h).trunk_end.size(), 0);
  for (const TxnId txn : order) {
    for (AccessId id = reading.first(txn); id < reading.end(txn); ++id) {
      const Access& a = reading.access(id);
      if (!a.value.is_list() || a.value.length() == 0) continue;
      const auto shown = h.list(a.value);
      const auto& list = lists[a.key.index()];
      std::size_t& known = agreed[a.value.trunk()];
      while (known < shown.size() && known < list.size() && shown[known] == list[known]) ++known;
      if (known < shown.size()) {
        return fmt::format("{} reads the list {} in another order", txn_name(txn),
                           h.key_label(a.key));
      }
    }
  }
  return "";
}

}  // namespace ouro::recheck
