// POSTs to a URL, over one connection that is kept.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ouro/result.h"

namespace ouro::net {

struct HttpAnswer {
  int status = 0;  // Zero: none came; `body` says why.
  std::string body;
  int retry_after = 0;  // Seconds that the server asks to wait; zero: it does not.
  [[nodiscard]] bool ok() const { return status >= 200 && status < 300; }
};

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

class HttpClient {
 public:
  // `url` is http(s)://HOST[:PORT][/PATH]; the error is another kind of text.
  [[nodiscard]] static Result<HttpClient> make(const std::string& url);
  HttpClient(HttpClient&&) noexcept;
  HttpClient& operator=(HttpClient&&) noexcept;
  ~HttpClient();

  // Waits at most half a minute. `path` is added to the URL's.
  [[nodiscard]] HttpAnswer post(const std::string& path, const std::string& body,
                                const std::string& content_type, const HttpHeaders& headers = {});

 private:
  struct Connection;
  explicit HttpClient(std::unique_ptr<Connection> connection);
  std::unique_ptr<Connection> connection_;
};

}  // namespace ouro::net
