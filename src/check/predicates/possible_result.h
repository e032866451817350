// Which results a select or an aggregate can have if it is open which versions of rows it saw.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <span>
#include <string>

#include "check/predicates/total.h"
#include "ouro/history.h"

namespace ouro {

// What a version is to a select or aggregate. It is nothing if it does not match, or if the
// aggregate is of a column that is null there. Otherwise it counts; and if the read is a sum,
// average, minimum or maximum, so does its value of the column. A read cannot tell versions of a
// row apart that are the same to it.
struct RowPart {
  bool counts = false;
  Value value;
  constexpr auto operator<=>(const RowPart&) const = default;
};
// REQUIRES: it is a row, no list and not deleted.
[[nodiscard]] RowPart row_part(const History& history, const PredicateRead& read,
                               const KeyVersion& row);

class PossibleResult {
 public:
  // `read` is a select or an aggregate, whose result is known.
  PossibleResult(const History& history, OpId read);

  // One more row that it did not return, of which it saw one of `parts`.
  void add(std::span<const RowPart> parts, KeyId key);

  // Whether what it returned is among the results. If there are too many to tell, it is.
  [[nodiscard]] bool has_result() const;

 private:
  void add_sums(std::span<const RowPart> parts, KeyId key);
  void add_extremes(std::span<const RowPart> parts, KeyId key, bool all);
  [[nodiscard]] bool has_sum() const;

  const History& h_;
  const PredicateRead& read_;
  const bool select_;
  bool impossible_ = false;
  std::size_t least_ = 0;  // How many count in any case, and how many may.
  std::size_t most_ = 0;
  bool found_ = false;  // Whether some value may be the minimum or maximum.
  absl::flat_hash_map<std::string, Total> sums_;  // Sums or averages, by Total::summary().
  bool many_ = false;                             // Too many sums to keep.
};

}  // namespace ouro
