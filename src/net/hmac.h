// HMAC-SHA-256 (RFC 2104, FIPS 180-4), with which a receiver can tell who sent a message.
#pragma once

#include <string>
#include <string_view>

namespace ouro::net {

// The code of `message` under `secret`, as 64 hexadecimal digits.
[[nodiscard]] std::string hmac_sha256(std::string_view secret, std::string_view message);

}  // namespace ouro::net
