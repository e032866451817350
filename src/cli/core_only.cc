// ouro run, hermitage, driver-test, serve and tap in a build without databases and network
// (OURO_CORE_ONLY): they say so. Other builds have run.cc and so on instead (OURO_CLI_AROUND).

#include <fmt/format.h>

#include "cli/command.h"

namespace ouro::cli {
namespace {

void add_missing(CLI::App& root, Commands& commands, const std::string& name,
                 const std::string& what) {
  CLI::App* app = root.add_subcommand(name, what + " (not in this build)");
  app->allow_extras();  // The answer is the same, whatever follows.
  const auto run = [name] {
    return fail(fmt::format(
        "this build has no databases and no network, so it cannot '{}'; it checks histories and "
        "streams of them. Use a complete build of ouro for that",
        name));
  };
  commands.push_back(
      {app, run, "This build has no databases and no network, so it cannot do this."});
}

}  // namespace

void add_run(CLI::App& root, Commands& commands) {
  add_missing(root, commands, "run", "test a database: run clients on it and check");
}

void add_hermitage(CLI::App& root, Commands& commands) {
  add_missing(root, commands, "hermitage", "show which anomalies each level prevents");
}

void add_driver_test(CLI::App& root, Commands& commands) {
  add_missing(root, commands, "driver-test", "check a driver that is a program");
}

void add_serve(CLI::App& root, Commands& commands) {
  add_missing(root, commands, "serve", "check a live database, for ever");
}

void add_tap(CLI::App& root, Commands& commands) {
  add_missing(root, commands, "tap", "watch PostgreSQL with an application");
}

}  // namespace ouro::cli
