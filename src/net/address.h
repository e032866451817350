// Addresses and listening sockets.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ouro/result.h"

namespace ouro::net {

struct Address {
  std::string host;
  std::uint16_t port = 0;
};

// "127.0.0.1:7117", "[::1]:0", "localhost:80"; ":7117" is loopback.
[[nodiscard]] Result<Address> parse_address(std::string_view text);
[[nodiscard]] std::string to_string(const Address& address);
// Whether only this machine can connect to it.
[[nodiscard]] bool is_loopback(const std::string& host);

struct Listening {
  int socket = -1;
  std::uint16_t port = 0;
};
[[nodiscard]] Result<Listening> listen_at(const Address& address);

// Waits until `socket` has something to read, at most `milliseconds`.
[[nodiscard]] bool readable(int socket, int milliseconds);
// All of it, or false.
[[nodiscard]] bool send_all(int socket, std::string_view bytes);

// Whether two secrets are the same, in a time that does not tell how much of them is.
[[nodiscard]] bool same_secret(std::string_view a, std::string_view b);

}  // namespace ouro::net
