// Reads HTTP/1.1 requests from bytes as they come, and writes responses.
//
// Not here: sockets and time-outs; see http_server.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ouro::net {

struct HttpRequest {
  std::string method;
  std::string path;                            // Decoded, without the query.
  std::map<std::string, std::string> query;    // Decoded.
  std::map<std::string, std::string> headers;  // Names in lower case.
  std::string body;                            // Without the marks of chunks.
  bool gzip = false;                           // The body is compressed; see unpack().
  bool keep_alive = true;

  // The header, or "". `name` is in lower case.
  [[nodiscard]] const std::string& header(const std::string& name) const;
  [[nodiscard]] bool has(const std::string& name) const { return headers.contains(name); }
};

struct HttpResponse {
  int status = 200;
  std::string type;  // Content-Type.
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers = {};
};

// The bytes of a response. `chunked`: the body follows in chunks.
[[nodiscard]] std::string to_bytes(const HttpResponse& response, bool keep_alive, bool chunked);
[[nodiscard]] std::string to_chunk(std::string_view bytes);

// Why a request cannot be read.
struct HttpProblem {
  int status = 400;
  std::string what;
};

// Decompresses gzip as it comes: any number of members, one after the other.
class Gunzip {
 public:
  Gunzip();
  ~Gunzip();
  Gunzip(const Gunzip&) = delete;
  Gunzip& operator=(const Gunzip&) = delete;
  // Appends what `bytes` decompress to, unless `out` would have more than `limit` bytes. False:
  // they are damaged, or there are too many; see too_large().
  [[nodiscard]] bool add(std::string_view bytes, std::size_t limit, std::string& out);
  // Whether the last member is complete.
  [[nodiscard]] bool complete() const { return ended_; }
  [[nodiscard]] bool too_large() const { return too_large_; }

 private:
  struct State;
  std::unique_ptr<State> state_;
  bool ended_ = true;  // Between members.
  bool too_large_ = false;
};

// Decompresses the body, if it is compressed. Returns what is wrong with it, if it is damaged or
// would have more than `limit` bytes.
[[nodiscard]] std::optional<HttpProblem> unpack(HttpRequest& request, std::size_t limit);

class HttpReader {
 public:
  static constexpr std::size_t kMaxHead = 32 * 1024;  // Bytes of a request line and headers.

  enum class Stage {
    Head,     // The request line and headers are not complete.
    Decide,   // They are. Call take_body() or discard() before more bytes are used.
    Body,     // The body is not complete.
    Done,     // The request is complete; next() begins the next one.
    Refused,  // See problem(). Nothing more can be read from this connection.
  };
  // Takes bytes that came, and goes on as far as they allow.
  Stage add(std::string_view bytes);
  [[nodiscard]] Stage stage() const { return stage_; }
  // The body shall be read; it may have up to `limit` bytes.
  Stage take_body(std::size_t limit);
  // How many bytes of the request have come and are kept.
  [[nodiscard]] std::size_t held() const { return buffer_.size() + request_.body.size(); }
  [[nodiscard]] HttpRequest& request() { return request_; }
  [[nodiscard]] const HttpProblem& problem() const { return problem_; }
  // Whether bytes of a request have come.
  [[nodiscard]] bool begun() const { return stage_ != Stage::Head || !buffer_.empty(); }
  // The client waits for "100 Continue" before it sends the body.
  [[nodiscard]] bool expects_continue() const { return expects_continue_; }
  // Begins the next request with the bytes that came already.
  Stage next();

 private:
  Stage read_head();
  [[nodiscard]] bool parse_head(std::string_view head);
  [[nodiscard]] bool parse_target(std::string_view target);
  [[nodiscard]] bool parse_lengths();
  Stage read_body();
  Stage read_plain();
  Stage read_chunks();
  [[nodiscard]] bool take(std::string_view bytes);
  Stage end_body();
  Stage refuse(int status, std::string what);

  std::size_t body_limit_ = 0;
  Stage stage_ = Stage::Head;
  std::string buffer_;  // Bytes that came and were not used yet.
  HttpRequest request_;
  HttpProblem problem_;
  bool chunked_ = false;
  bool last_chunk_ = false;  // Only trailers are left.
  bool expects_continue_ = false;
  std::uint64_t left_ = 0;  // Bytes left of the body, or of the chunk.
  bool in_chunk_ = false;
};

}  // namespace ouro::net
