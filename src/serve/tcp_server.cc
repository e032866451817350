#include "serve/tcp_server.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <future>

#include "base/byte_order.h"
#include "format/json_tree.h"
#include "report/json_writer.h"
#include "serve/sources.h"

namespace ouro::serving {
namespace {

constexpr std::size_t kMaxConnections = 256;
// The most answers that wait on one connection. With more we stop reading, so a client that reads
// no answers cannot fill our memory.
constexpr std::size_t kMaxUnanswered = 1024;
constexpr int kGlance = 100;  // How often threads look whether to stop, in milliseconds.
constexpr std::size_t kPiece = 64 * 1024;      // Bytes of a frame that are read at a time.
constexpr std::size_t kMaxHello = 4096;        // Bytes of a first frame that must have the token.
constexpr std::size_t kLeastRate = 16 * 1024;  // Bytes of a frame that a second must bring.
// How long a frame may be slower than that, and a hello may take; and how long if others wait.
constexpr auto kPatience = std::chrono::seconds(10);
constexpr auto kShortPatience = std::chrono::seconds(1);

std::string framed(std::string_view content) {
  std::string frame;
  const auto size = static_cast<std::uint32_t>(content.size());
  for (int i = 0; i < 4; ++i) frame += static_cast<char>(size >> (8 * i) & 0xff);
  frame += content;
  return frame;
}

std::string refusal(std::string_view what) {
  JsonWriter json;
  json.begin_object().member("ok", false).member("error", what).end_object();
  return std::move(json).finish();
}

}  // namespace

class TcpServer::Connection {
 public:
  using Clock = std::chrono::steady_clock;
  Connection(TcpServer& server, int socket) : server_(server), socket_(socket) {
    reader_ = std::thread([this] { read_all(); });
    writer_ = std::thread([this] { write_all(); });
  }
  ~Connection() {
    reader_.join();
    writer_.join();
    ::close(socket_);
  }

  [[nodiscard]] bool ended() const { return ended_; }
  // Since when it has nothing to do; the largest time if it has.
  [[nodiscard]] Clock::time_point idle_since() const {
    return told_to_end_ ? Clock::time_point::max() : idle_since_.load();
  }
  void end() { told_to_end_ = true; }

 private:
  // Reads exactly `size` bytes; false if the connection ended, its client is too slow, or the
  // server is stopping.
  bool receive(char* bytes, std::size_t size) {
    while (size > 0) {
      if (server_.stopping_ || told_to_end_) return false;
      if (!net::readable(socket_, kGlance)) {
        if (!too_slow()) continue;
        answer_now(refusal("the frame took too long"));
        return false;
      }
      const ssize_t count = ::recv(socket_, bytes, size, 0);
      if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (count <= 0) return false;
      bytes += count;
      size -= static_cast<std::size_t>(count);
      const auto now = Clock::now();
      if (idle_since_.exchange(kBusy) != kBusy) deadline_ = now + kPatience;
      // Each byte buys time, but never more than kPatience in advance.
      deadline_ = std::min(now + kPatience,
                           deadline_ + std::chrono::microseconds(1'000'000 * count / kLeastRate));
    }
    return true;
  }

  [[nodiscard]] bool too_slow() const {
    const bool waits_for_hello = !greeted_ && !server_.options_.token.empty();
    if (idle_since_.load() != kBusy && !waits_for_hello) return false;
    const auto left = deadline_ - Clock::now();
    return left <= left.zero() ||
           (left < kPatience - kShortPatience && server_.queue_.crowded());
  }

  void read_all() {
    while (read_frame()) {
    }
    const std::lock_guard lock(mutex_);
    reading_ = false;
    changed_.notify_all();
  }

