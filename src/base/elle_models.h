// The consistency models of Elle and which of its anomalies rule out which: what its results say
// under :not and :also-not.
//
// Elle knows more models than we decide, and orders them as its elle.consistency-model does. The
// facts are those of Elle 0.2.4; the names are those that it prints. Anomalies are known by the
// names that its results have ("G-single-item-process").
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ouro/level.h"

namespace ouro {

// The name by which Elle prints the model; empty if Elle has no such model. Letter case does not
// matter: "PL-2" is "read-committed".
[[nodiscard]] std::string_view find_elle_model(std::string_view name);

// The weakest of levels() that imply the model. Empty if none does. REQUIRES: find_elle_model()
// printed `model`.
[[nodiscard]] std::vector<Level> weakest_implying(std::string_view model);

// Whether a history that satisfies `model` satisfies `other`, too. REQUIRES: find_elle_model()
// printed both.
[[nodiscard]] bool model_implies(std::string_view model, std::string_view other);

// What to say of a name that find_level() does not know: the closest known one; of a model that is
// none of our levels, the next stronger ones that are.
[[nodiscard]] std::string unknown_level(std::string_view name);

// What rules out models.
struct ElleFindings {
  std::vector<std::string_view> anomalies;
  std::vector<std::string_view> models;  // Those known to be violated for other reasons.
};

// All models that the findings rule out, in alphabetical order: the weakest of them, and the rest.
struct ElleBoundary {
  std::vector<std::string_view> weakest;
  std::vector<std::string_view> stronger;
};
[[nodiscard]] ElleBoundary boundary(const ElleFindings& findings);

}  // namespace ouro
