// The lattice of levels, drawn and in words.

#include <fmt/format.h>

#include "ouro/report.h"
#include "ouro/version.h"
#include "report/json_writer.h"

namespace ouro {
namespace {

// Drawn by hand; levels_report_test compares it with directly_below().
constexpr std::string_view kLattice = R"(
                      strict-serializable
                      /                 \
              strong-si              session-serializable
              /       \                /            \
           gsi         \              /         serializable
            |           \            /           /        \
            |            session-si             /     repeatable-read
            |           /     |    \           /
            |      prefix     |     \         /
            |          \  parallel-si\       /
            |           \     |       \     /
            |            causal        |   |
            |              |           |   |
            |         read-atomic      |   |
            |              |           |   |
            |        read-committed    |   |
            |                          |   |
            '------------------------- si -'
)";

constexpr std::size_t kWidth = 78;

// Breaks `text` into lines that fit, each behind `indent` spaces.
std::string wrapped(std::string_view text, std::size_t indent) {
  std::string out;
  std::string line(indent, ' ');
  while (!text.empty()) {
    const std::size_t space = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, space);
    if (line.size() > indent && line.size() + 1 + word.size() > kWidth) {
      out += line + '\n';
      line.assign(indent, ' ');
    }
    if (line.size() > indent) line += ' ';
    line += word;
    text.remove_prefix(std::min(space + 1, text.size()));
  }
  return out + line + '\n';
}

bool in_name(char c) { return (c >= 'a' && c <= 'z') || c == '-'; }

// Where the lattice shows the level; there is a blank before it.
std::size_t place_of(std::string_view lattice, std::string_view name) {
  std::size_t at = lattice.find(name);
  while (at != std::string_view::npos &&
         (lattice[at - 1] != ' ' || in_name(lattice[at + name.size()]))) {
    at = lattice.find(name, at + 1);
  }
  return at;
}

}  // namespace

std::string marked_lattice(std::span<const Verdict> verdicts, bool colour) {
  constexpr std::string_view kMarks[] = {"✓", "✗", "?"};
  constexpr std::string_view kColours[] = {"\033[32m", "\033[1;31m", "\033[1;33m"};
  std::string out(kLattice);
  for (const Verdict& verdict : verdicts) {
    const std::size_t at = place_of(out, info(verdict.level).name);
    if (at == std::string::npos) continue;
    const auto outcome = static_cast<std::size_t>(verdict.outcome);
    out.replace(at - 1, 1,
                colour ? fmt::format("{}{}\033[0m", kColours[outcome], kMarks[outcome])
                       : std::string(kMarks[outcome]));
  }
  return out + "\n  ✓ holds   ✗ violated   ? undecided\n";
}

std::string describe_levels() {
  std::string out = "Isolation levels; a level implies those that hang below it.\n";
  out += kLattice;
  out += "\n  * decided by this version\n\n";
  for (const LevelInfo& level : levels()) {
    const std::string alias = level.alias.empty() ? "" : fmt::format(" ({})", level.alias);
    out += fmt::format("{} {}{}\n", decidable(level.level) ? '*' : ' ', level.name, alias);
    out += wrapped(level.definition, 6);
  }
  return out;
}

std::string levels_to_json() {
  JsonWriter json;
  json.begin_object().key("levels").begin_array();
  for (const LevelInfo& level : levels()) {
    json.begin_object().member("name", level.name).key("alias");
    if (level.alias.empty()) {
      json.null();
    } else {
      json.value(level.alias);
    }
    json.member("definition", level.definition).member("decidable", decidable(level.level));
    json.key("directly_below").begin_array();
    for (const Level below : directly_below(level.level)) json.value(info(below).name);
    json.end_array().end_object();
  }
  json.end_array().member("schema", 1).member("version", version()).end_object();
  return std::move(json).finish();
}

}  // namespace ouro
