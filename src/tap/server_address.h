// Where the server behind a tap can be reached.
#pragma once

#include <sys/socket.h>

#include <vector>

#include "db/url.h"
#include "ouro/result.h"

namespace ouro::tapping {

struct ServerAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

// All addresses of a host, in the order in which to try them; at least one. A name that begins with
// '/' is the folder of a local socket, and so is none at all. The error is a host that is not
// known.
[[nodiscard]] Result<std::vector<ServerAddress>> addresses_of(const db::Host& host);

}  // namespace ouro::tapping
