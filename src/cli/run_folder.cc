#include "cli/run_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

namespace ouro::cli {
namespace {

namespace fs = std::filesystem;

Error folder_error(const std::string& path, std::string_view what) {
  Error error;
  error.file = path;
  error.what = what;
  return error;
}

// A new folder of $TMPDIR; empty if it cannot be made, and errno says why.
std::string new_temporary_folder() {
  const char* base = std::getenv("TMPDIR");
  std::string name = base != nullptr && *base != '\0' ? base : "/tmp";
  name += "/ouro-run-XXXXXX";
  return ::mkdtemp(name.data()) == nullptr ? std::string() : name;
}

// The words that this process was started with.
std::vector<std::string> own_arguments() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

std::string without_password(std::string word) {
  const std::size_t scheme = word.find("://");
  if (scheme == std::string::npos) return word;
  const std::size_t begin = scheme + 3;
  const std::size_t host = word.find('@', begin);
  const std::size_t colon = word.find(':', begin);
  if (host == std::string::npos || colon == std::string::npos || colon > host) return word;
  return word.replace(colon + 1, host - colon - 1, "***");
}

std::string quoted(const std::string& word) {
  const std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=,@%+";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace

std::string shell_line(const std::vector<std::string>& arguments) {
  std::string line;
  for (const std::string& word : arguments) {
    line += (line.empty() ? "" : " ") + quoted(without_password(word));
  }
  return line;
}

RunFolder::~RunFolder() {
  if (path_.empty() || kept_) return;
  std::error_code ignored;
  if (made_) {
    fs::remove_all(path_, ignored);
    return;
  }
  for (const fs::directory_entry& entry : fs::directory_iterator(path_, ignored)) {
    fs::remove_all(entry.path(), ignored);
  }
}

Status RunFolder::make(const std::string& path) {
  if (path.empty()) {
    path_ = new_temporary_folder();
    made_ = !path_.empty();
    if (made_) return {};
    return folder_error("",
                        fmt::format("cannot make a temporary folder: {}", std::strerror(errno)));
  }
  std::error_code error;
  made_ = fs::create_directories(path, error);
  if (error) return folder_error(path, "cannot make this folder: " + error.message());
  const bool empty = fs::is_empty(path, error);
  if (error) return folder_error(path, "cannot look into this folder: " + error.message());
  if (!empty) return folder_error(path, "is not empty; name a new folder for what a run leaves");
  path_ = path;
  return {};
}

Status RunFolder::keep(const std::string& history, std::string_view about) {
  kept_ = true;
  std::error_code error;
  if (history != this->history()) {
    fs::create_hard_link(history, this->history(), error);
    if (error) fs::copy_file(history, this->history(), error);  // On another disk, perhaps.
    if (error) return folder_error(this->history(), "cannot copy the history: " + error.message());
  }
  const std::string path = (path_ / "command.txt").string();
  return write_file(path, shell_line(own_arguments()) + '\n' + std::string(about));
}

}  // namespace ouro::cli
