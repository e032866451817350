// ouro levels: shows the levels and which implies which.

#include <memory>

#include "cli/command.h"
#include "cli/terminal.h"

namespace ouro::cli {

void add_levels(CLI::App& root, Commands& commands) {
  auto json = std::make_shared<bool>(false);
  CLI::App* app = root.add_subcommand("levels", "show the isolation levels and how they relate");
  app->add_flag("--json", *json, "as one JSON object");
  const auto run = [json] {
    print(*json ? levels_to_json() : describe_levels());
    return 0;
  };
  std::string details = "The levels, with their aliases:";
  for (const LevelInfo& level : levels()) {
    details += "\n\n- " + std::string(level.name);
    if (!level.alias.empty()) details += " (" + std::string(level.alias) + ")";
    details += ": " + std::string(level.definition) + ".";
  }
  commands.push_back({app, run, details});
}

}  // namespace ouro::cli
