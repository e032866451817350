// What was found: tells events in words, keeps them, and wakes those who wait for more.
//
// With a file every event is a line of it, and as many are kept as it may hold (event_log.h), but
// all that still are to be delivered. After a crash the input is replayed and gives the same
// numbers, so an event that is in the file already is not added again. Without a file only the
// latest events are kept.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "ouro/result.h"
#include "ouro/stream.h"
#include "serve/event_log.h"
#include "serve/event_text.h"

namespace ouro::serving {

class EventHub {
 public:
  struct Options {
    std::string file;                                   // Empty: none.
    std::uint64_t file_limit = std::uint64_t{1} << 30;  // Bytes.
    bool delivers = false;  // Nothing is dropped from the file that delivered() does not name.
    std::function<void(const std::string& line)> event;  // For each new event; may be empty.
    std::uint64_t event_after =
        ~std::uint64_t{0};  // Also called for events in the file with a larger number than this.
  };
  explicit EventHub(Options options) : options_(std::move(options)) {}
  ~EventHub();

  // Reads what the file has, and begins to tell.
  [[nodiscard]] Status open();
  // Takes events, in the order of their numbers; those that are known are left out. Waits if very
  // many are to be told.
  void publish(std::vector<StreamEvent> events);
  // Waits until all that was published is told, and on disk.
  [[nodiscard]] Status drain();
  // All events up to this one are where they should go.
  void delivered(std::uint64_t number);
  // Ends waiting; nothing may be published any more.
  void stop();

  // The number of the last event told.
  [[nodiscard]] std::uint64_t last() const;
  // The lines of up to `count` events after number `after`; if some are no longer kept, from the
  // first that is. Waits at most `patience` for one.
  struct Line {
    std::uint64_t number = 0;
    std::string text;
  };
  [[nodiscard]] std::vector<Line> after(std::uint64_t after, std::size_t count,
                                        std::chrono::milliseconds patience) const;
  [[nodiscard]] bool stopped() const { return stopped_; }

  struct Overview {
    std::vector<EventText> recent;                    // The latest first, without their lines.
    std::map<std::string, std::uint64_t> violations;  // By anomaly, since the service began.
    std::uint64_t withdrawals = 0;
    std::uint64_t backlog = 0;
  };
  [[nodiscard]] Overview overview() const;

 private:
  void tell_all();
  void add(EventText event);
  [[nodiscard]] Status drop_if_due();

  const Options options_;
  std::thread teller_;

  mutable std::mutex mutex_;  // Guards all members below.
  mutable std::condition_variable changed_;
  std::deque<StreamEvent> pending_;
  bool telling_ = false;
  std::atomic<bool> stopped_{false};
  std::optional<Error> problem_;
  std::uint64_t published_ = 0;  // The last number taken.
  std::uint64_t last_ = 0;       // The last number told.
  EventLog log_;
  std::uint64_t delivered_ = 0;
  std::deque<EventText> kept_;  // The latest events, with their lines.
  std::size_t kept_bytes_ = 0;
  std::map<std::string, std::uint64_t> violations_;
  std::uint64_t withdrawals_ = 0;
};

}  // namespace ouro::serving
