#include "net/http_server.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ouro::net {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kTick =
    std::chrono::milliseconds(20);  // How often streams and limits are looked at.
constexpr auto kListenPause = std::chrono::milliseconds(100);  // If there are no descriptors.
constexpr std::size_t kFullBuffer =
    256 * 1024;  // A stream with more to send is not asked for more.
constexpr std::size_t kReadBytes = 64 * 1024;

enum class Phase {
  Reading,  // Waits for a request, or for the rest of one.
  Waiting,  // Waits for room.
  Handled,  // Waits for the answer.
  Writing,  // Sends it.
  Streaming,
  Leaving,  // All was sent. Closing at once would make the system discard what the client has not
            // read yet, if it still sends; so what it sends is read, but not looked at.
};

struct Connection {
  int socket = -1;
  std::uint64_t number = 0;
  Phase phase = Phase::Reading;
  HttpReader reader;
  std::string out;
  std::size_t sent = 0;  // Of `out`.
  bool keep_alive = true;
  bool peer_closed = false;
  bool head_only = false;      // The request is a HEAD: its answer has no body.
  std::uint32_t watched = 0;   // The epoll events asked for.
  Clock::time_point deadline;  // Of the phase.
  std::shared_ptr<void> ticket;
  HttpServer::More more;
  [[nodiscard]] bool drained() const { return sent == out.size(); }
};

// A request for a worker.
struct Job {
  HttpRequest request;
  std::shared_ptr<void> ticket;
  std::shared_ptr<HttpServer::Reply> reply;
};

// An answer for the thread that watches. Without a response: there will be none.
struct Answer {
  std::uint64_t connection = 0;
  std::optional<HttpResponse> response;
  HttpServer::More more;
};

// How many connections the limit of the process allows; other parts of it need descriptors, too.
std::size_t descriptors_for_connections() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return ~std::size_t{0};
  const auto all = static_cast<std::size_t>(limit.rlim_cur);
  return std::max<std::size_t>(all / 4 * 3 - std::min<std::size_t>(all / 4, 64), 8);
}

}  // namespace

struct HttpServer::State : std::enable_shared_from_this<State> {
  State(Limits limits_given, Handlers handlers_given)
      : limits(limits_given), handlers(std::move(handlers_given)) {}

  Limits limits;
  const Handlers handlers;
  int listener = -1;
  int epoll = -1;
  int wake = -1;
  std::thread watcher;
  std::vector<std::thread> workers;
  std::atomic<bool> stopping{false};

  // Used by the watcher only.
  std::unordered_map<std::uint64_t, std::unique_ptr<Connection>> connections;
  std::uint64_t next_number = 2;  // 0 and 1 stand for the listener and `wake`.
  std::size_t streams = 0;
  Clock::time_point stop_by = Clock::time_point::max();
  bool listens = true;             // New connections are accepted.
  Clock::time_point listen_again;  // If they are not.

  std::mutex mutex;  // Guards all members below.
  std::condition_variable came;
  std::deque<Job> jobs;
  std::vector<Answer> answers;
  bool closed = false;  // No more jobs.

  void watch_all();
  void work();
  void put(Answer answer);
  void accept_all();
  void listen_later();
  bool make_room();
  void receive(Connection& c);
  void wait_for_room(Connection& c);
  void advance(Connection& c);
  void decide(Connection& c);
  void refuse(Connection& c, const HttpResponse& response);
  void hand_over(Connection& c);
  void take_answers();
  void begin_response(Connection& c, const HttpResponse& response, bool chunked);
  void write(Connection& c);
  void next_request(Connection& c);
  void pump(Connection& c);
  void look_at_clocks();
  void watch(Connection& c);
  void close(std::uint64_t number);
  [[nodiscard]] bool busy(const Connection& c) const {
    return c.phase == Phase::Handled || c.phase == Phase::Writing || c.phase == Phase::Streaming;
  }
  // Whether a request is under way and its client has been slow for some time.
  [[nodiscard]] bool slow(const Connection& c) const {
    return c.phase == Phase::Reading && c.reader.begun() &&
           c.deadline - Clock::now() < limits.pause - limits.room;
  }
};

