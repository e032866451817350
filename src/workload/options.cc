#include "workload/options.h"

#include <fmt/format.h>

#include <utility>

namespace ouro::workload {
namespace {

constexpr std::uint64_t kMaxKeys = 100'000'000;
constexpr std::uint32_t kMaxSessions = 1'000'000;
constexpr std::uint32_t kMaxOpsPerTxn = 1'000'000;
constexpr std::uint64_t kMaxOps = 0xfffffffe;
constexpr double kMaxTheta = 10;

std::optional<std::string> bad_count(const WorkloadOptions& options) {
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
  if (options.ops_at_least > options.ops_per_txn) {
    return fmt::format("transactions of {} to {} operations; the first number must not be larger",
                       options.ops_at_least, options.ops_per_txn);
  }
  if (options.txns > kMaxOps / options.ops_per_txn) {
    return fmt::format(
        "{} transactions of {} operations exceed a history's {} operations; use fewer",
        options.txns, options.ops_per_txn, kMaxOps);
  }
  return std::nullopt;
}

std::optional<std::string> bad_share(const WorkloadOptions& options) {
  const std::pair<const char*, double> shares[] = {
      {"read share", options.read_share},
      {"read-modify-write share", options.rmw_share},
      {"share of hot keys", options.hotspot_keys},
      {"share of operations on hot keys", options.hotspot_ops},
      {"abort share", options.abort_share},
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

}  // namespace

std::optional<std::string> bad_workload(const WorkloadOptions& options) {
  if (auto what = bad_count(options)) return what;
  return bad_share(options);
}

}  // namespace ouro::workload
