// Writes down what clients saw, as a History.
#pragma once

#include <cstdint>
#include <vector>

#include "ouro/generate.h"
#include "ouro/history_builder.h"
#include "workload/open_txn.h"
#include "workload/versions.h"

namespace ouro::workload {

class Recorder {
 public:
  explicit Recorder(const GenerateOptions& options);

  // Adds a completed transaction. `applied` tells whether its writes took effect, whatever the
  // client heard; `completed` is ignored if it heard nothing.
  void add(const OpenTxn& txn, TxnStatus status, bool applied, std::int64_t completed,
           const Versions& versions);

  // The history. `versions` is the store's memory at the end.
  Result<History> finish(const Versions& versions) &&;

 private:
  KeyId key(std::uint32_t key);
  void add_op(const OpenTxn& txn, const DoneOp& op, const Versions& versions);
  void add_scan(const DoneOp* scan);

  bool lists_;
  bool clocks_;
  bool timestamps_;
  bool version_orders_;
  HistoryBuilder builder_;
  std::vector<KeyId> key_id_;  // Invalid until the key is used.
  std::vector<SessionId> session_id_;
  std::vector<Value> scratch_;
  std::vector<KeyVersion> rows_;
};

}  // namespace ouro::workload