  // Reads and handles one frame. False: read no more from this connection.
  bool read_frame() {
    char head[4];
    idle_since_ = Clock::now();
    if (!receive(head, sizeof head)) return false;
    const std::size_t size = load_little_endian<std::uint32_t>(head);
    if (size > server_.options_.body_limit) {
      answer_now(refusal(
          fmt::format("a frame of {} bytes; the limit is {}", size, server_.options_.body_limit)));
      return false;
    }
    const bool locked = !greeted_ && !server_.options_.token.empty();
    if (locked && size > kMaxHello) return refuse_stranger();
    Reservation reservation(server_.queue_, 0);
    std::string bytes;
    while (bytes.size() < size) {
      const std::size_t have = bytes.size();
      const std::size_t piece = std::min(kPiece, size - have);
      if (!locked && !wait_for_room(reservation, have + piece)) return false;
      bytes.resize(have + piece);
      if (!receive(bytes.data() + have, piece)) return false;
    }
    if (bytes.starts_with("{\"hello\"")) return hello(bytes);
    if (locked) return refuse_stranger();
    return submit(std::move(bytes), std::move(reservation));
  }

  bool refuse_stranger() {
    answer_now(refusal("the first frame must be a hello with the token"));
    return false;
  }

  // The time that it waits is not the client's.
  bool wait_for_room(Reservation& reservation, std::size_t bytes) {
    if (reservation.resize(bytes)) return true;
    const bool room = reservation.await(bytes);
    deadline_ = Clock::now() + kPatience;
    return room;
  }

  bool hello(const std::string& bytes) {
    JsonTree tree;
    if (!tree.parse(bytes)) {
      answer_now(refusal("a hello that is no JSON"));
      return false;
    }
    const JsonTree::Node said = tree.root().member("hello");
    const std::string_view token = said.member("token").text().value_or("");
    const std::string_view client = said.member("client").text().value_or("");
    if (!server_.options_.token.empty() && !net::same_secret(token, server_.options_.token)) {
      answer_now(refusal("wrong token"));
      return false;
    }
    const std::string_view source = said.member("source").text().value_or("");
    if (!is_source_name(source)) {
      answer_now(refusal(fmt::format("source {}", kNoSourceName)));
      return false;
    }
    if (client.size() > kMaxClientName) {
      answer_now(refusal("the name of the client is too long"));
      return false;
    }
    greeted_ = true;
    id_.client = client;
    source_ = source;
    if (const auto next = said.member("next").integer(); next && *next >= 0) {
      id_.number = static_cast<std::uint64_t>(*next);
    }
    answer_now("{\"ok\":true}");
    return true;
  }

  bool submit(std::string bytes, Reservation reservation) {
    const BatchId id = id_;
    if (!id_.client.empty()) ++id_.number;
    const Format format = format_of(bytes, "");
    auto parsed = parse_batch(bytes, format, "frame", server_.options_.rules);
    if (!parsed.ok()) {
      server_.monitor_.count_rejected();
      answer_now(refusal(parsed.error().to_string()));
      return true;
    }
    const std::size_t txns = parsed->history->txn_count();
    const std::size_t slot = open_answer();
    Batch batch{.source = source_,
                .history = std::move(parsed->history),
                .binary = std::move(parsed->binary),
                .id = id,
                .position = {},
                .arrived = std::chrono::steady_clock::now(),
                .reservation = std::move(reservation),
                .done = [this, slot, txns, id](const Receipt& receipt) {
                  answer(slot, receipt_text(receipt, txns, id));
                }};
    if (server_.queue_.submit(std::move(batch))) return true;
    answer(slot, refusal("the service is stopping; send it again later"));
    return false;
  }

  static std::string receipt_text(const Receipt& receipt, std::size_t txns, const BatchId& id) {
    if (receipt.error) return refusal(receipt.error->to_string());
    JsonWriter json;
    json.begin_object().member("ok", true).member("transactions", txns);
    if (!id.client.empty()) json.member("number", id.number);
    if (receipt.repeated) json.member("repeated", true);
    if (receipt.unjudged) json.member("undecided", true);
    json.end_object();
    return std::move(json).finish();
  }

