// An Error about a file, for the call to the system that has just failed.
#pragma once

#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>

#include "ouro/result.h"

namespace ouro {

// Reads errno, so call it first: "PATH: WHAT: No space left on device".
inline Error system_error(std::string_view path, std::string_view what) {
  const char* reason = std::strerror(errno);
  Error error;
  error.file = path;
  error.what = std::string(what) + ": " + reason;
  return error;
}

}  // namespace ouro
