// ouro lint: complains about histories that are hard to judge.

#include <algorithm>
#include <memory>

#include "cli/command.h"
#include "cli/terminal.h"

namespace ouro::cli {

void add_lint(CLI::App& root, Commands& commands) {
  struct Flags {
    InputFlags input;
    bool json = false;
  };
  auto flags = std::make_shared<Flags>();
  CLI::App* app = root.add_subcommand("lint", "find what makes histories hard to judge");
  app->add_flag("--json", flags->json, "one JSON object per history");
  add_input_flags(*app, flags->input);
  add_limits(*app, flags->input.time_limit, flags->input.memory_limit);
  app->footer("Exit status: 0 no errors, 1 errors, 2 limit reached, 254 bad input or usage.");
  const auto run = [flags] {
    return for_each_history(
        flags->input, flags->json, [flags](const std::string& path, const History& history) {
          const std::string name = display_name(path);
          const auto findings = lint(history);
          const ReportOptions options{.name = name, .colour = stdout_is_terminal()};
          const bool errors = std::any_of(findings.begin(), findings.end(), [](const Finding& f) {
            return f.rule->severity == Severity::Error;
          });
          return Visited{flags->json ? to_json(history, findings, options)
                                     : describe(history, findings, options),
                         errors ? kViolated : kHolds};
        });
  };
  std::string details =
      "Looks for mistakes in the recording of each HISTORY, not for violations. Errors make "
      "verdicts impossible or meaningless, warnings weaken them, notes are worth knowing. It looks "
      "for:";
  for (const LintRule& rule : lint_rules()) {
    details += "\n\n- " + std::string(rule.id) + " (" + std::string(name(rule.severity)) +
               "): " + std::string(rule.what) + ".";
  }
  commands.push_back({app, run, details});
}

}  // namespace ouro::cli
