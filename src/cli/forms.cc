#include "cli/forms.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "cli/command.h"
#include "cli/terminal.h"

namespace ouro::cli {
namespace {

namespace fs = std::filesystem;

// The path of the file to replace: of a symbolic link, the file that it names. Empty if that is no
// regular file, such as a device, which is then written in place.
std::string replaceable(const std::string& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  if (error) return path;  // The file does not exist yet.
  return fs::is_regular_file(real, error) ? real.string() : std::string();
}

int write_form(const std::string& path, const std::string& text) {
  if (path.empty()) return kHolds;
  if (path == "-") {
    print(text);
    return kHolds;
  }
  const std::string target = replaceable(path);
  const std::string part = target.empty() ? path : target + ".part";
  std::ofstream file(part, std::ios::binary);
  file << text;
  file.close();
  if (file && (target.empty() || std::rename(part.c_str(), target.c_str()) == 0)) return kHolds;
  const int reason = errno;
  std::error_code ignored;
  if (!target.empty()) fs::remove(part, ignored);
  return fail(fmt::format("{}: cannot write: {}", path, std::strerror(reason)));
}

}  // namespace

void FormFiles::add(const Checked& checked) {
  if (!paths_.junit.empty()) junit_.add(checked);
  if (!paths_.sarif.empty()) sarif_.add(checked);
  if (!paths_.html.empty()) html_.add(checked);
  if (!paths_.dot.empty()) dot_ = to_dot(*checked.history, checked.explanations);
}

void FormFiles::add(std::string_view name, const Error& error) {
  junit_.add(name, error);
  sarif_.add(name, error);
  html_.add(name, error);
}

int FormFiles::write() const {
  return std::max({write_form(paths_.dot, dot_), write_form(paths_.junit, junit_.finish()),
                   write_form(paths_.sarif, sarif_.finish()),
                   write_form(paths_.html, html_.finish())});
}

}  // namespace ouro::cli
