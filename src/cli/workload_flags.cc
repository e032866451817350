#include "cli/workload_flags.h"

#include <fmt/format.h>

#include <charconv>
#include <map>

#include "cli/flags.h"

namespace ouro::cli {
namespace {

const std::map<std::string, KeyChoice> kKeyChoices{
    {"uniform", KeyChoice::Uniform}, {"zipf", KeyChoice::Zipf}, {"hotspot", KeyChoice::Hotspot}};

template <class Number>
bool parse_whole(std::string_view text, Number& number) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  return problem == std::errc() && end == text.data() + text.size();
}

// Parses "8" or "2-16" into the options; false if it is neither.
bool parse_ops(std::string_view text, WorkloadOptions& options) {
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) return parse_whole(text, options.ops_per_txn);
  return parse_whole(text.substr(0, dash), options.ops_at_least) && options.ops_at_least > 0 &&
         parse_whole(text.substr(dash + 1), options.ops_per_txn);
}

}  // namespace

std::optional<std::string> apply(WorkloadFlags& flags) {
  WorkloadOptions& options = flags.options;
  const WorkloadInfo* workload = find_workload(flags.workload);
  if (workload == nullptr) {
    std::string names;
    for (const WorkloadInfo& known : workloads()) {
      names += fmt::format("{}{}", names.empty() ? "" : ", ", known.name);
    }
    return fmt::format("unknown workload '{}'; known are {}", flags.workload, names);
  }
  options.workload = workload->kind;
  options.key_choice = kKeyChoices.at(flags.key_choice);
  if (workload->keys != 0) options.keys = workload->keys;
  options.ops_per_txn = workload->ops_per_txn;
  if (!flags.keys.empty()) {
    if (workload->keys == 0) {
      return fmt::format("workload {} has its own keys; leave --keys out", workload->name);
    }
    if (!parse_whole(flags.keys, options.keys)) {
      return fmt::format("--keys {}: expected a whole number", flags.keys);
    }
  }
  if (!flags.ops.empty() && !parse_ops(flags.ops, options)) {
    return fmt::format("--ops {}: expected a whole number, or two such as 2-16", flags.ops);
  }
  return std::nullopt;
}

void add_workload_flags(CLI::App& app, WorkloadFlags& flags, Detail detail) {
  WorkloadOptions& options = flags.options;
  const auto part = [&](const char* name, double& target, const char* what) {
    return app.add_option(name, target, what)->type_name("X")->check(share());
  };
  const auto rare = [&](CLI::Option* option) {
    if (detail == Detail::Short) option->group(kMinor);
  };
  app.add_option("-w,--workload", flags.workload, "what clients do [general]")->type_name("NAME");
  app.add_option("--seed", options.seed, "the same seed gives the same plans [1]")
      ->type_name("N")
      ->check(whole_number());
  app.add_option("--ops", flags.ops, "operations per transaction, or a range 2-16 [8]")
      ->type_name("N");
  app.add_option("--keys", flags.keys, "keys [100, or as the workload needs]")->type_name("N");
  part("--read-share", options.read_share, "of operations, those that read [0.5]");
  part("--rmw-share", options.rmw_share, "of writes, those that read first [0]");
  rare(app.add_option("--key-choice", flags.key_choice, "how keys are picked [uniform]")
           ->type_name("uniform|zipf|hotspot")
           ->check(one_of({"uniform", "zipf", "hotspot"})));
  rare(app.add_option("--zipf-theta", options.zipf_theta, "skew of zipf [0.99]")
           ->type_name("X")
           ->check(number_at_least_zero()));
  rare(part("--hotspot-keys", options.hotspot_keys, "of keys, those that are hot [0.2]"));
  rare(part("--hotspot-ops", options.hotspot_ops, "of operations, those on hot keys [0.8]"));
  rare(part("--abort-share", options.abort_share, "of transactions, those that abort [0]"));
}

std::string workload_details(const std::function<bool(const WorkloadInfo&)>& which) {
  std::string text = "Workloads:";
  for (const WorkloadInfo& workload : workloads()) {
    if (!which(workload)) continue;
    text += fmt::format("{} {} ({})", text.ends_with(':') ? "" : ";", workload.name,
                        workload.description);
  }
  return text + ".";
}

}  // namespace ouro::cli
