#include "tap/server_address.h"

#include <fmt/format.h>
#include <netdb.h>
#include <sys/un.h>

#include <cstring>
#include <memory>
#include <string>

namespace ouro::tapping {
namespace {

struct AddressesFree {
  void operator()(addrinfo* found) const { ::freeaddrinfo(found); }
};

Result<ServerAddress> local_address(const std::string& folder, int port) {
  ServerAddress address;
  auto* local = reinterpret_cast<sockaddr_un*>(&address.storage);
  const std::string path = fmt::format("{}/.s.PGSQL.{}", folder, port);
  if (path.size() >= sizeof(local->sun_path)) {
    return Error{.file = path, .what = "the name of this socket is too long"};
  }
  local->sun_family = AF_UNIX;
  std::memcpy(local->sun_path, path.c_str(), path.size() + 1);
  address.size = sizeof(sockaddr_un);
  return address;
}

}  // namespace

Result<std::vector<ServerAddress>> addresses_of(const db::Host& host) {
  constexpr int kPort = 5432;
  const int port = host.port == 0 ? kPort : host.port;
  const std::string name = host.name.empty() ? "/var/run/postgresql" : host.name;
  if (name.starts_with('/')) {
    Result<ServerAddress> local = local_address(name, port);
    if (!local.ok()) return local.error();
    return std::vector{*local};
  }
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* first = nullptr;
  const int problem = ::getaddrinfo(name.c_str(), std::to_string(port).c_str(), &hints, &first);
  if (problem != 0) return Error{.what = fmt::format("{}: {}", name, ::gai_strerror(problem))};
  const std::unique_ptr<addrinfo, AddressesFree> found(first);
  std::vector<ServerAddress> addresses;
  for (const addrinfo* each = found.get(); each != nullptr; each = each->ai_next) {
    ServerAddress& address = addresses.emplace_back();
    std::memcpy(&address.storage, each->ai_addr, each->ai_addrlen);
    address.size = each->ai_addrlen;
  }
  return addresses;
}

}  // namespace ouro::tapping
