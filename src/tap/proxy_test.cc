// The tap's connections, with a server that says what a test wants; a real one is in
// tests/live_tap_test.cc.
#include "tap/proxy.h"

#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "base/temporary_folder.h"
#include "tap/wire.h"

namespace ouro::tapping {
namespace {

using testing::HasSubstr;

class Socket {
 public:
  explicit Socket(int number) : number_(number) { EXPECT_GE(number, 0); }
  Socket(Socket&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Socket& operator=(Socket&&) = delete;
  ~Socket() { close(); }
  [[nodiscard]] int number() const { return number_; }
  void close() {
    if (number_ >= 0) ::close(std::exchange(number_, -1));
  }
  void send(std::string_view bytes) const {
    EXPECT_EQ(::send(number_, bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  // What comes until there are so many bytes, or the other side closes.
  [[nodiscard]] std::string read(std::size_t most) const {
    std::string bytes(most, '\0');
    const ssize_t size = ::recv(number_, bytes.data(), most, MSG_WAITALL);
    bytes.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
    return bytes;
  }
  [[nodiscard]] Socket accept() const { return Socket(::accept(number_, nullptr, nullptr)); }

 private:
  int number_;
};

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

Socket connect_to(int port) {
  Socket socket(::socket(AF_INET, SOCK_STREAM, 0));
  const sockaddr_in address = loopback(port);
  EXPECT_EQ(
      ::connect(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  return socket;
}

Socket local_socket(const std::string& path, bool listens) {
  Socket socket(::socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const auto* at = reinterpret_cast<const sockaddr*>(&address);
  if (!listens) {
    EXPECT_EQ(::connect(socket.number(), at, sizeof(address)), 0);
    return socket;
  }
  EXPECT_EQ(::bind(socket.number(), at, sizeof(address)), 0);
  EXPECT_EQ(::listen(socket.number(), 0), 0);
  return socket;
}

// What a client of the user `ann` begins with.
std::string startup() {
  std::string body("\0\3\0\0user\0ann\0\0", 15);
  std::string message("\0\0\0\0", 4);
  message[3] = static_cast<char>(body.size() + 4);
  return message + body;
}

// A tap of `server`, with a thread that serves.
class ProxyTest : public testing::Test {
 protected:
  void open(const db::Host& server) {
    auto opened = Proxy::open({"127.0.0.1", 0}, server, ledger_, true);
    ASSERT_TRUE(opened.ok()) << opened.error().to_string();
    proxy_ = std::move(*opened);
    thread_ = std::thread([this] { EXPECT_TRUE(proxy_->serve(stop_).ok()); });
  }
  ~ProxyTest() override {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  [[nodiscard]] Socket client() const { return connect_to(proxy_->port()); }

 private:
  Ledger ledger_;
  std::unique_ptr<Proxy> proxy_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

// A server at 127.0.0.1.
struct Server {
  Server() : listener(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address = loopback(0);
    auto* at = reinterpret_cast<sockaddr*>(&address);
    socklen_t size = sizeof(address);
    EXPECT_EQ(::bind(listener.number(), at, size), 0);
    EXPECT_EQ(::listen(listener.number(), 5), 0);
    EXPECT_EQ(::getsockname(listener.number(), at, &size), 0);
    port = ntohs(address.sin_port);
  }
  Socket listener;
  int port = 0;
};

TEST_F(ProxyTest, SaysThatTheServerIsNotThere) {
  Server server;
  server.listener.close();
  open({"127.0.0.1", server.port});
  const Socket client = this->client();
  client.send(startup());
  const std::string answer = client.read(1'000);
  EXPECT_EQ(answer.substr(0, 1), "E");
  EXPECT_THAT(answer, HasSubstr("08001"));
  EXPECT_THAT(answer, HasSubstr("cannot reach the server: Connection refused"));
}

TEST_F(ProxyTest, TriesEveryAddressOfTheServer) {
  const Server server;  // Where "localhost" is ::1, too, nothing listens there.
  open({"localhost", server.port});
  const Socket client = this->client();
  client.send(startup());
  EXPECT_EQ(server.listener.accept().read(startup().size()), startup());
}

TEST_F(ProxyTest, PassesOnWhatAServerSaysBeforeItGoes) {
  const Server server;
  open({"127.0.0.1", server.port});
  const Socket client = this->client();
  client.send(startup());
  std::string farewell;
  put_fatal(farewell, "57P01", "terminating connection");
  {
    const Socket connection = server.listener.accept();
    EXPECT_EQ(connection.read(startup().size()), startup());
    connection.send(farewell);
  }
  client.send(std::string("Q\0\0\0\x0dSELECT 1\0", 14));  // Nobody is there to read it.
  EXPECT_EQ(client.read(farewell.size() + 1), farewell);
}

TEST_F(ProxyTest, WaitsForALocalSocketThatHasNoRoomAndServesOthersMeanwhile) {
  const auto folder = TemporaryFolder::make("ouro-proxy-", 80);
  ASSERT_TRUE(folder.ok()) << folder.error().to_string();
  const std::string path = folder->path() / ".s.PGSQL.5432";
  const Socket listener = local_socket(path, true);
  std::vector<Socket> others;
  others.push_back(local_socket(path, false));  // The only place.
  open({folder->path(), 5432});
  const Socket early = client();
  early.send(startup());
  const Socket late = client();
  late.send(std::string("\0\0\0\x08\x04\xd2\x16\x2f", 8));  // Asks for TLS.
  EXPECT_EQ(late.read(1), "N");
  const Socket other = listener.accept();
  EXPECT_EQ(listener.accept().read(startup().size()), startup());
}

}  // namespace
}  // namespace ouro::tapping
