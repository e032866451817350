// Batches over TCP: frames of a length and a history, each answered by a frame of JSON.
//
// docs/serve.md has the protocol. Each connection has two threads: one that reads, parses and
// submits, and one that writes answers in the order of the frames, so that a client may send many
// before it reads the first answer.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "net/address.h"
#include "ouro/result.h"
#include "serve/batch_queue.h"
#include "serve/monitor.h"
#include "serve/parse_batch.h"

namespace ouro::serving {

class TcpServer {
 public:
  struct Options {
    std::string token;
    std::size_t body_limit = 0;
    BatchRules rules;
  };
  TcpServer(Options options, BatchQueue& queue, Monitor& monitor);
  // Stops.
  ~TcpServer();

  // Starts to accept. Returns the port.
  [[nodiscard]] Result<std::uint16_t> start(const net::Address& address);
  // Reads no more, answers what was read, and closes. REQUIRES: the queue goes on until then.
  void stop();

 private:
  class Connection;
  void accept_all();
  void forget_ended();

  const Options options_;
  BatchQueue& queue_;
  Monitor& monitor_;
  int socket_ = -1;
  std::atomic<bool> stopping_{false};
  std::thread acceptor_;
  std::list<std::unique_ptr<Connection>> connections_;
};

}  // namespace ouro::serving
