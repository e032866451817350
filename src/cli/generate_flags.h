// The flags that say which history to generate.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/workload_flags.h"

namespace ouro::cli {

struct GenerateFlags {
  GenerateOptions options;
  WorkloadFlags workload{.options = options};
  std::string level = "strict-serializable";
  std::vector<std::string> faults;
};

// Adds the flags to `app`. `flags` must outlive it.
void declare_generate(CLI::App& app, GenerateFlags& flags);
// Sets the options by the other flags. Returns what is wrong with these, or nothing.
[[nodiscard]] std::optional<std::string> apply(GenerateFlags& flags);
// The names of all faults, for the manual.
[[nodiscard]] std::string fault_names();

}  // namespace ouro::cli
