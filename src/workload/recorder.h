// Writes down what the clients of the simulation did and saw, as a History.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "ouro/generate.h"
#include "ouro/history_builder.h"
#include "workload/open_txn.h"
#include "workload/versions.h"

namespace ouro::workload {

class Recorder {
 public:
  explicit Recorder(const GenerateOptions& options);

  // Adds a transaction that has ended. `status` is what the client heard, `applied` whether the
  // store committed it. `completed` is the client's clock in nanoseconds; it is not recorded if the
  // status is Unknown. `versions` are those of the store now.
  void add(const OpenTxn& txn, TxnStatus status, bool applied, std::int64_t completed,
           const Versions& versions);

  // The history of all transactions added. `versions` are those of the store at the end. The errors
  // are those of HistoryBuilder::freeze().
  Result<History> finish(const Versions& versions) &&;

 private:
  KeyId key(std::uint32_t key);
  [[nodiscard]] Value value(std::uint32_t key, std::uint32_t unique) const;
  void name_txn(const OpenTxn& txn);
  void add_named_order(std::uint32_t key, std::span<const Version> versions);
  void add_op(const OpenTxn& txn, const DoneOp& op, const Versions& versions);
  void add_scan(const DoneOp* scan);

  bool lists_;
  bool clocks_;
  bool timestamps_;
  bool version_orders_;
  bool duplicates_;
  // If versions must be named by who wrote them: the names, by key and unique value.
  absl::flat_hash_map<std::pair<std::uint32_t, std::uint32_t>, Value> writer_;
  // If values repeat, deletes leave none: the tombstones of the store, by key.
  absl::flat_hash_set<std::pair<std::uint32_t, std::uint32_t>> tombstones_;
  HistoryBuilder builder_;
  std::vector<KeyId> key_id_;  // Invalid until the key is used.
  std::vector<SessionId> session_id_;
  std::vector<Value> scratch_;
  std::vector<KeyVersion> rows_;
};

}  // namespace ouro::workload
