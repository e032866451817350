// describe(): explains a verdict and renders the explanation as text, in one call.

#include "ouro/report.h"

namespace ouro {

std::string describe(const History& history, const Verdict& verdict) {
  const Explanation explanation = explain(history, verdict);
  return describe(history, verdict, {.explanations = std::span(&explanation, 1)});
}

}  // namespace ouro
