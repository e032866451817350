// Waiting for a server without ever hanging.
#pragma once

#include <atomic>
#include <chrono>
#include <string>

namespace ouro::db {

// How long to wait, and what ends that early.
struct Waiting {
  using Clock = std::chrono::steady_clock;

  Clock::time_point deadline;
  const std::atomic<bool>* stop = nullptr;  // Turns true: stop soon. May be null.

  // Whether not to wait any more, and why: "interrupted" or "no answer in time".
  [[nodiscard]] bool is_over() const;
  [[nodiscard]] std::string reason() const;
};

// How long connecting may take if answers may take `patience`: not much less than usual, since a
// busy machine is slow to shake hands.
[[nodiscard]] Waiting waiting_to_connect(std::chrono::milliseconds patience,
                                         const std::atomic<bool>* stop);

// Waits for one of the `events` of poll() on the descriptor, or for an error there. Returns what
// happened; zero if the waiting was over before.
[[nodiscard]] short wait_for_socket(int descriptor, short events, const Waiting& waiting);

}  // namespace ouro::db
