// ouro stats: counts what is in histories.

#include <memory>

#include "cli/command.h"
#include "cli/terminal.h"

namespace ouro::cli {

void add_stats(CLI::App& root, Commands& commands) {
  struct Flags {
    InputFlags input;
    bool json = false;
  };
  auto flags = std::make_shared<Flags>();
  CLI::App* app = root.add_subcommand("stats", "count what is in histories");
  app->add_flag("--json", flags->json, "one JSON object per history");
  add_input_flags(*app, flags->input);
  add_limits(*app, flags->input.time_limit, flags->input.memory_limit);
  app->footer("Exit status: 0 counted, 2 a limit was reached, 254 bad input or usage.");
  const auto run = [flags] {
    return for_each_history(flags->input, flags->json,
                            [flags](const std::string& path, const History& history) {
                              const std::string name = display_name(path);
                              const Stats stats = count(history);
                              return Visited{flags->json ? to_json(history, stats, {.name = name})
                                                         : describe(history, stats, {.name = name}),
                                             kHolds};
                            });
  };
  commands.push_back({app, run,
                      "Prints how many sessions, transactions, operations and keys each HISTORY "
                      "has, how they are spread, and which extra knowledge (clocks, timestamps, "
                      "version orders) came with it."});
}

}  // namespace ouro::cli
