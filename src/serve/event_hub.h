// Turns the events of the stream into text, keeps them, and wakes those who wait for more.
//
// With a file, every event is a line of it. The file has a limit; the oldest events are dropped
// (event_log.h), unless the webhook has not delivered them yet. After a crash the input is replayed
// and gives events the same numbers, so an event that is in the file is not added again. Without a
// file only the latest events are kept, in memory.
#pragma once

#include <array>
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
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "ouro/result.h"
#include "ouro/stream.h"
#include "serve/event_log.h"
#include "serve/event_text.h"
#include "serve/sources.h"

namespace ouro::serving {

// Counts of events since the state folder was new, or since the process began if there is none.
struct EventCounters {
  // Violations by the number of their source and by anomaly.
  std::map<std::pair<std::uint32_t, std::string>, std::uint64_t> violations;
  std::array<std::uint64_t, 4> kinds{};              // By StreamEvent::What.
  std::map<std::uint32_t, std::uint64_t> published;  // How many events each source has had.
  std::map<std::uint32_t, std::uint64_t> doubts;     // How many doubts of each source were told.
  std::map<std::uint32_t, std::string> names;        // Of the sources.
  void add(const EventText& event);
};

// The name of a source that has had events; else "".
[[nodiscard]] std::string_view name_of(const EventCounters& counters, std::uint32_t source);

class EventHub {
 public:
  struct Options {
    std::string file;                                   // Empty: none.
    std::uint64_t file_limit = std::uint64_t{1} << 30;  // Bytes.
    bool delivers = false;  // Events stay in the file until delivered() has named their number.
    std::function<void(const std::string& line)> event;  // Called with new events; may be empty.
    std::uint64_t event_after =
        ~std::uint64_t{0};  // open() calls `event` for the events of the file after this number.
    std::string counters;   // The file of save_counters(); empty: none.
  };
  explicit EventHub(Options options) : options_(std::move(options)) {}
  ~EventHub();

  // Reads the file, and starts the thread that turns events into text. Call it once.
  [[nodiscard]] Status open();
  // Takes events of a source in the order of their numbers; leaves out those that it has already.
  // Waits while too many events are not text yet.
  void publish(SourceEvents events);
  // Takes an event that another process told, and numbers it.
  void publish(EventText told);
  // Saves how many events there were of each kind and source, so that open() need not look at all
  // of them, of which some may be dropped. REQUIRES: drain() was called, and nothing published
  // since.
  [[nodiscard]] Status save_counters() const;
  // Waits until all events that were published are text, and on disk if there is a file.
  [[nodiscard]] Status drain();
  // The webhook has delivered all events up to this number.
  void delivered(std::uint64_t number);
  // Ends all waiting. REQUIRES: nothing is published from here on.
  void stop();

  // The number of the last event that is text.
  [[nodiscard]] std::uint64_t last() const;
  // The lines of up to `count` events after number `after`, without those that are no longer kept.
  // Waits at most `patience` for one.
  struct Line {
    std::uint64_t number = 0;
    std::string text;
  };
  [[nodiscard]] std::vector<Line> after(std::uint64_t after, std::size_t count,
                                        std::chrono::milliseconds patience) const;
  [[nodiscard]] bool stopped() const { return stopped_; }

  struct Overview {
    std::vector<EventText> recent;  // The latest first, without their lines.
    EventCounters counters;
    std::uint64_t backlog = 0;  // Events that are not text yet.
  };
  [[nodiscard]] Overview overview() const;

 private:
  void tell_all();            // What the thread does.
  void add(EventText event);  // REQUIRES: mutex_ is held.
  // Reads the counters, and counts the events since.
  [[nodiscard]] Status load_counters();
  [[nodiscard]] Error damaged(std::string what) const;
  [[nodiscard]] Status drop_if_due();

  const Options options_;
  std::thread teller_;

  mutable std::mutex mutex_;  // Guards all members below.
  mutable std::condition_variable changed_;
  struct Pending {
    NumberedEvent event;
    std::optional<EventText> told = {};  // If it is text already.
  };
  std::deque<Pending> pending_;  // Published, and not text yet.
  bool telling_ = false;         // The thread works on an event that is not in pending_.
  std::atomic<bool> stopped_{false};
  std::optional<Error> problem_;
  std::uint64_t numbered_ = 0;  // The number of the last event that publish() took.
  // By source: the number of the last event that publish() took.
  std::map<std::uint32_t, std::uint64_t> published_;
  // By source: the number of the last doubt that was published.
  std::map<std::uint32_t, std::uint64_t> doubts_;
  std::uint64_t last_ = 0;  // The number of the last event that is text.
  EventLog log_;
  std::uint64_t delivered_ = 0;
  std::deque<EventText> kept_;  // The latest events, with their lines.
  std::size_t kept_bytes_ = 0;
  EventCounters counters_;
};

}  // namespace ouro::serving
