// How long a courtesy may take: a flag that is set when the time is over, or at Ctrl-C.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace ouro::cli {

class Patience {
 public:
  explicit Patience(std::chrono::duration<double> time);
  ~Patience();
  Patience(const Patience&) = delete;
  Patience& operator=(const Patience&) = delete;

  [[nodiscard]] const std::atomic<bool>& over() const { return over_; }

 private:
  void wait(std::chrono::duration<double> time);

  std::atomic<bool> over_{false};
  std::mutex mutex_;
  std::condition_variable ended_;
  bool end_ = false;
  std::thread thread_;
};

}  // namespace ouro::cli
