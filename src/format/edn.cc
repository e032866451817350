#include "format/edn.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

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

// The integer that Clojure reads: 0x1f, 017, 2r101, with a sign or without. Nothing if it is no
// such number, or does not fit.
std::optional<std::int64_t> of_other_base(std::string_view text) {
  const bool negative = text[0] == '-';
  if (negative || text[0] == '+') text.remove_prefix(1);
  if (text.ends_with('N')) text.remove_suffix(1);
  int base = 8;
  const std::size_t letter = text.find_first_of("rR");
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  } else if (letter == 1 || letter == 2) {
    const auto [stop, code] = std::from_chars(text.data(), text.data() + letter, base);
    if (code != std::errc{} || stop != text.data() + letter || base < 2 || base > 36) return {};
    text.remove_prefix(letter + 1);
  } else if (!text.starts_with('0')) {
    return {};
  }
  std::uint64_t number = 0;
  const char* last = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), last, number, base);
  if (text.empty() || stop != last || code != std::errc{}) return {};
  const std::uint64_t most = std::uint64_t{1} << 63;
  if (number > most - (negative ? 0U : 1U)) return {};
  return static_cast<std::int64_t>(negative ? -number : number);
}

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
    if (prefix == Prefix::Discard || prefix == Prefix::Metadata) {
      if (!discard(token.at, prefix == Prefix::Discard ? "#_" : "^")) return false;
    }
    tagged = tagged || prefix == Prefix::Tag || prefix == Prefix::Metadata;
    if (prefix != Prefix::None) continue;
    const bool form = token.kind != TokenKind::Close && token.kind != TokenKind::End;
    if (tagged && !form) return fail(token.at, "expected a form behind the tag or metadata");
    if (form && outer > 0) open_[outer - 1].odd = !open_[outer - 1].odd;
    return true;
  }
}

// Skips the form that the `mark` at `at` discards. `#_ #_ a b` discards two forms, as does
// `#_ ^a b`.
bool EdnTokens::discard(const char* at, std::string_view mark) {
  const std::size_t outer = open_.size();
  std::size_t owed = 1;
  while (owed > 0) {
    Token token;
    Prefix prefix = Prefix::None;
    if (!raw(token, prefix)) return false;
    const bool another = prefix == Prefix::Discard || prefix == Prefix::Metadata;
    if (another && open_.size() == outer) ++owed;
    if (prefix != Prefix::None) continue;
    if (token.kind == TokenKind::End || open_.size() < outer) {
      return fail(at, fmt::format("expected a form behind {}", mark));
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
    case '^':
      ++at_;
      prefix = Prefix::Metadata;
      return true;
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
  if (next == '^') {
    at_ += 2;
    prefix = Prefix::Metadata;
    return true;
  }
  if (next == '"') return pattern(token);
  if (next == '<') return unreadable(token);
  if (next == '(') {
    ++at_;
    return open(token, TokenKind::OpenList, ')', 1);
  }
  if (next == '\'' || next == '=') {  // #'var, #=(form)
    at_ += 2;
    prefix = Prefix::Tag;
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

// #"a pattern", whose backslashes are its own.
bool EdnTokens::pattern(Token& token) {
  const char* start = at_ + 2;
  const char* stop = start;
  while (stop < end_ && *stop != '"') stop += *stop == '\\' && stop + 1 < end_ ? 2 : 1;
  if (stop >= end_) return fail(at_, "a pattern that starts here does not end");
  token.kind = TokenKind::String;
  token.text = {start, static_cast<std::size_t>(stop - start)};
  at_ = stop + 1;
  return is_ascii(token.text) || check_utf8(token.text);
}

// #<Object java.lang.Object@3c7>, as old versions of Clojure print what cannot be read again.
bool EdnTokens::unreadable(Token& token) {
  const char* stop = at_ + 2;
  while (stop < end_ && (*stop != '>' || class_of(stop[1]) == Class::Atom)) ++stop;
  if (stop >= end_) return fail(at_, "an object that starts here does not end with '>'");
  token.kind = TokenKind::Symbol;
  token.text = {at_, static_cast<std::size_t>(stop + 1 - at_)};
  at_ = stop + 1;
  return is_ascii(token.text) || check_utf8(token.text);
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

// What is no number after all is one that no reader of values takes. So it is an error only where
// its value is needed.
bool EdnTokens::number(Token& token, std::string_view text) {
  const std::size_t sign = text[0] == '+' || text[0] == '-' ? 1 : 0;
  const char* first = text.data() + (text[0] == '+' ? 1 : 0);
  const char* last = text.data() + text.size();
  const auto [stop, code] = std::from_chars(first, last, token.number);
  const bool whole = stop == last || (stop + 1 == last && *stop == 'N');
  const bool decimal = text[sign] != '0' || text.size() - sign < 2 || !is_digit(text[sign + 1]);
  if (whole && decimal && code == std::errc{}) {
    token.kind = TokenKind::Integer;
  } else if (const auto number = of_other_base(text)) {
    token.kind = TokenKind::Integer;
    token.number = *number;
  } else {
    token.kind = TokenKind::Number;
    token.text = text;
  }
  at_ += text.size();
  return is_ascii(text) || check_utf8(text);
}

}  // namespace ouro
