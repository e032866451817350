// The service under load: transactions per second through TCP and HTTP, and how long a violation
// takes from the client to the report.
//
// Everything is in this process: the service with its threads, and one client that sends batches of
// 500 transactions of 8 operations on a million keys, those of one session in a hundred late by 100
// ms. Short on purpose; the verdict is compared before a time counts.

#include <arpa/inet.h>
#include <benchmark/benchmark.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "ouro/ouro.h"

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t kBatchTxns = 500;
constexpr std::size_t kTxns = 100'000;

// Lines of native text, in batches; late ones have moved back.
std::vector<std::string> text_batches() {
  ouro::GenerateOptions options;
  options.store = ouro::Level::SessionSi;
  options.txns = kTxns;
  options.sessions = 100;
  options.keys = 1'000'000;
  options.timestamps = true;
  std::string text;
  if (!ouro::print_history(*ouro::generate(options), ouro::Format::Native, text).ok()) return {};
  constexpr std::size_t kLate = 10'000;  // Lines: 100 ms of 100,000 a second.
  std::vector<std::string> batches(1);
  std::vector<std::pair<std::size_t, std::string>> late;
  std::size_t next_late = 0;
  std::size_t count = 0;
  const auto add = [&](const std::string& line) {
    if (count++ % kBatchTxns == 0 && count > 1) batches.emplace_back();
    batches.back() += line;
  };
  std::size_t at = text.find('\n') + 1;  // Behind the header.
  for (std::size_t number = 0; at < text.size(); ++number) {
    const std::size_t end = text.find('\n', at) + 1;
    const std::string line = text.substr(at, end - at);
    at = end;
    if (line.find("\"status\":\"aborted\"") != line.npos) continue;  // Chronos has none.
    if (line.starts_with("{\"session\":7,")) {
      late.emplace_back(number + kLate, line);
    } else {
      add(line);
    }
    while (next_late < late.size() && late[next_late].first <= number)
      add(late[next_late++].second);
  }
  while (next_late < late.size()) add(late[next_late++].second);
  return batches;
}

std::vector<std::string> converted(ouro::Format format) {
  std::vector<std::string> out;
  for (const std::string& batch : text_batches()) {
    const auto history = ouro::parse_history(batch, {.format = ouro::Format::Native, .threads = 1});
    out.emplace_back();
    if (!ouro::print_history(*history, format, out.back()).ok()) return {};
  }
  return out;
}

// A service in this process.
class Service {
 public:
  explicit Service(ouro::ServeOptions options) {
    options.stream.level = ouro::Level::SessionSi;
    options.http = "127.0.0.1:0";
    options.tcp = "127.0.0.1:0";
    options.stop = &stop_;
    options.ready = [this](const ouro::ServeAddresses& at) {
      const std::lock_guard lock(mutex_);
      http_ = std::stoi(at.http.substr(at.http.rfind(':') + 1));
      tcp_ = std::stoi(at.tcp.substr(at.tcp.rfind(':') + 1));
      ready_.notify_all();
    };
    thread_ = std::thread([this, options] {
      const auto report = ouro::serve(options);
      holds_ = report.ok() && report->outcome == ouro::Outcome::Holds;
      txns_ = report.ok() ? report->summary.txns : 0;
      if (report.ok()) text_ = ouro::describe(*report);
    });
    std::unique_lock lock(mutex_);
    ready_.wait(lock, [this] { return http_ != 0; });
  }
  ~Service() { end(); }
  void end() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  [[nodiscard]] int http() const { return http_; }
  [[nodiscard]] int tcp() const { return tcp_; }
  // After the end.
  [[nodiscard]] bool holds() const { return holds_; }
  [[nodiscard]] std::uint64_t txns() const { return txns_; }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::condition_variable ready_;
  int http_ = 0, tcp_ = 0;
  bool holds_ = false;
  std::uint64_t txns_ = 0;
  std::string text_;
  std::thread thread_;
};

