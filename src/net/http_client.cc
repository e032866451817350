#include "net/http_client.h"

#include <fmt/format.h>
#include <httplib.h>

#include <charconv>

namespace ouro::net {

struct HttpClient::Connection {
  explicit Connection(const std::string& origin) : client(origin) {}
  // The place of `more` on the server.
  [[nodiscard]] std::string target(const std::string& more) const {
    std::string whole = path;
    while (!more.empty() && whole.ends_with('/')) whole.pop_back();
    whole += more;
    return whole.empty() ? "/" : whole;
  }

  httplib::Client client;
  std::string path;
};

namespace {

HttpAnswer answer_of(const httplib::Result& result) {
  if (!result) return {.status = 0, .body = httplib::to_string(result.error())};
  HttpAnswer answer{.status = result->status, .body = result->body};
  const std::string wait = result->get_header_value("Retry-After");
  std::from_chars(wait.data(), wait.data() + wait.size(), answer.retry_after);
  return answer;
}

}  // namespace

HttpClient::HttpClient(std::unique_ptr<Connection> connection)
    : connection_(std::move(connection)) {}
HttpClient::HttpClient(HttpClient&&) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&&) noexcept = default;
HttpClient::~HttpClient() = default;

Result<HttpClient> HttpClient::make(const std::string& url) {
  const std::size_t scheme = url.find("://");
  const std::string_view name = std::string_view(url).substr(0, scheme);
  if (scheme == url.npos || (name != "http" && name != "https") || scheme + 3 == url.size()) {
    Error error;
    error.what = fmt::format("'{}' is no URL; write http://HOST:PORT/", url);
    return error;
  }
  const std::size_t slash = std::min(url.find('/', scheme + 3), url.size());
  auto connection = std::make_unique<Connection>(url.substr(0, slash));
  connection->path = url.substr(slash);
  connection->client.set_keep_alive(true);
  connection->client.set_tcp_nodelay(true);
  connection->client.set_connection_timeout(3);
  connection->client.set_read_timeout(30);
  connection->client.set_write_timeout(30);
  return HttpClient(std::move(connection));
}

void HttpClient::stop() { connection_->client.stop(); }

HttpAnswer HttpClient::post(const std::string& path, const std::string& body,
                            const std::string& content_type, const HttpHeaders& headers) {
  const httplib::Headers given(headers.begin(), headers.end());
  return answer_of(connection_->client.Post(connection_->target(path), given, body, content_type));
}

HttpAnswer HttpClient::get(const std::string& path) {
  return answer_of(connection_->client.Get(connection_->target(path)));
}

}  // namespace ouro::net
