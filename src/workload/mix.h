// Mixtures: operations drawn one by one.
//
// General, ListAppend and King Cobra's mix plain reads, blind writes and read-write pairs so that
// both shares of the options come out: with read share r and read-modify-write share m, a write
// belongs to a pair with probability m, and the pairs' reads count as reads. If r is too small for
// the reads that m asks for, pairs win and the read share is larger than asked. A transaction of
// one operation has no room for a pair.
//
// BlindW transactions either only read or only write, and never read what they write.
//
// A list that grew long is retired and a new key takes its place, as in Elle: reads of endless
// lists would make a history quadratic. So a list history may have more keys than asked for.
#pragma once

#include <cstdint>
#include <vector>

#include "workload/client.h"
#include "workload/key_choice.h"
#include "workload/random.h"

namespace ouro::workload {

class Mix final : public Client {
 public:
  Mix(const WorkloadOptions& options, Seat seat);

  void plan(Program& program) override;
  KeyPair pick_keys() override;
  void retire(std::uint32_t key) override;
  void saw(const Step& step, std::size_t size) override;
  [[nodiscard]] std::uint32_t key_end() const override { return key_end_; }

 private:
  [[nodiscard]] bool lists() const { return kind_ == WorkloadKind::ListAppend; }
  void plan_mix(Program& program, std::uint32_t length);
  std::uint32_t draw_pair_count(std::uint32_t length);
  bool draw_single_write(std::uint32_t length);
  std::uint32_t pick_key();

  WorkloadKind kind_;
  std::uint32_t ops_per_txn_;
  std::uint32_t ops_at_least_;
  Random random_;
  KeyChooser chooser_;
  Chance read_;  // Of operations, where there is no choice but a single one.
  // Weights of pairs, plain reads and blind writes.
  std::uint64_t pair_weight_;
  std::uint64_t read_weight_;
  std::uint64_t write_weight_;
  Chance read_only_;  // Of BlindW transactions.
  std::uint32_t key_end_;
  std::vector<std::uint32_t> key_of_slot_;  // Lists only: who stands in for whom …
  std::vector<std::uint32_t> slot_of_key_;  // … and its inverse.
};

}  // namespace ouro::workload
