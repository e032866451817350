#include "db/data_folder.h"

#include <filesystem>
#include <fstream>
#include <system_error>
#include <vector>

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

// Removes all that the database left in the folder.
Status empty_folder(const std::filesystem::path& path, DataFolder::IsOurs is_ours) {
  std::error_code problem;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path, problem)) {
    if (entry.is_directory() && !entry.is_symlink()) continue;
    const std::string name = entry.path().lexically_relative(path).string();
    if (name != kMark && !is_ours(name)) {
      return error_at(path, "this folder has " + name +
                                " in it, which no run of ouro made; move it, or name another");
    }
    files.push_back(entry.path());
  }
  for (const auto& file : files) {
    if (!problem) std::filesystem::remove(file, problem);
  }
  if (problem) return error_at(path, "cannot empty this folder: " + problem.message());
  return {};
}

Status make_named(const std::filesystem::path& path, DataFolder::IsOurs is_ours) {
  std::error_code problem;
  std::filesystem::create_directories(path, problem);
  if (problem) return error_at(path, "cannot make this folder: " + problem.message());
  const bool empty = std::filesystem::is_empty(path, problem);
  if (!empty && !std::filesystem::exists(path / kMark, problem)) {
    return error_at(path, "this folder has something in it that no run of ouro made; name another");
  }
  if (!empty) {
    if (auto emptied = empty_folder(path, is_ours); !emptied) return emptied;
  }
  if (!std::ofstream(path / kMark)) return error_at(path, "cannot write into this folder");
  return {};
}

}  // namespace

Status DataFolder::make(const std::string& path, std::string_view prefix, IsOurs is_ours) {
  if (!path.empty()) {
    path_ = path;
    return make_named(path, is_ours);
  }
  auto made = TemporaryFolder::make(prefix);
  if (!made.ok()) return made.error();
  temporary_ = *std::move(made);
  path_ = temporary_.path().string();
  return {};
}

}  // namespace ouro::db
