#include "serve/http_service.h"

#include <fmt/format.h>
#include <httplib.h>

#include <charconv>
#include <future>
#include <thread>
#include <utility>

#include "ouro/version.h"
#include "report/json_writer.h"
#include "serve/page.h"

namespace ouro::serving {
namespace {

using httplib::Request;
using httplib::Response;

// Each connection occupies a thread while it is open.
constexpr std::size_t kThreads = 64;
// How long a client waits for room in the queue before it is told to try again.
constexpr auto kQueuePatience = std::chrono::seconds(1);
// How long a stream of events waits for one before it looks whether the service is stopping.
constexpr auto kEventPatience = std::chrono::milliseconds(250);
// How long stop() waits for streams of events to end.
constexpr auto kStreamPatience = std::chrono::seconds(2);
constexpr std::size_t kEventsAtOnce = 256;
constexpr char kJson[] = "application/json";
constexpr char kNdjson[] = "application/x-ndjson";

void refuse(Response& response, int status, std::string_view what) {
  JsonWriter json;
  json.begin_object().member("error", what).end_object();
  response.status = status;
  response.set_content(std::move(json).finish(), kJson);
}

template <class Number>
bool parse_number(std::string_view text, Number& number) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  return !text.empty() && problem == std::errc() && end == text.data() + text.size();
}

// Parses "client/number"; false if `text` is not of that form.
bool parse_batch_id(const std::string& text, BatchId& id) {
  const std::size_t slash = text.rfind('/');
  if (slash == std::string::npos || slash == 0 || slash > kMaxClientName) return false;
  id.client = text.substr(0, slash);
  return parse_number(std::string_view(text).substr(slash + 1), id.number) && id.number > 0;
}

// The host of a Host or Origin header, without its port.
std::string host_of(std::string_view text) {
  if (const std::size_t scheme = text.find("://"); scheme != text.npos) {
    text.remove_prefix(scheme + 3);
  }
  if (text.starts_with('[')) return std::string(text.substr(1, text.find(']') - 1));
  return std::string(text.substr(0, text.find(':')));
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
  httplib::Server http;
  std::thread listener;
  std::atomic<bool> stopping{false};
  std::atomic<bool> ended{false};  // The listener has returned.
  std::atomic<int> streams{0};     // How many streams of events are under way.
  bool loopback = true;            // Whether only this machine can connect.

  void add_routes();
  // Whether the request may be served. If not, writes the refusal into `response`.
  [[nodiscard]] bool admit(const Request& request, Response& response) const;
  void check(const Request& request, Response& response, const httplib::ContentReader& content);
  // Reads the body. If that fails, writes the refusal into `response` and returns false.
  [[nodiscard]] bool read_body(Response& response, const httplib::ContentReader& content,
                               std::string& body) const;
  void submit(const Request& request, Response& response, Batch batch, const std::string& body);
  void stream_events(const Request& request, Response& response);
  void one_event(const Request& request, Response& response) const;
};

// A service without a token trusts whoever can connect, so web pages of other sites, open in a
// browser on this machine, must not reach it. A request with the Origin of another site is a script
// of such a page. A Host that is not this machine is a name that somebody else pointed to it (DNS
// rebinding).
bool HttpService::Server::admit(const Request& request, Response& response) const {
  const std::string host = host_of(request.get_header_value("Host"));
  const bool foreign =
      request.has_header("Origin") && host_of(request.get_header_value("Origin")) != host;
  if (foreign || (loopback && options.token.empty() && !net::is_loopback(host))) {
    refuse(response, 403, "requests from other sites are not taken");
    return false;
  }
  if (options.token.empty()) return true;
  const std::string given = request.get_header_value("Authorization");
  constexpr std::string_view kBearer = "Bearer ";
  if (given.starts_with(kBearer) &&
      net::same_secret(std::string_view(given).substr(kBearer.size()), options.token)) {
    return true;
  }
  response.set_header("WWW-Authenticate", "Bearer");
  refuse(response, 401, "send the token: Authorization: Bearer TOKEN");
  return false;
}

bool HttpService::Server::read_body(Response& response, const httplib::ContentReader& content,
                                    std::string& body) const {
  bool too_large = false;
  // A body that is too large is read to its end, but not kept: if we closed the connection early,
  // the client might not see the answer.
  const bool whole = content([&](const char* bytes, std::size_t size) {
    too_large = too_large || body.size() + size > options.body_limit;
    if (!too_large) body.append(bytes, size);
    return true;
  });
  if (too_large || response.status == 413) {
    refuse(response, 413,
           fmt::format("larger than {} bytes; send smaller batches", options.body_limit));
    return false;
  }
  if (!whole) {
    refuse(response, 400, "the body ends too early");
    return false;
  }
  return true;
}

void HttpService::Server::check(const Request& request, Response& response,
                                const httplib::ContentReader& content) {
  if (!admit(request, response)) {
    static_cast<void>(content([](const char*, std::size_t) { return true; }));
    return;
  }
  std::size_t size = options.body_limit;
  if (request.has_header("Content-Length")) {
    static_cast<void>(parse_number(request.get_header_value("Content-Length"), size));
  }
  const auto deadline = std::chrono::steady_clock::now() + kQueuePatience;
  auto reservation = queue.reserve(std::min(size, options.body_limit), deadline);
  if (!reservation) {
    static_cast<void>(content([](const char*, std::size_t) { return true; }));
    response.set_header("Retry-After", "1");
    refuse(response, 503, "too much input waits for the check; try again");
    return;
  }
  std::string body;
  if (!read_body(response, content, body)) return;
  Batch batch;
  batch.reservation = *std::move(reservation);
  if (request.has_header("X-Ouro-Batch") &&
      !parse_batch_id(request.get_header_value("X-Ouro-Batch"), batch.id)) {
    return refuse(response, 400, "X-Ouro-Batch must be CLIENT/NUMBER, from 1 on");
  }
  submit(request, response, std::move(batch), body);
}

void HttpService::Server::submit(const Request& request, Response& response, Batch batch,
                                 const std::string& body) {
  batch.arrived = std::chrono::steady_clock::now();
  const Format format = format_of(body, request.get_header_value("Content-Type"));
  auto parsed = parse_batch(body, format, "body", options.rules);
  if (!parsed.ok()) {
    monitor.count_rejected();
    return refuse(response, 400, parsed.error().to_string());
  }
  const std::size_t txns = parsed->history->txn_count();
  batch.history = std::move(parsed->history);
  batch.binary = std::move(parsed->binary);
  const auto promise = std::make_shared<std::promise<Receipt>>();
  batch.done = [promise](const Receipt& receipt) { promise->set_value(receipt); };
  auto answer = promise->get_future();
  if (!queue.submit(std::move(batch))) {
    response.set_header("Retry-After", "1");
    return refuse(response, 503, "the service is stopping; send it again later");
  }
  const Receipt receipt = answer.get();
  if (receipt.error) return refuse(response, 400, receipt.error->to_string());
  JsonWriter json;
  json.begin_object().member("ok", true).member("transactions", txns);
  if (receipt.repeated) json.member("repeated", true);
  json.end_object();
  response.set_content(std::move(json).finish(), kJson);
}

void HttpService::Server::stream_events(const Request& request, Response& response) {
  std::uint64_t after = 0;
  if (request.has_param("after") && !parse_number(request.get_param_value("after"), after)) {
    return refuse(response, 400, "after must be the number of an event");
  }
  const bool live = request.get_param_value("live") != "no";
  response.set_header("Cache-Control", "no-store");
  ++streams;
  response.set_chunked_content_provider(
      kNdjson,
      [this, after, live](std::size_t, httplib::DataSink& sink) mutable {
        const auto patience = live ? kEventPatience : std::chrono::milliseconds(0);
        const auto lines = hub.after(after, kEventsAtOnce, patience);
        std::string text;
        for (const EventHub::Line& line : lines) text += line.text;
        if (!lines.empty()) after = lines.back().number;
        if (lines.empty() && (!live || stopping || hub.stopped())) {
          sink.done();
          return true;
        }
        return text.empty() ? sink.is_writable() : sink.write(text.data(), text.size());
      },
      [this](bool) { --streams; });
}

void HttpService::Server::one_event(const Request& request, Response& response) const {
  std::uint64_t number = 0;
  if (!parse_number(request.matches[1].str(), number) || number == 0) {
    return refuse(response, 404, "no such event");
  }
  const auto lines = hub.after(number - 1, 1, std::chrono::milliseconds(0));
  if (lines.empty() || lines.front().number != number) {
    return refuse(response, 404, "no such event, or it is no longer kept");
  }
  response.set_content(lines.front().text, kJson);
}

void HttpService::Server::add_routes() {
  http.Post("/check",
            [this](const Request& request, Response& response,
                   const httplib::ContentReader& content) { check(request, response, content); });
  const auto guarded = [this](auto handler) {
    return [this, handler](const Request& request, Response& response) {
      if (admit(request, response)) handler(request, response);
    };
  };
  http.Get("/events", guarded([this](const Request& request, Response& response) {
             stream_events(request, response);
           }));
  http.Get(R"(/event/(\d+))", guarded([this](const Request& request, Response& response) {
             one_event(request, response);
           }));
  http.Get("/summary", guarded([this](const Request&, Response& response) {
             response.set_content(monitor.summary(), kJson);
           }));
  http.Get("/metrics", guarded([this](const Request&, Response& response) {
             response.set_content(monitor.metrics(), "text/plain; version=0.0.4; charset=utf-8");
           }));
  // The next two need no token: they reveal nothing. The page asks the user for the token.
  http.Get("/healthz", [](const Request&, Response& response) {
    response.set_content("ok\n", "text/plain; charset=utf-8");
  });
  http.Get("/", [](const Request&, Response& response) {
    const std::string once = make_nonce();
    response.set_header("Content-Security-Policy", page_policy(once));
    response.set_header("X-Frame-Options", "DENY");
    response.set_content(page(once), "text/html; charset=utf-8");
  });
  http.set_error_handler([](const Request&, Response& response) {
    if (!response.body.empty()) return;
    refuse(response, response.status,
           response.status == 404 ? "no such page; see " + document_address("serve.md")
                                  : "the request is not valid");
  });
}

HttpService::HttpService(Options options, BatchQueue& queue, EventHub& hub, Monitor& monitor)
    : server_(std::make_unique<Server>(std::move(options), queue, hub, monitor)) {}

HttpService::~HttpService() { stop(); }

Result<std::uint16_t> HttpService::start(const net::Address& address) {
  httplib::Server& http = server_->http;
  server_->loopback = net::is_loopback(address.host);
  server_->add_routes();
  http.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
  http.set_tcp_nodelay(true);
  http.set_keep_alive_max_count(1'000'000'000);
  http.set_keep_alive_timeout(2);  // In seconds. A silent client can delay stop() as long.
  http.set_read_timeout(10);
  http.set_write_timeout(10);
  http.set_payload_max_length(server_->options.body_limit);
  http.set_default_headers(
      {{"X-Content-Type-Options", "nosniff"}, {"Referrer-Policy", "no-referrer"}});
  // The default would be SO_REUSEPORT, with which two services at one address share its clients.
  http.set_socket_options([](int socket) {
    const int on = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  });
  int port = address.port;
  if (port == 0) {
    port = http.bind_to_any_port(address.host);
  } else if (!http.bind_to_port(address.host, port)) {
    port = -1;
  }
  if (port <= 0) {
    Error error;
    error.what =
        fmt::format("cannot listen at {}; choose another address or port", net::to_string(address));
    return error;
  }
  server_->listener = std::thread([server = server_.get()] {
    server->http.listen_after_bind();
    server->ended = true;
  });
  return static_cast<std::uint16_t>(port);
}

void HttpService::stop() {
  server_->stopping = true;
  if (!server_->listener.joinable()) return;
  // http.stop() has no effect before the listener runs.
  while (!server_->http.is_running() && !server_->ended)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  // Since `stopping` is set, streams of events end by themselves; http.stop() would cut them off.
  const auto deadline = std::chrono::steady_clock::now() + kStreamPatience;
  while (server_->streams > 0 && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  server_->http.stop();
  server_->listener.join();
}

}  // namespace ouro::serving
