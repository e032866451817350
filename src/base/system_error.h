// Makes an Error of a system call about a file that has just failed.
#pragma once

#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>

#include "ouro/result.h"

namespace ouro {

// The error "PATH: WHAT: No space left on device". Reads errno, so call it before anything else
// that may change errno.
inline Error system_error(std::string_view path, std::string_view what) {
  const char* reason = std::strerror(errno);
  Error error;
  error.file = path;
  error.what = std::string(what) + ": " + reason;
  return error;
}

}  // namespace ouro
