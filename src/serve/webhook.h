// Posts every event to a URL, one by one and in order. Repeats an event until it is answered with
// success, with growing pauses.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "net/http_client.h"
#include "ouro/result.h"
#include "serve/event_hub.h"

namespace ouro::serving {

class Webhook {
 public:
  struct Options {
    std::string url;
    std::string secret;  // For signatures; empty: none.
    std::string file;    // Keeps the number of the last event delivered; empty: it is not kept.
    bool repair = false;  // If it is damaged, deliver all events that are kept again.
    // Takes messages for the user; may be empty.
    std::function<void(const std::string&)> note;
  };
  // Fails if the URL is not valid or the file is damaged. `hub` must outlive it.
  [[nodiscard]] static Result<std::unique_ptr<Webhook>> start(Options options, EventHub& hub);
  // Calls end(), and waits for the delivery that is under way.
  ~Webhook();
  // Tries for up to a second more to deliver the events that are left. Does not wait for that.
  // REQUIRES: the hub was drained.
  void end();

 private:
  Webhook(Options options, EventHub& hub, net::HttpClient client, std::uint64_t delivered);
  void deliver_all();
  // Posts one event. False: it was not answered with success; try again later.
  [[nodiscard]] bool deliver(const EventHub::Line& line);
  // Sleeps; the destructor ends a long pause.
  void rest(std::chrono::milliseconds pause);
  // Whether the time for last deliveries has passed.
  [[nodiscard]] bool is_over() const;
  void note(const std::string& text) const;

  const Options options_;
  EventHub& hub_;
  net::HttpClient client_;
  std::uint64_t delivered_;    // The number of the last event delivered.
  bool told_trouble_ = false;  // The user was told that deliveries fail.
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<bool> stopping_{false};
  std::chrono::steady_clock::time_point give_up_{};  // Once stopping_; guarded by mutex_.
  bool ended_ = false;                               // The thread is about to end; likewise.
  std::thread thread_;
};

}  // namespace ouro::serving
