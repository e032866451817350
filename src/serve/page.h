// The web page, put together from the files in page/ at build time (cmake/page.cmake).
#pragma once

#include <string>

namespace ouro::serving {

// One document that loads nothing else. `nonce` marks its scripts and styles.
[[nodiscard]] std::string page(const std::string& nonce);
// The Content-Security-Policy that allows only scripts and styles with this nonce.
[[nodiscard]] std::string page_policy(const std::string& nonce);
// A random text that cannot be guessed. Use a new one for each answer.
[[nodiscard]] std::string make_nonce();

}  // namespace ouro::serving
