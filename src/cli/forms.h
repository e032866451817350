// Files in other programs' forms that a check writes beside its report.
#pragma once

#include <string>

#include "ouro/ouro.h"

namespace ouro::cli {

struct FormPaths {
  std::string dot;
  std::string junit;
  std::string sarif;
};

class FormFiles {
 public:
  explicit FormFiles(const FormPaths& paths) : paths_(paths) {}

  [[nodiscard]] bool any() const {
    return !paths_.dot.empty() || !paths_.junit.empty() || !paths_.sarif.empty();
  }
  void add(const Checked& checked);
  void add(std::string_view name, const Error& error);
  // Writes all that were asked for; the status of the command, kHolds if nothing went wrong.
  [[nodiscard]] int write() const;

 private:
  const FormPaths& paths_;
  JunitReport junit_;
  SarifReport sarif_;
  std::string dot_;
};

}  // namespace ouro::cli
