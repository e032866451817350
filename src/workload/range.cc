// Viper's V-Range: reads, writes, inserts, deletes and range queries over integer keys.
//
// All operations of a transaction are of one type. An insert writes the key after the last one, or
// one that was there before; a delete leaves a tombstone. Both first read what they replace, as
// Viper's collectors do. A range query is a scan of a random range of keys.
#include <algorithm>
#include <array>

#include "workload/planner.h"

namespace ouro::workload {
namespace {

// The shares, in thousandths, of transactions that read, write, insert and delete; the rest scans.
using RangeShares = std::array<std::uint32_t, 4>;

RangeShares range_shares(WorkloadKind kind) {
  switch (kind) {
    case WorkloadKind::RangeQueryHeavy:
      return {125, 125, 125, 125};
    case WorkloadKind::RangeInsertDeleteHeavy:
      return {100, 100, 350, 350};
    default:
      return {200, 200, 200, 200};
  }
}

class Range final : public Planner {
 public:
  Range(const WorkloadOptions& options, Seat seat)
      : Planner(options, seat, options.keys),
        shares_(range_shares(options.workload)),
        ops_per_txn_(options.ops_per_txn) {}

  void plan(Program& program) override {
    program.clear();
    std::uint32_t draw = below(1000);
    std::size_t type = 0;
    while (type < shares_.size() && draw >= shares_[type]) draw -= shares_[type++];
    for (std::uint32_t i = 0; i < ops_per_txn_; ++i) plan_op(type, program);
  }

 private:
  void plan_op(std::size_t type, Program& program) {
    switch (type) {
      case 0:
        program.push_back(read_step(below(key_end_)));
        return;
      case 1:
        program.push_back(write_step(below(key_end_)));
        return;
      case 2:
        read_write(program, percent(50) ? key_end_++ : below(key_end_));
        return;
      case 3: {
        const std::uint32_t key = below(key_end_);
        program.push_back(read_step(key));
        program.push_back({.kind = StepKind::Delete, .key = key});
        return;
      }
      default:
        const auto [lower, upper] = std::minmax({below(key_end_), below(key_end_)});
        program.push_back({.kind = StepKind::Scan, .key = lower, .upper = upper});
    }
  }

  RangeShares shares_;
  std::uint32_t ops_per_txn_;
};

}  // namespace

std::unique_ptr<Client> make_range(const WorkloadOptions& options, Seat seat) {
  return std::make_unique<Range>(options, seat);
}

}  // namespace ouro::workload
