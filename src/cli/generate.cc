// ouro generate: makes a history with simulated clients.

#include <memory>

#include "cli/command.h"
#include "cli/generate_flags.h"
#include "cli/terminal.h"
#include "cli/writing.h"

namespace ouro::cli {
namespace {

struct Flags {
  GenerateFlags history;
  std::string out = "-";
  std::string format;
};

int run_generate(Flags& flags) {
  if (!flags.format.empty() && !parse_format(flags.format)) return kBadInput;
  if (const auto what = apply(flags.history)) return fail(*what);
  std::optional<Result<History>> history;
  watched("generating", [&] { history = generate(flags.history.options); });
  if (!history->ok()) return fail(history->error());
  return write_out(**history, flags.out, flags.format);
}

}  // namespace

void add_generate(CLI::App& root, Commands& commands) {
  auto flags = std::make_shared<Flags>();
  CLI::App* app = root.add_subcommand("generate", "make a history, with faults if wanted");
  declare_generate(*app, flags->history);
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
