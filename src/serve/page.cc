#include "serve/page.h"

#include <fmt/format.h>

#include <random>
#include <string_view>

#include "serve/page_files.h"

namespace ouro::serving {

std::string page(const std::string& nonce) {
  std::string text(kPage);
  constexpr std::string_view kMark = "@nonce@";
  for (std::size_t at = 0; (at = text.find(kMark, at)) != text.npos; at += nonce.size()) {
    text.replace(at, kMark.size(), nonce);
  }
  return text;
}

std::string page_policy(const std::string& nonce) {
  return fmt::format(
      "default-src 'none'; script-src 'nonce-{0}'; style-src 'nonce-{0}'; connect-src 'self'; "
      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      nonce);
}

std::string make_nonce() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

}  // namespace ouro::serving
