#include "base/temporary_folder.h"

#include <cstdlib>
#include <string>
#include <system_error>

#include "base/system_error.h"

namespace ouro {

Result<TemporaryFolder> TemporaryFolder::make(std::string_view prefix, std::size_t longest) {
  const char* const wanted = std::getenv("TMPDIR");
  std::string name = wanted == nullptr ? "" : wanted;
  if (name.empty() || name.size() > longest) name = "/tmp";
  name += '/';
  name += prefix;
  name += "-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) {
    return system_error(name, "cannot make a temporary folder");
  }
  TemporaryFolder folder;
  folder.path_ = name;
  return folder;
}

Status TemporaryFolder::remove() {
  if (path_.empty()) return {};
  std::error_code problem;
  const std::filesystem::path path = std::exchange(path_, {});
  std::filesystem::remove_all(path, problem);
  if (!problem) return {};
  Error error;
  error.file = path.string();
  error.what = "cannot remove this folder: " + problem.message();
  return error;
}

}  // namespace ouro