// ---- the thread that watches ----

void HttpServer::State::watch_all() {
  std::array<epoll_event, 256> events{};
  while (!(stopping && (connections.empty() || Clock::now() >= stop_by))) {
    const int count =
        ::epoll_wait(epoll, events.data(), events.size(), static_cast<int>(kTick.count()));
    for (int i = 0; i < count; ++i) {
      const std::uint64_t number = events[static_cast<std::size_t>(i)].data.u64;
      if (number == 0) {
        accept_all();
        continue;
      }
      if (number == 1) {
        std::uint64_t ignored = 0;
        static_cast<void>(::read(wake, &ignored, sizeof ignored));
        continue;
      }
      const auto found = connections.find(number);
      if (found == connections.end()) continue;
      const std::uint32_t what = events[static_cast<std::size_t>(i)].events;
      Connection& c = *found->second;
      if ((what & (EPOLLHUP | EPOLLERR)) != 0) {
        close(number);
        continue;
      }
      if ((what & EPOLLIN) != 0) receive(c);
      if (connections.contains(number) && (what & EPOLLOUT) != 0) write(c);
    }
    take_answers();
    look_at_clocks();
  }
  while (!connections.empty()) close(connections.begin()->first);
}

void HttpServer::State::accept_all() {
  for (;;) {
    const int socket = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    const bool none_left = socket < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS);
    if (none_left && make_room()) continue;
    if (none_left) listen_later();
    if (socket < 0) return;
    if (connections.size() >= limits.connections) static_cast<void>(make_room());
    if (stopping || connections.size() >= limits.connections) {
      const HttpResponse full = handlers.complain({503, "too many connections; try again"});
      const std::string bytes = to_bytes(full, false, false);
      static_cast<void>(::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL));
      ::close(socket);
      continue;
    }
    const int on = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    auto c = std::make_unique<Connection>();
    c->socket = socket;
    c->number = next_number++;
    c->deadline = Clock::now() + limits.head;
    c->watched = EPOLLIN;
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = c->number;
    ::epoll_ctl(epoll, EPOLL_CTL_ADD, socket, &event);
    connections.emplace(c->number, std::move(c));
  }
}

// There are no more descriptors. The listener would be told of again and again, so it is left alone
// for a while; clients wait.
void HttpServer::State::listen_later() {
  static_cast<void>(::epoll_ctl(epoll, EPOLL_CTL_DEL, listener, nullptr));
  listens = false;
  listen_again = Clock::now() + kListenPause;
}

// Closes the connection that has been idle longest; if there is none, the one that is slowest with
// its request. False: there is none either.
bool HttpServer::State::make_room() {
  const Connection* last = nullptr;
  for (const auto& [number, c] : connections) {
    const bool idle = c->phase == Phase::Leaving ||
                      (c->phase == Phase::Reading && !c->reader.begun());
    if (!idle && !slow(*c)) continue;
    const bool last_idle = last != nullptr && !slow(*last);
    if (last == nullptr || (idle && !last_idle) ||
        (idle == last_idle && c->deadline < last->deadline)) {
      last = c.get();
    }
  }
  if (last == nullptr) return false;
  close(last->number);
  return true;
}

