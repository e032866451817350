#include "tap/proxy.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/system_error.h"
#include "tap/observer.h"
#include "tap/wire.h"

namespace ouro::tapping {
namespace {

constexpr std::size_t kFull = std::size_t{1} << 20;  // Bytes that may wait for one side.
constexpr std::size_t kChunk = std::size_t{64} << 10;

// Where the server is, found out once.
struct ServerAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

Result<ServerAddress> find_server(const db::Host& host) {
  ServerAddress address;
  const int port = host.port == 0 ? 5432 : host.port;
  const std::string name = host.name.empty() ? "/var/run/postgresql" : host.name;
  if (name.starts_with('/')) {
    auto* local = reinterpret_cast<sockaddr_un*>(&address.storage);
    const std::string path = fmt::format("{}/.s.PGSQL.{}", name, port);
    if (path.size() >= sizeof(local->sun_path)) {
      return Error{.file = path, .what = "the name of this socket is too long"};
    }
    local->sun_family = AF_UNIX;
    std::memcpy(local->sun_path, path.c_str(), path.size() + 1);
    address.size = sizeof(sockaddr_un);
    return address;
  }
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int problem = ::getaddrinfo(name.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (problem != 0) return Error{.what = fmt::format("{}: {}", name, ::gai_strerror(problem))};
  std::memcpy(&address.storage, found->ai_addr, found->ai_addrlen);
  address.size = found->ai_addrlen;
  ::freeaddrinfo(found);
  return address;
}

void make_quick(int socket) {
  const int on = 1;
  (void)::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  (void)::setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
}

struct Link;

// One side of a connection.
struct Side {
  Link* link = nullptr;
  int socket = -1;
  std::string out;            // Bytes that wait to be sent.
  std::size_t sent = 0;       // Of these, bytes that were.
  bool registered = false;    // With epoll,
  std::uint32_t watched = 0;  // for these events.
  bool ended = false;         // Nothing more comes from it.
  [[nodiscard]] std::size_t waiting() const { return out.size() - sent; }
};

struct Link {
  Side client, server;
  bool started = false;      // The startup message was passed on.
  bool cancels = false;      // This is a cancel request.
  std::int32_t process = 0;  // Of the server's; what cancel requests name.
  std::string head;          // Bytes of the client before the startup message was complete.
  MessageReader from_client, from_server;
  std::unique_ptr<Observer> observer;
  bool dead = false;
};

}  // namespace

struct Proxy::State {
  State(Ledger& to, bool watches) : ledger(to), observes(watches) {}
  ~State() {
    for (const auto& link : links) {
      for (Side* side : {&link->client, &link->server}) {
        if (side->socket >= 0) ::close(side->socket);
      }
    }
    if (listener >= 0) ::close(listener);
    if (epoll >= 0) ::close(epoll);
  }

  Ledger& ledger;
  const bool observes;
  Texts texts;
  ServerAddress server;
  int listener = -1;
  int epoll = -1;
  std::uint16_t port = 0;
  std::uint64_t count = 0;
  std::unordered_set<std::unique_ptr<Link>> links;
  std::unordered_map<std::int32_t, Link*> by_process;
  std::vector<Link*> held;  // Cancel requests that wait for an answer to our own statement.
  std::array<char, kChunk> chunk{};

