#include "check/counter_order.h"

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <absl/hash/hash.h>

#include <algorithm>
#include <limits>

namespace ouro {
namespace {

constexpr std::int64_t kAlways = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

class CounterOrder {
 public:
  CounterOrder(const Observed& observed, const Budget& budget)
      : o_(observed), h_(observed.history()), budget_(budget), plans_(h_.txn_count()) {
    const Items& items = o_.items();
    for (const CounterShare& share : items.shares()) {
      if (!takes_part(share.txn)) continue;
      plans_[share.txn.index()].adds.push_back({number(share.counter), share.delta});
      if (share.delta < 0) grows_[number(share.counter)] = false;
    }
    for (const CounterSum& sum : items.sums()) {
      if (takes_part(sum.txn)) {
        plans_[sum.txn.index()].reads.push_back({number(sum.counter), sum.target});
      }
    }
    total_.assign(grows_.size(), 0);
    for (std::size_t s = 0; s < h_.session_count(); ++s) add_session(SessionId{s});
    std::stable_sort(waiting_.begin(), waiting_.end(),
                     [&](TxnId a, TxnId b) { return plan(a).invoked < plan(b).invoked; });
  }

  std::vector<TxnId> run() {
    for (;;) {
      if (++steps_ > kMostSteps || (steps_ % 1024 == 0 && budget_.exhausted())) return {};
      settle_reads();
      if (mandatory_left_ == 0) return order_;
      const bool known = !seen_.insert(hash_).second;
      std::vector<TxnId> next = known || is_dead() ? std::vector<TxnId>() : writers();
      trail_.push_back({order_.size(), std::move(next), 0});
      while (trail_.back().at == trail_.back().next.size()) {
        trail_.pop_back();
        if (trail_.empty()) return {};
        undo_to(trail_.back().done);
      }
      Branch& branch = trail_.back();
      done(branch.next[branch.at++]);
    }
  }

 private:
  static constexpr std::uint64_t kMostSteps = 300'000;
  struct Part {
    std::uint32_t counter = 0;
    WideInt number = 0;
  };
  struct Plan {
    std::int64_t invoked = kAlways;
    std::int64_t completed = kNever;
    TxnId before;  // In its session, of those that must take part.
    bool done = false;
    bool optional = false;
    std::vector<Part> adds;
    std::vector<Part> reads;
  };
  struct Branch {
    std::size_t done = 0;  // How many were done before.
    std::vector<TxnId> next;
    std::size_t at = 0;
  };

  [[nodiscard]] bool takes_part(TxnId txn) const {
    return o_.counted(txn) || h_.status(txn) == TxnStatus::Unknown;
  }
  std::uint32_t number(Value counter) {
    const auto [at, added] =
        numbers_.try_emplace(counter, static_cast<std::uint32_t>(numbers_.size()));
    if (added) grows_.push_back(true);
    return at->second;
  }
  Plan& plan(TxnId txn) { return plans_[txn.index()]; }

  void add_session(SessionId session) {
    TxnId before;
    for (const TxnId txn : h_.session_txns(session)) {
      if (!takes_part(txn)) continue;
      Plan& plan = plans_[txn.index()];
      plan.optional = !o_.counted(txn);
      if (plan.optional && plan.adds.empty()) continue;
      plan.invoked = h_.invoked(txn).value_or(kAlways);
      plan.completed = plan.optional ? kNever : h_.completed(txn).value_or(kNever);
      plan.before = before;
      waiting_.push_back(txn);
      if (plan.optional) continue;
      ++mandatory_left_;
      before = txn;
    }
  }

  // Calls f with each transaction that may come next, until it returns false.
  template <class F>
  void each_next(const F& f) {
    while (first_ < waiting_.size() && plan(waiting_[first_]).done) ++first_;
    std::int64_t end = kNever;  // Whoever was invoked later must wait for one that completed.
    for (std::size_t i = first_; i < waiting_.size(); ++i) {
      const Plan& p = plan(waiting_[i]);
      if (p.invoked > end) break;
      if (!p.done) end = std::min(end, p.completed);
    }
    for (std::size_t i = first_; i < waiting_.size(); ++i) {
      const TxnId txn = waiting_[i];
      const Plan& p = plan(txn);
      ++steps_;
      if (p.invoked > end) break;
      if (p.done || (p.before.valid() && !plan(p.before).done)) continue;
      if (!f(txn)) break;
    }
  }

  [[nodiscard]] bool fits(const Plan& p) const {
    return std::all_of(p.reads.begin(), p.reads.end(),
                       [&](const Part& read) { return total_[read.counter] == read.number; });
  }

  void done(TxnId txn) {
    Plan& p = plan(txn);
    p.done = true;
    for (const Part& add : p.adds) total_[add.counter] += add.number;
    if (!p.optional) --mandatory_left_;
    hash_ ^= absl::HashOf(txn.value);
    order_.push_back(txn);
  }

  void undo_to(std::size_t count) {
    while (order_.size() > count) {
      const TxnId txn = order_.back();
      order_.pop_back();
      Plan& p = plan(txn);
      p.done = false;
      for (const Part& add : p.adds) total_[add.counter] -= add.number;
      if (!p.optional) ++mandatory_left_;
      hash_ ^= absl::HashOf(txn.value);
    }
    first_ = 0;
  }

  // Does everything that adds nothing and reads what there is now: that is never too early.
  void settle_reads() {
    for (bool again = true; again;) {
      again = false;
      TxnId found;
      each_next([&](TxnId txn) {
        if (plan(txn).adds.empty() && !plan(txn).optional && fits(plan(txn))) found = txn;
        return !found.valid();
      });
      if (found.valid()) {
        done(found);
        again = true;
      }
    }
  }

  // Whether a transaction that may come next can no longer read what it did.
  bool is_dead() {
    bool dead = false;
    each_next([&](TxnId txn) {
      const Plan& p = plan(txn);
      for (const Part& read : p.reads) {
        dead |= !p.optional && grows_[read.counter] && total_[read.counter] > read.number;
      }
      return !dead;
    });
    return dead;
  }

  // The transactions that may come next and add something, whoever completed first in front.
  std::vector<TxnId> writers() {
    std::vector<TxnId> out;
    each_next([&](TxnId txn) {
      if (!plan(txn).adds.empty() && fits(plan(txn))) out.push_back(txn);
      return true;
    });
    std::stable_sort(out.begin(), out.end(),
                     [&](TxnId a, TxnId b) { return plan(a).completed < plan(b).completed; });
    return out;
  }

  const Observed& o_;
  const History& h_;
  const Budget& budget_;
  std::vector<Plan> plans_;
  absl::flat_hash_map<Value, std::uint32_t> numbers_;
  std::vector<bool> grows_;     // By counter: whether no increment is negative.
  std::vector<WideInt> total_;  // By counter: what was added so far.
  std::vector<TxnId> waiting_;  // Sorted by invocation.
  std::size_t first_ = 0;       // Those before it are done.
  std::size_t mandatory_left_ = 0;
  std::uint64_t hash_ = 0;  // Of the set of transactions that are done.
  absl::flat_hash_set<std::uint64_t> seen_;
  std::vector<TxnId> order_;
  std::vector<Branch> trail_;
  std::uint64_t steps_ = 0;
};

}  // namespace

std::vector<TxnId> order_by_counters(const Observed& observed, const Budget& budget) {
  return CounterOrder(observed, budget).run();
}

}  // namespace ouro
