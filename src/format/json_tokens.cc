#include "format/json_tokens.h"

#include <fmt/format.h>

#include <charconv>
#include <cstring>

namespace ouro {
namespace {

bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

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
      if (*at_ == open_.back()) return close(token);
      if (*at_ != ',') return top_end(token);
      ++at_;
      skip_space();
      token.at = at_;
      return open_.back() == '}' ? name(token) : value(token);
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

// Where a comma is missing: fine if the text is a piece of an array, and ends.
bool JsonTokens::top_end(Token& token) {
  if (at_ == end_ && open_.size() == 1 && (top_ == Top::Start || top_ == Top::Middle)) {
    token.kind = TokenKind::End;
    return true;
  }
  return fail_expected(open_.back() == '}' ? "',' or '}'" : "',' or ']'");
}

bool JsonTokens::top(Token& token) {
  if (at_ == end_ && (!first_ || top_ == Top::Many)) {
    token.kind = TokenKind::End;
    return true;
  }
  if (!first_ && top_ != Top::Many) return fail_expected("the end of the input");
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
  expect_ = open_.empty() ? Expect::Top : Expect::CommaOrClose;
  switch (*at_) {
    case '"':
      return string(token, Controls::Forbidden);
    case '{':
      return open(token, TokenKind::OpenMap, '}', Expect::NameOrClose);
    case '[':
      return open(token, TokenKind::OpenList, ']', Expect::ValueOrClose);
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

bool JsonTokens::open(Token& token, TokenKind kind, char close, Expect inside) {
  ++at_;
  token.kind = kind;
  open_.push_back(close);
  expect_ = inside;
  return true;
}

bool JsonTokens::close(Token& token) {
  ++at_;
  token.kind = TokenKind::Close;
  open_.pop_back();
  expect_ = open_.empty() ? Expect::Top : Expect::CommaOrClose;
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
  const char* start = at_;
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

}  // namespace ouro
