#include "cli/forms.h"

#include <algorithm>

#include "cli/command.h"
#include "cli/terminal.h"

namespace ouro::cli {
namespace {

int write_form(const std::string& path, const std::string& text) {
  if (path.empty()) return kHolds;
  if (path == "-") {
    print(text);
    return kHolds;
  }
  const auto status = write_file(path, text);
  return status.ok() ? kHolds : fail(status.error());
}

}  // namespace

void FormFiles::add(const Checked& checked) {
  if (!paths_.junit.empty()) junit_.add(checked);
  if (!paths_.sarif.empty()) sarif_.add(checked);
  if (paths_.page()) html_.add(checked);
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
                   write_form(paths_.html, html_.finish()),
                   write_form(paths_.kept_html, html_.finish())});
}

}  // namespace ouro::cli
