// Talks HTTP to a URL, over one connection that is kept open. Thread safety: none.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ouro/result.h"

namespace ouro::net {

struct HttpAnswer {
  int status = 0;  // Zero: no answer came; `body` says why.
  std::string body;
  int retry_after = 0;  // For how many seconds the server asks to wait; zero: it does not ask.
  [[nodiscard]] bool ok() const { return status >= 200 && status < 300; }
};

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

class HttpClient {
 public:
  // A client for `url`, http(s)://HOST[:PORT][/PATH]; the error is any other text. Does not connect
  // yet.
  [[nodiscard]] static Result<HttpClient> make(const std::string& url);
  HttpClient(HttpClient&&) noexcept;
  HttpClient& operator=(HttpClient&&) noexcept;
  ~HttpClient();

  // POSTs `body` to the URL with `path` added to it. Blocks: 3 seconds at most to connect, then
  // until nothing was sent or received for half a minute. Connects again if need be.
  [[nodiscard]] HttpAnswer post(const std::string& path, const std::string& body,
                                const std::string& content_type, const HttpHeaders& headers = {});
  // GETs `path`, likewise.
  [[nodiscard]] HttpAnswer get(const std::string& path);
  // Ends a post() that another thread waits for; this one may be called from any thread.
  void stop();

 private:
  struct Connection;
  explicit HttpClient(std::unique_ptr<Connection> connection);
  std::unique_ptr<Connection> connection_;
};

}  // namespace ouro::net
