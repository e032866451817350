#include "db/url.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/hex.h"

namespace ouro::db {
namespace {

Error bad(std::string_view url, std::string_view what) {
  Error error;
  error.what = fmt::format("{}: {}", url, what);
  return error;
}

// Decodes %XX. A '%' without two hexadecimal digits behind it stays, since file names may have one.
std::string decode(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 &&
        hex_digit(text[i + 2]) >= 0) {
      out.push_back(static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2])));
      i += 2;
    } else {
      out.push_back(text[i]);
    }
  }
  return out;
}

// Cuts `text` at the first `c`: returns what is before it and leaves what is behind. Without one,
// returns everything and leaves nothing.
std::string_view cut(std::string_view& text, char c) {
  const std::size_t at = std::min(text.find(c), text.size());
  const std::string_view before = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return before;
}

// "db1:5432", "[::1]:5432", "%2Ftmp%2Fx".
std::optional<Host> parse_host(std::string_view text) {
  Host host;
  std::string_view port;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    host.name = text.substr(1, end - 1);
    port = text.substr(end + 1);
    if (!port.empty() && port[0] != ':') return std::nullopt;
    if (!port.empty()) port.remove_prefix(1);
  } else {
    host.name = decode(cut(text, ':'));
    port = text;
  }
  if (port.empty()) return host;
  const char* last = port.data() + port.size();
  const auto [end, problem] = std::from_chars(port.data(), last, host.port);
  if (problem != std::errc() || end != last || host.port < 1 || host.port > 65535) {
    return std::nullopt;
  }
  return host;
}

bool is_scheme(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' ||
           c == '-' || c == '.';
  });
}

std::string hide_password(std::string_view text, std::string_view password) {
  std::string shown(text);
  if (password.empty()) return shown;
  const std::size_t at = shown.find(fmt::format(":{}@", password));
  if (at != std::string::npos) shown.replace(at + 1, password.size(), "…");
  return shown;
}

}  // namespace

std::string Url::take(std::string_view name, std::string_view otherwise) {
  std::string value(otherwise);
  for (const auto& [key, given] : options) {
    if (key == name) value = given;
  }
  std::erase_if(options, [&](const auto& option) { return option.first == name; });
  return value;
}

Status Url::nothing_left(std::string_view known) const {
  if (options.empty()) return {};
  return bad(text, fmt::format("unknown option '{}'; there are: {}", options.front().first, known));
}

Result<Url> parse_url(std::string_view text) {
  Url url;
  url.text = text;
  std::string_view rest = text;
  const std::string_view scheme = cut(rest, ':');
  if (scheme.size() == text.size() || !is_scheme(scheme)) {
    return bad(text, "no database URL; expected SCHEME:…, such as sqlite:FILE");
  }
  for (const char c : scheme) {
    url.scheme.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
  }
  if (url.scheme == "exec") {
    url.path = rest;
    return url;
  }
  std::string_view options = rest;
  rest = cut(options, '?');
  while (!options.empty()) {
    std::string_view value = cut(options, '&');
    const std::string_view name = cut(value, '=');
    if (!name.empty()) url.options.emplace_back(decode(name), decode(value));
  }
  if (!rest.starts_with("//")) {
    url.path = decode(rest);
    return url;
  }
  rest.remove_prefix(2);
  std::string_view authority = cut(rest, '/');
  url.path = decode(rest);
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
    std::string_view who = authority.substr(0, at);
    authority.remove_prefix(at + 1);
    url.user = decode(cut(who, ':'));
    url.password = decode(who);
    url.text = hide_password(text, who);
  }
  do {
    const std::string_view name = cut(authority, ',');
    const auto host = parse_host(name);
    if (!host) return bad(url.text, fmt::format("'{}' is no HOST or HOST:PORT", name));
    url.hosts.push_back(*host);
  } while (!authority.empty());
  return url;
}

Status one_of(const Url& url, std::string_view name, std::string_view value,
              std::initializer_list<std::string_view> words) {
  if (std::find(words.begin(), words.end(), value) != words.end()) return {};
  return bad(url.text,
             fmt::format("option {} is '{}'; it can be {}", name, value, fmt::join(words, ", ")));
}

}  // namespace ouro::db
