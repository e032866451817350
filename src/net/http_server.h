// An HTTP/1.1 server that no client can hold up.
//
// One thread watches all connections (epoll) and never waits for any of them; requests that are
// complete are handled by a few worker threads, and may be answered later, from any thread. So a
// connection that is idle, slow or sends half a request costs a descriptor and its buffer, not a
// thread. Each stage has a time limit, and bytes of a body must come at some rate. Room for a body
// is taken as it comes, so that one that was announced and does not come takes none; while others
// wait in vain for room, those that are slow lose theirs. If there are too many connections, or no
// more descriptors, those that are idle longest, then those that are slow, are closed in favour of
// new ones. A response can be a stream that goes on for ever; streams have no thread either.
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
    std::size_t body = std::size_t{32} << 20;  // Bytes, of a request with a ticket;
    std::size_t small_body = 64 * 1024;        // of the others.
    std::size_t body_rate = 16 * 1024;         // Bytes that a second must bring, on average.
    std::chrono::milliseconds head{10'000};    // To send the head of a request.
    // How long a body may be slower than `body_rate`, or a response may make no progress.
    std::chrono::milliseconds pause{10'000};
    std::chrono::milliseconds idle{30'000};    // Between two requests of a connection.
    std::chrono::milliseconds room{1'000};     // How long a request waits for room.
    std::chrono::milliseconds last{2'000};     // How long stop() waits for what is under way.
  };

  // What becomes of a request when its head is known.
  struct Admission {
    std::optional<HttpResponse> refusal;  // It is refused.
    std::shared_ptr<void> ticket;         // It is taken; kept until it was answered. May be null.
  };

  // The way to answer a request, once, from any thread. If that never happens, the connection is
  // closed.
  class Reply;
  using More = std::function<bool(std::string& out)>;

  struct Handlers {
    // These are called by the thread that watches, so they must not wait.
    std::function<Admission(const HttpRequest& head)> admit;
    // Makes room for `bytes` of a request, all in all. False: there is none, or not yet; it is
    // asked again soon, for up to Limits::room, and then `late` is the answer.
    std::function<bool(const std::shared_ptr<void>& ticket, std::size_t bytes)> make_room;
    std::function<HttpResponse()> late;
    std::function<bool()> crowded;  // Whether others have waited for room in vain for some time.
    // Called by a worker, with the body decompressed.
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
