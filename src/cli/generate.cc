// ouro generate: makes a history with simulated clients.

#include <fmt/format.h>

#include <charconv>
#include <memory>

#include "cli/command.h"
#include "cli/flags.h"
#include "cli/terminal.h"
#include "cli/workload_flags.h"
#include "cli/writing.h"

namespace ouro::cli {
namespace {

struct GenerateFlags {
  GenerateOptions options;
  WorkloadFlags workload{.options = options};
  std::string level = "strict-serializable";
  std::vector<std::string> faults;
  std::string out = "-";
  std::string format;
};

std::string fault_names() {
  std::string names;
  for (const Fault fault : faults()) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name(fault));
  }
  return names;
}

// Parses "lost-update=0.01"; without a rate it is 1. If something is wrong, complains and returns
// nothing.
std::optional<PlantedFault> parse_fault(const std::string& text) {
  const std::size_t equals = std::min(text.find('='), text.size());
  const std::string_view wanted = std::string_view(text).substr(0, equals);
  PlantedFault planted;
  planted.rate = 1;
  bool known = false;
  for (const Fault fault : faults()) {
    if (name(fault) != wanted) continue;
    planted.fault = fault;
    known = true;
  }
  if (!known) {
    fail(fmt::format("unknown fault '{}'; known are {}", wanted, fault_names()));
    return std::nullopt;
  }
  if (equals == text.size()) return planted;
  const char* first = text.data() + equals + 1;
  const char* last = text.data() + text.size();
  const auto [end, problem] = std::from_chars(first, last, planted.rate);
  if (problem != std::errc() || end != last || !(planted.rate >= 0 && planted.rate <= 1)) {
    fail(fmt::format("--fault {}: the rate must be a number from 0 to 1", text));
    return std::nullopt;
  }
  return planted;
}

int run_generate(GenerateFlags& flags) {
  const auto level = parse_level(flags.level);
  if (!level || (!flags.format.empty() && !parse_format(flags.format))) return kBadInput;
  flags.options.store = *level;
  if (const auto what = apply(flags.workload)) return fail(*what);
  for (const std::string& text : flags.faults) {
    const auto planted = parse_fault(text);
    if (!planted) return kBadInput;
    flags.options.faults.push_back(*planted);
  }
  std::optional<Result<History>> history;
  watched("generating", [&] { history = generate(flags.options); });
  if (!history->ok()) return fail(history->error());
  return write_out(**history, flags.out, flags.format);
}

}  // namespace

void add_generate(CLI::App& root, Commands& commands) {
  auto flags = std::make_shared<GenerateFlags>();
  CLI::App* app = root.add_subcommand("generate", "make a history, with faults if wanted");
  app->add_option("-l,--level", flags->level, "what the store keeps [strict-serializable]")
      ->type_name("LEVEL");
  add_workload_flags(*app, flags->workload);
  app->add_option("--sessions", flags->options.sessions, "concurrent clients [10]")
      ->type_name("N")
      ->check(whole_number());
  app->add_option("-n,--txns", flags->options.txns, "transactions [1000]")
      ->type_name("N")
      ->check(whole_number());
  app->add_option("--unknown-share", flags->options.unknown_share,
                  "of outcomes, those that get lost [0]")
      ->type_name("X")
      ->check(share())
      ->group(kMinor);
  app->add_flag("--clocks", flags->options.clocks, "record client clocks");
  app->add_option("--quiet-every", flags->options.quiet_every,
                  "nothing runs for a while after so many transactions")
      ->type_name("N")
      ->check(whole_number())
      ->group(kMinor);
  app->add_flag("--timestamps", flags->options.timestamps, "record start and commit timestamps");
  app->add_flag("--version-orders", flags->options.version_orders,
                "record the version order of every key");
  app->add_flag("--duplicates", flags->options.duplicates, "write values that repeat")
      ->group(kMinor);
  app->add_option("--fault", flags->faults, "plant an anomaly at a rate; repeatable")
      ->type_name("NAME=RATE")
      ->expected(1)
      ->take_all();
  app->add_option("-o,--output", flags->out, "file to write [standard output]")->type_name("FILE");
  app->add_option("--to", flags->format, "format to write [by extension]")->type_name("FORMAT");
  commands.push_back(
      {app, [flags] { return run_generate(*flags); },
       "Runs simulated clients against an in-process multi-version store that keeps LEVEL, and "
       "writes down what they saw. Everything follows from the options and the seed.\n\n"
       "--fault plants an anomaly in the given share of transactions, for example --fault "
       "lost-update=0.01. Faults: " +
           fault_names() + ".\n\n" +
           workload_details([](const WorkloadInfo& workload) { return workload.simulated; })});
}

}  // namespace ouro::cli
