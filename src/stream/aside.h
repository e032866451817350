// Many small pieces of work, shared with a second thread.
//
// Whoever is free takes the next piece; so if the other core is busy with something else, nobody
// waits for it but at the end of the piece that it has begun.
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
  // The work: the number of the piece, and the thread that does it (0: the caller, 1: the helper).
  using Work = std::function<void(std::size_t piece, std::size_t who)>;

  Aside() = default;
  ~Aside();
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;
  // Does pieces 0 to `pieces`; all are done when it returns.
  void share(std::size_t pieces, const Work& work);

 private:
  void help();
  void do_some(std::size_t who);

  std::thread helper_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool waits_ = false;  // There is work that the helper has not begun.
  bool helps_ = false;  // The helper is at work.
  bool ends_ = false;
  const Work* work_ = nullptr;
  std::size_t pieces_ = 0;
  std::atomic<std::size_t> next_ = 0;
};

}  // namespace ouro::stream
