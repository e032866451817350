// The web page, made from page/ when this is built (cmake/page.cmake).
#pragma once

#include <string>

namespace ouro::serving {

// One document without anything to load. `nonce` marks the scripts and styles that are ours.
[[nodiscard]] std::string page(const std::string& nonce);
// The Content-Security-Policy that allows just that.
[[nodiscard]] std::string page_policy(const std::string& nonce);
// Hard to guess; a new one for each answer.
[[nodiscard]] std::string make_nonce();

}  // namespace ouro::serving
