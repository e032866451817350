// The folder of an embedded database: a temporary one, or one that the user named.
//
// A named folder keeps its database after the run, and the next run begins by emptying it. So that
// nobody's data is lost, only folders with a mark, a file that an earlier run left, are emptied,
// and only if all other files in them are the database's.
#pragma once

#include <string>
#include <string_view>

#include "base/temporary_folder.h"
#include "ouro/result.h"

namespace ouro::db {

class DataFolder {
 public:
  // Whether a file of this name, below the folder, is one that the database makes.
  using IsOurs = bool (*)(std::string_view name);
  // Makes the folder `path`, or empties it; fails, and removes nothing, if it has files but no
  // mark, or a file that is not ours. If `path` is the empty text: makes a temporary one whose name
  // begins with `prefix`, in $TMPDIR or /tmp.
  Status make(const std::string& path, std::string_view prefix, IsOurs is_ours);
  // Removes a temporary folder with all that is in it; leaves a named one alone. The destructor
  // does that, too.
  Status remove() { return temporary_.remove(); }

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  TemporaryFolder temporary_;  // Without a folder if the user named one.
};

}  // namespace ouro::db
