#include "db/data_folder.h"

#include <filesystem>
#include <fstream>
#include <system_error>

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

Status DataFolder::make(const std::string& path, std::string_view prefix) {
  if (!path.empty()) {
    path_ = path;
    return make_named(path);
  }
  auto made = TemporaryFolder::make(prefix);
  if (!made.ok()) return made.error();
  temporary_ = *std::move(made);
  path_ = temporary_.path().string();
  return {};
}

}  // namespace ouro::db
