// Where the tests of a source are.

#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "tests/tidy.h"

namespace ouro::tidy {
namespace {

// Whether sources of that folder must have a test beside them.
bool is_tested_beside(const std::filesystem::path& path) {
  const std::string name = path.string();
  return (name.starts_with("src/check/") || name.starts_with("src/certify/")) &&
         name.ends_with(".cc") && !name.ends_with("_test.cc") && !name.ends_with("_benchmark.cc");
}

std::string test_beside(std::filesystem::path source) {
  return source.replace_extension().string() + "_test.cc";
}

}  // namespace

Complaints check_tests_beside(std::span<const Source> sources, const Ratchet& ratchet) {
  Complaints complaints;
  std::set<std::string> paths;
  for (const Source& source : sources) paths.insert(source.path);
  for (const std::string& path : paths) {
    if (!is_tested_beside(path) || paths.contains(test_beside(path))) continue;
    if (ratchet.tested.contains(path)) continue;
    complaints.push_back(fmt::format("{}:1: error: it has no test beside it, {}", path,
                                     std::filesystem::path(test_beside(path)).filename().string()));
  }
  for (const auto& [path, test] : ratchet.tested) {
    const bool needed = paths.contains(path) && !paths.contains(test_beside(path));
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    if (!needed) {
      complaints.push_back(fmt::format(
          "tests/tidy_ratchet.txt: error: 'tested {}' is not needed any more; remove it", path));
    } else if (!paths.contains((folder / test).string())) {
      complaints.push_back(
          fmt::format("tests/tidy_ratchet.txt: error: there is no {} beside {}", test, path));
    }
  }
  return complaints;
}

}  // namespace ouro::tidy
