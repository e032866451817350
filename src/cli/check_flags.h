// The flags of 'ouro check'.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cli/command.h"
#include "cli/elle_folder.h"
#include "cli/forms.h"

namespace ouro::cli {

struct CheckFlags {
  InputFlags input;
  std::string title;                 // What to call the history instead of its path.
  std::optional<std::string> level;  // Nothing: --level was not given.
  std::string evidence = "observed";
  std::string output = "text";
  std::string search;  // Settings for parse_search_options().
  std::string model;
  std::string certificate;
  std::string kept_certificate;  // Where else to write one, of several levels that of a violation.
  std::string counterexample;
  FormPaths forms;
  ElleFolder elle;
  std::vector<std::string_view> models;  // Of --level: Elle's that are none of our levels.
  std::string anomalies;             // That count as violations, too; see add_anomalies().
  std::string cycle_search_timeout;  // These three of elle-cli have no effect.
  std::string group_size;
  std::string max_transfer;
  bool negative_balances = false;            // May be.
  std::optional<std::int64_t> total_amount;  // What the accounts of a bank must hold together.
  std::string expect;
  std::string shows;
  std::string lacks;
  std::string undecided;
  // What these expect, once parse_expected() has read it: a pipe can be read only once.
  std::optional<Expectation> expected;
  std::size_t examples = 0;  // Zero: not given, which means one, or three with -v.
  bool json = false;
  bool stream = false;
  bool quiet = false;
  bool verbose = false;
  std::uint64_t segment = 0;     // With --stream: transactions in a segment; zero: not given.
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
[[nodiscard]] std::optional<Expectation> parse_expected(CheckFlags& flags);
// What --anomalies adds, as in elle-cli: the levels must hold and, beyond that, the anomalies must
// not show. So that they can be looked for, the strongest level is checked, too. If a name is
// wrong, complains and returns false.
[[nodiscard]] bool add_anomalies(const CheckFlags& flags, Expectation& expected,
                                 AskedLevels& levels);
// Whether a file to write is one of those to read; complains if so.
[[nodiscard]] bool overwrites_input(const CheckFlags& flags);
// The value of --level; if it was not given, the levels that `expected` names, or else the default
// of the output: serializable or, as in elle-cli, strict-serializable.
[[nodiscard]] std::string levels_asked(const CheckFlags& flags, const Expectation& expected);

}  // namespace ouro::cli
