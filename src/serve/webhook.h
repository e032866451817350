// Passes every event on to somebody else's URL, in order, until it is taken.
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
    std::string file;  // Where the number of the last event delivered is kept; empty: nowhere.
    std::function<void(const std::string&)> note;
  };
  // The error is a URL that is none, or a file that cannot be read.
  [[nodiscard]] static Result<std::unique_ptr<Webhook>> start(Options options, EventHub& hub);
  // Tries for a moment to deliver what is left. REQUIRES: the hub has told everything.
  ~Webhook();

 private:
  Webhook(Options options, EventHub& hub, net::HttpClient client, std::uint64_t delivered);
  void deliver_all();
  // False: it was not taken; try again later.
  [[nodiscard]] bool deliver(const EventHub::Line& line);
  void rest(std::chrono::milliseconds pause);
  void note(const std::string& text) const;

  const Options options_;
  EventHub& hub_;
  net::HttpClient client_;
  std::uint64_t delivered_;
  bool told_trouble_ = false;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<bool> stopping_{false};
  std::chrono::steady_clock::time_point give_up_{};
  std::thread thread_;
};

}  // namespace ouro::serving
