// The flags of a command as data, taken from CLI11's tree. Help, man page, reference and
// completions are made from them.
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
  // The words that the value must be one of: "text|json|elle" split up. Empty if it may be
  // anything.
  [[nodiscard]] std::vector<std::string> choices() const;
};

// The name of CLI11's group of options that are minor.
inline constexpr char kMinor[] = "Minor";

// Options, positionals and commands in the order of declaration, without hidden ones.
[[nodiscard]] std::vector<Flag> options_of(const CLI::App& app);
[[nodiscard]] std::vector<Flag> positionals_of(const CLI::App& app);
[[nodiscard]] std::vector<const CLI::App*> commands_of(const CLI::App& app);

// "ouro check [options] HISTORY..."
[[nodiscard]] std::string synopsis(const CLI::App& app);

// The help screen of a command: at most 24 lines of 80 columns, as tests/cli_test.cc checks.
[[nodiscard]] std::string help(const CLI::App& app);

}  // namespace ouro::cli
