#include "cli/flags.h"

#include <fmt/format.h>

#include <sstream>

#include "ouro/level.h"

namespace ouro::cli {
namespace {

constexpr std::size_t kColumn = 26;  // The column at which descriptions begin.

std::vector<Flag> flags_of(const CLI::App& app, bool positional) {
  std::vector<Flag> flags;
  for (const CLI::Option* option : app.get_options()) {
    if (option->nonpositional() == positional || option->get_group().empty()) continue;
    Flag flag;
    for (const std::string& name : option->get_snames()) flag.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) flag.names.push_back("--" + name);
    flag.value = positional ? option->get_name(true) : option->get_type_name();
    if (option->get_items_expected_max() == 0) flag.value.clear();
    flag.description = option->get_description();
    flag.minor = option->get_group() == kMinor;
    flag.repeats = positional && option->get_items_expected_max() > 1;
    flag.optional = positional && !option->get_required();
    flags.push_back(flag);
  }
  return flags;
}

std::string row(const std::string& left, const std::string& right) {
  if (left.size() + 2 > kColumn) return fmt::format("{}  {}\n", left, right);
  return fmt::format("{:<{}}{}\n", left, kColumn, right);
}

}  // namespace

std::string Flag::usage() const {
  if (names.empty()) return value;
  std::string out = names.front().starts_with("--") ? "    " : "";
  for (const std::string& name : names) out += (&name == &names.front() ? "" : ", ") + name;
  return value.empty() ? out : out + ' ' + value;
}

std::vector<std::string> Flag::choices() const {
  std::vector<std::string> out;
  if (value.find('|') == std::string::npos) return out;
  std::istringstream words(value);
  for (std::string word; std::getline(words, word, '|');) out.push_back(word);
  return out;
}

std::vector<Flag> options_of(const CLI::App& app) { return flags_of(app, false); }
std::vector<Flag> positionals_of(const CLI::App& app) { return flags_of(app, true); }

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::string synopsis(const CLI::App& app) {
  std::string out = app.get_parent() == nullptr
                        ? app.get_name()
                        : app.get_parent()->get_name() + ' ' + app.get_name();
  if (!commands_of(app).empty()) return out + " COMMAND [options]";
  if (options_of(app).size() > 1) out += " [options]";  // Every command has --help.
  for (const Flag& flag : positionals_of(app)) {
    const std::string value = flag.value + (flag.repeats ? "..." : "");
    out += flag.optional ? " [" + value + ']' : ' ' + value;
  }
  return out;
}

std::string help(const CLI::App& app) {
  std::string description = app.get_description();
  description[0] = static_cast<char>(std::toupper(description[0]));
  std::string out = fmt::format("Usage: {}\n{}.\n\n", synopsis(app), description);
  for (const CLI::App* command : commands_of(app)) {
    out += row("  " + command->get_name(), command->get_description());
  }
  bool more = false;
  for (const Flag& flag : options_of(app)) {
    more |= flag.minor;
    if (flag.minor) continue;
    if (!commands_of(app).empty()) continue;  // --help and --version: the footer tells of them.
    if (flag.names.back() == "--help" && options_of(app).size() > 1) continue;
    std::string left = "  " + flag.usage();
    // A long list of words would leave no room for the description; it is shown in its place.
    const bool wide = !flag.choices().empty() && left.size() + 2 > kColumn;
    if (wide) left = left.substr(0, left.size() - flag.value.size()) + "WORD";
    out += row(left, wide ? flag.value + flag.description.substr(flag.description.rfind(" ["))
                          : flag.description);
  }
  if (more) out += "  There are more: see 'ouro man'.\n";
  if (!app.get_footer().empty()) out += '\n' + app.get_footer() + '\n';
  return out;
}

}  // namespace ouro::cli
