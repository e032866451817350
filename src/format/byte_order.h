// Loads and stores 64-bit integers of binary formats.
#pragma once

#include <cstdint>
#include <string>

namespace ouro {

// REQUIRES, for both loads: eight bytes are readable.
inline std::uint64_t load_little_endian(const char* bytes) {
  std::uint64_t number = 0;
  for (int i = 7; i >= 0; --i) number = number << 8 | static_cast<unsigned char>(bytes[i]);
  return number;
}
inline std::uint64_t load_big_endian(const char* bytes) {
  std::uint64_t number = 0;
  for (int i = 0; i < 8; ++i) number = number << 8 | static_cast<unsigned char>(bytes[i]);
  return number;
}

inline void append_little_endian(std::string& out, std::uint64_t number) {
  for (int i = 0; i < 8; ++i) out += static_cast<char>(number >> (8 * i) & 0xff);
}

}  // namespace ouro
