// The flags of 'ouro check'.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cli/command.h"
#include "cli/forms.h"

namespace ouro::cli {

struct CheckFlags {
  InputFlags input;
  std::string title;                 // What to call the history instead of its path.
  std::optional<std::string> level;  // Nothing: --level was not given.
  std::string evidence = "observed";
  std::string output = "text";
  std::string model;
  std::string certificate;
  std::string counterexample;
  FormPaths forms;
  std::string expect;
  std::string shows;
  std::string lacks;
  std::string undecided;
  std::size_t examples = 0;  // Zero: not given, which means one, or three with -v.
  bool json = false;
  bool stream = false;
  bool quiet = false;
  bool verbose = false;
  double time_limit = 0;         // Seconds; zero: none.
  double memory_limit = 0;       // In 10^6 bytes; zero: none.
  std::int64_t clock_drift = 0;  // In the unit of the history's clocks.
};

// Adds the flags to `app`. `flags` must outlive it.
void declare(CLI::App* app, CheckFlags& flags);
// The same, of only some flags, for commands that check what they made: files to write, and what is
// expected. They are in CLI11's `group`, the less important ones in kMinor.
void declare_forms(CLI::App& app, CheckFlags& flags, const std::string& group);
void declare_expected(CLI::App& app, CheckFlags& flags, const std::string& group);
// The text of the manual; see Command::details.
[[nodiscard]] std::string_view check_details();

// Does what 'ouro check' does with these flags. Returns an exit status.
[[nodiscard]] int run_check(CheckFlags& flags);
// Whether run_check() accepts this level and evidence; complains if not.
[[nodiscard]] bool can_check(const std::string& level, const std::string& evidence);

// What --expect, --shows and --lacks expect. If something is wrong with them, complains and returns
// nothing.
[[nodiscard]] std::optional<Expectation> parse_expected(const CheckFlags& flags);
// Whether a file to write is one of those to read; complains if so.
[[nodiscard]] bool overwrites_input(const CheckFlags& flags);
// The value of --level; if it was not given, the levels that `expected` names, or else
// serializable.
[[nodiscard]] std::string levels_asked(const CheckFlags& flags, const Expectation& expected);

}  // namespace ouro::cli