  void accept_all();
  void watch(Side& side);
  void close(Link& link);
  void drop(Side& side);
  void ready(Side& side, std::uint32_t events);
  void read(Side& side);
  void take(Link& link, std::string_view bytes, bool from_client);
  void take_head(Link& link);
  void start(Link& link, std::string_view message);
  void connect(Link& link);
  void refuse(Link& link, std::string_view code, const std::string& what);
  bool flush(Side& side);
  void settle(Link& link);
  void release_cancels();
  void bury();
};

Proxy::Proxy(std::unique_ptr<State> state) : state_(std::move(state)) {}
Proxy::~Proxy() = default;
std::uint16_t Proxy::port() const { return state_->port; }

Result<std::unique_ptr<Proxy>> Proxy::open(const net::Address& listen, const db::Host& server,
                                           Ledger& ledger, bool observes) {
  auto state = std::make_unique<State>(ledger, observes);
  auto found = find_server(server);
  if (!found.ok()) return found.error();
  state->server = *found;
  auto listening = net::listen_at(listen);
  if (!listening.ok()) return listening.error();
  state->listener = listening->socket;
  state->port = listening->port;
  (void)::fcntl(state->listener, F_SETFL, O_NONBLOCK);
  state->epoll = ::epoll_create1(EPOLL_CLOEXEC);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = nullptr;  // The listener.
  if (state->epoll < 0 || ::epoll_ctl(state->epoll, EPOLL_CTL_ADD, state->listener, &event) < 0) {
    return system_error("epoll", "cannot watch connections");
  }
  return std::unique_ptr<Proxy>(new Proxy(std::move(state)));
}

Status Proxy::serve(const std::atomic<bool>& stop) {
  std::array<epoll_event, 128> events{};
  while (!stop) {
    const int patience = state_->held.empty() ? 100 : 1;
    const int count = ::epoll_wait(state_->epoll, events.data(), events.size(), patience);
    if (count < 0 && errno != EINTR) return system_error("epoll", "cannot watch connections");
    for (int i = 0; i < count; ++i) {
      const epoll_event& event = events[static_cast<std::size_t>(i)];
      if (event.data.ptr == nullptr) {
        state_->accept_all();
      } else {
        state_->ready(*static_cast<Side*>(event.data.ptr), event.events);
      }
    }
    state_->release_cancels();
    state_->bury();
  }
  for (const auto& link : state_->links) state_->close(*link);
  state_->bury();
  return {};
}

void Proxy::State::accept_all() {
  for (;;) {
    const int socket = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (socket < 0) return;
    make_quick(socket);
    auto link = std::make_unique<Link>();
    link->client = {link.get(), socket};
    link->server = {link.get(), -1};
    watch(link->client);
    links.insert(std::move(link));
  }
}

// Watches for what can be done with the socket at present.
void Proxy::State::watch(Side& side) {
  if (side.socket < 0) return;
  Link& link = *side.link;
  const Side& other = &side == &link.client ? link.server : link.client;
  const bool full = other.waiting() > kFull;
  const std::uint32_t wanted =
      (side.ended || full ? 0U : EPOLLIN) | (side.waiting() > 0 ? EPOLLOUT : 0U);
  if (side.registered && wanted == side.watched) return;
  epoll_event event{};
  event.events = wanted;
  event.data.ptr = &side;
  const int what = side.registered ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
  if (::epoll_ctl(epoll, what, side.socket, &event) < 0) return close(link);
  side.registered = true;
  side.watched = wanted;
}

void Proxy::State::close(Link& link) {
  if (link.dead) return;
  link.dead = true;
  if (link.process != 0) {
    const auto found = by_process.find(link.process);
    if (found != by_process.end() && found->second == &link) by_process.erase(found);
  }
  link.observer.reset();
  drop(link.client);
  drop(link.server);
}

// Closing alone would not end the watch if another process has inherited the socket.
void Proxy::State::drop(Side& side) {
  if (side.socket < 0) return;
  if (side.registered) (void)::epoll_ctl(epoll, EPOLL_CTL_DEL, side.socket, nullptr);
  side.registered = false;
  ::close(side.socket);
  side.socket = -1;
}

void Proxy::State::bury() {
  for (auto link = links.begin(); link != links.end();) {
    link = (*link)->dead ? links.erase(link) : std::next(link);
  }
}

void Proxy::State::ready(Side& side, std::uint32_t events) {
  Link& link = *side.link;
  if (link.dead) return;
  if ((events & EPOLLOUT) != 0 && !flush(side)) return close(link);
  if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) read(side);
  if (!link.dead) settle(link);
}

void Proxy::State::read(Side& side) {
  Link& link = *side.link;
  const bool from_client = &side == &link.client;
  const ssize_t size = ::recv(side.socket, chunk.data(), chunk.size(), 0);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (size <= 0) {
    side.ended = true;
    return;
  }
  take(link, {chunk.data(), static_cast<std::size_t>(size)}, from_client);
}

void Proxy::State::take(Link& link, std::string_view bytes, bool from_client) {
  if (from_client && !link.started) {
    link.head += bytes;
    return take_head(link);
  }
  std::string& out = from_client ? link.server.out : link.client.out;
  if (link.observer == nullptr) {
    out += bytes;
    return;
  }
  MessageReader& reader = from_client ? link.from_client : link.from_server;
  reader.add(bytes);
  while (const std::optional<Piece> piece = reader.next()) {
    if (!from_client && piece->type == 'K' && link.process == 0) {
      link.process = Body(piece->body).int32();
      by_process[link.process] = &link;
    }
    if (from_client) {
      link.observer->from_client(*piece, out);
    } else {
      link.observer->from_server(*piece, out);
    }
  }
  if (!reader.broken()) return;
  // Not the protocol that we know: let the two settle it.
  link.server.out += link.from_client.rest();
  link.client.out += link.from_server.rest();
  link.observer.reset();
}

// Reads what the client sends before the protocol begins.
void Proxy::State::take_head(Link& link) {
  for (;;) {
    Body body(link.head);
    const std::int32_t length = body.int32();
    const std::int32_t code = body.int32();
    if (link.head.size() < 8) return;
    constexpr std::int32_t kLongest = 10'000;  // As the server has it.
    if (length < 8 || length > kLongest) return close(link);
    const auto size = static_cast<std::size_t>(length);
    if (link.head.size() < size) return;
    if (code == kTlsRequest || code == kGssRequest) {
      link.client.out += 'N';
      link.head.erase(0, size);
      continue;
    }
    const std::string message = link.head.substr(0, size);
    const std::string rest = link.head.substr(size);
    link.head.clear();
    link.started = true;
    start(link, message);
    if (!link.dead && !rest.empty()) take(link, rest, true);
    return;
  }
}

void Proxy::State::start(Link& link, std::string_view message) {
  Body body(message);
  (void)body.int32();
  const std::int32_t code = body.int32();
  link.server.out += message;
  if (code == kCancelRequest) {
    link.cancels = true;
    const auto found = by_process.find(body.int32());
    const bool wait = found != by_process.end() && found->second->observer != nullptr &&
                      found->second->observer->probing();
    if (!wait) return connect(link);
    link.process = -found->first;  // The other's.
    held.push_back(&link);
    return;
  }
  std::string application, user;
  bool replicates = false;
  while (!body.at_end() && body.ok()) {
    const std::string_view name = body.text();
    if (name.empty()) break;
    const std::string_view value = body.text();
    if (name == "application_name") application = value;
    if (name == "user") user = value;
    if (name == "replication") replicates = value != "false" && value != "off" && value != "0";
  }
  if (observes) {
    link.observer =
        std::make_unique<Observer>(ledger, texts, application.empty() ? user : application, ++count,
                                   code == kProtocol3 && !replicates);
  }
  connect(link);
}

// Sends the cancel requests that need not wait any more.
void Proxy::State::release_cancels() {
  std::vector<Link*> waiting;
  for (Link* link : held) {
    if (link->dead) continue;
    const auto found = by_process.find(-link->process);
    if (found != by_process.end() && found->second->observer != nullptr &&
        found->second->observer->probing()) {
      waiting.push_back(link);
      continue;
    }
    link->process = 0;
    connect(*link);
    if (!link->dead) settle(*link);
  }
  held = std::move(waiting);
}

void Proxy::State::connect(Link& link) {
  // A local socket says only once that it has no room, so we wait for that.
  const bool local = server.storage.ss_family == AF_UNIX;
  const int kind = SOCK_STREAM | SOCK_CLOEXEC | (local ? 0 : SOCK_NONBLOCK);
  const int socket = ::socket(server.storage.ss_family, kind, 0);
  if (socket < 0) return refuse(link, "53300", "ouro tap has no more sockets");
  if (!local) make_quick(socket);
  link.server.socket = socket;
  const int done =
      ::connect(socket, reinterpret_cast<const sockaddr*>(&server.storage), server.size);
  if (done < 0 && errno != EINPROGRESS) {
    return refuse(link, "08001",
                  fmt::format("ouro tap cannot reach the server: {}", std::strerror(errno)));
  }
  if (local) (void)::fcntl(socket, F_SETFL, O_NONBLOCK);
}

void Proxy::State::refuse(Link& link, std::string_view code, const std::string& what) {
  drop(link.server);
  link.server.out.clear();
  link.server.sent = 0;
  put_fatal(link.client.out, code, what);
  link.server.ended = true;
}

// Sends what can be sent. False: the connection is broken.
bool Proxy::State::flush(Side& side) {
  while (side.waiting() > 0) {
    const ssize_t size =
        ::send(side.socket, side.out.data() + side.sent, side.waiting(), MSG_NOSIGNAL);
    if (size < 0) return errno == EAGAIN || errno == EINTR || errno == ENOTCONN;
    side.sent += static_cast<std::size_t>(size);
  }
  side.out.clear();
  side.sent = 0;
  return true;
}

// Sends what waits, and closes what is over.
void Proxy::State::settle(Link& link) {
  for (Side* side : {&link.client, &link.server}) {
    if (side->socket < 0 || side->waiting() == 0) continue;
    if (!flush(*side)) {
      if (side == &link.server && link.client.socket >= 0 && link.from_server.rest().empty() &&
          link.process == 0 && !link.server.ended) {
        refuse(link, "08001", "ouro tap cannot reach the server");
        (void)flush(link.client);
      }
      return close(link);
    }
  }
  // Whoever closes its side has nothing to wait for, once the other got what was sent to it.
  if (link.server.ended && link.client.waiting() == 0) return close(link);
  if (link.client.ended && link.server.waiting() == 0 && (!link.cancels || link.server.ended)) {
    const bool held_back = link.cancels && link.server.socket < 0;
    if (!held_back) return close(link);
  }
  watch(link.client);
  watch(link.server);
}

}  // namespace ouro::tapping
