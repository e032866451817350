// Feeds a service over TCP as a collector would, in real time.
#pragma once

#include <cstdint>
#include <string>

namespace ouro::bench {

// Sends `seconds` of a healthy feed, `rate` transactions a second, to the service at
// 127.0.0.1:PORT, and prints a line of CSV a second: how many transactions were sent and answered,
// and how far the sending is behind. If the service does not take them in time, they wait, and are
// sent as fast as it takes them later; SIGUSR1 stops and continues the sending. 0: all were
// answered.
int send(int port, std::uint64_t seconds, std::uint64_t rate, std::uint64_t keys);

}  // namespace ouro::bench
