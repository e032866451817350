// What 'ouro check' can be asked.
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
  std::optional<std::string> level;  // None: not asked for.
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
  std::size_t examples = 0;  // Zero: one, or three with -v.
  bool json = false;
  bool stream = false;
  bool quiet = false;
  bool verbose = false;
  double time_limit = 0;         // Seconds; zero: none.
  double memory_limit = 0;       // 10^6 bytes; zero: none.
  std::int64_t clock_drift = 0;  // Of interest to levels with real time only.
};

void declare(CLI::App* app, CheckFlags& flags);
// For the manual.
[[nodiscard]] std::string_view check_details();

// What is expected, from file and flags; nothing after a complaint.
[[nodiscard]] std::optional<Expectation> parse_expected(const CheckFlags& flags);
// Complains if something would be written over what is read.
[[nodiscard]] bool overwrites_input(const CheckFlags& flags);
// The levels asked for, and, if none is, those that something is expected of.
[[nodiscard]] std::string levels_asked(const CheckFlags& flags, const Expectation& expected);

}  // namespace ouro::cli
