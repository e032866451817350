// The simulation: sessions, store and clock in one loop. Which session takes the next step is drawn
// at random.
//
// A step is a begin, an operation or a commit, so transactions of different sessions overlap. How
// many may be open at once is limited, and the limit adapts: an abort by conflict takes a tenth off
// it, a commit adds a ninetieth. This settles near one abort in ten where clients fight for few
// keys, and leaves all sessions busy where they do not.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "ouro/generate.h"
#include "workload/client.h"
#include "workload/fault_player.h"
#include "workload/isolation.h"
#include "workload/recorder.h"

namespace ouro::workload {

class Simulation final : private PlayStage {
 public:
  // REQUIRES: the options passed the checks of generate().
  explicit Simulation(const GenerateOptions& options);

  // Runs to the end. Call it once.
  Result<History> run();

 private:
  void step();
  void begin_one();
  // Whether clients have to wait until nothing is under way.
  [[nodiscard]] bool is_to_be_quiet();
  void begin(std::uint32_t session);
  void take_step(std::size_t open_index);
  void do_op(OpenTxn& txn, const Step& step);
  void do_scan(OpenTxn& txn, const Step& step);
  // Ends the transaction. Returns what the client hears; `applied` says whether it committed.
  TxnStatus finish(OpenTxn& txn, bool& applied);
  void record(OpenTxn& txn, TxnStatus status, bool applied);
  void tick();

  // Faults.
  const FaultScript* draw_fault();
  void perform(const FaultScript& script);
  Client::KeyPair pick_keys() override { return in_play_ = client_->pick_keys(); }
  Client::KeyPair new_keys() override {
    in_play_ = client_->new_pair();
    store_.versions.grow(client_->key_end());
    return in_play_;
  }
  OpenTxn& actor(std::size_t number) override { return txns_[idle_[number]]; }
  std::uint32_t fresh_value(std::uint32_t key) override { return store_.versions.fresh_value(key); }
  std::uint32_t peek_value(std::uint32_t key) override { return store_.versions.peek_value(key); }
  void begun(OpenTxn& txn) override { begin(txn.session); }
  void time_passes() override { tick(); }
  void ended(OpenTxn& txn, bool committed) override {
    record(txn, committed ? TxnStatus::Committed : TxnStatus::Aborted, committed);
  }

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

  std::vector<OpenTxn> txns_;             // One per session.
  std::vector<std::uint32_t> open_;       // Sessions that are inside a transaction.
  std::vector<std::uint32_t> idle_;       // Sessions that are not.
  std::uint64_t begun_ = 0;               // How many transactions were begun.
  std::uint64_t open_limit_milli_;        // How many may be open at once, in thousandths.
  Client::KeyPair in_play_;               // The keys of the fault that is played.
  std::uint64_t next_quiet_;              // When so many were begun, clients wait.
  const FaultScript* waiting_ = nullptr;  // The fault to play once enough sessions are idle.
  std::int64_t clock_ns_ = 0;
};

}  // namespace ouro::workload
