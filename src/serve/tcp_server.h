// Batches over TCP: frames of a length and a history, each answered by a frame of JSON.
//
// docs/serve.md describes the protocol. Each connection has two threads: one reads, parses and
// submits batches, the other writes answers in the order of the frames. So a client may send many
// frames before it reads the first answer.
//
// A frame takes room as it comes. It must come at some rate, and at once if others wait for room.
// If there are too many connections, the one that is idle longest ends.
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
    std::string token;           // What clients must send first; empty: nothing.
    std::size_t body_limit = 0;  // Of one frame, in bytes.
    BatchRules rules;
  };
  // The references must outlive this object.
  TcpServer(Options options, BatchQueue& queue, Monitor& monitor);
  // Calls stop().
  ~TcpServer();

  // Starts to accept connections. Returns the port, which the system chooses if that of `address`
  // is 0.
  [[nodiscard]] Result<std::uint16_t> start(const net::Address& address);
  // Reads no more frames, answers those that were read, and closes all connections. REQUIRES:
  // batches in the queue are still being answered.
  void stop();

 private:
  class Connection;
  void accept_all();
  void take(int socket);
  void forget_ended();
  // Tells the connection that is idle longest to end. False: none is idle.
  [[nodiscard]] bool end_idle();

  const Options options_;
  BatchQueue& queue_;
  Monitor& monitor_;
  int socket_ = -1;
  std::atomic<bool> stopping_{false};
  std::thread acceptor_;
  std::list<std::unique_ptr<Connection>> connections_;
};

}  // namespace ouro::serving
