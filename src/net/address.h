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

// Reads "127.0.0.1:7117", "[::1]:0" or "localhost:80". Without a host, as in ":7117", it is
// 127.0.0.1. The error is any other text.
[[nodiscard]] Result<Address> parse_address(std::string_view text);
// The inverse of parse_address().
[[nodiscard]] std::string to_string(const Address& address);
// Whether `host` names this machine for itself, so that no other machine can connect.
[[nodiscard]] bool is_loopback(const std::string& host);

struct Listening {
  int socket = -1;         // The caller closes it.
  std::uint16_t port = 0;  // The port in use, also if any free one was asked for (port 0).
};
// Opens a TCP socket that listens at `address`. The error is a host that is not known, or an
// address that cannot be used.
[[nodiscard]] Result<Listening> listen_at(const Address& address);

// Waits until `socket` has something to read or was closed, at most so long; a negative number
// waits for ever. Returns false if there is nothing yet.
[[nodiscard]] bool readable(int socket, int milliseconds);
// Sends all bytes; blocks until it is done. Returns false if the connection is broken.
[[nodiscard]] bool send_all(int socket, std::string_view bytes);

// Whether two secrets are the same. The time it takes does not depend on where they differ.
[[nodiscard]] bool same_secret(std::string_view a, std::string_view b);

}  // namespace ouro::net
