// Clients, store and clock in one loop: who takes the next step is drawn.
//
// A step is a begin, an operation or a commit, so transactions of different sessions overlap.
// How many are open at once adapts: a conflict takes a tenth off the limit, a commit adds a
// ninetieth, which settles near one abort in ten where clients fight for few keys and leaves all
// sessions busy where they do not.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "ouro/generate.h"
#include "workload/client.h"
#include "workload/fault_script.h"
#include "workload/isolation.h"
#include "workload/recorder.h"

namespace ouro::workload {

class Simulation {
 public:
  // REQUIRES: the options passed the checks of generate().
  explicit Simulation(const GenerateOptions& options);

  Result<History> run();

 private:
  void step();
  void begin_one();
  void begin(std::uint32_t session);
  void take_step(std::size_t open_index);
  void do_op(OpenTxn& txn, const Step& step);
  void do_scan(OpenTxn& txn, const Step& step);
  DoneOp do_read(OpenTxn& txn, std::uint32_t key);
  // Returns whether the store kept its writes.
  TxnStatus finish(OpenTxn& txn, bool& applied);
  void record(OpenTxn& txn, TxnStatus status, bool applied);
  void tick();

  // Faults; fault_player.cc.
  const FaultScript* draw_fault();
  void play(const FaultScript& script);

  GenerateOptions options_;
  std::unique_ptr<Client> client_;
  StoreState store_;
  std::unique_ptr<Isolation> isolation_;
  Recorder recorder_;
  Random scheduler_;
  Random outcomes_;
  Random clock_random_;
  Random fault_random_;
  Chance abort_;
  Chance unknown_;
  std::vector<std::pair<Chance, const FaultScript*>> faults_;

  std::vector<OpenTxn> txns_;        // One per session.
  std::vector<std::uint32_t> open_;  // Sessions inside a transaction,
  std::vector<std::uint32_t> idle_;  // and the others.
  std::uint64_t begun_ = 0;
  std::uint64_t open_limit_milli_;
  const FaultScript* waiting_ = nullptr;  // Starts as soon as enough sessions are idle.
  std::int64_t clock_ns_ = 0;
};

}  // namespace ouro::workload
