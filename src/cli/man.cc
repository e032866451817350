// ouro man: the manual, as a man page or as Markdown.

#include <fmt/format.h>

#include <memory>
#include <sstream>

#include "cli/command.h"
#include "cli/flags.h"
#include "cli/terminal.h"

namespace ouro::cli {
namespace {

constexpr char kAbout[] =
    "Ouro decides whether what clients saw of a database is what its isolation level promises. A "
    "history is what they saw: sessions of transactions of reads and writes, with their results. "
    "Ouro reads it in many formats, says whether a level allows it, and if not, why.";

struct StatusMeaning {
  int status;
  std::string_view meaning;
};
constexpr StatusMeaning kStatuses[] = {
    {kHolds, "The level holds for every history."},
    {kViolated, "A history violates the level; for lint: has errors."},
    {kUndecided, "A history was not decided: a limit was reached, or it was interrupted."},
    {kBadInput, "Bad input or usage; a line on standard error says what and where."},
    {kInternalError, "Internal error."},
};

struct Example {
  std::string_view command;
  std::string_view what;
};
constexpr Example kExamples[] = {
    {"ouro check --level causal bank.jsonl", "Is this history causally consistent?"},
    {"ouro check --level all --json *.edn", "Every level, for machines."},
    {"ouro generate -n 1000 --fault fractured-read=0.01 | ouro check -l ra -",
     "Make a faulty history and catch it."},
    {"ouro convert jepsen.edn jepsen.ouro", "Into the compact binary format."},
};

std::vector<std::string> paragraphs(const std::string& text) {
  std::vector<std::string> out;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find("\n\n", at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end + 2;
  }
  return out;
}

// Escapes what roff would interpret.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if (c == '\'' && out.empty())
      out += "\\(aq";
    else if (c == '.' && out.empty())
      out += "\\&.";
    else
      out += c;
  }
  return out;
}

void append_roff_command(std::string& out, const Command& command) {
  out += fmt::format(".SS {}\n.B {}\n.PP\n", roff(command.app->get_name()),
                     roff(synopsis(*command.app)));
  for (const std::string& paragraph : paragraphs(command.details)) {
    const bool item = paragraph.starts_with("- ");
    out += fmt::format("{}\n{}\n", item ? ".IP \\(bu 2" : ".PP",
                       roff(item ? paragraph.substr(2) : paragraph));
  }
  for (const auto& flags : {positionals_of(*command.app), options_of(*command.app)}) {
    for (const Flag& flag : flags) {
      const std::string usage = flag.usage();
      out += fmt::format(".TP\n.B {}\n{}\n", roff(usage.substr(usage.find_first_not_of(' '))),
                         roff(flag.description));
    }
  }
}

std::string man_page(const CLI::App& root, const Commands& commands) {
  std::string out = fmt::format(".TH OURO 1 \"\" \"ouro {}\"\n.SH NAME\nouro \\- {}\n", version(),
                                roff(root.get_description()));
  out += ".SH SYNOPSIS\n";
  for (const Command& command : commands) {
    out += fmt::format(".B {}\n.br\n", roff(synopsis(*command.app)));
  }
  out += fmt::format(".SH DESCRIPTION\n{}\n.SH COMMANDS\n", roff(kAbout));
  for (const Command& command : commands) append_roff_command(out, command);
  out += ".SH EXIT STATUS\n";
  for (const auto& [status, meaning] : kStatuses) {
    out += fmt::format(".TP\n.B {}\n{}\n", status, roff(meaning));
  }
  out += ".SH EXAMPLES\n";
  for (const auto& [line, what] : kExamples) {
    out += fmt::format(".TP\n.B {}\n{}\n", roff(line), roff(what));
  }
  return out;
}

// Keeps '<', '|' and the like from meaning something in Markdown tables.
std::string markdown(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|' || c == '<' || c == '*' || c == '[' || c == ']') out += '\\';
    out += c;
  }
  return out;
}

void append_markdown_command(std::string& out, const Command& command) {
  out += fmt::format("\n## ouro {}\n\n```\n{}\n```\n\n", command.app->get_name(),
                     synopsis(*command.app));
  bool in_list = false;
  for (const std::string& paragraph : paragraphs(command.details)) {
    const bool item = paragraph.starts_with("- ");
    if (in_list && !item) out += '\n';
    out += markdown(paragraph) + (item ? "\n" : "\n\n");
    in_list = item;
  }
  if (in_list) out += '\n';
  out += "| | |\n|---|---|\n";
  for (const auto& flags : {positionals_of(*command.app), options_of(*command.app)}) {
    for (const Flag& flag : flags) {
      const std::string usage = flag.usage();
      std::string cell;
      for (const char c : usage.substr(usage.find_first_not_of(' '))) {
        cell += c == '|' ? std::string("\\|") : std::string(1, c);
      }
      out += fmt::format("| `{}` | {} |\n", cell, markdown(flag.description));
    }
  }
}

std::string reference(const CLI::App& root, const Commands& commands) {
  std::string out = fmt::format("# ouro: {}\n\nMade by `ouro man --markdown`; do not edit.\n\n{}\n",
                                root.get_description(), kAbout);
  for (const Command& command : commands) append_markdown_command(out, command);
  out += "\n## Exit status\n\n| | |\n|---|---|\n";
  for (const auto& [status, meaning] : kStatuses) {
    out += fmt::format("| {} | {} |\n", status, meaning);
  }
  out += "\n## Examples\n\n```\n";
  for (const auto& [line, what] : kExamples) out += fmt::format("{}\n    {}\n", line, what);
  return out + "```\n";
}

}  // namespace

void add_man(CLI::App& root, Commands& commands) {
  auto as_markdown = std::make_shared<bool>(false);
  CLI::App* app = root.add_subcommand("man", "print the manual as a man page");
  app->add_flag("--markdown", *as_markdown, "as Markdown instead");
  const auto run = [as_markdown, &root, &commands] {
    print(*as_markdown ? reference(root, commands) : man_page(root, commands));
    return 0;
  };
  commands.push_back({app, run, "Prints this manual; read it with: ouro man | man -l -"});
}

}  // namespace ouro::cli
