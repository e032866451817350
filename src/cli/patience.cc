#include "cli/patience.h"

#include "cli/terminal.h"

namespace ouro::cli {

Patience::Patience(std::chrono::duration<double> time) : thread_([this, time] { wait(time); }) {}

Patience::~Patience() {
  {
    const std::lock_guard lock(mutex_);
    end_ = true;
  }
  ended_.notify_one();
  thread_.join();
}

void Patience::wait(std::chrono::duration<double> time) {
  constexpr auto kStep = std::chrono::milliseconds(50);  // Signals wake nobody.
  const auto end = std::chrono::steady_clock::now() + time;
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, kStep, [&] { return end_; })) {
    if (interrupted() || std::chrono::steady_clock::now() >= end) over_ = true;
  }
}

}  // namespace ouro::cli
