// The service over HTTP: takes batches, tells what was found, and shows a page.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "net/address.h"
#include "ouro/result.h"
#include "serve/batch_queue.h"
#include "serve/event_hub.h"
#include "serve/monitor.h"
#include "serve/parse_batch.h"

namespace ouro::serving {

class HttpService {
 public:
  struct Options {
    std::string token;
    std::size_t body_limit = 0;
    BatchRules rules;
  };
  // All must outlive it.
  HttpService(Options options, BatchQueue& queue, EventHub& hub, Monitor& monitor);
  // Stops.
  ~HttpService();

  // Starts to listen. Returns the port.
  [[nodiscard]] Result<std::uint16_t> start(const net::Address& address);
  // Takes nothing more; requests under way are answered. REQUIRES: the queue goes on until then.
  void stop();

 private:
  struct Server;
  std::unique_ptr<Server> server_;
};

}  // namespace ouro::serving
