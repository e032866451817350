// An HTTP/1.1 server that no client can hold up.
//
// One thread watches all connections (epoll) and never waits for any of them; requests that are
// complete are handled by a few worker threads, and may be answered later, from any thread. So a
// connection that is idle, slow or sends half a request costs a descriptor and its buffer, not a
// thread. Each stage has a time limit. If there are too many connections, those that have waited
// longest without a request under way are closed in favour of new ones. A response can be a stream
// that goes on for ever; streams have no thread either.
//
// There is no encryption: put a proxy in front.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "net/address.h"
#include "net/http_message.h"
#include "ouro/result.h"

namespace ouro::net {

class HttpServer {
 public:
  struct Limits {
    std::size_t connections = 1'000;
    std::size_t streams = 256;
    std::size_t workers = 4;
    std::size_t body = std::size_t{32} << 20;  // Bytes.
    std::chrono::milliseconds head{10'000};    // To send the head of a request.
    std::chrono::milliseconds pause{10'000};   // Between two pieces of a body, or of a response.
    std::chrono::milliseconds idle{30'000};    // Between two requests of a connection.
    std::chrono::milliseconds room{1'000};     // How long a request waits to be admitted.
    std::chrono::milliseconds last{2'000};     // How long stop() waits for what is under way.
  };

  // What becomes of a request when its head is known.
  struct Admission {
    std::optional<HttpResponse> refusal;  // It is refused.
    bool wait = false;                    // It is asked again soon, for up to Limits::room;
    HttpResponse late;                    // then this is the answer.
    std::shared_ptr<void> ticket;         // It is taken; kept until it was answered.
  };

  // The way to answer a request, once, from any thread. If that never happens, the connection is
  // closed.
  class Reply;
  using More = std::function<bool(std::string& out)>;

  struct Handlers {
    // Called by the thread that watches, so it must not wait. `bytes` is the most that the body can
    // have.
    std::function<Admission(const HttpRequest& head, std::size_t bytes)> admit;
    // Called by a worker.
    std::function<void(HttpRequest request, std::shared_ptr<void> ticket,
                       std::shared_ptr<Reply> reply)>
        handle;
    // Headers of all responses.
    std::vector<std::pair<std::string, std::string>> headers;
    // The body of an answer to a request that cannot be read.
    std::function<HttpResponse(const HttpProblem& problem)> complain;
  };

  HttpServer(Limits limits, Handlers handlers);
  ~HttpServer();

  // Starts to listen. Returns the port, which the system chooses if that of `address` is 0.
  [[nodiscard]] Result<std::uint16_t> start(const Address& address);
  // Takes no more requests, waits a little for answers that are due and for streams to end, and
  // closes all connections.
  void stop();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

class HttpServer::Reply {
 public:
  Reply(std::weak_ptr<State> state, std::uint64_t connection)
      : state_(std::move(state)), connection_(connection) {}
  ~Reply();
  Reply(const Reply&) = delete;
  Reply& operator=(const Reply&) = delete;
  void send(HttpResponse response);
  // A response without an end: `more` is called now and then by the thread that watches, appends
  // what there is, and returns false when there will be nothing more. It must not wait.
  void stream(HttpResponse head, More more);

 private:
  std::weak_ptr<State> state_;
  std::uint64_t connection_;
  bool sent_ = false;
};

}  // namespace ouro::net
