// Files that tests read and make.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace ouro {

// The project's sources.
inline const std::filesystem::path kRoot = OURO_SOURCE_DIR;

// All of a file; nothing if it cannot be read.
inline std::string slurp(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// A path that no other test program uses at the time.
inline std::string temporary(const std::string& name) {
  return std::filesystem::path(testing::TempDir()) / (std::to_string(::getpid()) + "-" + name);
}

}  // namespace ouro
