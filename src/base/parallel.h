// Splits work over threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

namespace ouro {

// How many threads to use when asked for `threads` (zero: one per core).
inline unsigned thread_count(unsigned threads) {
  return threads != 0 ? threads : std::max(1u, std::thread::hardware_concurrency());
}

// Calls work(part) for every part in [0, parts) at the same time: part 0 on the calling thread, the
// others on a new thread each. Returns when all are done, and throws what the first part threw that
// did.
template <class Work>
void for_each_part(std::size_t parts, const Work& work) {
  if (parts == 1) return work(std::size_t{0});
  std::vector<std::exception_ptr> thrown(parts);
  const auto run = [&](std::size_t part) noexcept {
    try {
      work(part);
    } catch (...) {
      thrown[part] = std::current_exception();
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t part = 1; part < parts; ++part) {
    threads.emplace_back([&run, part] { run(part); });
  }
  if (parts != 0) run(0);
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& exception : thrown) {
    if (exception) std::rethrow_exception(exception);
  }
}

}  // namespace ouro
