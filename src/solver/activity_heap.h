// The choices that may be decided next, the most active on top: those that took part in the most
// conflicts, of which recent ones weigh more.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace ouro {

class ActivityHeap {
 public:
  explicit ActivityHeap(std::size_t choices) : activity_(choices, 0), place_(choices) {
    heap_.reserve(choices);
    for (std::uint32_t choice = 0; choice < choices; ++choice) {
      place_[choice] = choice;
      heap_.push_back(choice);
    }
  }

  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] std::uint32_t top() const { return heap_[0]; }
  [[nodiscard]] double activity(std::uint32_t choice) const { return activity_[choice]; }

  void pop() {
    place_[heap_[0]] = kNowhere;
    const std::uint32_t last = heap_.back();
    heap_.pop_back();
    if (heap_.empty()) return;
    put(last, 0);
    sink(0);
  }
  // Does nothing if the choice is in the heap.
  void push(std::uint32_t choice) {
    if (place_[choice] != kNowhere) return;
    heap_.push_back(choice);
    put(choice, static_cast<std::uint32_t>(heap_.size() - 1));
    rise(place_[choice]);
  }
  void bump(std::uint32_t choice) {
    constexpr double kTooLarge = 1e100;
    activity_[choice] += step_;
    if (activity_[choice] > kTooLarge) {
      for (double& activity : activity_) activity /= kTooLarge;
      step_ /= kTooLarge;
    }
    if (place_[choice] != kNowhere) rise(place_[choice]);
  }
  // What was bumped so far weighs less from now on. Instead of shrinking all, what is added grows.
  void decay(double factor) { step_ /= factor; }

 private:
  static constexpr std::uint32_t kNowhere = 0xffffffff;

  void put(std::uint32_t choice, std::uint32_t at) {
    heap_[at] = choice;
    place_[choice] = at;
  }
  [[nodiscard]] bool above(std::uint32_t a, std::uint32_t b) const {
    return activity_[a] != activity_[b] ? activity_[a] > activity_[b] : a < b;
  }
  void rise(std::uint32_t at) {
    const std::uint32_t choice = heap_[at];
    for (; at > 0 && above(choice, heap_[(at - 1) / 2]); at = (at - 1) / 2) {
      put(heap_[(at - 1) / 2], at);
    }
    put(choice, at);
  }
  void sink(std::uint32_t at) {
    const std::uint32_t choice = heap_[at];
    for (;;) {
      std::uint32_t child = 2 * at + 1;
      if (child >= heap_.size()) break;
      if (child + 1 < heap_.size() && above(heap_[child + 1], heap_[child])) ++child;
      if (!above(heap_[child], choice)) break;
      put(heap_[child], at);
      at = child;
    }
    put(choice, at);
  }

  std::vector<double> activity_;
  std::vector<std::uint32_t> place_;  // By choice: where it is in heap_.
  std::vector<std::uint32_t> heap_;
  double step_ = 1;
};

}  // namespace ouro
