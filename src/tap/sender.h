// Sends lines to a service (ouro serve) from a thread of its own, so that a service that is slow or
// away never holds up who records.
//
// What the service did not get makes its answer wrong, not only incomplete: a read would look as if
// nobody had written its value. So if something cannot be sent, nothing more is, and the service is
// told that it cannot judge this source, as soon as it can be reached again.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "net/http_client.h"
#include "ouro/result.h"

namespace ouro::tapping {

class Sender {
 public:
  struct Options {
    std::string url;
    std::string token;  // Empty: none.
    // Called when nothing more is sent, from any thread; may be empty.
    std::function<void(const std::string& what)> notice;
    std::chrono::milliseconds patience{30'000};      // How long a service may be away.
    std::size_t most_bytes = std::size_t{64} << 20;  // So much may wait to be sent.
  };
  // The error says why the service does not take anything.
  [[nodiscard]] static Result<std::unique_ptr<Sender>> connect(Options options);
  // Drops what was not sent.
  ~Sender();

  // Whole lines of native text, which are sent as one batch.
  void add(std::string lines);
  // The service cannot judge this source any more.
  void undecided(const std::string& why);
  // Sends what is left. Returns why the service did not get everything; empty: it did.
  [[nodiscard]] std::string finish();

 private:
  Sender(Options options, net::HttpClient client);
  void run();
  [[nodiscard]] net::HttpAnswer post(const std::string& path, const std::string& body, bool batch);
  void send(const std::string& batch);
  void mark(const std::string& why);
  void fail(const std::string& why);

  const Options options_;
  const std::string name_;    // Ours, as a source of the service.
  net::HttpClient client_;    // Used by the thread alone.
  std::uint64_t number_ = 0;  // Of the last batch. Used by the thread alone.
  std::thread thread_;

  std::mutex mutex_;  // Guards all members below.
  std::condition_variable changed_;
  std::deque<std::string> batches_;
  std::size_t bytes_ = 0;            // Of batches_.
  std::deque<std::string> reasons_;  // For undecided(), that were not told yet.
  std::string problem_;              // Nothing more is sent then.
  bool finishing_ = false;
  bool over_ = false;
};

}  // namespace ouro::tapping
