// What timestamps say about a small history, straight from the definitions in docs/levels.md, "By
// timestamps": every pair of transactions is compared, every snapshot is built from nothing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "ouro/check.h"
#include "ouro/history.h"

namespace ouro::oracle {

// What one key holds.
struct Held {
  Value value;
  bool alive = false;           // A row; false: absent, deleted, or a list.
  std::vector<Value> elements;  // Of a list.
};

class TimestampOracle {
 public:
  TimestampOracle(const History& history, Level level, std::int64_t clock_drift = 0);

  // How often each anomaly occurs; those that do not are left out.
  [[nodiscard]] std::map<AnomalyKind, std::uint64_t> counts() const;

  // What `txn` should find in `key` when it has done its operations before `op`.
  // REQUIRES: has(txn).
  [[nodiscard]] Held held(TxnId txn, KeyId key, OpId op) const;
  // What the predicate read `op` of `txn` should return.
  [[nodiscard]] std::vector<KeyVersion> selected(TxnId txn, OpId op) const;
  // The same for an aggregate, as JSON.
  [[nodiscard]] std::string aggregated(TxnId txn, OpId op) const;
  [[nodiscard]] bool has(TxnId txn) const { return stamps_[txn.index()].has_value(); }

  // What is wrong with one read; nothing if it is right. REQUIRES: has(txn).
  [[nodiscard]] std::optional<AnomalyKind> wrong(TxnId txn, OpId op) const;
  // Whether `first` commits before `second` begins. REQUIRES: has() of both.
  [[nodiscard]] bool sees(TxnId second, TxnId first) const {
    return first != second && commits_before_begin(first, second);
  }
  [[nodiscard]] bool writes_key(TxnId txn, KeyId key) const;

 private:
  struct Stamps {
    Timestamp start;
    Timestamp commit;
    bool writes = false;
  };
  [[nodiscard]] bool takes_part(TxnId txn) const;
  [[nodiscard]] bool is_list(KeyId key) const;
  [[nodiscard]] bool commits_before_begin(TxnId first, TxnId second) const;
  [[nodiscard]] bool commits_before_commit(TxnId first, TxnId second) const;
  [[nodiscard]] std::vector<TxnId> present() const;
  void count_stamps(std::map<AnomalyKind, std::uint64_t>& counts) const;
  [[nodiscard]] bool writes_any_key(TxnId txn) const;
  void count_order(std::map<AnomalyKind, std::uint64_t>& counts) const;
  void count_conflicts(std::map<AnomalyKind, std::uint64_t>& counts) const;
  void count_reads(TxnId txn, std::map<AnomalyKind, std::uint64_t>& counts) const;
  [[nodiscard]] std::optional<AnomalyKind> judge_read(TxnId txn, OpId read) const;
  [[nodiscard]] bool right_result(TxnId txn, OpId read) const;

  const History& h_;
  Level level_;
  std::int64_t drift_;
  bool snapshots_;
  std::vector<std::optional<Stamps>> stamps_;  // Nothing: it is not on the timeline.
};

}  // namespace ouro::oracle
