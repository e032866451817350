#include "tap/proxy.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/system_error.h"
#include "tap/observer.h"
#include "tap/server_address.h"
#include "tap/wire.h"

namespace ouro::tapping {
namespace {

constexpr std::size_t kFull = std::size_t{1} << 20;  // Bytes that may wait for one side.
constexpr std::size_t kChunk = std::size_t{64} << 10;

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
  std::size_t sent = 0;       // How many bytes of `out` were sent already.
  bool registered = false;    // Whether epoll watches the socket.
  std::uint32_t watched = 0;  // The events that epoll watches it for.
  bool ended = false;         // Nothing more comes from it.
  bool deaf = false;          // Nothing more can be sent to it.
  [[nodiscard]] std::size_t waiting() const { return out.size() - sent; }
};

struct Link {
  Side client, server;
  bool started = false;      // The startup message was passed on.
  bool cancels = false;      // This is a cancel request.
  bool connecting = false;   // The server has not answered yet.
  std::size_t address = 0;   // Which of the server's addresses is tried.
  int reason = 0;            // The error of the address that was tried before.
  // The server's process that serves the client, which cancel requests name; negative in the link
  // of a cancel request itself.
  std::int32_t process = 0;
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
  std::vector<ServerAddress> addresses;  // Of the server.
  int listener = -1;
  bool listens = false;  // Whether connections are taken at present.
  int epoll = -1;
  std::uint16_t port = 0;
  std::uint64_t count = 0;
  std::unordered_set<std::unique_ptr<Link>> links;
  std::unordered_map<std::int32_t, Link*> by_process;
  std::vector<Link*> later;  // Those that are connected to the server later.
  std::array<char, kChunk> chunk{};

  bool listen();
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
  void connected(Link& link);
  [[nodiscard]] bool must_wait(const Link& link) const;
  void refuse(Link& link, std::string_view code, const std::string& what);
  bool flush(Side& side);
  void settle(Link& link);
  void connect_waiting();
  void bury();
};

Proxy::Proxy(std::unique_ptr<State> state) : state_(std::move(state)) {}
Proxy::~Proxy() = default;
std::uint16_t Proxy::port() const { return state_->port; }

Result<std::unique_ptr<Proxy>> Proxy::open(const net::Address& listen, const db::Host& server,
                                           Ledger& ledger, bool observes) {
  auto state = std::make_unique<State>(ledger, observes);
  auto found = addresses_of(server);
  if (!found.ok()) return found.error();
  state->addresses = std::move(*found);
  auto listening = net::listen_at(listen);
  if (!listening.ok()) return listening.error();
  state->listener = listening->socket;
  state->port = listening->port;
  (void)::fcntl(state->listener, F_SETFL, O_NONBLOCK);
  state->epoll = ::epoll_create1(EPOLL_CLOEXEC);
  if (state->epoll < 0 || !state->listen()) {
    return system_error("epoll", "cannot watch connections");
  }
  return std::unique_ptr<Proxy>(new Proxy(std::move(state)));
}

Status Proxy::serve(const std::atomic<bool>& stop) {
  std::array<epoll_event, 128> events{};
  while (!stop) {
    const int patience = state_->later.empty() ? 100 : 1;
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
    state_->connect_waiting();
    state_->bury();
  }
  for (const auto& link : state_->links) state_->close(*link);
  state_->bury();
  return {};
}

bool Proxy::State::listen() {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = nullptr;  // The listener.
  listens = ::epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event) == 0;
  return listens;
}

