#include "net/address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>

namespace ouro::net {
namespace {

Error complain(std::string what) {
  Error error;
  error.what = std::move(what);
  return error;
}

}  // namespace

Result<Address> parse_address(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  Address address;
  if (colon != text.npos) {
    address.host = text.substr(0, colon);
    const std::string_view port = text.substr(colon + 1);
    const auto [end, problem] =
        std::from_chars(port.data(), port.data() + port.size(), address.port);
    if (!port.empty() && problem == std::errc() && end == port.data() + port.size()) {
      if (address.host.empty()) address.host = "127.0.0.1";
      if (address.host.starts_with('[') && address.host.ends_with(']')) {
        address.host = address.host.substr(1, address.host.size() - 2);
      }
      return address;
    }
  }
  return complain(fmt::format("'{}' is no address; write HOST:PORT, such as 127.0.0.1:7117", text));
}

std::string to_string(const Address& address) {
  if (address.host.find(':') != std::string::npos) {
    return fmt::format("[{}]:{}", address.host, address.port);
  }
  return fmt::format("{}:{}", address.host, address.port);
}

bool is_loopback(const std::string& host) {
  in_addr four{};
  if (::inet_pton(AF_INET, host.c_str(), &four) == 1) return ntohl(four.s_addr) >> 24 == 127;
  return host == "localhost" || host == "::1";
}

Result<Listening> listen_at(const Address& address) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(address.port);
  if (const int code = ::getaddrinfo(address.host.c_str(), port.c_str(), &hints, &found);
      code != 0) {
    return complain(fmt::format("{}: {}", to_string(address), ::gai_strerror(code)));
  }
  Listening listening;
  listening.socket = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  ::setsockopt(listening.socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const bool bound = ::bind(listening.socket, found->ai_addr, found->ai_addrlen) == 0 &&
                     ::listen(listening.socket, 128) == 0;
  const int problem = errno;
  ::freeaddrinfo(found);
  if (!bound) {
    ::close(listening.socket);
    return complain(fmt::format("cannot listen at {}: {}; choose another address or port",
                                to_string(address), std::strerror(problem)));
  }
  sockaddr_storage name{};
  socklen_t size = sizeof name;
  ::getsockname(listening.socket, reinterpret_cast<sockaddr*>(&name), &size);
  listening.port =
      ntohs(name.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6*>(&name)->sin6_port
                                       : reinterpret_cast<const sockaddr_in*>(&name)->sin_port);
  return listening;
}

bool readable(int socket, int milliseconds) {
  pollfd wanted{.fd = socket, .events = POLLIN, .revents = 0};
  return ::poll(&wanted, 1, milliseconds) == 1;
}

bool send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

bool same_secret(std::string_view a, std::string_view b) {
  unsigned different = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < b.size(); ++i) {
    different |= static_cast<unsigned>(static_cast<unsigned char>(b[i]) ^
                                       static_cast<unsigned char>(i < a.size() ? a[i] : 0));
  }
  return different == 0;
}

}  // namespace ouro::net