void HttpServer::State::receive(Connection& c) {
  std::array<char, kReadBytes> buffer;
  const ssize_t count = ::recv(c.socket, buffer.data(), buffer.size(), 0);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) {
    // A client that has sent its request may close its side and still read the answer.
    c.peer_closed = true;
    if (count < 0 || !busy(c) || c.phase == Phase::Streaming) return close(c.number);
    return watch(c);
  }
  if (c.phase != Phase::Reading) return;  // watch() does not ask for more then.
  const bool fresh = !c.reader.begun();
  c.reader.add({buffer.data(), static_cast<std::size_t>(count)});
  if (fresh) c.deadline = Clock::now() + limits.head;
  if (c.reader.stage() == HttpReader::Stage::Body) {
    // Each byte buys time, but never more than `pause` in advance.
    const auto bought = std::chrono::microseconds(1'000'000 * static_cast<std::uint64_t>(count) /
                                                  limits.body_rate);
    c.deadline = std::min(Clock::now() + limits.pause, c.deadline + bought);
  }
  advance(c);
}

void HttpServer::State::advance(Connection& c) {
  switch (c.reader.stage()) {
    case HttpReader::Stage::Decide:
      return decide(c);
    case HttpReader::Stage::Body:
    case HttpReader::Stage::Done:
      return wait_for_room(c);
    case HttpReader::Stage::Refused:
      return refuse(c, handlers.complain(c.reader.problem()));
    case HttpReader::Stage::Head:
      return watch(c);
  }
}

void HttpServer::State::decide(Connection& c) {
  Admission admission = handlers.admit(c.reader.request());
  if (admission.refusal) return refuse(c, *admission.refusal);
  c.ticket = std::move(admission.ticket);
  c.deadline = Clock::now() + limits.pause;
  const std::size_t most = c.ticket ? limits.body : limits.small_body;
  if (c.reader.take_body(most) == HttpReader::Stage::Body && c.reader.expects_continue()) {
    const std::uint64_t number = c.number;
    c.out += "HTTP/1.1 100 Continue\r\n\r\n";
    write(c);
    if (!connections.contains(number)) return;  // write() closed it.
  }
  advance(c);
}

// Goes on if there is room for what has come of a body. Meanwhile nothing more is read.
void HttpServer::State::wait_for_room(Connection& c) {
  const bool whole = c.reader.stage() == HttpReader::Stage::Done;
  const std::size_t unpacked = whole && c.reader.request().gzip ? limits.body : 0;
  const bool waited = c.phase == Phase::Waiting;
  if (c.ticket == nullptr || handlers.make_room(c.ticket, c.reader.held() + unpacked)) {
    c.phase = Phase::Reading;
    if (waited) c.deadline = Clock::now() + limits.pause;
    return whole ? hand_over(c) : watch(c);
  }
  if (!waited) c.deadline = Clock::now() + limits.room;
  c.phase = Phase::Waiting;
  if (Clock::now() >= c.deadline) return refuse(c, handlers.late());
  watch(c);
}

// Answers without reading the rest of the request, so the connection ends with that.
void HttpServer::State::refuse(Connection& c, const HttpResponse& response) {
  c.reader.request().keep_alive = false;
  c.ticket = nullptr;
  begin_response(c, response, false);
}

void HttpServer::State::hand_over(Connection& c) {
  c.phase = Phase::Handled;
  c.deadline = Clock::time_point::max();
  auto reply = std::make_shared<Reply>(weak_from_this(), c.number);
  c.keep_alive = c.reader.request().keep_alive;
  c.head_only = c.reader.request().method == "HEAD";
  Job job{std::move(c.reader.request()), std::move(c.ticket), std::move(reply)};
  watch(c);
  const std::lock_guard lock(mutex);
  jobs.push_back(std::move(job));
  came.notify_one();
}

void HttpServer::State::take_answers() {
  std::vector<Answer> taken;
  {
    const std::lock_guard lock(mutex);
    taken.swap(answers);
  }
  for (Answer& answer : taken) {
    const auto found = connections.find(answer.connection);
    if (found == connections.end()) continue;
    Connection& c = *found->second;
    c.reader.request().keep_alive = c.keep_alive;
    if (!answer.response) {
      close(c.number);
    } else if (!answer.more) {
      begin_response(c, *answer.response, false);
    } else if (streams >= limits.streams) {
      begin_response(c, handlers.complain({503, "too many streams are open"}), false);
    } else {
      c.more = std::move(answer.more);
      ++streams;
      begin_response(c, *answer.response, true);
    }
  }
}

