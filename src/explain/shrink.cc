#include "explain/shrink.h"

#include <algorithm>
#include <utility>

namespace ouro {
namespace {

class Shrinker {
 public:
  Shrinker(const History& history, Evidence evidence, const Question& question,
           const Budget& budget)
      : h_(history), excerpter_(history, evidence), question_(question), budget_(budget) {
    for (std::size_t t = 0; t < h_.txn_count(); ++t) txns_.emplace_back(t);
    for (std::size_t i = 0; i < h_.op_count(); ++i) ops_.emplace_back(i);
  }

  Shrunk run_txns() {
    drop_in_chunks(txns_, &Shrinker::without_txns);
    while (drop_one_by_one(txns_, &Shrinker::without_txns)) {
    }
    return shrunk();
  }

  Shrunk run() {
    drop_in_chunks(txns_, &Shrinker::without_txns);
    drop_keys();
    drop_in_chunks(ops_, &Shrinker::without_ops);
    // If the question is not monotone, something may have become superfluous.
    while (drop_one_by_one(txns_, &Shrinker::without_txns) ||
           drop_one_by_one(ops_, &Shrinker::without_ops)) {
    }
    return shrunk();
  }

 private:
  struct State {
    std::vector<TxnId> txns;
    std::vector<OpId> ops;
  };

  [[nodiscard]] Shrunk shrunk() const {
    Excerpt part = excerpt(txns_, ops_);
    budget_.charge(part.steps);
    return {std::move(part), !stopped_};
  }

  [[nodiscard]] Excerpt excerpt(std::span<const TxnId> txns, std::span<const OpId> ops) const {
    std::vector<bool> kept(h_.op_count(), false);
    for (const OpId op : ops) kept[op.index()] = true;
    return excerpter_.make(txns, kept);
  }

  // Goes on with the smaller part if the answer for it is yes. An excerpt may drop more operations,
  // such as reads of what is gone; these are dropped here, too.
  bool accept(const State& smaller) {
    constexpr std::uint64_t kStepsPerOp = 8;
    budget_.charge(kStepsPerOp * smaller.ops.size() + h_.op_count() / 8);
    if (stopped_ || (stopped_ = budget_.exhausted())) return false;
    Excerpt part = excerpt(smaller.txns, smaller.ops);
    budget_.charge(part.steps);
    if (!question_(part.history)) return false;
    txns_ = std::move(part.txns);
    ops_ = std::move(part.ops);
    return true;
  }

  bool without_txns(std::span<const TxnId> dropped) {
    State smaller;
    for (const TxnId txn : txns_) {
      if (!std::binary_search(dropped.begin(), dropped.end(), txn)) smaller.txns.push_back(txn);
    }
    for (const OpId op : ops_) {
      const TxnId txn = h_.txn_of(op);
      if (!std::binary_search(dropped.begin(), dropped.end(), txn)) smaller.ops.push_back(op);
    }
    return accept(smaller);
  }

  bool without_ops(std::span<const OpId> dropped) {
    State smaller{txns_, {}};
    for (const OpId op : ops_) {
      if (!std::binary_search(dropped.begin(), dropped.end(), op)) smaller.ops.push_back(op);
    }
    return accept(smaller);
  }

  // Drops ever smaller chunks, the last ones first: early ones are more often needed.
  template <class Id>
  void drop_in_chunks(std::vector<Id>& left, bool (Shrinker::*drop)(std::span<const Id>)) {
    for (std::size_t size = left.size() / 2; size > 1 && !stopped_; size /= 2) {
      drop_chunks_of(size, left, drop);
    }
    drop_one_by_one(left, drop);
  }

  template <class Id>
  bool drop_one_by_one(std::vector<Id>& left, bool (Shrinker::*drop)(std::span<const Id>)) {
    return drop_chunks_of(1, left, drop);
  }

  template <class Id>
  bool drop_chunks_of(std::size_t size, std::vector<Id>& left,
                      bool (Shrinker::*drop)(std::span<const Id>)) {
    bool any = false;
    for (std::size_t end = left.size(); end > 0 && !stopped_;) {
      const std::size_t first = end - std::min(end, size);
      const std::vector<Id> chunk(left.begin() + static_cast<std::ptrdiff_t>(first),
                                  left.begin() + static_cast<std::ptrdiff_t>(end));
      any |= (this->*drop)(chunk);
      end = std::min(first, left.size());
    }
    return any;
  }

  // Drops all operations on a key at once: a story about fewer keys is better.
  void drop_keys() {
    std::vector<KeyId> keys;
    for (const OpId op : ops_) keys.push_back(h_.op(op).key);
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    for (std::size_t i = keys.size(); keys.size() > 1 && i-- > 0 && !stopped_;) {
      std::vector<OpId> dropped;
      for (const OpId op : ops_) {
        if (h_.op(op).key == keys[i]) dropped.push_back(op);
      }
      if (!dropped.empty()) without_ops(dropped);
    }
  }

  const History& h_;
  const Excerpter excerpter_;
  const Question& question_;
  const Budget& budget_;
  std::vector<TxnId> txns_;
  std::vector<OpId> ops_;
  bool stopped_ = false;
};

}  // namespace

Shrunk shrink(const History& history, Evidence evidence, const Question& question,
              const Budget& budget) {
  return Shrinker(history, evidence, question, budget).run();
}

Shrunk shrink_txns(const History& history, Evidence evidence, const Question& question,
                   const Budget& budget) {
  return Shrinker(history, evidence, question, budget).run_txns();
}

}  // namespace ouro
