// The flags that say what clients do, for the commands that make histories.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "cli/command.h"

namespace ouro::cli {

struct WorkloadFlags {
  WorkloadOptions& options;
  std::string workload = "general";
  std::string key_choice = "uniform";
  std::string ops = {};   // "8" or "2-16".
  std::string keys = {};  // Empty: what the workload thinks good.
};

enum class Detail { All, Short };
// Short: the help shows the important ones only.
void add_workload_flags(CLI::App& app, WorkloadFlags& flags, Detail detail = Detail::All);

// Fills in the options that the flags name; what is wrong with them, or nothing.
[[nodiscard]] std::optional<std::string> apply(WorkloadFlags& flags);

// A paragraph for the man page: the workloads that `which` is true of.
[[nodiscard]] std::string workload_details(const std::function<bool(const WorkloadInfo&)>& which);

}  // namespace ouro::cli
