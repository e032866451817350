// Replays a timeline key by key: every read against the state it should have seen, every commit
// against the writers at work, which have begun and not committed.
//
// Chronos (docs/levels.md, "By timestamps"), in dense arrays instead of maps. All operations of a
// transaction are looked at when it begins, so what it did to a key before needs one slot per key,
// not one per transaction and key.
#pragma once

#include <cstdint>
#include <vector>

#include "base/budget.h"
#include "check/timeline/timeline.h"
#include "check/timeline/violations.h"
#include "ouro/history.h"

namespace ouro {

// Which keys are lists. Lists and registers behave differently, and no key is both.
class ListKeys {
 public:
  // The error is a key that is both a register and a list.
  static Result<ListKeys> of(const History& history, unsigned threads);

  [[nodiscard]] std::size_t count() const { return count_; }
  // The number of the list, from zero; kRegister if it is none.
  [[nodiscard]] std::uint32_t number(KeyId key) const {
    return number_.empty() ? kRegister : number_[key.index()];
  }
  static constexpr std::uint32_t kRegister = 0xffffffff;

 private:
  std::vector<std::uint32_t> number_;  // Empty if there is no list at all.
  std::size_t count_ = 0;
};

// Adds what single reads and writes of keys show to be wrong: internal inconsistencies,
// non-repeatable reads, snapshot mismatches, write conflicts and equal timestamps. Of a write
// conflict the examples name one writer only, the first of the pair to commit. Stops early if the
// budget is exhausted.
// Cost: linear, as elements of lists are compared once per trunk; 32 bytes a key.
void replay(const History& history, const Timeline& timeline, const ListKeys& lists,
            unsigned threads, const Budget& budget, Violations& violations);

}  // namespace ouro
