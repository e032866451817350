// Limits of time, memory and work on a long computation. The computation asks inside its loops
// whether to stop.
//
// A limit in seconds ends a computation sooner on a busy machine. So whatever decides what users
// are told is limited by counted work instead: steps of some ten nanoseconds each, charged by the
// computation itself. For the count to be the same on every machine and with every number of
// threads, only parts of the computation that one thread does may charge; work that is shared by
// threads is charged as a whole, by its size, before it is begun or after all are done with it.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/memory.h"

namespace ouro {

class Meter;

// An amount of counted work.
struct Steps {
  std::uint64_t count = 0;
};

// Several threads may ask one budget, and charge it.
class Budget {
 public:
  using Clock = std::chrono::steady_clock;
  using Milliseconds = std::chrono::milliseconds;

  // No limits. Work is counted all the same.
  Budget() = default;
  // The memory limit is in resident bytes of the process, the work limit in steps. Zero: no limit.
  // Turning `cancelled` true exhausts the budget; it may be null, else it must outlive this.
  Budget(Milliseconds time_limit, const std::atomic<bool>* cancelled,
         std::uint64_t memory_limit = 0, std::uint64_t work_limit = 0)
      : time_limit_(time_limit),
        deadline_(Clock::now() + time_limit),
        cancelled_(cancelled),
        memory_limit_(memory_limit),
        work_limit_(work_limit) {}
  // A part of `whole`: the `share`th part of the time and of the work that it had at first, or what
  // is left of them if that is less; but at least about a millisecond. What is charged to the part
  // is charged to `whole`, too. REQUIRES: `whole` outlives this; share > 0.
  Budget(const Budget& whole, unsigned share)
      : Budget(whole.time_share(share), whole.cancelled_, whole.memory_limit_,
               whole.work_share(share)) {
    whole_ = &whole;
    meter_ = whole.meter_;
  }
  // A part of `whole` that ends after `steps` of work, or with `whole`.
  // REQUIRES: `whole` outlives this; steps.count > 0.
  Budget(const Budget& whole, Steps steps)
      : Budget(whole.time_share(1), whole.cancelled_, whole.memory_limit_,
               whole.work_limit_ == 0 ? steps.count : std::min(steps.count, whole.work_share(1))) {
    whole_ = &whole;
    meter_ = whole.meter_;
  }
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  // Whether to stop. Reads a clock if time is limited, and /proc if memory is, which takes some
  // microseconds: ask every few thousand steps.
  [[nodiscard]] bool exhausted() const {
    return was_cancelled() || out_of_work() || out_of_memory() ||
           (time_limit_.count() > 0 && Clock::now() >= deadline_);
  }
  [[nodiscard]] bool was_cancelled() const {
    return cancelled_ != nullptr && cancelled_->load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool out_of_work() const { return work_limit_ != 0 && spent() >= work_limit_; }
  // Stays true once it was, although memory is given back while the computation stops.
  [[nodiscard]] bool out_of_memory() const {
    if (memory_limit_ == 0) return false;
    if (!out_of_memory_.load(std::memory_order_relaxed) && resident_bytes() > memory_limit_) {
      out_of_memory_.store(true, std::memory_order_relaxed);
    }
    return out_of_memory_.load(std::memory_order_relaxed);
  }

  // Counts work that was done or is about to be. REQUIRES, for the count to be the same everywhere:
  // `steps` does not depend on the number of threads (see above).
  void charge(std::uint64_t steps) const {
    for (const Budget* budget = this; budget != nullptr; budget = budget->whole_) {
      budget->spent_.fetch_add(steps, std::memory_order_relaxed);
    }
  }
  [[nodiscard]] std::uint64_t spent() const { return spent_.load(std::memory_order_relaxed); }
  // Whether so much work is left. A part of a budget may ask before it begins what it cannot stop.
  [[nodiscard]] bool affords(std::uint64_t steps) const {
    return work_limit_ == 0 || (spent() < work_limit_ && work_limit_ - spent() >= steps);
  }

  // What is left of the time, to be the limit of something else: zero if there is no limit, else at
  // least a millisecond.
  [[nodiscard]] Milliseconds time_left() const { return time_share(1); }

  // Whether time or work has a limit, so that one slow part may leave nothing for the others.
  [[nodiscard]] bool limited() const { return time_limit_.count() > 0 || work_limit_ != 0; }

  // Where to count what the computation takes (meter.h); null: nowhere. Parts of this that are
  // made later have it, too. `meter` must outlive this.
  void measure_with(Meter* meter) { meter_ = meter; }
  [[nodiscard]] Meter* meter() const { return meter_; }

 private:
  static constexpr std::uint64_t kLeastWork = 100'000;  // Steps: about a millisecond.

  [[nodiscard]] Milliseconds time_share(unsigned share) const {
    if (time_limit_.count() == 0) return {};
    const auto left = std::chrono::duration_cast<Milliseconds>(deadline_ - Clock::now());
    return std::max(Milliseconds(1), std::min(time_limit_ / share, left));
  }
  [[nodiscard]] std::uint64_t work_share(unsigned share) const {
    if (work_limit_ == 0) return 0;
    const std::uint64_t left = work_limit_ - std::min(work_limit_, spent());
    return std::max(kLeastWork, std::min(work_limit_ / share, left));
  }

  const Budget* whole_ = nullptr;  // The budget that this is a part of.
  Meter* meter_ = nullptr;
  Milliseconds time_limit_{0};
  Clock::time_point deadline_{};
  const std::atomic<bool>* cancelled_ = nullptr;
  std::uint64_t memory_limit_ = 0;
  std::uint64_t work_limit_ = 0;
  mutable std::atomic<std::uint64_t> spent_{0};
  mutable std::atomic<bool> out_of_memory_{false};
};

// Asks a budget once every `every` ticks, so that a tick costs next to nothing. Use one ticker per
// thread.
class BudgetTicker {
 public:
  // Each tick charges the budget with `steps`. REQUIRES: `every` ticks take well under a second;
  // `steps` is zero where several threads tick. The budget must outlive the ticker.
  explicit BudgetTicker(const Budget& budget, std::uint32_t every = 4096, std::uint32_t steps = 0)
      : budget_(budget), every_(every), steps_(steps), left_(every) {}
  ~BudgetTicker() { charge(); }
  // Ticks `count` times. Returns whether to stop; stays true once it was.
  bool tick(std::uint32_t count = 1) {
    left_ -= count;
    return left_ <= 0 ? ask() : stopped_;
  }
  // Asks the budget now. Returns whether to stop.
  bool ask() {
    charge();
    left_ = every_;
    if (!stopped_) stopped_ = budget_.exhausted();
    return stopped_;
  }
  // What the last tick() or ask() said.
  [[nodiscard]] bool stopped() const { return stopped_; }

 private:
  void charge() const {
    if (steps_ != 0) budget_.charge(static_cast<std::uint64_t>(every_ - left_) * steps_);
  }

  const Budget& budget_;
  std::int64_t every_;
  std::uint32_t steps_;
  std::int64_t left_;
  bool stopped_ = false;
};

// Calls f(i) for every i in [begin, end), in order, and asks the budget now and then. Returns false
// if it stopped early because the budget was exhausted.
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
