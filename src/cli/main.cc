// ouro: the library's first user. Parses the command line, runs the command, ends with its status.

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <memory>

#include "cli/command.h"
#include "cli/flags.h"
#include "cli/guarded.h"
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

// The word of `app` that `word` may have been meant to be: a command, or an option if it begins
// with a dash. Empty if none is similar.
std::string similar_word(const CLI::App& app, const std::string& word) {
  std::vector<std::string> known;
  if (word.starts_with("-")) {
    for (const Flag& flag : options_of(app)) {
      known.insert(known.end(), flag.names.begin(), flag.names.end());
    }
  } else {
    for (const CLI::App* command : commands_of(app)) known.push_back(command->get_name());
  }
  const std::vector<std::string_view> views(known.begin(), known.end());
  return std::string(closest(word.substr(0, word.find('=')), views));
}

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
    const std::string meant = similar_word(given.empty() ? root : *given.front(), extra);
    if (!meant.empty()) return fail(fmt::format("{}; did you mean '{}'?", what, meant));
  }
  while (what.ends_with('.') || what.ends_with('\n')) what.pop_back();
  return fail(fmt::format("{}; see '{} --help'", what, command));
}

// ouro help [COMMAND]
void add_help(CLI::App& root, Commands& commands) {
  auto name = std::make_shared<std::string>();
  CLI::App* app = root.add_subcommand("help", "print the help of a command");
  app->add_option("COMMAND", *name, "the command [all of them]")->type_name("COMMAND");
  const auto run = [&root, name] {
    const auto all = commands_of(root);
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const CLI::App* one) { return one->get_name() == *name; });
    if (!name->empty() && found == all.end()) {
      const std::string meant = similar_word(root, *name);
      return fail(fmt::format(
          "unknown command '{}'; {}", *name,
          meant.empty() ? "see 'ouro help'" : fmt::format("did you mean '{}'?", meant)));
    }
    print(help(name->empty() ? root : **found));
    return int{kHolds};
  };
  commands.push_back(
      {app, run, "Prints what 'ouro COMMAND --help' prints, or lists the commands."});
}

int run(int argc, char** argv) {
  CLI::App root("decide whether a database kept its isolation level", "ouro");
  root.formatter(std::make_shared<HelpFormatter>());
  root.set_help_flag("-h,--help", "print help and exit");
  root.set_version_flag("-V,--version", fmt::format("ouro {}", version()), "print the version");
  root.require_subcommand(0, 1);
  Commands commands;
  for (const auto add :
       {add_run, add_hermitage, add_driver_test, add_serve, add_tap, add_check, add_explain,
        add_certify, add_stats, add_lint, add_levels, add_formats, add_convert, add_generate,
        add_bench, add_shard, add_completion, add_man, add_help}) {
    add(root, commands);
    commands.back().app->formatter(root.get_formatter());
  }
  // After the commands were added, since they would inherit it.
  root.footer("'ouro COMMAND --help' tells more; 'ouro man' is the manual, -V the version.");
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
  print_error(help(root));
  return kBadInput;
}

// For errors that nobody foresaw: one line, and a status that cannot be mistaken for a verdict.
int internal_error(std::string_view what) {
  print_error(fmt::format("ouro: {}\n", what));
  return kInternalError;
}

}  // namespace
}  // namespace ouro::cli

int main(int argc, char** argv) {
  using namespace ouro::cli;
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // A file that may not grow is an error like a full disk.
  const auto all = [&] {
    const int status = run(argc, argv);
    const std::string problem = output_error();
    const int end = problem.empty() ? status : internal_error(problem);
    if (work_left_behind()) leave(end);
    return end;
  };
  return guarded(all, internal_error);
}
