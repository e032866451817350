// Limits on a long computation, asked for inside its loops.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/memory.h"

namespace ouro {

// One budget may be asked from several threads.
class Budget {
 public:
  using Clock = std::chrono::steady_clock;

  // No limits.
  Budget() = default;
  // Zero: no time limit, no limit of resident bytes. `cancelled` may be null.
  Budget(std::chrono::milliseconds time_limit, const std::atomic<bool>* cancelled,
         std::uint64_t memory_limit = 0)
      : limited_(time_limit.count() > 0),
        deadline_(Clock::now() + time_limit),
        cancelled_(cancelled),
        memory_limit_(memory_limit) {}

  // Whether to stop. Costs a clock read, and a look at the process if memory is limited: ask every
  // few thousand steps.
  [[nodiscard]] bool exhausted() const {
    return was_cancelled() || out_of_memory() || (limited_ && Clock::now() >= deadline_);
  }
  [[nodiscard]] bool was_cancelled() const {
    return cancelled_ != nullptr && cancelled_->load(std::memory_order_relaxed);
  }
  // Stays true once it was: memory may be given back on the way out.
  [[nodiscard]] bool out_of_memory() const {
    if (memory_limit_ == 0) return false;
    if (!out_of_memory_.load(std::memory_order_relaxed) && resident_bytes() > memory_limit_) {
      out_of_memory_.store(true, std::memory_order_relaxed);
    }
    return out_of_memory_.load(std::memory_order_relaxed);
  }

 private:
  bool limited_ = false;
  Clock::time_point deadline_{};
  const std::atomic<bool>* cancelled_ = nullptr;
  std::uint64_t memory_limit_ = 0;
  mutable std::atomic<bool> out_of_memory_{false};
};

// Asks a budget once every `every` calls, a power of two: often enough that so many steps take well
// under a second. One per thread.
class BudgetTicker {
 public:
  explicit BudgetTicker(const Budget& budget, std::uint32_t every = 4096)
      : budget_(budget), mask_(every - 1) {}
  // Whether to stop; stays true once it was.
  bool tick() { return (++count_ & mask_) == 0 ? ask() : stopped_; }
  // The same, at once.
  bool ask() {
    if (!stopped_) stopped_ = budget_.exhausted();
    return stopped_;
  }
  // What the last tick() or ask() said.
  [[nodiscard]] bool stopped() const { return stopped_; }

 private:
  const Budget& budget_;
  std::uint32_t mask_;
  std::uint32_t count_ = 0;
  bool stopped_ = false;
};

// Calls f(i) for every i in [begin, end), asking the budget now and then; false: it stopped early.
template <class F>
bool for_each_within(const Budget& budget, std::size_t begin, std::size_t end, const F& f) {
  constexpr std::size_t kBlock = 4096;
  while (begin < end) {
    if (budget.exhausted()) return false;
    for (const std::size_t stop = std::min(end, begin + kBlock); begin < stop; ++begin) f(begin);
  }
  return true;
}

}  // namespace ouro
