// Measures what a check takes (ouro/effort.h). The budget of a check has a meter if somebody wants
// to know; then whoever does the work of a stage has a StageTimer while that lasts.
#pragma once

#include <mutex>

#include "base/budget.h"
#include "ouro/effort.h"

namespace ouro {

// Several threads may add to one meter.
class Meter {
 public:
  void add(Stage stage, double seconds) {
    const std::lock_guard lock(mutex_);
    effort_.add(stage, seconds);
  }
  void add(const SearchCounts& search) {
    const std::lock_guard lock(mutex_);
    effort_.search.add(search);
  }
  [[nodiscard]] Effort effort() const {
    const std::lock_guard lock(mutex_);
    return effort_;
  }

 private:
  mutable std::mutex mutex_;
  Effort effort_;
};

// Counts the time of its life for a stage. While another timer lives that began later in the same
// thread, the time is that one's, so that none counts twice. Without a meter it does nothing.
class StageTimer {
 public:
  StageTimer(Meter* meter, Stage stage) : meter_(meter), stage_(stage) {
    if (meter_ == nullptr) return;
    outer_ = innermost_;
    innermost_ = this;
    since_ = Budget::Clock::now();
    if (outer_ != nullptr) outer_->count_until(since_);
  }
  StageTimer(const Budget& budget, Stage stage) : StageTimer(budget.meter(), stage) {}
  ~StageTimer() {
    if (meter_ == nullptr) return;
    const auto now = Budget::Clock::now();
    count_until(now);
    innermost_ = outer_;
    if (outer_ != nullptr) outer_->since_ = now;
  }
  StageTimer(const StageTimer&) = delete;
  StageTimer& operator=(const StageTimer&) = delete;

  // From now on the time is that of another stage.
  void turn_to(Stage stage) {
    if (meter_ != nullptr) count_until(Budget::Clock::now());
    stage_ = stage;
  }

 private:
  void count_until(Budget::Clock::time_point now) {
    meter_->add(stage_, std::chrono::duration<double>(now - since_).count());
    since_ = now;
  }

  static inline thread_local StageTimer* innermost_ = nullptr;
  Meter* meter_;
  Stage stage_;
  StageTimer* outer_ = nullptr;
  Budget::Clock::time_point since_{};
};

}  // namespace ouro
