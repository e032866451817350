#include "db/temporary_folder.h"

#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "base/system_error.h"

namespace ouro::db {
namespace {

Error error_at(const std::string& path, const std::string& what) {
  Error error;
  error.file = path;
  error.what = what;
  return error;
}

// The file that marks a folder as made by a run; only such folders are emptied.
constexpr char kMark[] = "made-by-ouro-run";

Status make_named(const std::filesystem::path& path) {
  std::error_code problem;
  std::filesystem::create_directories(path, problem);
  if (problem) return error_at(path, "cannot make this folder: " + problem.message());
  const bool empty = std::filesystem::is_empty(path, problem);
  if (!empty && !std::filesystem::exists(path / kMark, problem)) {
    return error_at(path, "this folder has something in it that no run of ouro made; name another");
  }
  if (!empty) std::filesystem::remove_all(path, problem);
  if (!problem) std::filesystem::create_directories(path, problem);
  if (problem) return error_at(path, "cannot empty this folder: " + problem.message());
  if (!std::ofstream(path / kMark)) return error_at(path, "cannot write into this folder");
  return {};
}

}  // namespace

Status TemporaryFolder::make(const std::string& path, std::string_view prefix) {
  if (!path.empty()) {
    path_ = path;
    return make_named(path);
  }
  const char* base = std::getenv("TMPDIR");
  std::string name = base != nullptr && *base != '\0' ? base : "/tmp";
  name += '/';
  name += prefix;
  name += "-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) {
    return system_error(name, "cannot make a temporary folder");
  }
  path_ = name;
  temporary_ = true;
  return {};
}

Status TemporaryFolder::remove() {
  if (!temporary_) return {};
  temporary_ = false;
  std::error_code problem;
  std::filesystem::remove_all(path_, problem);
  if (problem) return error_at(path_, "cannot remove this folder: " + problem.message());
  return {};
}

}  // namespace ouro::db
