// Files in other programs' forms that a check writes beside its report.
#pragma once

#include <string>

#include "ouro/ouro.h"

namespace ouro::cli {

struct FormPaths {
  std::string dot;
  std::string junit;
  std::string sarif;
  std::string html;
};

class FormFiles {
 public:
  explicit FormFiles(const FormPaths& paths) : paths_(paths) {}

  [[nodiscard]] bool any() const {
    return !paths_.dot.empty() || !paths_.junit.empty() || !paths_.sarif.empty() ||
           !paths_.html.empty();
  }
  void add(const Checked& checked);
  void add(std::string_view name, const Error& error);
  // Writes all that were asked for, each at once: a file is the old or the new one, never half of
  // it. Returns the status of the command, kHolds if nothing went wrong.
  [[nodiscard]] int write() const;

 private:
  const FormPaths& paths_;
  JunitReport junit_;
  SarifReport sarif_;
  HtmlReport html_;
  std::string dot_;
};

}  // namespace ouro::cli
