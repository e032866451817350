// A new folder that is removed, with all that is in it, together with the object.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>
#include <utility>

#include "ouro/result.h"

namespace ouro {

class TemporaryFolder {
 public:
  // Makes a folder in $TMPDIR or, if that is not set or has more than `longest` bytes, in /tmp. Its
  // name begins with `prefix`; nobody else can read it.
  static Result<TemporaryFolder> make(std::string_view prefix, std::size_t longest = 4096);

  TemporaryFolder() = default;  // No folder; path() is empty.
  TemporaryFolder(TemporaryFolder&& other) noexcept { std::swap(path_, other.path_); }
  TemporaryFolder& operator=(TemporaryFolder&& other) noexcept {
    std::swap(path_, other.path_);
    return *this;
  }
  ~TemporaryFolder() { static_cast<void>(remove()); }

  // Removes the folder now.
  Status remove();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace ouro
