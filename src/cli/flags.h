// The flags of a command as data, taken from CLI11's tree: what help, man page, reference and
// completions are made from.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace ouro::cli {

struct Flag {
  std::vector<std::string> names;  // "-l", "--level"; short ones first. Empty: positional.
  std::string value;               // "LEVEL", "text|json|elle"; empty if it takes none.
  std::string description;
  bool repeats = false;   // A positional that may be given several times.
  bool optional = false;  // A positional that may be left out.
  bool minor = false;     // In manual, reference and completions, but not on the help screen.

  // "-l, --level LEVEL", long names aligned.
  [[nodiscard]] std::string usage() const;
  // What it takes, one of: "text|json|elle" split up. Empty if free.
  [[nodiscard]] std::vector<std::string> choices() const;
};

// The group of options that are minor.
inline constexpr char kMinor[] = "Minor";

// Without hidden ones, in order of declaration.
[[nodiscard]] std::vector<Flag> options_of(const CLI::App& app);
[[nodiscard]] std::vector<Flag> positionals_of(const CLI::App& app);
[[nodiscard]] std::vector<const CLI::App*> commands_of(const CLI::App& app);

// "ouro check [options] HISTORY..."
[[nodiscard]] std::string synopsis(const CLI::App& app);

// At most 24 lines of 80 columns: tests/cli_test.cc sees to it.
[[nodiscard]] std::string help(const CLI::App& app);

}  // namespace ouro::cli
