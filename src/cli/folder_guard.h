// A process that removes a folder, if it is empty, when this process dies without doing so.
#pragma once

#include <string>

#include "ouro/result.h"

namespace ouro::cli {

class FolderGuard {
 public:
  FolderGuard() = default;
  // Ends the process; the folder stays as it is.
  ~FolderGuard();
  FolderGuard(const FolderGuard&) = delete;
  FolderGuard& operator=(const FolderGuard&) = delete;

  // Starts the process. REQUIRES: called once.
  Status watch(const std::string& folder);

 private:
  int pipe_ = -1;  // To the process, which sees the end of the pipe when this one dies.
  int child_ = -1;
};

}  // namespace ouro::cli
