#include "format/json_tokens.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cstring>

#include "base/byte_order.h"

namespace ouro {
namespace {

bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

struct Digits {
  std::size_t count;     // How many bytes, from the first, are digits.
  std::uint64_t number;  // The number that they make.
};

// The digits among the first eight bytes, found without a loop: the number of rounds of a loop
// would differ each time, and processors could not predict its end.
inline Digits eight_digits(const char* at) {
  std::uint64_t bytes = load_little_endian(at) ^ 0x3030303030303030;
  // Digits are now the bytes 0 to 9. Bytes of 10 and more get their high bit set; a carry from them
  // spoils only later bytes, which do not matter.
  const std::uint64_t others = ((bytes + 0x7676767676767676) | bytes) & 0x8080808080808080;
  const auto count = static_cast<std::size_t>(std::countr_zero(others)) / 8;
  if (count == 0) return {0, 0};
  bytes <<= 64 - 8 * count;  // Drops what is no digit; zeros come in front.
  bytes = (bytes * 10 + (bytes >> 8)) & 0x00ff00ff00ff00ff;
  bytes = (bytes * 100 + (bytes >> 16)) & 0x0000ffff0000ffff;
  bytes = (bytes * 10000 + (bytes >> 32)) & 0xffffffff;
  return {count, bytes};
}

// How many bytes short_integer() may look at.
constexpr std::ptrdiff_t kShortBytes = 17;

// The integer at `at` if it has no sign and at most 16 digits; otherwise its count is 0. REQUIRES:
// kShortBytes are readable.
inline Digits short_integer(const char* at) {
  constexpr std::uint64_t kPowers[] = {1,      10,      100,      1000,     10000,
                                       100000, 1000000, 10000000, 100000000};
  Digits digits = eight_digits(at);
  if (digits.count == 8) {
    const Digits more = eight_digits(at + 8);
    digits.number = digits.number * kPowers[more.count] + more.number;
    digits.count += more.count;
  }
  const char stop = at[digits.count];
  const bool fraction = stop == '.' || (stop | 0x20) == 'e';
  const bool padded = *at == '0' && digits.count > 1;
  return fraction || padded || is_digit(stop) ? Digits{0, 0} : digits;
}

}  // namespace

void JsonTokens::skip_space() {
  if (static_cast<unsigned char>(*at_) > ' ') return;
  while (is_space(*at_)) ++at_;
}

[[gnu::flatten]] bool JsonTokens::next(Token& token) {
  skip_space();
  token.at = at_;
  switch (expect_) {
    case Expect::CommaOrClose:
      if (*at_ == ',') {
        ++at_;
        skip_space();
        token.at = at_;
        return in_map() ? name(token) : value(token);
      }
      return *at_ == closer() ? close(token) : top_end(token);
    case Expect::NameOrClose:
      return *at_ == '}' ? close(token) : name(token);
    case Expect::ValueOrClose:
      return *at_ == ']' ? close(token) : value(token);
    case Expect::Name:
      return name(token);
    case Expect::Value:
      return value(token);
    case Expect::Top:
      break;
  }
  return top(token);
}

// Where the next element of the list begins; null if white space comes first, the list ends, or too
// few bytes are readable for a ShortOp.
const char* JsonTokens::short_op_start() const {
  constexpr std::ptrdiff_t kMost = 24 + 2 * kShortBytes;
  if (readable_ - at_ < kMost) return nullptr;
  if (expect_ == Expect::ValueOrClose) return at_;
  return *at_ == ',' ? at_ + 1 : nullptr;
}

// Reads the rest of a ShortOp: its key at `at`, the text `between`, its value and the bracket.
inline bool JsonTokens::finish_short_op(const char* at, std::string_view between, char close,
                                        ShortOp& out) {
  const Digits key = short_integer(at);
  at += key.count;
  if (key.count == 0 || std::memcmp(at, between.data(), between.size()) != 0) return false;
  at += between.size();
  out.key = static_cast<std::int64_t>(key.number);
  out.is_null = std::memcmp(at, "null", 4) == 0;
  std::size_t length = 4;
  if (!out.is_null) {
    const Digits value = short_integer(at);
    out.value = static_cast<std::int64_t>(value.number);
    length = value.count;
  }
  if (length == 0 || at[length] != close) return false;
  at_ = at + length + 1;
  expect_ = Expect::CommaOrClose;
  return true;
}

bool JsonTokens::take_short_list(std::string_view letters, ShortOp& out) {
  const char* at = out.at = short_op_start();
  if (at == nullptr || std::memcmp(at, "[\"", 2) != 0 || std::memcmp(at + 3, "\",", 2) != 0) {
    return false;
  }
  out.letter = at[2];
  return letters.find(out.letter) != std::string_view::npos &&
         finish_short_op(at + 5, ",", ']', out);
}

bool JsonTokens::take_short_map(std::string_view letters, ShortOp& out) {
  const char* at = out.at = short_op_start();
  if (at == nullptr || std::memcmp(at, "{\"t\":\"", 6) != 0 ||
      std::memcmp(at + 7, "\",\"k\":", 6) != 0) {
    return false;
  }
  out.letter = at[6];
  return letters.find(out.letter) != std::string_view::npos &&
         finish_short_op(at + 13, ",\"v\":", '}', out);
}

// There is no comma after an element: the end of a piece of an array, or a fault.
bool JsonTokens::top_end(Token& token) {
  if (at_ == end_ && depth_ == 1 && (top_ == Top::Start || top_ == Top::Middle)) {
    token.kind = TokenKind::End;
    return true;
  }
  return fail_expected(in_map() ? "',' or '}'" : "',' or ']'");
}

bool JsonTokens::top(Token& token) {
  if (at_ == end_ && (!first_ || top_ == Top::Many)) {
    token.kind = TokenKind::End;
    return true;
  }
  if (!first_ && top_ != Top::Many) {
    return fail_expected(top_ == Top::Line ? "the end of the line" : "the end of the input");
  }
  first_ = false;
  return value(token);
}

bool JsonTokens::name(Token& token) {
  if (*at_ != '"') return fail_expected("a name in quotes");
  if (!string(token, Controls::Forbidden)) return false;
  skip_space();
  if (*at_ != ':') return fail_expected("':' after the name");
  ++at_;
  expect_ = Expect::Value;
  return true;
}

bool JsonTokens::value(Token& token) {
  expect_ = depth_ == 0 ? Expect::Top : Expect::CommaOrClose;
  switch (*at_) {
    case '"':
      return string(token, Controls::Forbidden);
    case '{':
      return open(token, TokenKind::OpenMap, Expect::NameOrClose);
    case '[':
      return open(token, TokenKind::OpenList, Expect::ValueOrClose);
    case 't':
      return literal(token, "true", TokenKind::True);
    case 'f':
      return literal(token, "false", TokenKind::False);
    case 'n':
      return literal(token, "null", TokenKind::Nil);
    default:
      return number(token);
  }
}

bool JsonTokens::open(Token& token, TokenKind kind, Expect inside) {
  ++at_;
  token.kind = kind;
  push(kind);
  expect_ = inside;
  return true;
}

bool JsonTokens::close(Token& token) {
  ++at_;
  token.kind = TokenKind::Close;
  pop();
  expect_ = depth_ == 0 ? Expect::Top : Expect::CommaOrClose;
  return true;
}

bool JsonTokens::literal(Token& token, std::string_view word, TokenKind kind) {
  if (std::string_view(at_, static_cast<std::size_t>(end_ - at_)).substr(0, word.size()) != word) {
    return fail_expected("a value");
  }
  at_ += word.size();
  token.kind = kind;
  return true;
}

bool JsonTokens::number(Token& token) {
  if (readable_ - at_ >= kShortBytes) [[likely]] {
    const Digits digits = short_integer(at_);
    if (digits.count != 0) [[likely]] {
      at_ += digits.count;
      token.kind = TokenKind::Integer;
      token.number = static_cast<std::int64_t>(digits.number);
      return true;
    }
  }
  return long_number(token, at_);
}

bool JsonTokens::long_number(Token& token, const char* start) {
  if (*at_ == '-') ++at_;
  if (!is_digit(*at_)) return fail_expected(at_ == start ? "a value" : "a digit");
  if (*at_ == '0' && is_digit(at_[1])) return fail(at_, "a number must not start with 0");
  std::uint64_t magnitude = 0;
  const char* digits = at_;
  while (is_digit(*at_)) magnitude = magnitude * 10 + static_cast<std::uint64_t>(*at_++ - '0');
  const bool integer = *at_ != '.' && *at_ != 'e' && *at_ != 'E';
  if (integer && at_ - digits <= 18) {
    token.kind = TokenKind::Integer;
    const auto number = static_cast<std::int64_t>(magnitude);
    token.number = *start == '-' ? -number : number;
    return true;
  }
  if (*at_ == '.') {
    if (!is_digit(*++at_)) return fail_expected("a digit behind the point");
    while (is_digit(*at_)) ++at_;
  }
  if (*at_ == 'e' || *at_ == 'E') {
    if (*++at_ == '+' || *at_ == '-') ++at_;
    if (!is_digit(*at_)) return fail_expected("a digit in the exponent");
    while (is_digit(*at_)) ++at_;
  }
  const auto [stop, code] = std::from_chars(start, at_, token.number);
  const bool fits = integer && code == std::errc{} && stop == at_;
  token.kind = fits ? TokenKind::Integer : TokenKind::Number;
  token.text = {start, static_cast<std::size_t>(at_ - start)};
  return true;
}

std::optional<Error> json_fault(JsonTokens& tokens) {
  Token token;
  while (tokens.next(token)) {
    if (token.kind == TokenKind::End) return std::nullopt;
  }
  return tokens.error();
}

}  // namespace ouro
