// Shares many small pieces of work with a second thread.
//
// Each of the two threads takes the next piece when it is free. So if the helper thread gets no
// core, the caller does all the work; it waits for at most one piece that the helper has begun.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>

namespace ouro::stream {

class Aside {
 public:
  // Does piece number `piece`; `who` is the thread that does it (0: the caller, 1: the helper).
  using Work = std::function<void(std::size_t piece, std::size_t who)>;

  Aside() = default;
  ~Aside();
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;
  // Does pieces 0 to `pieces` - 1, and returns when all are done. REQUIRES: `work` does not throw.
  void share(std::size_t pieces, const Work& work);

 private:
  void help();
  void do_some(std::size_t who);

  std::thread helper_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool waits_ = false;  // There is work that the helper has not begun.
  bool helps_ = false;  // The helper is at work.
  bool ends_ = false;   // The helper must end.
  const Work* work_ = nullptr;
  std::size_t pieces_ = 0;
  std::atomic<std::size_t> next_ = 0;  // The next piece that nobody has taken.
};

}  // namespace ouro::stream
