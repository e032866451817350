#include "cli/generate_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "cli/flags.h"

namespace ouro::cli {
namespace {

// Parses "lost-update=0.01"; without a rate it is 1. Returns what is wrong, or nothing.
std::optional<std::string> parse_fault(const std::string& text, PlantedFault& planted) {
  const std::size_t equals = std::min(text.find('='), text.size());
  const std::string_view wanted = std::string_view(text).substr(0, equals);
  planted.rate = 1;
  bool known = false;
  for (const Fault fault : faults()) {
    if (name(fault) != wanted) continue;
    planted.fault = fault;
    known = true;
  }
  if (!known) {
    return fmt::format("unknown fault '{}'; known are {}", wanted, fault_names());
  }
  if (equals == text.size()) return std::nullopt;
  const char* first = text.data() + equals + 1;
  const char* last = text.data() + text.size();
  const auto [end, problem] = std::from_chars(first, last, planted.rate);
  if (problem != std::errc() || end != last || !(planted.rate >= 0 && planted.rate <= 1)) {
    return fmt::format("--fault {}: the rate must be a number from 0 to 1", text);
  }
  return std::nullopt;
}

}  // namespace

std::string fault_names() {
  std::string names;
  for (const Fault fault : faults()) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name(fault));
  }
  return names;
}

void declare_generate(CLI::App& app, GenerateFlags& flags) {
  app.add_option("-l,--level", flags.level, "what the store keeps [strict-serializable]")
      ->type_name("LEVEL");
  add_workload_flags(app, flags.workload);
  app.add_option("--sessions", flags.options.sessions, "concurrent clients [10]")
      ->type_name("N")
      ->check(whole_number());
  app.add_option("-n,--txns", flags.options.txns, "transactions [1000]")
      ->type_name("N")
      ->check(whole_number());
  app.add_option("--unknown-share", flags.options.unknown_share,
                 "of outcomes, those that get lost [0]")
      ->type_name("X")
      ->check(share())
      ->group(kMinor);
  app.add_flag("--clocks", flags.options.clocks, "record client clocks");
  app.add_option("--quiet-every", flags.options.quiet_every,
                 "nothing runs for a while after so many transactions")
      ->type_name("N")
      ->check(whole_number())
      ->group(kMinor);
  app.add_flag("--timestamps", flags.options.timestamps, "record start and commit timestamps");
  app.add_flag("--version-orders", flags.options.version_orders,
               "record the version order of every key");
  app.add_flag("--duplicates", flags.options.duplicates, "write values that repeat")->group(kMinor);
  app.add_option("--fault", flags.faults, "plant an anomaly at a rate; repeatable")
      ->type_name("NAME=RATE")
      ->expected(1)
      ->take_all();
}

std::optional<std::string> apply(GenerateFlags& flags) {
  const auto level = find_level(flags.level);
  if (!level) {
    const auto levels = parse_levels(flags.level, Evidence::Observed);
    return levels.ok() ? fmt::format("'{}' is not one level; give one", flags.level)
                       : levels.error().to_string();
  }
  flags.options.store = *level;
  if (auto what = apply(flags.workload)) return what;
  for (const std::string& text : flags.faults) {
    PlantedFault planted;
    if (auto what = parse_fault(text, planted)) return what;
    flags.options.faults.push_back(planted);
  }
  return std::nullopt;
}

}  // namespace ouro::cli
