#include "net/http_message.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

namespace ouro::net {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::string decoded(std::string_view text, bool plus_is_space) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned value = 0;
    const char* const digits = text.data() + i + 1;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(digits, digits + 2, value, 16).ptr == digits + 2) {
      out += static_cast<char>(value);
      i += 2;
    } else {
      out += plus_is_space && text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

std::string_view reason_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 431:
      return "Request Header Fields Too Large";
    case 503:
      return "Service Unavailable";
    case 507:
      return "Insufficient Storage";
    default:
      return "Error";
  }
}

HttpProblem too_large(std::size_t limit) {
  return {413, fmt::format("larger than {} bytes; send smaller batches", limit)};
}

template <class Number>
bool parse_whole(std::string_view text, Number& number, int base = 10) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return !text.empty() && problem == std::errc() && end == text.data() + text.size();
}

}  // namespace

const std::string& HttpRequest::header(const std::string& name) const {
  static const std::string kNone;
  const auto found = headers.find(name);
  return found == headers.end() ? kNone : found->second;
}

std::string to_bytes(const HttpResponse& response, bool keep_alive, bool chunked) {
  std::string out = fmt::format("HTTP/1.1 {} {}\r\n", response.status, reason_of(response.status));
  for (const auto& [name, value] : response.headers) out += fmt::format("{}: {}\r\n", name, value);
  if (!response.type.empty()) out += fmt::format("Content-Type: {}\r\n", response.type);
  out += chunked ? std::string("Transfer-Encoding: chunked\r\n")
                 : fmt::format("Content-Length: {}\r\n", response.body.size());
  out += keep_alive ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n";
  return chunked ? out : out + response.body;
}

std::string to_chunk(std::string_view bytes) {
  return fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes);
}

// ---- gzip ----

struct Gunzip::State {
  z_stream stream{};
};

Gunzip::Gunzip() : state_(std::make_unique<State>()) {
  constexpr int kGzipOnly = 16;
  ::inflateInit2(&state_->stream, MAX_WBITS + kGzipOnly);
}

Gunzip::~Gunzip() { ::inflateEnd(&state_->stream); }

bool Gunzip::add(std::string_view bytes, std::size_t limit, std::string& out) {
  z_stream& stream = state_->stream;
  std::array<char, 32 * 1024> buffer{};
  std::string input(bytes);
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  while (stream.avail_in > 0) {
    if (std::exchange(ended_, false)) ::inflateReset(&stream);
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = buffer.size();
    const int code = ::inflate(&stream, Z_NO_FLUSH);
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) return false;
    const std::size_t count = buffer.size() - stream.avail_out;
    too_large_ = out.size() + count > limit;
    if (too_large_) return false;
    out.append(buffer.data(), count);
    ended_ = code == Z_STREAM_END;
  }
  return true;
}

std::optional<HttpProblem> unpack(HttpRequest& request, std::size_t limit) {
  if (!request.gzip) return std::nullopt;
  Gunzip gunzip;
  std::string body;
  if (!gunzip.add(request.body, limit, body)) {
    if (gunzip.too_large()) return too_large(limit);
    return HttpProblem{400, "the body is no valid gzip"};
  }
  if (!gunzip.complete()) return HttpProblem{400, "the gzip ends too early"};
  request.body = std::move(body);
  return std::nullopt;
}

// ---- requests ----

HttpReader::Stage HttpReader::refuse(int status, std::string what) {
  problem_ = {status, std::move(what)};
  return stage_ = Stage::Refused;
}

HttpReader::Stage HttpReader::add(std::string_view bytes) {
  buffer_ += bytes;
  if (stage_ == Stage::Head) return read_head();
  if (stage_ == Stage::Body) return read_body();
  return stage_;
}

HttpReader::Stage HttpReader::next() {
  request_ = {};
  chunked_ = last_chunk_ = expects_continue_ = in_chunk_ = false;
  left_ = 0;
  stage_ = Stage::Head;
  return read_head();
}

HttpReader::Stage HttpReader::read_head() {
  while (buffer_.starts_with("\r\n")) buffer_.erase(0, 2);
  const std::size_t end = buffer_.find("\r\n\r\n");
  if (end == buffer_.npos) {
    return buffer_.size() > kMaxHead ? refuse(431, "the headers are too large") : stage_;
  }
  if (end > kMaxHead) return refuse(431, "the headers are too large");
  const std::string head = buffer_.substr(0, end + 2);
  buffer_.erase(0, end + 4);
  if (!parse_head(head)) return refuse(400, "this is no HTTP/1.1 request");
  if (!parse_lengths()) return stage_ == Stage::Refused ? stage_ : refuse(400, "no valid length");
  return stage_ = Stage::Decide;
}

