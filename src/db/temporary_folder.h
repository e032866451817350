// The folder of an embedded database: a temporary one, or one with a name.
//
// A folder with a name keeps its database after the run, and the next run begins with emptying it.
// So that nobody's data is lost, we only empty folders that bear our mark.
#pragma once

#include <string>
#include <string_view>

#include "ouro/result.h"

namespace ouro::db {

class TemporaryFolder {
 public:
  TemporaryFolder() = default;
  ~TemporaryFolder() { static_cast<void>(remove()); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  // Makes the folder `path`, or empties it. Fails if there is something in it that is not ours. If
  // `path` is empty: makes a temporary one whose name begins with `prefix`, in $TMPDIR or /tmp.
  Status make(const std::string& path, std::string_view prefix);
  // Removes a temporary folder with all that is in it; leaves others alone.
  Status remove();

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool temporary_ = false;
};

}  // namespace ouro::db
