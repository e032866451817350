// Loads and stores integers of binary formats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

namespace ouro {

// The integer that is stored at `bytes`, least significant byte first. REQUIRES: as many bytes are
// readable as a Number has.
template <class Number = std::uint64_t>
[[nodiscard]] Number load_little_endian(const char* bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = sizeof(Number); i-- > 0;) {
    number = number << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return static_cast<Number>(number);
}

// Most significant byte first. REQUIRES: eight bytes are readable.
[[nodiscard]] inline std::uint64_t load_big_endian(const char* bytes) {
  std::uint64_t number = 0;
  for (int i = 0; i < 8; ++i) number = number << 8 | static_cast<unsigned char>(bytes[i]);
  return number;
}

// Adds as many bytes as a Number has, which is eight unless the caller says otherwise.
template <class Number = std::uint64_t>
void append_little_endian(std::string& out, std::type_identity_t<Number> number) {
  for (std::size_t i = 0; i < sizeof(Number); ++i) {
    out += static_cast<char>(static_cast<std::uint64_t>(number) >> (8 * i) & 0xff);
  }
}

}  // namespace ouro
