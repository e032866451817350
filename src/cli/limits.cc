#include "cli/limits.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "cli/command.h"

namespace ouro::cli {
namespace {

// What the process has in memory; zero if /proc does not say.
std::uint64_t resident_now() {
  std::ifstream statm("/proc/self/statm");
  std::uint64_t size = 0;
  std::uint64_t resident = 0;
  if (!(statm >> size >> resident)) return 0;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

Limits::Limits(double seconds, double megabytes)
    : time_(milliseconds(seconds)),
      memory_(static_cast<std::uint64_t>(std::min(megabytes, 1e12) * 1e6)) {}

std::string Limits::reached() const {
  if (time_.count() > 0 && Clock::now() - start_ >= time_) return out_of_time();
  if (memory_ == 0 || resident_now() <= memory_) return {};
  return fmt::format("memory limit of {} MB reached", memory_ / 1'000'000);
}

std::string Limits::out_of_time() const {
  return fmt::format("time limit of {} s reached", static_cast<double>(time_.count()) / 1000);
}

std::chrono::milliseconds Limits::time_left() const {
  using std::chrono::milliseconds;
  if (time_.count() == 0) return milliseconds(0);
  const auto passed = std::chrono::duration_cast<milliseconds>(Clock::now() - start_);
  return std::max(milliseconds(1), time_ - passed);
}

}  // namespace ouro::cli
