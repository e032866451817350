#include "ouro/generate.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

#include "workload/fault_script.h"
#include "workload/simulation.h"

namespace ouro {
namespace {

using workload::FaultNeeds;
using workload::FaultScript;

constexpr std::uint64_t kMaxKeys = 100'000'000;
constexpr std::uint32_t kMaxSessions = 1'000'000;
constexpr std::uint32_t kMaxOpsPerTxn = 1'000'000;
constexpr std::uint64_t kMaxOps = 0xfffffffe;
constexpr double kMaxTheta = 10;

std::optional<std::string> bad_count(const GenerateOptions& options) {
  if (options.sessions == 0) return "sessions is 0; at least one session must do the work";
  if (options.sessions > kMaxSessions) {
    return fmt::format("{} sessions are too many; use at most {}", options.sessions, kMaxSessions);
  }
  if (options.keys == 0) return "keys is 0; use at least one key";
  if (options.keys > kMaxKeys) {
    return fmt::format("{} keys are too many; use at most {}", options.keys, kMaxKeys);
  }
  if (options.ops_per_txn == 0) return "operations per transaction is 0; use at least one";
  if (options.ops_per_txn > kMaxOpsPerTxn) {
    return fmt::format("{} operations per transaction are too many; use at most {}",
                       options.ops_per_txn, kMaxOpsPerTxn);
  }
  if (options.txns > kMaxOps / options.ops_per_txn) {
    return fmt::format(
        "{} transactions of {} operations exceed a history's {} operations; use fewer",
        options.txns, options.ops_per_txn, kMaxOps);
  }
  return std::nullopt;
}

std::optional<std::string> bad_share(const GenerateOptions& options) {
  const std::pair<const char*, double> shares[] = {
      {"read share", options.read_share},
      {"read-modify-write share", options.rmw_share},
      {"share of hot keys", options.hotspot_keys},
      {"share of operations on hot keys", options.hotspot_ops},
      {"abort share", options.abort_share},
      {"unknown share", options.unknown_share},
  };
  for (const auto& [what, share] : shares) {
    // Written so that it catches NaN too.
    if (!(share >= 0 && share <= 1)) {
      return fmt::format("{} is {}; it must be between 0 and 1", what, share);
    }
  }
  if (!(options.zipf_theta >= 0 && options.zipf_theta <= kMaxTheta)) {
    return fmt::format("Zipf theta is {}; it must be between 0 and {}", options.zipf_theta,
                       kMaxTheta);
  }
  return std::nullopt;
}

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
  if (script.lists_only && options.workload != WorkloadKind::ListAppend) {
    return fmt::format("fault {} is about lists; use the list-append workload", script.name);
  }
  if (script.needs_clocks && !options.clocks) {
    return fmt::format("fault {} shows only in client clocks; record clocks too", script.name);
  }
  if (options.sessions < needs.sessions) {
    return fmt::format("fault {} needs {} sessions, there are {}; use more", script.name,
                       needs.sessions, options.sessions);
  }
  if (options.keys < needs.keys) {
    return fmt::format("fault {} needs {} keys, there are {}; use more", script.name, needs.keys,
                       options.keys);
  }
  return std::nullopt;
}

std::optional<std::string> bad_option(const GenerateOptions& options) {
  if (auto what = bad_count(options)) return what;
  if (auto what = bad_share(options)) return what;
  if (options.store == Level::RepeatableRead) {
    return "there is no repeatable-read store; use a serializable one, or si with planted faults";
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
