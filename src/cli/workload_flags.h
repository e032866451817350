// The flags that say what clients do, for the commands that make histories.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "cli/command.h"

namespace ouro::cli {

struct WorkloadFlags {
  WorkloadOptions& options;  // What apply() fills; some flags set it directly.
  std::string workload = "general";
  std::string key_choice = "uniform";
  std::string ops = {};   // "8" or "2-16".
  std::string keys = {};  // Empty: as many as the workload has by default.
};

// Whether the help screen shows all flags, or only the important ones.
enum class Detail { All, Short };
void add_workload_flags(CLI::App& app, WorkloadFlags& flags, Detail detail = Detail::All);

// Sets the options by the other flags. Returns what is wrong with these, or nothing.
[[nodiscard]] std::optional<std::string> apply(WorkloadFlags& flags);

// A paragraph for the man page: the workloads for which `which` is true.
[[nodiscard]] std::string workload_details(const std::function<bool(const WorkloadInfo&)>& which);

}  // namespace ouro::cli
