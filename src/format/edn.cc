#include "format/edn.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace ouro {
namespace {

enum class Class : std::uint8_t { Atom, Space, Delimiter };

constexpr std::array<Class, 256> make_classes() {
  std::array<Class, 256> classes{};
  for (const char c : {' ', '\t', '\r', '\n', '\f', '\v', ','}) {
    classes[static_cast<unsigned char>(c)] = Class::Space;
  }
  for (const char c : {'(', ')', '[', ']', '{', '}', '"', ';', '\0'}) {
    classes[static_cast<unsigned char>(c)] = Class::Delimiter;
  }
  return classes;
}
constexpr std::array<Class, 256> kClasses = make_classes();

Class class_of(char c) { return kClasses[static_cast<unsigned char>(c)]; }

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

}  // namespace

void EdnTokens::skip_space() {
  for (;;) {
    while (class_of(*at_) == Class::Space) ++at_;
    if (*at_ != ';') return;
    while (at_ != end_ && *at_ != '\n') ++at_;
  }
}

bool EdnTokens::next(Token& token) {
  for (bool tagged = false;;) {
    Prefix prefix = Prefix::None;
    const std::size_t outer = open_.size();
    if (!raw(token, prefix)) return false;
    if (prefix == Prefix::Discard) {
      if (!discard(token.at)) return false;
      continue;
    }
    if (prefix == Prefix::Tag) {
      tagged = true;
      continue;
    }
    const bool form = token.kind != TokenKind::Close && token.kind != TokenKind::End;
    if (tagged && !form) return fail(token.at, "expected a form behind the tag");
    if (form && outer > 0) open_[outer - 1].odd = !open_[outer - 1].odd;
    return true;
  }
}

// Skips the form that the `#_` at `at` discards. `#_ #_ a b` discards two forms.
bool EdnTokens::discard(const char* at) {
  const std::size_t outer = open_.size();
  std::size_t owed = 1;
  while (owed > 0) {
    Token token;
    Prefix prefix = Prefix::None;
    if (!raw(token, prefix)) return false;
    if (prefix == Prefix::Discard && open_.size() == outer) ++owed;
    if (prefix != Prefix::None) continue;
    if (token.kind == TokenKind::End || open_.size() < outer) {
      return fail(at, "expected a form behind #_");
    }
    // A discarded map may have an odd number of forms.
    if (token.opens()) open_.back().is_map = false;
    if (open_.size() == outer) --owed;
  }
  return true;
}

bool EdnTokens::raw(Token& token, Prefix& prefix) {
  skip_space();
  token.at = at_;
  switch (*at_) {
    case '{':
      return open(token, TokenKind::OpenMap, '}', 1);
    case '[':
      return open(token, TokenKind::OpenList, ']', 1);
    case '(':
      return open(token, TokenKind::OpenList, ')', 1);
    case '}':
    case ']':
    case ')':
      return close(token);
    case '"':
      return string(token, Controls::Allowed);
    case '\\':
      return character(token);
    case '#':
      return dispatch(token, prefix);
    case '\0':
      if (at_ != end_) return fail_expected("EDN");
      if (!open_.empty()) {
        return fail(open_.back().at,
                    fmt::format("the '{}' that belongs to this bracket is missing; "
                                "is the file truncated?",
                                open_.back().close));
      }
      token.kind = TokenKind::End;
      return true;
    default:
      return atom(token);
  }
}

bool EdnTokens::open(Token& token, TokenKind kind, char close, int width) {
  token.kind = kind;
  open_.push_back({close, kind == TokenKind::OpenMap, false, at_});
  at_ += width;
  return true;
}

bool EdnTokens::close(Token& token) {
  if (open_.empty()) return fail(at_, fmt::format("'{}' without its opening bracket", *at_));
  const Open& innermost = open_.back();
  if (*at_ != innermost.close) return fail_expected(fmt::format("'{}'", innermost.close));
  if (innermost.is_map && innermost.odd) {
    return fail(at_, "expected a value: the last key of this map has none");
  }
  open_.pop_back();
  ++at_;
  token.kind = TokenKind::Close;
  return true;
}

bool EdnTokens::dispatch(Token& token, Prefix& prefix) {
  const char next = at_[1];
  if (next == '{') return open(token, TokenKind::OpenSet, '}', 2);
  if (next == '_') {
    at_ += 2;
    prefix = Prefix::Discard;
    return true;
  }
  if (next == '#') {  // ##Inf, ##NaN
    at_ += 2;
    token.kind = TokenKind::Number;
    token.text = atom_text();
    at_ += token.text.size();
    return true;
  }
  ++at_;
  const std::string_view tag = atom_text();
  if (tag.empty() || is_digit(tag[0])) return fail_expected("a tag, '{' or '_' behind '#'");
  at_ += tag.size();
  prefix = Prefix::Tag;
  return true;
}

// The bytes from at_ up to the next white space or delimiter.
std::string_view EdnTokens::atom_text() const {
  const char* stop = at_;
  while (class_of(*stop) == Class::Atom) ++stop;
  return {at_, static_cast<std::size_t>(stop - at_)};
}

bool EdnTokens::character(Token& token) {
  if (at_ + 1 == end_) return fail(at_, "expected a character behind '\\'");
  const char* start = at_;
  at_ += 2;  // The character after the backslash may be a bracket, which ends an atom.
  at_ += atom_text().size();
  token.kind = TokenKind::Character;
  token.text = {start, static_cast<std::size_t>(at_ - start)};
  return is_ascii(token.text) || check_utf8(token.text);
}

bool EdnTokens::atom(Token& token) {
  const std::string_view text = atom_text();
  const char c = text[0];
  if (is_digit(c) || ((c == '-' || c == '+') && text.size() > 1 && is_digit(text[1]))) {
    return number(token, text);
  }
  token.kind = TokenKind::Symbol;
  token.text = text;
  if (c == ':') {
    if (text.size() == 1) {
      ++at_;
      return fail_expected("a keyword's name behind ':'");
    }
    token.kind = TokenKind::Keyword;
  } else if (text == "nil") {
    token.kind = TokenKind::Nil;
  } else if (text == "true") {
    token.kind = TokenKind::True;
  } else if (text == "false") {
    token.kind = TokenKind::False;
  }
  at_ += text.size();
  return is_ascii(text) || check_utf8(text);
}

bool EdnTokens::number(Token& token, std::string_view text) {
  const char* first = text.data() + (text[0] == '+' ? 1 : 0);
  const char* last = text.data() + text.size();
  const auto [stop, code] = std::from_chars(first, last, token.number);
  const bool whole = stop == last || (stop + 1 == last && *stop == 'N');
  if (whole && code == std::errc{}) {
    token.kind = TokenKind::Integer;
  } else {
    if (text.find_first_not_of("0123456789+-.eE/MN") != std::string_view::npos) {
      return fail(at_, fmt::format("'{}' is not a number", text));
    }
    token.kind = TokenKind::Number;
    token.text = text;
  }
  at_ += text.size();
  return true;
}

}  // namespace ouro
