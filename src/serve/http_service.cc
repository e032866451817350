#include "serve/http_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <charconv>
#include <optional>
#include <utility>

#include "net/http_server.h"
#include "ouro/version.h"
#include "report/json_writer.h"
#include "serve/page.h"
#include "serve/sources.h"

namespace ouro::serving {
namespace {

using net::HttpRequest;
using net::HttpResponse;
using ReplyTo = std::shared_ptr<net::HttpServer::Reply>;

constexpr std::size_t kEventsAtOnce = 256;
constexpr char kJson[] = "application/json";
constexpr char kNdjson[] = "application/x-ndjson";
constexpr char kPlain[] = "text/plain; charset=utf-8";
constexpr std::string_view kDefaultSource = "default";
constexpr std::string_view kSourcePath = "/source/";
constexpr std::string_view kUndecided = "/undecided";
constexpr std::string_view kEventPath = "/event/";

HttpResponse refusal(int status, std::string_view what) {
  JsonWriter json;
  json.begin_object().member("error", what).end_object();
  HttpResponse response{.status = status, .type = kJson, .body = std::move(json).finish()};
  if (status == 503 || status == 507) response.headers.emplace_back("Retry-After", "1");
  if (status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
  return response;
}

template <class Number>
bool parse_number(std::string_view text, Number& number) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  return !text.empty() && problem == std::errc() && end == text.data() + text.size();
}

bool is_source_name(std::string_view name) {
  return name.size() <= Sources::kMaxNameBytes &&
         std::none_of(name.begin(), name.end(),
                      [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

// The source that an address names.
std::string source_in(std::string_view name) {
  return name == kDefaultSource ? std::string() : std::string(name);
}

// Parses "client/number"; false if `text` is not of that form.
bool parse_batch_id(const std::string& text, BatchId& id) {
  const std::size_t slash = text.rfind('/');
  if (slash == std::string::npos || slash == 0 || slash > kMaxClientName) return false;
  id.client = text.substr(0, slash);
  return parse_number(std::string_view(text).substr(slash + 1), id.number) && id.number > 0;
}

// "host:port" of a Host header; nothing if it is no such thing. `port` is what counts if it names
// none.
std::optional<net::Address> address_of(std::string text, std::uint16_t port) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const std::size_t after = text.starts_with('[') ? text.find(']') : 0;
  if (text.empty() || after == text.npos) return std::nullopt;
  if (text.find(':', after) == text.npos) text += ':' + std::to_string(port);
  auto address = net::parse_address(text);
  if (!address.ok()) return std::nullopt;
  return *std::move(address);
}

// The same of an Origin header.
std::optional<net::Address> origin_of(const std::string& text) {
  const std::size_t scheme = text.find("://");
  if (scheme == text.npos) return std::nullopt;
  return address_of(text.substr(scheme + 3), text.starts_with("https") ? 443 : 80);
}

}  // namespace

struct HttpService::Server {
  Server(Options options_given, BatchQueue& queue_given, EventHub& hub_given,
         Monitor& monitor_given)
      : options(std::move(options_given)),
        queue(queue_given),
        hub(hub_given),
        monitor(monitor_given) {}

  const Options options;
  BatchQueue& queue;
  EventHub& hub;
  Monitor& monitor;
  std::optional<net::HttpServer> http;
  std::atomic<bool> stopping{false};
  bool loopback = true;  // Whether only this machine can connect.

  // Why the request is not served; nothing if it is.
  [[nodiscard]] std::optional<HttpResponse> objection(const HttpRequest& request) const;
  [[nodiscard]] net::HttpServer::Admission admit(const HttpRequest& head);
  [[nodiscard]] HttpResponse late() const;
  [[nodiscard]] HttpResponse nowhere() const;
  void handle(const HttpRequest& request, const std::shared_ptr<void>& ticket,
              const ReplyTo& reply);
  [[nodiscard]] HttpResponse get(const HttpRequest& request) const;
  void check(const HttpRequest& request, const std::shared_ptr<void>& ticket, const ReplyTo& reply);
  void forget(const HttpRequest& request, const ReplyTo& reply);
  void doubt(const HttpRequest& request, const ReplyTo& reply);
  // Submits what is no batch of transactions, and answers with what became of it.
  void ask(Batch batch, const ReplyTo& reply);
  void stream_events(const HttpRequest& request, const ReplyTo& reply);
  [[nodiscard]] HttpResponse one_event(const std::string& path) const;
};

// A service without a token trusts whoever can connect, so web pages of other sites, open in a
// browser on this machine, must not reach it. A request with the Origin of another site is a script
// of such a page. A Host that is not this machine is a name that somebody else pointed to it (DNS
// rebinding). Both are compared as a whole, with their ports.
std::optional<HttpResponse> HttpService::Server::objection(const HttpRequest& request) const {
  // These two reveal nothing. The page asks the user for the token.
  if (request.method == "GET" && (request.path == "/" || request.path == "/healthz")) {
    return std::nullopt;
  }
  const auto host = address_of(request.header("host"), 80);
  const auto origin = request.has("origin") ? origin_of(request.header("origin")) : host;
  const bool foreign = !host || !origin || origin->host != host->host || origin->port != host->port;
  const bool rebound =
      loopback && options.token.empty() && (!host || !net::is_loopback(host->host));
  if (foreign || rebound) return refusal(403, "requests from other sites are not taken");
  if (options.token.empty()) return std::nullopt;
  constexpr std::string_view kBearer = "Bearer ";
  const std::string& given = request.header("authorization");
  if (given.starts_with(kBearer) &&
      net::same_secret(std::string_view(given).substr(kBearer.size()), options.token)) {
    return std::nullopt;
  }
  return refusal(401, "send the token: Authorization: Bearer TOKEN");
}

// A batch gets room in the queue as it comes.
net::HttpServer::Admission HttpService::Server::admit(const HttpRequest& head) {
  if (auto why = objection(head)) return {.refusal = std::move(why), .ticket = nullptr};
  if (head.method != "POST" || head.path != "/check") return {};
  if (!options.elsewhere.empty()) return {.refusal = nowhere(), .ticket = nullptr};
  if (queue.closed()) return {.refusal = late(), .ticket = nullptr};
  return {.refusal = std::nullopt, .ticket = std::make_shared<Reservation>(queue, 0)};
}

HttpResponse HttpService::Server::late() const {
  return refusal(503, queue.closed() ? "the service is stopping; try again"
                                     : "too much input waits for the check; try again");
}

HttpResponse HttpService::Server::nowhere() const {
  return refusal(404, "transactions are not taken here, but by " + options.elsewhere);
}

void HttpService::Server::handle(const HttpRequest& request, const std::shared_ptr<void>& ticket,
                                 const ReplyTo& reply) {
  const std::string& path = request.path;
  if (!options.elsewhere.empty() && request.method != "GET") return reply->send(nowhere());
  if (request.method == "POST" && path == "/check") return check(request, ticket, reply);
  if (request.method == "DELETE" && path.starts_with(kSourcePath)) return forget(request, reply);
  if (request.method == "POST" && path.starts_with(kSourcePath) && path.ends_with(kUndecided)) {
    return doubt(request, reply);
  }
  if (request.method == "GET" && path == "/events") return stream_events(request, reply);
  reply->send(get(request));
}

HttpResponse HttpService::Server::get(const HttpRequest& request) const {
  const std::string& path = request.path;
  if (request.method != "GET") return refusal(404, "no such address for " + request.method);
  if (path.starts_with(kEventPath)) return one_event(path);
  if (path == "/summary") return {.type = kJson, .body = monitor.summary()};
  if (path == "/metrics") {
    return {.type = "text/plain; version=0.0.4; charset=utf-8", .body = monitor.metrics()};
  }
  if (path == "/healthz") return {.type = kPlain, .body = "ok\n"};
  if (path != "/") return refusal(404, "no such page; see " + document_address("serve.md"));
  const std::string once = make_nonce();
  return {.type = "text/html; charset=utf-8",
          .body = page(once),
          .headers = {{"Content-Security-Policy", page_policy(once)}, {"X-Frame-Options", "DENY"}}};
}

void HttpService::Server::check(const HttpRequest& request, const std::shared_ptr<void>& ticket,
                                const ReplyTo& reply) {
  Batch batch;
  batch.reservation = std::move(*std::static_pointer_cast<Reservation>(ticket));
  batch.arrived = std::chrono::steady_clock::now();
  if (request.has("x-ouro-batch") && !parse_batch_id(request.header("x-ouro-batch"), batch.id)) {
    return reply->send(refusal(400, "X-Ouro-Batch must be CLIENT/NUMBER, from 1 on"));
  }
  batch.source = request.header("x-ouro-source");
  if (!is_source_name(batch.source)) {
    return reply->send(refusal(400, "X-Ouro-Source must be up to 200 printable characters"));
  }
  static_cast<void>(batch.reservation.resize(request.body.size()));
  const Format format = format_of(request.body, request.header("content-type"));
  auto parsed = parse_batch(request.body, format, "body", options.rules);
  if (!parsed.ok()) {
    monitor.count_rejected();
    return reply->send(refusal(400, parsed.error().to_string()));
  }
  const std::size_t txns = parsed->history->txn_count();
  batch.history = std::move(parsed->history);
  batch.binary = std::move(parsed->binary);
  batch.done = [reply, txns](const Receipt& receipt) {
    if (receipt.error) {
      return reply->send(refusal(receipt.full ? 507 : 400, receipt.error->to_string()));
    }
    JsonWriter json;
    json.begin_object().member("ok", true).member("transactions", txns);
    if (receipt.repeated) json.member("repeated", true);
    if (receipt.unjudged) json.member("undecided", true);
    json.end_object();
    reply->send({.type = kJson, .body = std::move(json).finish()});
  };
  if (queue.submit(std::move(batch))) return;
  reply->send(refusal(503, "the service is stopping; send it again later"));
}

void HttpService::Server::forget(const HttpRequest& request, const ReplyTo& reply) {
  Batch batch;
  batch.forget = true;
  batch.source = source_in(request.path.substr(kSourcePath.size()));
  ask(std::move(batch), reply);
}

void HttpService::Server::doubt(const HttpRequest& request, const ReplyTo& reply) {
  std::string_view name = std::string_view(request.path).substr(kSourcePath.size());
  name.remove_suffix(std::min(name.size(), kUndecided.size()));
  Batch batch;
  batch.source = source_in(name);
  if (name.empty() || !is_source_name(batch.source)) {
    return reply->send(refusal(404, "no such source; see " + document_address("serve.md")));
  }
  std::string reason = valid_utf8(reason_of(request.body));
  while (!reason.empty() && std::isspace(static_cast<unsigned char>(reason.back())) != 0) {
    reason.pop_back();
  }
  if (reason.empty()) reason = "its recorder says so";
  batch.doubt = Doubt{.scope = Doubt::Scope::Everything, .reason = std::move(reason)};
  ask(std::move(batch), reply);
}

void HttpService::Server::ask(Batch batch, const ReplyTo& reply) {
  const int refused = batch.forget ? 404 : 400;
  batch.done = [reply, refused](const Receipt& receipt) {
    reply->send(receipt.error ? refusal(receipt.full ? 507 : refused, receipt.error->to_string())
                              : HttpResponse{.type = kJson, .body = "{\"ok\":true}\n"});
  };
  if (!queue.submit(std::move(batch))) reply->send(refusal(503, "the service is stopping"));
}

void HttpService::Server::stream_events(const HttpRequest& request, const ReplyTo& reply) {
  std::uint64_t after = 0;
  const auto asked = request.query.find("after");
  if (asked != request.query.end() && !parse_number(asked->second, after)) {
    return reply->send(refusal(400, "after must be the number of an event"));
  }
  const auto live = request.query.find("live");
  const bool ends = live != request.query.end() && live->second == "no";
  reply->stream({.type = kNdjson, .body = {}, .headers = {{"Cache-Control", "no-store"}}},
                [this, after, ends](std::string& out) mutable {
                  const auto lines = hub.after(after, kEventsAtOnce, std::chrono::milliseconds(0));
                  for (const EventHub::Line& line : lines) out += line.text;
                  if (!lines.empty()) after = lines.back().number;
                  return !lines.empty() || !(ends || stopping || hub.stopped());
                });
}

HttpResponse HttpService::Server::one_event(const std::string& path) const {
  std::uint64_t number = 0;
  if (!parse_number(std::string_view(path).substr(kEventPath.size()), number) || number == 0) {
    return refusal(404, "no such event");
  }
  const auto lines = hub.after(number - 1, 1, std::chrono::milliseconds(0));
  if (lines.empty() || lines.front().number != number) {
    return refusal(404, "no such event, or it is no longer kept");
  }
  return {.type = kJson, .body = lines.front().text};
}

HttpService::HttpService(Options options, BatchQueue& queue, EventHub& hub, Monitor& monitor)
    : server_(std::make_unique<Server>(std::move(options), queue, hub, monitor)) {}

HttpService::~HttpService() { stop(); }

Result<std::uint16_t> HttpService::start(const net::Address& address) {
  Server& s = *server_;
  s.loopback = net::is_loopback(address.host);
  s.http.emplace(
      net::HttpServer::Limits{.body = s.options.body_limit},
      net::HttpServer::Handlers{
          .admit = [&s](const HttpRequest& head) { return s.admit(head); },
          .make_room =
              [](const std::shared_ptr<void>& ticket, std::size_t bytes) {
                return std::static_pointer_cast<Reservation>(ticket)->resize(bytes);
              },
          .late = [&s] { return s.late(); },
          .crowded = [&s] { return s.queue.crowded(); },
          .handle = [&s](const HttpRequest& request, const std::shared_ptr<void>& ticket,
                         const ReplyTo& reply) { s.handle(request, ticket, reply); },
          .headers = {{"X-Content-Type-Options", "nosniff"}, {"Referrer-Policy", "no-referrer"}},
          .complain =
              [](const net::HttpProblem& problem) {
                return refusal(problem.status, problem.what);
              }});
  return s.http->start(address);
}

void HttpService::stop() {
  server_->stopping = true;  // Streams of events end when all was sent.
  if (server_->http) server_->http->stop();
}

}  // namespace ouro::serving
