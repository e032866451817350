// What a run leaves behind if its level does not hold: a folder with all that it takes to look
// again.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "cli/folder_guard.h"
#include "ouro/result.h"

namespace ouro::cli {

class RunFolder {
 public:
  RunFolder() = default;
  // Removes the folder with all that is in it, unless keep() was called. A folder that was there
  // before stays, empty as it was.
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  // Makes the folder `path`, or one with a new name in $TMPDIR if `path` is empty. It is an error
  // if there is something in it. If this process is killed, a folder that was made for it, and in
  // which nothing is, does not stay.
  Status make(const std::string& path);
  // Writes `about` and the command that this process was started with, without passwords, into the
  // folder; and, if the history was recorded elsewhere, links it here.
  Status keep(const std::string& history, std::string_view about);

  [[nodiscard]] std::string path() const { return path_.string(); }
  [[nodiscard]] std::string history() const { return (path_ / "history.jsonl").string(); }
  [[nodiscard]] std::string report() const { return (path_ / "report.html").string(); }
  [[nodiscard]] std::string certificate() const { return (path_ / "certificate.jsonl").string(); }

 private:
  std::filesystem::path path_;
  bool made_ = false;  // Whether the folder is new.
  bool kept_ = false;
  FolderGuard guard_;
};

// `arguments` as a line that a shell understands. Of addresses like "postgres://user:password@host"
// the password is left out.
[[nodiscard]] std::string shell_line(const std::vector<std::string>& arguments);

}  // namespace ouro::cli