  // Reserves the next answer; answers are sent in the order in which they were reserved. Returns
  // its number, with which answer() gives the text. Waits if too many answers are open.
  std::size_t open_answer() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return answers_.size() < kMaxUnanswered || broken_; });
    answers_.emplace_back();
    return first_ + answers_.size() - 1;
  }
  void answer(std::size_t slot, std::string text) {
    const std::lock_guard lock(mutex_);
    answers_[slot - first_] = std::move(text);
    changed_.notify_all();
  }
  void answer_now(std::string text) { answer(open_answer(), std::move(text)); }

  void write_all() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock,
                    [&] { return answers_.empty() ? !reading_ : answers_.front().has_value(); });
      if (answers_.empty()) break;
      std::string out;
      while (!answers_.empty() && answers_.front()) {
        std::string& text = *answers_.front();
        while (text.ends_with('\n')) text.pop_back();
        out += framed(text);
        answers_.pop_front();
        ++first_;
      }
      changed_.notify_all();
      lock.unlock();
      const bool sent = net::send_all(socket_, out);
      lock.lock();
      // If the client no longer listens, batches that were read are applied all the same; if it
      // sends them again, they are recognised.
      broken_ = broken_ || !sent;
    }
    ::shutdown(socket_, SHUT_RDWR);
    ended_ = true;
  }

  static constexpr Clock::time_point kBusy = Clock::time_point::max();

  TcpServer& server_;
  int socket_;
  bool greeted_ = false;  // The client has said hello.
  std::atomic<bool> told_to_end_{false};
  std::atomic<Clock::time_point> idle_since_{Clock::now()};  // kBusy: a frame is under way.
  Clock::time_point deadline_ = Clock::now() + kPatience;    // Of the frame, or of the hello.
  std::string source_;                     // Of all batches.
  BatchId id_{.client = {}, .number = 1};  // Of the next batch.
  std::atomic<bool> ended_{false};

  std::mutex mutex_;  // Guards all members below.
  std::condition_variable changed_;
  std::deque<std::optional<std::string>> answers_;  // Nothing: reserved, but not known yet.
  std::size_t first_ = 0;                           // The number of answers_.front().
  bool reading_ = true;                             // The reader has not ended.
  bool broken_ = false;                             // An answer could not be sent.
  std::thread reader_, writer_;
};

TcpServer::TcpServer(Options options, BatchQueue& queue, Monitor& monitor)
    : options_(std::move(options)), queue_(queue), monitor_(monitor) {}

TcpServer::~TcpServer() { stop(); }

Result<std::uint16_t> TcpServer::start(const net::Address& address) {
  auto listening = net::listen_at(address);
  if (!listening.ok()) return listening.error();
  socket_ = listening->socket;
  acceptor_ = std::thread([this] { accept_all(); });
  return listening->port;
}

void TcpServer::stop() {
  stopping_ = true;
  if (acceptor_.joinable()) acceptor_.join();
  connections_.clear();
  if (socket_ >= 0) ::close(socket_);
  socket_ = -1;
}

void TcpServer::accept_all() {
  while (!stopping_) {
    forget_ended();
    if (!net::readable(socket_, kGlance)) continue;
    const int socket = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket >= 0) {
      take(socket);
      continue;
    }
    // There may be no more descriptors; the next client waits until there are.
    static_cast<void>(end_idle());
    std::this_thread::sleep_for(std::chrono::milliseconds(kGlance));
  }
}

void TcpServer::take(int socket) {
  if (connections_.size() >= kMaxConnections && !end_idle()) {
    static_cast<void>(net::send_all(socket, framed(refusal("too many connections"))));
    ::close(socket);
    return;
  }
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const timeval patience{.tv_sec = 10, .tv_usec = 0};
  ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  connections_.push_back(std::make_unique<Connection>(*this, socket));
}

bool TcpServer::end_idle() {
  const auto idle = std::min_element(
      connections_.begin(), connections_.end(),
      [](const auto& a, const auto& b) { return a->idle_since() < b->idle_since(); });
  if (idle == connections_.end()) return false;
  if ((*idle)->idle_since() == std::chrono::steady_clock::time_point::max()) return false;
  (*idle)->end();
  return true;
}

void TcpServer::forget_ended() {
  connections_.remove_if([](const auto& connection) { return connection->ended(); });
}

}  // namespace ouro::serving
