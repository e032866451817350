// Mixtures: transactions whose operations are drawn at random.
//
// General, ListAppend and King Cobra's mix single reads, blind writes and pairs (a read and a write
// of the same key), so that both shares of the options come out: a write belongs to a pair with
// probability rmw_share, and the reads of pairs count as reads. If read_share is too small for the
// reads of these pairs, pairs win, and more operations are reads than asked for. A transaction of
// one operation has no room for a pair.
//
// BlindW transactions either only read or only write, and never read what they write.
//
// A list that grew long is retired, and a new key takes its place, as in Elle: reads of ever longer
// lists would make the size of a history quadratic. So it may have more keys than asked for.
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
  Chance read_;  // That an operation reads, where pairs are impossible.
  // Weights of pairs, single reads and blind writes.
  std::uint64_t pair_weight_;
  std::uint64_t read_weight_;
  std::uint64_t write_weight_;
  Chance read_only_;  // That a BlindW transaction only reads.
  std::uint32_t key_end_;
  // Lists only. A slot is what KeyChooser draws; it has one key at a time, and the next one when
  // that key is retired. A retired key remembers its slot.
  std::vector<std::uint32_t> key_of_slot_;
  std::vector<std::uint32_t> slot_of_key_;
};

}  // namespace ouro::workload
