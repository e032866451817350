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

}  // namespace

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
