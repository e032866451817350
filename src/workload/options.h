// Whether a workload can be run at all.
#pragma once

#include <optional>
#include <string>

#include "ouro/workload.h"

namespace ouro::workload {

// What is wrong with the options and what to do, or nothing.
[[nodiscard]] std::optional<std::string> bad_workload(const WorkloadOptions& options);

}  // namespace ouro::workload
