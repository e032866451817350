#include "ouro/generate.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

#include "base/level_rules.h"
#include "workload/fault_script.h"
#include "workload/options.h"
#include "workload/simulation.h"

namespace ouro {
namespace {

using workload::FaultNeeds;
using workload::FaultScript;

std::optional<std::string> bad_fault(const GenerateOptions& options, const PlantedFault& planted) {
  if (static_cast<std::size_t>(planted.fault) >= workload::fault_scripts().size()) {
    return "unknown fault; faults() lists those there are";
  }
  const FaultScript& script = workload::script_of(planted.fault);
  const FaultNeeds needs = needs_of(script);
  if (!(planted.rate >= 0 && planted.rate <= 1)) {
    return fmt::format("rate of fault {} is {}; it must be between 0 and 1", script.name,
                       planted.rate);
  }
  if (script.lists_only && !info(options.workload).lists) {
    return fmt::format("fault {} is about lists; use the list-append workload", script.name);
  }
  if (script.scans_only && !info(options.workload).scans) {
    return fmt::format("fault {} is about scans; use a range workload, or phantom", script.name);
  }
  if (script.needs_clocks && !options.clocks) {
    return fmt::format("fault {} shows only in client clocks; record clocks too", script.name);
  }
  if (options.sessions < needs.sessions) {
    return fmt::format("fault {} needs {} sessions, there are {}; use more", script.name,
                       needs.sessions, options.sessions);
  }
  if (info(options.workload).keys != 0 && options.keys < needs.keys) {
    return fmt::format("fault {} needs {} keys, there are {}; use more", script.name, needs.keys,
                       options.keys);
  }
  return std::nullopt;
}

std::optional<std::string> bad_option(const GenerateOptions& options) {
  if (auto what = workload::bad_workload(options)) return what;
  if (!(options.unknown_share >= 0 && options.unknown_share <= 1)) {
    return fmt::format("unknown share is {}; it must be between 0 and 1", options.unknown_share);
  }
  if (!info(options.workload).simulated) {
    return fmt::format("workload {} needs a real database; use ouro run",
                       info(options.workload).name);
  }
  if (rules(options.store).store == StoreKind::None) {
    return fmt::format("there is no {} store; use a serializable one, or si with planted faults",
                       info(options.store).name);
  }
  for (const PlantedFault& planted : options.faults) {
    if (auto what = bad_fault(options, planted)) return what;
  }
  return std::nullopt;
}

}  // namespace

std::string_view name(Fault fault) { return workload::script_of(fault).name; }

const std::vector<Fault>& faults() {
  static const std::vector<Fault> all = [] {
    std::vector<Fault> result;
    for (const FaultScript& script : workload::fault_scripts()) result.push_back(script.fault);
    return result;
  }();
  return all;
}

Result<History> generate(const GenerateOptions& options) {
  if (auto what = bad_option(options)) {
    Error error;
    error.what = *std::move(what);
    return error;
  }
  return workload::Simulation(options).run();
}

}  // namespace ouro