bool HttpReader::parse_head(std::string_view head) {
  const std::size_t line_end = head.find("\r\n");
  const std::string_view line = head.substr(0, line_end);
  const std::size_t first = line.find(' ');
  const std::size_t second = line.rfind(' ');
  if (first == line.npos || second <= first + 1) return false;
  const std::string_view version = line.substr(second + 1);
  if (version != "HTTP/1.1" && version != "HTTP/1.0") return false;
  request_.method = line.substr(0, first);
  if (!parse_target(line.substr(first + 1, second - first - 1))) return false;
  head.remove_prefix(line_end + 2);
  while (!head.empty()) {
    const std::size_t end = head.find("\r\n");
    const std::string_view field = head.substr(0, end);
    head.remove_prefix(end + 2);
    const std::size_t colon = field.find(':');
    // A blank before the colon, and lines that continue others, are how requests are smuggled.
    if (colon == field.npos || colon == 0 || field.find_first_of(" \t") < colon) return false;
    const std::string name = lower(field.substr(0, colon));
    const bool added = request_.headers.emplace(name, trimmed(field.substr(colon + 1))).second;
    if (!added && (name == "content-length" || name == "host" || name == "transfer-encoding")) {
      return false;
    }
  }
  const std::string connection = lower(request_.header("connection"));
  request_.keep_alive = version == "HTTP/1.1" ? connection != "close" : connection == "keep-alive";
  return true;
}

bool HttpReader::parse_target(std::string_view target) {
  if (!target.starts_with('/')) return false;
  const std::size_t question = std::min(target.find('?'), target.size());
  request_.path = decoded(target.substr(0, question), false);
  std::string_view rest = target.substr(std::min(question + 1, target.size()));
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('&'), rest.size());
    const std::string_view pair = rest.substr(0, end);
    const std::size_t equals = std::min(pair.find('='), pair.size());
    request_.query[decoded(pair.substr(0, equals), true)] =
        decoded(pair.substr(std::min(equals + 1, pair.size())), true);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return true;
}

bool HttpReader::parse_lengths() {
  const std::string encoding = lower(request_.header("transfer-encoding"));
  const std::string packing = lower(request_.header("content-encoding"));
  if (!packing.empty() && packing != "identity" && packing != "gzip") {
    refuse(415, "of all encodings only gzip is understood");
    return false;
  }
  if (packing == "gzip") request_.gzip = true;
  expects_continue_ = lower(request_.header("expect")) == "100-continue";
  chunked_ = encoding == "chunked";
  if (!encoding.empty() && (!chunked_ || request_.has("content-length"))) return false;
  if (chunked_ || !request_.has("content-length")) return true;
  return parse_whole(request_.header("content-length"), left_);
}

HttpReader::Stage HttpReader::take_body(std::size_t limit) {
  body_limit_ = limit;
  if (!chunked_ && left_ > limit) {
    problem_ = too_large(limit);
    return stage_ = Stage::Refused;
  }
  stage_ = Stage::Body;
  return read_body();
}

HttpReader::Stage HttpReader::read_body() { return chunked_ ? read_chunks() : read_plain(); }

bool HttpReader::take(std::string_view bytes) {
  if (bytes.size() > body_limit_ - request_.body.size()) {
    problem_ = too_large(body_limit_);
    stage_ = Stage::Refused;
    return false;
  }
  request_.body += bytes;
  return true;
}

HttpReader::Stage HttpReader::read_plain() {
  const std::size_t count =
      static_cast<std::size_t>(std::min<std::uint64_t>(left_, buffer_.size()));
  const bool taken = take(std::string_view(buffer_).substr(0, count));
  buffer_.erase(0, count);
  left_ -= count;
  if (!taken) return stage_;
  return left_ == 0 ? end_body() : stage_;
}

HttpReader::Stage HttpReader::read_chunks() {
  for (;;) {
    if (in_chunk_ && left_ > 0) {
      const std::size_t count =
          static_cast<std::size_t>(std::min<std::uint64_t>(left_, buffer_.size()));
      const bool taken = take(std::string_view(buffer_).substr(0, count));
      buffer_.erase(0, count);
      left_ -= count;
      if (!taken || left_ > 0) return stage_;
    }
    const std::size_t end = buffer_.find("\r\n");
    if (end == buffer_.npos) {
      return buffer_.size() > kMaxHead ? refuse(400, "a chunk without a size") : stage_;
    }
    const std::string line = buffer_.substr(0, end);
    buffer_.erase(0, end + 2);
    if (std::exchange(in_chunk_, false)) {
      if (!line.empty()) return refuse(400, "a chunk that is longer than it says");
      continue;
    }
    if (last_chunk_) {
      if (line.empty()) return end_body();
      continue;
    }
    if (!parse_whole(trimmed(std::string_view(line).substr(0, line.find(';'))), left_, 16)) {
      return refuse(400, "a chunk without a size");
    }
    last_chunk_ = left_ == 0;
    in_chunk_ = !last_chunk_;
  }
}

HttpReader::Stage HttpReader::end_body() { return stage_ = Stage::Done; }

}  // namespace ouro::net