void HttpServer::State::begin_response(Connection& c, const HttpResponse& response, bool chunked) {
  HttpResponse whole = response;
  whole.headers.insert(whole.headers.end(), handlers.headers.begin(), handlers.headers.end());
  c.keep_alive = c.reader.request().keep_alive && !stopping && !c.peer_closed;
  c.phase = chunked ? Phase::Streaming : Phase::Writing;
  c.deadline = Clock::now() + limits.pause;
  c.out += to_bytes(whole, c.keep_alive, chunked);
  if (std::exchange(c.head_only, false) && !chunked) {
    c.out.resize(c.out.size() - whole.body.size());
  }
  if (chunked) return pump(c);
  write(c);
}

void HttpServer::State::write(Connection& c) {
  while (!c.drained()) {
    const ssize_t count =
        ::send(c.socket, c.out.data() + c.sent, c.out.size() - c.sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return watch(c);
    if (count < 0) return close(c.number);
    c.sent += static_cast<std::size_t>(count);
    c.deadline = Clock::now() + limits.pause;
  }
  c.out.clear();
  c.sent = 0;
  if (c.phase == Phase::Writing) return next_request(c);
  watch(c);
}

void HttpServer::State::next_request(Connection& c) {
  c.ticket = nullptr;
  if (!c.keep_alive) {
    ::shutdown(c.socket, SHUT_WR);
    c.phase = Phase::Leaving;
    c.deadline = Clock::now() + limits.last;
    return c.peer_closed ? close(c.number) : watch(c);
  }
  c.phase = Phase::Reading;
  c.deadline = Clock::now() + limits.idle;
  c.reader.next();
  if (c.reader.begun()) c.deadline = Clock::now() + limits.head;
  advance(c);
}

// Asks a stream for more, unless what it gave is not sent yet.
void HttpServer::State::pump(Connection& c) {
  std::string text;
  bool more = true;
  if (c.out.size() - c.sent < kFullBuffer) {
    more = c.more(text);
    if (!text.empty()) c.out += to_chunk(text);
  }
  if (c.drained() && text.empty()) c.deadline = Clock::now() + limits.pause;  // It is not slow.
  if (!more) {
    c.out += to_chunk("");
    c.more = nullptr;
    --streams;
    c.phase = Phase::Writing;
  }
  write(c);
}

void HttpServer::State::look_at_clocks() {
  const Clock::time_point now = Clock::now();
  if (!listens && now >= listen_again) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = 0;
    listens = ::epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event) == 0;
  }
  const bool crowded = handlers.crowded();
  std::vector<std::uint64_t> due;
  for (const auto& [number, c] : connections) {
    const bool ends = (stopping && !busy(*c)) || (crowded && c->ticket != nullptr && slow(*c));
    const bool asks = c->phase == Phase::Waiting || c->phase == Phase::Streaming;
    if (ends || asks || c->deadline <= now) due.push_back(number);
  }
  for (const std::uint64_t number : due) {
    const auto found = connections.find(number);
    if (found == connections.end()) continue;
    Connection& c = *found->second;
    if (c.phase == Phase::Waiting && !stopping) {
      wait_for_room(c);
    } else if (c.phase == Phase::Streaming && now < c.deadline) {
      pump(c);
    } else if (c.phase == Phase::Reading && c.reader.begun() && !stopping) {
      refuse(c, handlers.complain({408, "the request took too long"}));
    } else {
      close(number);
    }
  }
}

