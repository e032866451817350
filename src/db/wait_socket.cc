#include "db/wait_socket.h"

#include <poll.h>

#include <algorithm>

namespace ouro::db {

using std::chrono::milliseconds;

bool Waiting::is_over() const { return (stop != nullptr && *stop) || Clock::now() >= deadline; }

std::string Waiting::reason() const {
  return stop != nullptr && *stop ? "interrupted" : "no answer in time; is it the right server?";
}

Waiting waiting_to_connect(milliseconds patience, const std::atomic<bool>* stop) {
  constexpr milliseconds kLeast(5'000);
  return {.deadline = Waiting::Clock::now() + std::max(patience, kLeast), .stop = stop};
}

short wait_for_socket(int descriptor, short events, const Waiting& waiting) {
  constexpr milliseconds kSlice(50);  // Between looks at what may end the waiting.
  while (!waiting.is_over()) {
    const auto left = std::chrono::duration_cast<milliseconds>(waiting.deadline -
                                                               Waiting::Clock::now());
    const auto slice = waiting.stop != nullptr ? std::min(kSlice, left) : left;
    struct pollfd event {
      descriptor, events, 0
    };
    const auto wait = std::max<milliseconds::rep>(slice.count(), 0);  // Below zero is for ever.
    if (::poll(&event, 1, static_cast<int>(wait) + 1) > 0) return event.revents;
  }
  return 0;
}

}  // namespace ouro::db
