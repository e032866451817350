// Does some work in a process of its own, to see what it takes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace ouro::cli {

struct ChildResult {
  std::string text;              // What the work returned.
  bool ended = false;            // Whether it returned; otherwise the process was killed or threw.
  double cpu_seconds = 0;        // Of all its threads, in user and kernel mode.
  std::uint64_t peak_bytes = 0;  // The most memory that it had resident.
};

// Does `work` in a copy of this process, and waits for it. REQUIRES: this process has one thread.
[[nodiscard]] ChildResult in_child(const std::function<std::string()>& work);

}  // namespace ouro::cli
