// Which key an operation goes to: uniform, Zipf or hotspot, in constant time per draw.
//
// Key 0 is the most popular. Zipf groups ranks into narrow buckets: one rank each up to 64, then
// 64 to an octave. A bucket is drawn by its weight, a rank within it uniformly, so a key's share
// is off by less than theta/128 of itself. What an exact inversion would need per draw (powers,
// which differ between machines in the last bit) is computed once, by multiplications only.
#pragma once

#include <cstdint>
#include <vector>

#include "ouro/workload.h"
#include "workload/random.h"

namespace ouro::workload {

class KeyChooser {
 public:
  // REQUIRES: the options passed bad_workload().
  explicit KeyChooser(const WorkloadOptions& options);

  [[nodiscard]] std::uint32_t next(Random& random) const;

 private:
  void fill_buckets(double theta);

  KeyChoice kind_;
  std::uint64_t keys_;
  std::uint64_t hot_keys_;
  Chance hot_;
  std::vector<std::uint64_t> bucket_first_;  // First rank of each bucket, and the end.
  std::vector<std::uint64_t> weight_end_;    // Cumulative.
};

}  // namespace ouro::workload
