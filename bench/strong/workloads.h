// The workloads of bench/table, most of them for strong levels: who runs what, and the right
// verdicts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ouro/check.h"
#include "ouro/generate.h"

namespace ouro::bench {

struct Expectation {
  Level level = Level::SessionSerializable;
  Outcome outcome = Outcome::Holds;
};

struct Workload {
  std::string id;     // For file names and filters.
  std::string title;  // For people.
  GenerateOptions options;
  std::vector<Expectation> expected;
  std::uint32_t seeds = 1;  // How many to try: the worst one counts.
};

[[nodiscard]] const std::vector<Workload>& workloads();

// A history of `workload`. With faults, the first seed counting from `seed` · 1000 that has one.
[[nodiscard]] History make(const Workload& workload, std::uint64_t seed = 1);

}  // namespace ouro::bench