void HttpServer::State::watch(Connection& c) {
  std::uint32_t wanted = 0;
  const bool reads =
      c.phase == Phase::Reading || c.phase == Phase::Streaming || c.phase == Phase::Leaving;
  if (reads && !c.peer_closed) wanted |= EPOLLIN;
  if (!c.drained()) wanted |= EPOLLOUT;
  if (wanted == c.watched) return;
  c.watched = wanted;
  epoll_event event{};
  event.events = wanted;
  event.data.u64 = c.number;
  ::epoll_ctl(epoll, EPOLL_CTL_MOD, c.socket, &event);
}

void HttpServer::State::close(std::uint64_t number) {
  const auto found = connections.find(number);
  if (found == connections.end()) return;
  if (found->second->more) --streams;
  ::close(found->second->socket);
  connections.erase(found);
}

// ---- workers ----

void HttpServer::State::work() {
  std::unique_lock lock(mutex);
  for (;;) {
    came.wait(lock, [&] { return closed || !jobs.empty(); });
    if (jobs.empty()) return;
    Job job = std::move(jobs.front());
    jobs.pop_front();
    lock.unlock();
    const std::size_t most = job.ticket ? limits.body : limits.small_body;
    if (const auto problem = unpack(job.request, most)) {
      job.reply->send(handlers.complain(*problem));
    } else {
      handlers.handle(std::move(job.request), std::move(job.ticket), std::move(job.reply));
    }
    job = {};
    lock.lock();
  }
}

void HttpServer::State::put(Answer answer) {
  const std::lock_guard lock(mutex);
  if (wake < 0) return;  // The server is gone.
  answers.push_back(std::move(answer));
  const std::uint64_t one = 1;
  static_cast<void>(::write(wake, &one, sizeof one));
}

HttpServer::Reply::~Reply() {
  if (sent_) return;
  if (const auto state = state_.lock()) state->put({connection_, std::nullopt, nullptr});
}

void HttpServer::Reply::send(HttpResponse response) {
  sent_ = true;
  if (const auto state = state_.lock()) state->put({connection_, std::move(response), nullptr});
}

void HttpServer::Reply::stream(HttpResponse head, More more) {
  sent_ = true;
  if (const auto state = state_.lock()) {
    state->put({connection_, std::move(head), std::move(more)});
  }
}

// ---- the server ----

HttpServer::HttpServer(Limits limits, Handlers handlers)
    : state_(std::make_shared<State>(limits, std::move(handlers))) {}

HttpServer::~HttpServer() {
  stop();
  const std::lock_guard lock(state_->mutex);  // Replies may be given up even now.
  for (int* const file : {&state_->epoll, &state_->wake}) {
    if (*file >= 0) ::close(std::exchange(*file, -1));
  }
}

Result<std::uint16_t> HttpServer::start(const Address& address) {
  State& s = *state_;
  auto listening = listen_at(address);
  if (!listening.ok()) return listening.error();
  s.listener = listening->socket;
  s.limits.connections = std::min(s.limits.connections, descriptors_for_connections());
  ::fcntl(s.listener, F_SETFL, ::fcntl(s.listener, F_GETFL) | O_NONBLOCK);
  s.epoll = ::epoll_create1(EPOLL_CLOEXEC);
  s.wake = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = 0;
  ::epoll_ctl(s.epoll, EPOLL_CTL_ADD, s.listener, &event);
  event.data.u64 = 1;
  ::epoll_ctl(s.epoll, EPOLL_CTL_ADD, s.wake, &event);
  s.watcher = std::thread([&s] { s.watch_all(); });
  for (std::size_t i = 0; i < s.limits.workers; ++i) {
    s.workers.emplace_back([&s] { s.work(); });
  }
  return listening->port;
}

void HttpServer::stop() {
  State& s = *state_;
  if (!s.watcher.joinable()) return;
  s.stop_by = Clock::now() + s.limits.last;
  s.stopping = true;
  s.watcher.join();
  {
    const std::lock_guard lock(s.mutex);
    s.closed = true;
    s.came.notify_all();
  }
  for (std::thread& worker : s.workers) worker.join();
  s.workers.clear();
  ::close(s.listener);
}

}  // namespace ouro::net
