// Stories as Elle's results have them: under Elle's names of anomalies, each as a map with Elle's
// keys. Elle's analysis of a cycle names it by its edges; some of our stories are several of its
// anomalies.
#pragma once

#include <string>
#include <vector>

#include "ouro/explain.h"
#include "report/edn_ops.h"

namespace ouro {

struct EdnAnomaly {
  std::string type;  // "G-single-item-process"
  std::string map;   // {:cycle [...], :steps [...], :type :G-single-item-process}
};

// Never empty.
[[nodiscard]] std::vector<EdnAnomaly> edn_anomalies(const EdnOps& ops, const Story& story);

}  // namespace ouro
