// What stories and verdicts say about Elle's anomalies and consistency models.
#pragma once

#include <map>
#include <span>
#include <string>

#include "base/elle_models.h"
#include "ouro/elle.h"
#include "report/edn_ops.h"

namespace ouro {

// Elle's maps of the anomalies in the stories, by their types, with blanks between them.
using EdnExamples = std::map<std::string, std::string>;
[[nodiscard]] EdnExamples edn_examples(const EdnOps& ops,
                                       std::span<const Explanation> explanations);

// The models that the report rules out. `examples` are those of its stories.
[[nodiscard]] ElleBoundary ruled_out(const History& history, const ElleReport& report,
                                     const EdnExamples& examples);

}  // namespace ouro