class Socket {
 public:
  explicit Socket(int port) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      std::abort();
    }
    const int on = 1;
    ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  ~Socket() { ::close(fd_); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  void send(const std::string& bytes) const {
    for (std::size_t done = 0; done < bytes.size();) {
      const ssize_t count = ::send(fd_, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
      if (count <= 0) std::abort();
      done += static_cast<std::size_t>(count);
    }
  }
  std::string receive(std::size_t size) const {
    std::string bytes(size, '\0');
    for (std::size_t done = 0; done < size;) {
      const ssize_t count = ::recv(fd_, bytes.data() + done, size - done, 0);
      if (count <= 0) std::abort();
      done += static_cast<std::size_t>(count);
    }
    return bytes;
  }
  // An answer of HTTP with a small body.
  std::string receive_answer() const {
    std::string text;
    while (text.find("\r\n\r\n") == text.npos) text += receive(1);
    const std::size_t length = std::stoul(text.substr(text.find("Content-Length: ") + 16));
    return text + receive(length);
  }

 private:
  int fd_;
};

std::string frame(const std::string& content) {
  std::string head;
  for (int i = 0; i < 4; ++i) head += static_cast<char>(content.size() >> (8 * i) & 0xff);
  return head + content;
}

std::string receive_frame(const Socket& socket) {
  const std::string head = socket.receive(4);
  std::size_t size = 0;
  for (int i = 3; i >= 0; --i) {
    size = size << 8 | static_cast<unsigned char>(head[static_cast<std::size_t>(i)]);
  }
  return socket.receive(size);
}

std::string request(const std::string& body, const std::string& type) {
  return "POST /check HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: " + type +
         "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::string temporary_folder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "ouro_bench_XXXXXX").string();
  return ::mkdtemp(pattern.data());
}

// Ends the service; how many transactions it took.
std::int64_t finish(benchmark::State& state, Service& service) {
  service.end();
  if (!service.holds() || service.txns() < kTxns * 9 / 10) {
    state.SkipWithError(("wrong: " + service.text()).c_str());
  }
  return static_cast<std::int64_t>(service.txns());
}

// All batches over one connection; answers are read on the way. Argument: with a state folder.
void tcp_binary(benchmark::State& state) {
  const std::vector<std::string> batches = converted(ouro::Format::NativeBinary);
  std::int64_t txns = 0;
  for (auto _ : state) {
    ouro::ServeOptions options;
    std::string folder;
    if (state.range(0) != 0) options.state = folder = temporary_folder();
    Service service(options);
    const auto begun = Clock::now();
    const Socket socket(service.tcp());
    std::thread reader([&] {
      for (std::size_t i = 0; i < batches.size(); ++i) {
        if (!receive_frame(socket).starts_with("{\"ok\":true")) std::abort();
      }
    });
    for (const std::string& batch : batches) socket.send(frame(batch));
    reader.join();
    state.SetIterationTime(std::chrono::duration<double>(Clock::now() - begun).count());
    txns += finish(state, service);
    if (!folder.empty()) std::filesystem::remove_all(folder);
  }
  state.SetItemsProcessed(txns);
}
BENCHMARK(tcp_binary)
    ->Arg(0)
    ->Arg(1)
    ->UseManualTime()
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

void http_json(benchmark::State& state) {
  const std::vector<std::string> batches = converted(ouro::Format::Chronos);
  std::int64_t txns = 0;
  for (auto _ : state) {
    ouro::ServeOptions options;
    std::string folder;
    if (state.range(0) != 0) options.state = folder = temporary_folder();
    Service service(options);
    const auto begun = Clock::now();
    {
      const Socket socket(service.http());
      for (const std::string& batch : batches) {
        socket.send(request(batch, "application/json"));
        if (!socket.receive_answer().starts_with("HTTP/1.1 200")) std::abort();
      }
    }
    state.SetIterationTime(std::chrono::duration<double>(Clock::now() - begun).count());
    txns += finish(state, service);
    if (!folder.empty()) std::filesystem::remove_all(folder);
  }
  state.SetItemsProcessed(txns);
}
BENCHMARK(http_json)->Arg(0)->Arg(1)->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);

// From the first byte of a batch with a write conflict to the event; p50 and p99 of 500.
void detection_latency(benchmark::State& state) {
  std::mutex mutex;
  std::condition_variable told;
  std::uint64_t events = 0;
  ouro::ServeOptions options;
  std::string folder;
  if (state.range(0) != 0) options.state = folder = temporary_folder();
  options.event = [&](const std::string&) {
    const std::lock_guard lock(mutex);
    ++events;
    told.notify_all();
  };
  Service service(options);
  std::vector<double> seconds;
  const Socket socket(service.tcp());
  for (auto _ : state) {
    for (int i = 0; i < 500; ++i) {
      std::string batch;
      for (int writer = 0; writer < 2; ++writer) {
        batch += "{\"session\":" + std::to_string(2 * i + writer) +
                 ",\"start_ts\":" + std::to_string(10 * i + writer) +
                 ",\"commit_ts\":" + std::to_string(10 * i + 5 + writer) + ",\"ops\":[[\"w\"," +
                 std::to_string(i) + "," + std::to_string(writer) + "]]}\n";
      }
      const auto begun = Clock::now();
      socket.send(frame(batch));
      std::unique_lock lock(mutex);
      told.wait(lock, [&] { return events == static_cast<std::uint64_t>(i) + 1; });
      seconds.push_back(std::chrono::duration<double>(Clock::now() - begun).count());
      lock.unlock();
      static_cast<void>(receive_frame(socket));
    }
    std::sort(seconds.begin(), seconds.end());
    state.SetIterationTime(seconds[seconds.size() / 2]);
    state.counters["p50_ms"] = seconds[seconds.size() / 2] * 1000;
    state.counters["p99_ms"] = seconds[seconds.size() * 99 / 100] * 1000;
  }
  service.end();
  if (!folder.empty()) std::filesystem::remove_all(folder);
}
BENCHMARK(detection_latency)
    ->Arg(0)
    ->Arg(1)
    ->UseManualTime()
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace
