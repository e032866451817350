#include "tests/random_batches.h"

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "ouro/history_builder.h"

namespace ouro::oracle {
namespace {

using BatchState = std::map<std::int64_t, Value>;

struct BatchOp {
  OpKind kind = OpKind::Read;
  std::int64_t key = 0;
  Value value;
  Value desired = Value::small(1);  // What a compare-and-set is to write.
};

struct BatchTxn {
  std::size_t session = 0;
  TxnStatus status = TxnStatus::Committed;
  bool applied = true;
  std::int64_t invoked = 0;
  std::int64_t completed = 0;
  std::int64_t point = 0;  // When it takes effect.
  bool ends = true;        // Whether `completed` is recorded.
  std::vector<BatchOp> ops;
};

class BatchMaker {
 public:
  BatchMaker(std::uint64_t seed, const BatchShape& shape) : random_(seed), shape_(shape) {}

  History run() {
    for (std::size_t batch = 0; batch < shape_.batches; ++batch) plan_batch(batch);
    play();
    return write();
  }

 private:
  bool chance(double p) { return std::uniform_real_distribution<>(0, 1)(random_) < p; }
  std::size_t below(std::size_t limit) { return random_() % limit; }

  static constexpr std::int64_t kBatch = 100;  // How long one takes, with the pause.

  // Sessions do one thing after the other, so within a batch each has a time of its own.
  void plan_batch(std::size_t batch) {
    const std::size_t count = 1 + below(shape_.batch);
    std::vector<std::int64_t> free(shape_.sessions, static_cast<std::int64_t>(batch) * kBatch + 1);
    for (std::size_t i = 0; i < count; ++i) {
      BatchTxn txn;
      txn.session = below(shape_.sessions);
      std::int64_t& from = free[txn.session];
      txn.invoked = from + static_cast<std::int64_t>(below(8));
      txn.completed = txn.invoked + static_cast<std::int64_t>(below(12));
      const auto length = static_cast<std::size_t>(txn.completed - txn.invoked);
      txn.point = txn.invoked + static_cast<std::int64_t>(below(length + 1));
      from = txn.completed + 1;
      if (chance(shape_.overlap)) {
        txn.completed += kBatch / 2 + static_cast<std::int64_t>(below(90));
      }
      txn.status = chance(shape_.aborted)   ? TxnStatus::Aborted
                   : chance(shape_.unknown) ? TxnStatus::Unknown
                                            : TxnStatus::Committed;
      txn.applied = txn.status == TxnStatus::Committed ||
                    (txn.status == TxnStatus::Unknown && chance(0.5));
      if (txn.status == TxnStatus::Unknown) {
        txn.ends = chance(shape_.ended);
        if (!txn.ends && chance(shape_.late)) {
          txn.point += kBatch * static_cast<std::int64_t>(1 + below(2));
          // Whoever waits for its outcome does nothing else; another client goes on.
          txn.session = shape_.sessions + txns_.size();
        }
      } else if (txn.status == TxnStatus::Committed) {
        txn.ends = !chance(shape_.unclocked);
      }
      plan_ops(txn);
      txns_.push_back(std::move(txn));
    }
  }

  void plan_ops(BatchTxn& txn) {
    const std::size_t count = 1 + below(shape_.max_ops);
    for (std::size_t i = 0; i < count; ++i) {
      const auto key = static_cast<std::int64_t>(below(shape_.keys));
      if (chance(0.5)) {
        txn.ops.push_back({.kind = OpKind::Read, .key = key, .value = {}});
        if (chance(shape_.cas)) txn.ops.back().kind = OpKind::CasRead;
      } else {
        txn.ops.push_back({.kind = OpKind::Write, .key = key, .value = fresh(key)});
      }
    }
  }

  Value fresh(std::int64_t key) {
    if (chance(shape_.repeats)) return chance(0.3) ? Value::null() : Value::small(key);
    return Value::small(100 + ++written_);
  }

  // In the order of the points, each transaction reads and writes.
  void play() {
    std::vector<std::size_t> order(txns_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return txns_[a].point < txns_[b].point;
    });
    std::vector<std::pair<std::int64_t, BatchState>> states{{0, {}}};
    for (const std::size_t i : order) {
      BatchTxn& txn = txns_[i];
      std::size_t seen = states.size() - 1;
      if (shape_.snapshots) {
        while (seen > 0 && states[seen].first > txn.invoked) --seen;
      }
      if (chance(shape_.stale)) seen -= std::min(seen, 1 + below(3));
      BatchState view = states[seen].second;
      BatchState newest = states.back().second;
      for (BatchOp& op : txn.ops) do_op(op, view, newest);
      if (txn.applied) states.emplace_back(txn.point, newest);
    }
  }

  void do_op(BatchOp& op, BatchState& view, BatchState& newest) {
    if (op.kind == OpKind::Write) {
      view[op.key] = newest[op.key] = op.value;
      return;
    }
    op.value = view[op.key];
    if (written_ > 0 && chance(shape_.stray)) {
      op.value = Value::small(100 + 1 + static_cast<std::int64_t>(below(written_)));
    }
    if (op.kind != OpKind::CasRead) return;
    if (chance(0.5)) {
      op.kind = OpKind::CasFailed;
      op.value = Value::small(100 + 1 + static_cast<std::int64_t>(below(written_ + 1)));
      if (op.value == view[op.key]) op.value = Value::small(7);
    } else {
      op.desired = view[op.key] = newest[op.key] = fresh(op.key);
    }
  }

  // In the order in which they ended.
  History write() {
    std::stable_sort(txns_.begin(), txns_.end(), [](const BatchTxn& a, const BatchTxn& b) {
      return a.completed < b.completed;
    });
    HistoryBuilder b;
    for (const BatchTxn& txn : txns_) {
      b.begin_txn(b.session(static_cast<std::int64_t>(txn.session)));
      b.status(txn.status);
      b.clocks(txn.invoked, txn.ends ? txn.completed : kNoClock);
      for (const BatchOp& op : txn.ops) {
        const KeyId key = b.key(op.key);
        if (op.kind == OpKind::Write) {
          b.write(key, op.value);
        } else if (op.kind == OpKind::Read) {
          b.read(key, op.value);
        } else {
          b.cas(key, op.value, op.desired, op.kind == OpKind::CasRead);
        }
      }
    }
    return *std::move(b).freeze();
  }

  std::mt19937_64 random_;
  const BatchShape& shape_;
  std::vector<BatchTxn> txns_;
  std::size_t written_ = 0;
};

}  // namespace

History random_batches(std::uint64_t seed, const BatchShape& shape) {
  return BatchMaker(seed, shape).run();
}

}  // namespace ouro::oracle
