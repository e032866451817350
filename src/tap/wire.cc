#include "tap/wire.h"

namespace ouro::tapping {
namespace {

std::uint32_t big_endian(std::string_view bytes) {
  std::uint32_t number = 0;
  for (const char byte : bytes) number = number << 8 | static_cast<unsigned char>(byte);
  return number;
}

template <class T>
void put_number(std::string& out, T number) {
  for (int shift = static_cast<int>(sizeof(T)) * 8 - 8; shift >= 0; shift -= 8) {
    out += static_cast<char>(static_cast<std::uint64_t>(number) >> shift & 0xFF);
  }
}

}  // namespace

void MessageReader::add(std::string_view bytes) {
  if (at_ == buffer_.size()) {
    buffer_.assign(bytes);
  } else {
    buffer_.erase(0, at_);
    buffer_ += bytes;
  }
  at_ = 0;
}

std::optional<Piece> MessageReader::next() {
  constexpr std::size_t kHead = 5;
  const std::string_view left = rest();
  if (more_ > 0) {
    if (left.empty()) return std::nullopt;
    const std::string_view bytes = left.substr(0, more_);
    at_ += bytes.size();
    more_ -= bytes.size();
    return Piece{Piece::Kind::More, type_, {}, bytes};
  }
  if (broken_ || left.size() < kHead) return std::nullopt;
  const std::uint32_t length = big_endian(left.substr(1, 4));
  if (length < 4 || length > 0x7FFFFFFF) {
    broken_ = true;
    return std::nullopt;
  }
  const std::size_t whole = std::size_t{length} + 1;
  if (whole > kLargest) {
    type_ = left[0];
    const std::string_view bytes = left.substr(0, whole);
    at_ += bytes.size();
    more_ = whole - bytes.size();
    return Piece{Piece::Kind::Begin, type_, {}, bytes};
  }
  if (left.size() < whole) return std::nullopt;
  at_ += whole;
  return Piece{Piece::Kind::Message, left[0], left.substr(kHead, whole - kHead),
               left.substr(0, whole)};
}

std::string_view Body::bytes(std::size_t count) {
  if (count > bytes_.size()) {
    ok_ = false;
    bytes_ = {};
    return {};
  }
  const std::string_view taken = bytes_.substr(0, count);
  bytes_.remove_prefix(count);
  return taken;
}

char Body::byte() {
  const std::string_view taken = bytes(1);
  return taken.empty() ? '\0' : taken[0];
}

std::int16_t Body::int16() { return static_cast<std::int16_t>(big_endian(bytes(2))); }

std::int32_t Body::int32() { return static_cast<std::int32_t>(big_endian(bytes(4))); }

std::string_view Body::text() {
  const std::size_t end = bytes_.find('\0');
  if (end == std::string_view::npos) {
    ok_ = false;
    bytes_ = {};
    return {};
  }
  const std::string_view taken = bytes_.substr(0, end);
  bytes_.remove_prefix(end + 1);
  return taken;
}

void put_int16(std::string& out, std::int16_t number) { put_number(out, number); }
void put_int32(std::string& out, std::int32_t number) { put_number(out, number); }
void put_int64(std::string& out, std::int64_t number) { put_number(out, number); }

void put_message(std::string& out, char type, std::string_view body) {
  out += type;
  put_int32(out, static_cast<std::int32_t>(body.size() + 4));
  out += body;
}

void put_statement(std::string& out, std::string_view name, std::string_view sql) {
  const std::string zero(1, '\0');
  const std::string called = std::string(name) + zero;
  std::string none;
  put_int16(none, 0);
  put_message(out, 'P', called + std::string(sql) + zero + none);
  put_message(out, 'B', called + called + none + none + none);  // No parameters, text results.
  std::string all;
  put_int32(all, 0);
  put_message(out, 'E', called + all);
  put_message(out, 'C', "P" + called);
  put_message(out, 'C', "S" + called);
  put_message(out, 'S', "");
}

void put_fatal(std::string& out, std::string_view code, std::string_view message) {
  std::string body;
  const auto field = [&](char kind, std::string_view text) {
    body += kind;
    body += text;
    body += '\0';
  };
  field('S', "FATAL");
  field('V', "FATAL");
  field('C', code);
  field('M', message);
  body += '\0';
  put_message(out, 'E', body);
}

}  // namespace ouro::tapping
