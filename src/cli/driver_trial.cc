// ouro driver-test: checks a program that is to be a driver against the protocol.

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/command.h"
#include "cli/terminal.h"

namespace ouro::cli {
namespace {

struct DriverFlags {
  std::string command;
  double patience = 10;  // Seconds.
  bool quiet = false;
};

int run_driver_test(const DriverFlags& flags) {
  const auto trial = try_driver(flags.command, milliseconds(flags.patience));
  if (!trial.ok()) return fail(trial.error());
  const auto wrong = std::count_if(trial->findings.begin(), trial->findings.end(),
                                   [](const DriverFinding& finding) { return !finding.good; });
  std::string out;
  for (const DriverFinding& finding : trial->findings) {
    if (!flags.quiet || !finding.good) {
      out += fmt::format("{}  {}\n", finding.good ? "ok   " : "WRONG", finding.what);
    }
  }
  out += fmt::format("{}: {} right, {} wrong\n", trial->database,
                     trial->findings.size() - static_cast<std::size_t>(wrong), wrong);
  print(out);
  return wrong == 0 ? kHolds : kViolated;
}

}  // namespace

void add_driver_test(CLI::App& root, Commands& commands) {
  auto flags = std::make_shared<DriverFlags>();
  CLI::App* app = root.add_subcommand("driver-test", "check a driver that is a program");
  app->add_option("COMMAND", flags->command, "the command, as in 'ouro run exec:COMMAND'")
      ->type_name("COMMAND")
      ->required();
  app->add_option("--patience", flags->patience, "how long an answer may take [10]")
      ->type_name("SEC")
      ->check(number_at_least_zero());
  app->add_flag("-q,--quiet", flags->quiet, "print only what is wrong");
  app->footer("Exit status: 0 all right, 1 something is wrong, 254 it cannot be used.");
  commands.push_back(
      {app, [flags] { return run_driver_test(*flags); },
       "Starts COMMAND as 'ouro run exec:COMMAND' does and sends it every kind of message: for "
       "each "
       "isolation that it offers and each kind of data that it can hold, transactions of two "
       "connections, one after the other. Each answer is compared with the only one that is right. "
       "The driver makes its table anew, so do not point it to data that matters.\n\n"
       "A driver that passes speaks the protocol; whether its database keeps its promises is what "
       "'ouro run' finds out."});
}

}  // namespace ouro::cli
