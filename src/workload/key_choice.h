// Which key an operation goes to: uniform, Zipf or hotspot, in constant time per draw.
//
// Key 0 is the most popular. For Zipf, keys are grouped into buckets: the first 127 keys have one
// each, then 64 for each doubling. A bucket is drawn by its weight, a key within it uniformly, so
// the share of a key is off by less than theta/128 of itself. The weights need powers, which differ
// between machines in the last bit if the standard library computes them; so falling_power() does,
// once for each bucket, by operations that are exact everywhere.
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

  // Draws a key. Constant time; for Zipf, logarithmic in the number of buckets.
  [[nodiscard]] std::uint32_t next(Random& random) const;

 private:
  void fill_buckets(double theta);

  KeyChoice kind_;
  std::uint64_t keys_;
  std::uint64_t hot_keys_;  // Hotspot: keys below this are hot,
  Chance hot_;              // and this is the chance that one of them is drawn.
  // Zipf: the first key of each bucket, and the end of the last; the sum of the weights up to and
  // including each bucket.
  std::vector<std::uint64_t> bucket_first_;
  std::vector<std::uint64_t> weight_end_;
};

}  // namespace ouro::workload
