#include "net/http_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <utility>

namespace ouro::net {
namespace {

using namespace std::chrono_literals;

// A server that answers each request with its body.
class Echo {
 public:
  explicit Echo(HttpServer::Limits limits)
      : server_(limits,
                {.admit =
                     [](const HttpRequest&) {
                       return HttpServer::Admission{.refusal = std::nullopt,
                                                    .ticket = std::make_shared<int>()};
                     },
                 .make_room = [](const std::shared_ptr<void>&, std::size_t) { return true; },
                 .late = [] { return HttpResponse{.status = 503, .type = "", .body = "late"}; },
                 .crowded = [] { return false; },
                 .handle =
                     [](const HttpRequest& request, const std::shared_ptr<void>&,
                        const std::shared_ptr<HttpServer::Reply>& reply) {
                       reply->send({.status = 200, .type = "text/plain", .body = request.body});
                     },
                 .headers = {},
                 .complain =
                     [](const HttpProblem& problem) {
                       return HttpResponse{problem.status, "text/plain", problem.what};
                     }}),
        port_(*server_.start({"127.0.0.1", 0})) {}
  [[nodiscard]] int connect() const {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port_);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    return socket;
  }

 private:
  HttpServer server_;
  std::uint16_t port_;
};

constexpr char kHead[] = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\n";

TEST(HttpServerTest, ABodyThatDripsIsGivenUp) {
  const Echo server({.body_rate = 1'000'000, .pause = 300ms});
  const int socket = server.connect();
  EXPECT_TRUE(send_all(socket, kHead));
  std::string answer;
  for (int sent = 0; answer.empty() && sent < 900; ++sent) {
    static_cast<void>(send_all(socket, "x"));
    if (!readable(socket, 20)) continue;
    char buffer[1000];
    const ssize_t count = ::recv(socket, buffer, sizeof buffer, 0);
    answer.assign(buffer, static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    break;
  }
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 408 ")) << answer;
  ::close(socket);
}

TEST(HttpServerTest, IdleConnectionsMakeWayBeforeBodiesThatAreUnderWay) {
  const Echo server({.connections = 8});
  const int busy = server.connect();
  EXPECT_TRUE(send_all(busy, kHead + std::string(500, 'x')));
  for (int i = 0; i < 50; ++i) {
    const int idle = server.connect();
    EXPECT_TRUE(send_all(idle, "GET / HTTP/1.1\r\n\r\n"));
    EXPECT_TRUE(readable(idle, -1));
    if (i % 2 == 0) ::close(idle);
  }
  EXPECT_TRUE(send_all(busy, std::string(500, 'x')));
  char buffer[16] = {};
  EXPECT_GT(::recv(busy, buffer, sizeof buffer - 1, 0), 0);
  EXPECT_TRUE(std::string(buffer).starts_with("HTTP/1.1 200 ")) << buffer;
  ::close(busy);
}

}  // namespace
}  // namespace ouro::net
