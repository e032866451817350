// ouro: the library's first user. Parses the command line, runs the command, ends with its status.

#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <new>

#include "cli/command.h"
#include "cli/flags.h"
#include "cli/terminal.h"

namespace ouro::cli {
namespace {

class HelpFormatter : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const override {
    // CLI11 asks for help of the root; the user wants that of the command that was given, if any.
    const auto given = app->get_subcommands();
    return help(given.empty() ? *app : *given.front());
  }
};

// Prints an error of CLI11 in the form of ours: one line, without a final period, with what to do
// next.
int complain(const CLI::App& root, const CLI::ParseError& error) {
  const auto given = root.get_subcommands();
  const std::string command =
      given.empty() ? root.get_name() : root.get_name() + ' ' + given.front()->get_name();
  std::string what = error.what();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const std::string extra = root.remaining(true).empty() ? what : root.remaining(true).front();
    what = fmt::format("unknown {} '{}'",
                       extra.starts_with("-") ? "option"
                       : given.empty()        ? "command"
                                              : "argument",
                       extra);
  }
  while (what.ends_with('.') || what.ends_with('\n')) what.pop_back();
  return fail(fmt::format("{}; see '{} --help'", what, command));
}

int run(int argc, char** argv) {
  CLI::App root("decide whether a database kept its isolation level", "ouro");
  root.formatter(std::make_shared<HelpFormatter>());
  root.set_help_flag("-h,--help", "print help and exit");
  root.set_version_flag("--version", fmt::format("ouro {}", version()), "print the version");
  root.require_subcommand(0, 1);
  Commands commands;
  for (const auto add :
       {add_run, add_serve, add_check, add_explain, add_certify, add_stats, add_lint, add_levels,
        add_formats, add_convert, add_generate, add_completion, add_man}) {
    add(root, commands);
    commands.back().app->formatter(root.get_formatter());
  }
  // After the commands were added, since they would inherit it.
  root.footer("'ouro COMMAND --help' tells more; 'ouro man' prints the manual.");
  try {
    root.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    print(root.help());
    return 0;
  } catch (const CLI::CallForVersion&) {
    print(fmt::format("ouro {}\n", version()));
    return 0;
  } catch (const CLI::ParseError& error) {
    return complain(root, error);
  }
  for (const Command& command : commands) {
    if (command.app->parsed()) return command.run();
  }
  std::fputs(help(root).c_str(), stderr);
  return kBadInput;
}

// For errors that nobody foresaw: one line, and a status that cannot be mistaken for a verdict.
int internal_error(std::string_view what) {
  fmt::print(stderr, "ouro: {}\n", what);
  return kInternalError;
}

}  // namespace
}  // namespace ouro::cli

int main(int argc, char** argv) {
  using namespace ouro::cli;
  std::signal(SIGPIPE, SIG_IGN);
  try {
    const int status = run(argc, argv);
    if (const std::string problem = output_error(); !problem.empty()) {
      return internal_error(problem);
    }
    return status;
  } catch (const std::bad_alloc&) {
    return internal_error("out of memory");
  } catch (const std::exception& error) {
    return internal_error(std::string("internal error: ") + error.what());
  } catch (...) {
    return internal_error("internal error");
  }
}
