// The service over HTTP: takes batches, streams events, and serves metrics and the page.
// docs/serve.md lists the addresses.
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
    std::string token;           // What clients must send; empty: nothing.
    std::size_t body_limit = 0;  // In bytes.
    BatchRules rules;
    std::string elsewhere = {};  // Where batches come in, if not here.
  };
  // The references must outlive this object.
  HttpService(Options options, BatchQueue& queue, EventHub& hub, Monitor& monitor);
  // Calls stop().
  ~HttpService();

  // Starts to listen. Returns the port, which the system chooses if that of `address` is 0.
  [[nodiscard]] Result<std::uint16_t> start(const net::Address& address);
  // Accepts no more requests and answers those under way. REQUIRES: batches in the queue are still
  // being answered.
  void stop();

 private:
  struct Server;
  std::unique_ptr<Server> server_;
};

}  // namespace ouro::serving
