#include "format/token.h"

#include <fmt/format.h>

#include <charconv>

#include "base/count_lines.h"
#include "base/hex.h"
#include "base/utf8.h"

namespace ouro {
namespace {

// The beginning of a long text, for messages.
std::string shortened(std::string_view text) {
  constexpr std::size_t kShown = 40;
  return text.size() <= kShown ? std::string(text) : std::string(text.substr(0, kShown)) + "…";
}

void append_utf8(std::string& out, std::uint32_t code) {
  const auto add = [&out](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    add(code);
  } else if (code < 0x800) {
    add(0xc0 | code >> 6);
    add(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    add(0xe0 | code >> 12);
    add(0x80 | (code >> 6 & 0x3f));
    add(0x80 | (code & 0x3f));
  } else {
    add(0xf0 | code >> 18);
    add(0x80 | (code >> 12 & 0x3f));
    add(0x80 | (code >> 6 & 0x3f));
    add(0x80 | (code & 0x3f));
  }
}

// The number that the four hexadecimal digits at `at` make; -1 if they are not.
std::int32_t four_hex(const char* at, const char* to) {
  if (to - at < 4) return -1;
  std::int32_t code = 0;
  for (int i = 0; i < 4; ++i) {
    const int digit = hex_digit(at[i]);
    if (digit < 0) return -1;
    code = code * 16 + digit;
  }
  return code;
}

// The character that a backslash and `c` stand for; zero if there is none.
char simple_escape(char c) {
  switch (c) {
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case 'r':
      return '\r';
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case '"':
    case '\\':
    case '/':
      return c;
    default:
      return '\0';
  }
}

}  // namespace

std::string_view Token::word() const {
  if (kind != TokenKind::String && kind != TokenKind::Keyword && kind != TokenKind::Symbol)
    return {};
  return text.starts_with(':') ? text.substr(1) : text;
}

std::string Token::describe() const {
  switch (kind) {
    case TokenKind::End:
      return "the end of the input";
    case TokenKind::OpenMap:
      return "a map";
    case TokenKind::OpenList:
      return "a list";
    case TokenKind::OpenSet:
      return "a set";
    case TokenKind::Close:
      return "a closing bracket";
    case TokenKind::Nil:
      return "nothing";
    case TokenKind::True:
      return "true";
    case TokenKind::False:
      return "false";
    case TokenKind::Integer:
      return fmt::format("the number {}", number);
    case TokenKind::Number:
      return fmt::format("the number {}", shortened(text));
    case TokenKind::String:
      return fmt::format("the string \"{}\"", shortened(text));
    default:
      return fmt::format("'{}'", shortened(text));
  }
}

std::optional<std::uint64_t> unsigned_of(const Token& token) {
  if (token.kind == TokenKind::Integer && token.number >= 0) {
    return static_cast<std::uint64_t>(token.number);
  }
  if (token.kind != TokenKind::Number) return std::nullopt;
  std::uint64_t number = 0;
  const char* const end = token.text.data() + token.text.size();
  const auto [stop, error] = std::from_chars(token.text.data(), end, number);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

bool TokenReader::skip_to(std::size_t wanted) {
  Token token;
  while (depth() > wanted) {
    if (!next(token)) return false;
  }
  return true;
}

std::uint64_t TokenReader::line(const Token& token) {
  if (token.at > counted_to_) {
    line_ += count_lines(counted_to_, token.at);
    counted_to_ = token.at;
  }
  return line_;
}

Error TokenReader::error_at(const char* at, std::string_view what) const {
  const std::string_view before(begin_, static_cast<std::size_t>(at - begin_));
  const std::uint64_t lines = count_lines(begin_, at);
  const std::size_t newline = before.rfind('\n');
  const std::size_t column =
      newline == std::string_view::npos ? first_column_ + before.size() : before.size() - newline;
  return error_at_line(file_, first_line_ + lines, fmt::format("column {}: {}", column, what));
}

bool TokenReader::fail(const char* at, std::string_view what) {
  error_ = error_at(at, what);
  return false;
}

bool TokenReader::fail_expected(std::string_view expected) {
  const auto c = static_cast<unsigned char>(*at_);
  const std::string found = at_ == end_            ? std::string(end_name_)
                            : c > 0x20 && c < 0x7f ? fmt::format("'{}'", *at_)
                                                   : fmt::format("byte {:#04x}", c);
  return fail(at_, fmt::format("expected {}, found {}", expected, found));
}

bool TokenReader::check_utf8(std::string_view text) {
  return is_utf8(text) || fail(text.data(), "not valid UTF-8");
}

bool TokenReader::odd_string(Token& token, Controls controls) {
  const char* start = ++at_;
  bool escaped = false;
  unsigned char all_bits = 0;
  bool control = false;
  for (;;) {
    if (at_ >= end_) return fail(start - 1, "a string that starts here does not end");
    const char c = *at_;
    if (c == '"') break;
    if (c == '\\') {
      escaped = true;
      if (++at_ == end_) continue;
    }
    const auto byte = static_cast<unsigned char>(*at_++);
    all_bits |= byte;
    control |= byte < 0x20;
  }
  const char* stop = at_++;
  if (control && controls == Controls::Forbidden) {
    return fail(start - 1, "a control character in this string; write it as \\u and four digits");
  }
  const std::string_view content(start, static_cast<std::size_t>(stop - start));
  if (all_bits >= 0x80 && !check_utf8(content)) return false;
  token.kind = TokenKind::String;
  token.text = content;
  if (!escaped) return true;
  if (!unescape(start, stop)) return false;
  token.text = unescaped_;
  return true;
}

bool TokenReader::unescape(const char* from, const char* to) {
  unescaped_.clear();
  while (from != to) {
    if (*from != '\\') {
      unescaped_ += *from++;
      continue;
    }
    const char* start = from++;
    if (*from == 'u') {
      ++from;
      if (!unicode_escape(from, to)) return fail(start, "expected \\u and four hexadecimal digits");
      continue;
    }
    const char c = simple_escape(*from++);
    if (c == '\0') return fail(start, fmt::format("unknown escape '\\{}' in a string", start[1]));
    unescaped_ += c;
  }
  return true;
}

// Reads what follows `\u`. A character that needs more than 16 bits is two escapes in a row.
bool TokenReader::unicode_escape(const char*& at, const char* to) {
  std::int32_t code = four_hex(at, to);
  if (code < 0 || (code >= 0xdc00 && code < 0xe000)) return false;
  at += 4;
  if (code >= 0xd800 && code < 0xdc00) {
    if (to - at < 6 || at[0] != '\\' || at[1] != 'u') return false;
    const std::int32_t low = four_hex(at + 2, to);
    if (low < 0xdc00 || low >= 0xe000) return false;
    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    at += 6;
  }
  append_utf8(unescaped_, static_cast<std::uint32_t>(code));
  return true;
}

}  // namespace ouro
