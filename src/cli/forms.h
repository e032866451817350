// Files that a check writes in addition to what it prints, in forms that other programs read.
#pragma once

#include <string>

#include "ouro/ouro.h"

namespace ouro::cli {

// Where to write each; empty: not asked for, "-": standard output.
struct FormPaths {
  std::string dot;
  std::string junit;
  std::string sarif;
  std::string html;
  std::string kept_html;  // Where else to write the page.

  [[nodiscard]] bool page() const { return !html.empty() || !kept_html.empty(); }
};

class FormFiles {
 public:
  // `paths` must outlive it.
  explicit FormFiles(const FormPaths& paths) : paths_(paths) {}

  [[nodiscard]] bool any() const {
    return !paths_.dot.empty() || !paths_.junit.empty() || !paths_.sarif.empty() || paths_.page();
  }
  // Adds a history that was checked, or one that could not be.
  void add(const Checked& checked);
  void add(std::string_view name, const Error& error);
  // Writes all files that were asked for. Each is replaced at once, so that it is never half
  // written. Returns an exit status: kHolds if nothing went wrong.
  [[nodiscard]] int write() const;

 private:
  const FormPaths& paths_;
  JunitReport junit_;
  SarifReport sarif_;
  HtmlReport html_;
  std::string dot_;
};

}  // namespace ouro::cli
