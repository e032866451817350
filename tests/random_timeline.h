// Random small histories with timestamps: most reads return what the timestamps say they should,
// some do not; timestamps tie, are missing, or run backwards now and then.
#pragma once

#include <cstdint>

#include "ouro/history.h"
#include "ouro/level.h"

namespace ouro::oracle {

enum class TimelineKind : std::uint8_t { Registers, Lists, Rows };

struct TimelineShape {
  TimelineKind kind = TimelineKind::Registers;
  Level level = Level::SessionSi;  // The level by which right reads are right.
  bool unique_values = true;
  std::size_t txns = 6;
  std::size_t max_ops = 5;
  std::size_t keys = 3;
  std::size_t sessions = 3;
  std::int64_t last_stamp = 20;  // The largest timestamp; a small one gives ties.
  bool pairs = false;            // Whether timestamps have a logical part.
  // All others are shares, from 0 to 1.
  double wrong = 0.05;    // Reads that return something else.
  double missing = 0.02;  // Timestamps that are missing.
  double inverted = 0.02;
  double aborted = 0.1;
  double unknown = 0.1;
  double clocks = 0;
  double cas = 0;  // Of registers: operations that are compare-and-sets.
};

[[nodiscard]] History random_timeline(std::uint64_t seed, const TimelineShape& shape);
// Different shapes for different seeds.
[[nodiscard]] TimelineShape mixed_timeline(std::uint64_t seed);

}  // namespace ouro::oracle
