// What the commands share: how they are declared, how they complain, their exit status.
//
// Each file of this folder that is named after a command adds it and its flags to CLI11's tree of
// commands; help, man page, reference and completions are all made from that tree.
#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ouro/ouro.h"

namespace ouro::cli {

// The same numbers as Jepsen's.
enum ExitStatus : int {
  kHolds = 0,
  kViolated = 1,
  kUndecided = 2,
  kBadInput = 254,  // Or bad usage.
  kInternalError = 255,
};

// The status of a command that came to both. A violation is not hidden by a history that cannot be
// read or decided; otherwise the larger is the worse.
[[nodiscard]] int worse(int one, int other);

struct Command {
  CLI::App* app = nullptr;
  std::function<int()> run;  // Called after parsing, if this command was given.
  std::string details;       // For the man page: paragraphs, a blank line between them.
};

// The commands in the order of the help.
using Commands = std::vector<Command>;

void add_check(CLI::App& root, Commands& commands);
void add_explain(CLI::App& root, Commands& commands);
void add_certify(CLI::App& root, Commands& commands);
void add_stats(CLI::App& root, Commands& commands);
void add_lint(CLI::App& root, Commands& commands);
void add_levels(CLI::App& root, Commands& commands);
void add_formats(CLI::App& root, Commands& commands);
void add_convert(CLI::App& root, Commands& commands);
void add_generate(CLI::App& root, Commands& commands);
void add_bench(CLI::App& root, Commands& commands);
void add_run(CLI::App& root, Commands& commands);
void add_hermitage(CLI::App& root, Commands& commands);
void add_driver_test(CLI::App& root, Commands& commands);
void add_serve(CLI::App& root, Commands& commands);
void add_tap(CLI::App& root, Commands& commands);
void add_shard(CLI::App& root, Commands& commands);
void add_completion(CLI::App& root, Commands& commands);
void add_man(CLI::App& root, Commands& commands);

// Complains on standard error, "ouro: " before it, and returns kBadInput.
int fail(std::string_view what);
int fail(const Error& error);

// Checks of numbers on the command line. CLI11's own accept "-5" for an unsigned number, and print
// limits of six hundred digits.
CLI::Validator whole_number();
CLI::Validator number_at_least_zero();
CLI::Validator share();  // From 0 to 1.
// Adds --clock-drift, which must be a whole number and not below zero.
CLI::Option* add_clock_drift(CLI::App& app, std::int64_t& clock_drift);
// Adds --time-limit, in seconds, and --memory-limit, in 10^6 bytes; zero: none. See Limits.
void add_limits(CLI::App& app, double& seconds, double& megabytes);
// One of `words`.
CLI::Validator one_of(std::vector<std::string> words);

// The flags of a command that reads several histories.
struct InputFlags {
  std::vector<std::string> paths;
  std::string format;
  unsigned threads = 0;  // Zero: one per core.
  // Of for_each_history(), for all histories together; zero: none. add_limits() declares them.
  double time_limit = 0;    // Seconds.
  double memory_limit = 0;  // In 10^6 bytes.
};
void add_input_flags(CLI::App& app, InputFlags& flags);

// The format called `name`; Detect if that is empty. On an unknown name complains and returns
// nothing.
std::optional<Format> parse_format(const std::string& name);
// The level called `name`. On an unknown name complains and returns nothing.
std::optional<Level> parse_level(const std::string& name);
// The evidence called `name`. On an unknown name complains and returns nothing.
std::optional<Evidence> parse_evidence(const std::string& name);

// A time limit that the user gave, in milliseconds, rounded up; at most 10^9 seconds.
std::chrono::milliseconds milliseconds(double seconds);

// What messages call the history at `path`: "standard input" for "-".
std::string display_name(const std::string& path);

// What a command has to say of a history, and its exit status.
struct Visited {
  std::string text;
  int status = 0;
};

// Reads the histories one after the other, gives each to `visit` and prints what that returns.
// Returns the worst status, see worse(); 2 if a limit was reached. With `json`, prints errors as
// JSON, too. Stops early when standard output was closed.
using Visit = std::function<Visited(const std::string& path, const History& history)>;
int for_each_history(const InputFlags& flags, bool json, const Visit& visit);

}  // namespace ouro::cli
