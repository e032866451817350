#include "online/send.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

#include "online/feed.h"
#include "ouro/format.h"

namespace ouro::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kBatch = 500;

// SIGUSR1 stops the sending between two frames, and lets it go on.
std::atomic<bool> paused{false};
void toggle(int) { paused = !paused; }

int connect_to(int port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    ::close(fd);
    return -1;
  }
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return fd;
}

bool write_all(int fd, const std::string& bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t count = ::send(fd, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
    if (count <= 0) return false;
    done += static_cast<std::size_t>(count);
  }
  return true;
}

bool read_all(int fd, char* out, std::size_t size) {
  for (std::size_t done = 0; done < size;) {
    const ssize_t count = ::recv(fd, out + done, size - done, 0);
    if (count <= 0) return false;
    done += static_cast<std::size_t>(count);
  }
  return true;
}

std::string frame(const std::string& content) {
  std::string out;
  for (int i = 0; i < 4; ++i) out += static_cast<char>(content.size() >> (8 * i) & 0xff);
  return out + content;
}

// Counts answers until the connection ends or one says no.
void read_answers(int fd, std::atomic<std::uint64_t>& answered, std::atomic<bool>& refused) {
  std::string answer;
  for (std::array<char, 4> head{}; read_all(fd, head.data(), head.size());) {
    std::size_t size = 0;
    for (std::size_t i = head.size(); i-- > 0;) {
      size = size << 8 | static_cast<unsigned char>(head[i]);
    }
    answer.resize(size);
    if (!read_all(fd, answer.data(), size) || !answer.starts_with("{\"ok\":true")) {
      refused = true;
      fmt::print(stderr, "ouro_bench_stream: {}\n", answer);
      break;
    }
    ++answered;
  }
}

}  // namespace

int send(int port, std::uint64_t seconds, std::uint64_t rate, std::uint64_t keys) {
  const int fd = connect_to(port);
  if (fd < 0) {
    fmt::print(stderr, "ouro_bench_stream: nobody listens at port {}\n", port);
    return 1;
  }
  std::signal(SIGUSR1, toggle);
  FeedOptions options;
  options.rate = rate;
  options.keys = keys;
  options.batch = kBatch;
  options.txns = seconds * rate;
  Feed feed(options);
  std::atomic<std::uint64_t> answered{0};
  std::atomic<bool> refused{false};
  std::thread reader([&] { read_answers(fd, answered, refused); });
  fmt::print("second,sent,answered,behind_s\n");
  const auto begin = Clock::now();
  auto reported = begin;
  StreamTime first{0};
  std::uint64_t sent = 0;
  for (Delivery next = feed.next(); next.batch != nullptr && !refused; next = feed.next()) {
    if (first.count() == 0) first = next.at;
    std::this_thread::sleep_until(begin + (next.at - first));
    while (paused) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    std::string text;
    if (!print_history(*next.batch, Format::NativeBinary, text).ok()) return 1;
    if (!write_all(fd, frame(text))) break;
    ++sent;
    const auto now = Clock::now();
    if (now - reported < std::chrono::seconds(1)) continue;
    reported = now;
    const std::chrono::duration<double> behind = now - begin - (next.at - first);
    const std::chrono::duration<double> since = now - begin;
    fmt::print("{:.0f},{},{},{:.1f}\n", since.count(), sent * kBatch, answered.load() * kBatch,
               behind.count());
    std::fflush(stdout);
  }
  ::shutdown(fd, SHUT_WR);
  reader.join();
  ::close(fd);
  return answered == sent && !refused ? 0 : 1;
}

}  // namespace ouro::bench
