// Random small histories of predicate reads over everything that keys can be: rows and single
// values, named by numbers and texts, lists, keys with an initial value, deletes that leave
// tombstones. Most reads return what the timestamps say they should; some return rows too many, too
// few, twice, of lists, or tombstones.
#pragma once

#include <cstdint>

#include "ouro/history.h"
#include "ouro/level.h"

namespace ouro::oracle {

struct PredicateShape {
  Level level = Level::SessionSi;  // The level by which right reads are right.
  std::size_t txns = 12;
  std::int64_t last_stamp = 20;
  bool lists = false;      // Whether some keys are lists.
  bool initial = false;    // Whether keys hold 7 at first. REQUIRES: no lists.
  double late_asking = 0;  // The share of transactions, the first ones, without predicate reads.
  double wrong = 0.1;      // The share of predicate reads that return something else.
};

[[nodiscard]] History random_predicates(std::uint64_t seed, const PredicateShape& shape);
// Different shapes for different seeds.
[[nodiscard]] PredicateShape mixed_predicates(std::uint64_t seed);

}  // namespace ouro::oracle
