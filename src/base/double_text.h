// Floating-point numbers as text. Not every standard library has std::from_chars() and
// std::to_chars() for them.
#pragma once

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>

namespace ouro {

// Reads all of `text` as std::from_chars() does. False: it is no number, or one that is too large
// or too small; `number` is as before.
inline bool parse_double(std::string_view text, double& number) {
  const char* const end = text.data() + text.size();
#ifdef __cpp_lib_to_chars
  const auto [stop, status] = std::from_chars(text.data(), end, number);
  return status == std::errc() && stop == end;
#else
  // strtod() also takes spaces, a plus sign and hexadecimal digits.
  const bool hexadecimal = text.find_first_of("xX") != text.npos;
  if (hexadecimal || text.find_first_of(" \t\n\v\f\r+") == 0) return false;
  const std::string copy(text);
  char* stop = nullptr;
  errno = 0;
  const double read = std::strtod(copy.c_str(), &stop);
  const bool lost = errno == ERANGE && (read == 0 || std::isinf(read));
  if (copy.empty() || stop != copy.c_str() + copy.size() || lost) return false;
  number = read;
  return true;
#endif
}

// The shortest text that parse_double() makes the same number of.
inline std::string double_text(double number) {
#ifdef __cpp_lib_to_chars
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof(digits), number).ptr;
  return {digits, static_cast<std::size_t>(end - digits)};
#else
  return fmt::format("{}", number);
#endif
}

}  // namespace ouro
