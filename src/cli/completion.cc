// ouro completion: scripts that let shells complete commands, flags, levels, formats and faults.

#include <fmt/format.h>

#include <memory>

#include "cli/command.h"
#include "cli/flags.h"
#include "cli/terminal.h"

namespace ouro::cli {
namespace {

// The words that a flag's value can be; empty if it may be anything, or is a file.
std::vector<std::string> words_of(const Flag& flag) {
  std::vector<std::string> words = flag.choices();
  if (flag.value == "LEVEL") {
    for (const LevelInfo& level : levels()) words.emplace_back(level.name);
    words.emplace_back("all");
  } else if (flag.value == "FORMAT") {
    for (const FormatInfo& format : formats()) words.emplace_back(format.name);
  } else if (flag.value == "NAME=RATE") {
    for (const Fault fault : faults()) words.push_back(fmt::format("{}=", name(fault)));
  } else if (flag.value == "KIND") {
    for (const Evidence evidence : {Evidence::Observed, Evidence::Versions, Evidence::Timestamps}) {
      words.emplace_back(name(evidence));
    }
  }
  return words;
}

bool takes_file(const Flag& flag) { return flag.value == "FILE"; }

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

// The bash command that completes positionals: shells for 'ouro completion', files for others.
std::string bash_arguments(const CLI::App& app) {
  const auto positionals = positionals_of(app);
  if (positionals.empty()) return "COMPREPLY=()";
  if (app.get_name() == "completion") {
    return R"(COMPREPLY=($(compgen -W "bash zsh fish" -- "$cur")))";
  }
  return R"(COMPREPLY=($(compgen -f -- "$cur")))";
}

std::string bash_script(const CLI::App& root) {
  std::vector<std::string> names;
  std::string values;
  std::string flags;
  for (const CLI::App* app : commands_of(root)) {
    names.push_back(app->get_name());
    std::vector<std::string> own;
    for (const Flag& flag : options_of(*app)) {
      own.insert(own.end(), flag.names.begin(), flag.names.end());
      if (flag.value.empty()) continue;
      std::string pattern;
      for (const std::string& name : flag.names) {
        pattern += fmt::format("{}'{} {}'", pattern.empty() ? "" : "|", app->get_name(), name);
      }
      const std::string what =
          takes_file(flag) ? "-f" : fmt::format("-W \"{}\"", joined(words_of(flag)));
      values += fmt::format(
          "    {})\n      COMPREPLY=($(compgen {} -- \"$cur\"))\n      return ;;\n", pattern, what);
    }
    flags += fmt::format(
        "    {})\n      if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W \"{}\" -- \"$cur\"))\n"
        "      else {}; fi ;;\n",
        app->get_name(), joined(own), bash_arguments(*app));
  }
  return fmt::format(R"(# Completion of ouro for bash; load with: source <(ouro completion bash)
_ouro() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} command=${{COMP_WORDS[1]}}
  if [[ $COMP_CWORD -eq 1 ]]; then
    COMPREPLY=($(compgen -W "{} --help --version" -- "$cur"))
    return
  fi
  case "$command $prev" in
{}  esac
  case "$command" in
{}  esac
}}
complete -o filenames -o bashdefault -F _ouro ouro
)",
                     joined(names), values, flags);
}

// Escapes `text` for a place between single quotes.
std::string in_quotes(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out;
}

// Escapes `text` for a description in a specification of zsh's _arguments.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char c : in_quotes(text)) {
    if (c == '[' || c == ']' || c == ':') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_script(const CLI::App& root) {
  std::string names;
  std::string cases;
  for (const CLI::App* app : commands_of(root)) {
    names += fmt::format("    '{}:{}'\n", app->get_name(), zsh_text(app->get_description()));
    cases += fmt::format("    {})\n      _arguments \\\n", app->get_name());
    for (const Flag& flag : options_of(*app)) {
      std::string action;
      if (takes_file(flag)) {
        action = ":file:_files";
      } else if (!flag.value.empty()) {
        action = fmt::format(":{}:({})", zsh_text(flag.value), joined(words_of(flag)));
      }
      for (const std::string& name : flag.names) {
        cases += fmt::format("        '*{}[{}]{}' \\\n", name, zsh_text(flag.description), action);
      }
    }
    cases += app->get_name() == "completion" ? "        ':shell:(bash zsh fish)' ;;\n"
             : positionals_of(*app).empty()  ? "        ;;\n"
                                             : "        '*:file:_files' ;;\n";
  }
  return fmt::format(R"(#compdef ouro
# Completion of ouro for zsh; put it into a folder of $fpath as _ouro.
_ouro() {{
  local -a commands
  commands=(
{}  )
  if (( CURRENT == 2 )); then
    _describe 'command' commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
{}  esac
}}
compdef _ouro ouro
)",
                     names, cases);
}

std::string fish_script(const CLI::App& root) {
  std::string out = "# Completion of ouro for fish; load with: ouro completion fish | source\n";
  for (const CLI::App* app : commands_of(root)) {
    out += fmt::format("complete -c ouro -n __fish_use_subcommand -f -a {} -d '{}'\n",
                       app->get_name(), in_quotes(app->get_description()));
    const std::string seen = fmt::format("-n '__fish_seen_subcommand_from {}'", app->get_name());
    for (const Flag& flag : options_of(*app)) {
      std::string names;
      for (const std::string& name : flag.names) {
        const bool is_long = name.starts_with("--");
        names += fmt::format(" {} {}", is_long ? "-l" : "-s", name.substr(is_long ? 2 : 1));
      }
      std::string value;
      if (takes_file(flag))
        value = " -r -F";
      else if (!flag.value.empty())
        value = fmt::format(" -x -a '{}'", in_quotes(joined(words_of(flag))));
      out += fmt::format("complete -c ouro {}{}{} -d '{}'\n", seen, names, value,
                         in_quotes(flag.description));
    }
    if (app->get_name() == "completion") {
      out += fmt::format("complete -c ouro {} -f -a 'bash zsh fish'\n", seen);
    }
  }
  return out;
}

}  // namespace

void add_completion(CLI::App& root, Commands& commands) {
  auto shell = std::make_shared<std::string>();
  CLI::App* app = root.add_subcommand("completion", "print a completion script for a shell");
  app->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(one_of({"bash", "zsh", "fish"}));
  const auto run = [shell, &root] {
    print(*shell == "bash"  ? bash_script(root)
          : *shell == "zsh" ? zsh_script(root)
                            : fish_script(root));
    return 0;
  };
  commands.push_back({app, run,
                      "Prints a script that teaches SHELL (bash, zsh or fish) to complete the "
                      "commands, flags, levels and formats of ouro."});
}

}  // namespace ouro::cli
