// The limits of a whole command: of its time, from reading to telling, and of its memory.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace ouro::cli {

[[nodiscard]] inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

class Limits {
 public:
  // The time begins now. Zero: no limit.
  Limits(double seconds, double megabytes);

  // The limit that is reached now, in the words in which verdicts name it: "time limit of 3 s
  // reached". Empty if none is. Costs some microseconds.
  [[nodiscard]] std::string reached() const;
  // "time limit of 3 s reached".
  [[nodiscard]] std::string out_of_time() const;

  // What is left of the time, at least a millisecond; zero: no limit.
  [[nodiscard]] std::chrono::milliseconds time_left() const;
  // In bytes; zero: no limit.
  [[nodiscard]] std::uint64_t memory() const { return memory_; }

 private:
  using Clock = std::chrono::steady_clock;

  std::chrono::milliseconds time_;
  std::uint64_t memory_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace ouro::cli