void Proxy::State::accept_all() {
  for (;;) {
    const int socket = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (socket < 0 && (errno == EMFILE || errno == ENFILE)) {
      // There is no room before another connection ends; clients wait until then.
      (void)::epoll_ctl(epoll, EPOLL_CTL_DEL, listener, nullptr);
      listens = false;
    }
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
  if (side.ended && wanted == 0) {  // Its end would be told again and again.
    if (side.registered) (void)::epoll_ctl(epoll, EPOLL_CTL_DEL, side.socket, nullptr);
    side.registered = false;
    return;
  }
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
  std::erase_if(later, [](const Link* link) { return link->dead; });
  const std::size_t buried = std::erase_if(links, [](const auto& link) { return link->dead; });
  if (buried > 0 && !listens) (void)listen();
}

void Proxy::State::ready(Side& side, std::uint32_t events) {
  Link& link = *side.link;
  if (link.dead) return;
  if (link.connecting && &side == &link.server) return connected(link);
  if ((events & EPOLLOUT) != 0 && !flush(side)) return close(link);
  if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) read(side);
  settle(link);
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
    link.process = -body.int32();
    if (!must_wait(link)) return connect(link);
    later.push_back(&link);
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

// Whether this asks to cancel a statement, and we have one of our own there, which is not meant.
bool Proxy::State::must_wait(const Link& link) const {
  if (!link.cancels) return false;
  const auto found = by_process.find(-link.process);
  return found != by_process.end() && found->second->observer != nullptr &&
         found->second->observer->probing();
}

void Proxy::State::connect_waiting() {
  for (Link* link : std::exchange(later, {})) {
    if (link->dead) continue;
    if (must_wait(*link)) {
      later.push_back(link);
      continue;
    }
    connect(*link);
    settle(*link);
  }
}

// Begins to connect to the server, at the first address not tried yet that does not fail at once.
void Proxy::State::connect(Link& link) {
  for (; link.address < addresses.size(); ++link.address) {
    const ServerAddress& to = addresses[link.address];
    const int socket =
        ::socket(to.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (socket < 0 && errno != EAFNOSUPPORT) {
      return refuse(link, "53300", "ouro tap has no more sockets");
    }
    const bool begun =
        socket >= 0 &&
        (::connect(socket, reinterpret_cast<const sockaddr*>(&to.storage), to.size) == 0 ||
         errno == EINPROGRESS);
    if (begun) {
      make_quick(socket);
      link.server.socket = socket;
      link.connecting = true;
      return;
    }
    link.reason = errno;
    if (socket >= 0) ::close(socket);
    // A local socket that has no room now.
    if (link.reason == EAGAIN) return later.push_back(&link);
  }
  refuse(link, "08001",
         fmt::format("ouro tap cannot reach the server: {}", std::strerror(link.reason)));
}

// The server has taken the connection, or not.
void Proxy::State::connected(Link& link) {
  socklen_t size = sizeof(link.reason);
  link.connecting = false;
  if (::getsockopt(link.server.socket, SOL_SOCKET, SO_ERROR, &link.reason, &size) < 0) {
    link.reason = errno;
  }
  if (link.reason != 0) {
    drop(link.server);
    ++link.address;
    connect(link);
  }
  settle(link);
}

void Proxy::State::refuse(Link& link, std::string_view code, const std::string& what) {
  drop(link.server);
  link.server.out.clear();
  link.server.sent = 0;
  put_fatal(link.client.out, code, what);
  link.server.ended = true;
}

// Sends what can be sent. False: the client has gone. What a server said before it went is still
// read.
bool Proxy::State::flush(Side& side) {
  while (!side.deaf && side.waiting() > 0) {
    const ssize_t size =
        ::send(side.socket, side.out.data() + side.sent, side.waiting(), MSG_NOSIGNAL);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return true;
    if (size < 0 && &side == &side.link->client) return false;
    side.deaf = size < 0;
    side.sent += size < 0 ? 0 : static_cast<std::size_t>(size);
  }
  side.out.clear();
  side.sent = 0;
  return true;
}

// Sends what waits, and closes what is over.
void Proxy::State::settle(Link& link) {
  if (link.dead) return;
  for (Side* side : {&link.client, &link.server}) {
    const bool early = side == &link.server && link.connecting;
    if (side->socket >= 0 && !early && !flush(*side)) return close(link);
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
