// Splits work over threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

namespace ouro {

// How many threads to use when asked for `threads` (zero: one per core).
inline unsigned thread_count(unsigned threads) {
  return threads != 0 ? threads : std::max(1u, std::thread::hardware_concurrency());
}

// Calls work(part) for every part in [0, parts) at the same time: part 0 on the calling thread, the
// others on a new thread each. Returns when all are done. REQUIRES: work does not throw.
template <class Work>
void for_each_part(std::size_t parts, const Work& work) {
  std::vector<std::thread> threads;
  for (std::size_t part = 1; part < parts; ++part)
    threads.emplace_back([&work, part] { work(part); });
  if (parts != 0) work(std::size_t{0});
  for (std::thread& thread : threads) thread.join();
}

}  // namespace ouro
