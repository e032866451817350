// The lattice of levels: a table of what implies what, and definitions in words.

#include <fmt/format.h>

#include <algorithm>

#include "ouro/report.h"
#include "ouro/version.h"
#include "report/json_writer.h"

namespace ouro {
namespace {

constexpr std::size_t kWidth = 78;  // Columns.

// Breaks `text` into lines of at most kWidth columns, each indented by `indent` spaces.
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

// "session-si, serializable"; a dash for none.
std::string names_below(Level level) {
  std::string out;
  for (const Level below : directly_below(level)) {
    out += out.empty() ? "" : ", ";
    out += info(below).name;
  }
  return out.empty() ? "-" : out;
}

// A line for each level, the strongest first: what `mark_of` returns for it (one column), its name
// and the levels directly below it.
template <class F>
std::string lattice_table(const F& mark_of) {
  std::size_t width = 0;
  for (const LevelInfo& level : levels()) width = std::max(width, level.name.size());
  std::string out = fmt::format("\n    {:{}}  {}\n", "level", width, "directly implies");
  for (std::size_t i = levels().size(); i-- > 0;) {
    const LevelInfo& level = levels()[i];
    out += fmt::format("  {} {:{}}  {}\n", mark_of(level.level), level.name, width,
                       names_below(level.level));
  }
  return out;
}

}  // namespace

std::string marked_lattice(std::span<const Verdict> verdicts, bool colour) {
  constexpr std::string_view kMarks[] = {"✓", "✗", "?"};
  constexpr std::string_view kPartly = "~";  // It holds, but something was left out.
  constexpr std::string_view kColours[] = {"\033[32m", "\033[1;31m", "\033[1;33m"};
  bool partly = false;
  const std::string table = lattice_table([&](Level level) -> std::string {
    for (const Verdict& verdict : verdicts) {
      if (verdict.level != level) continue;
      const auto outcome = static_cast<std::size_t>(verdict.outcome);
      partly = partly || !verdict.left_out.empty();
      const std::string_view mark = verdict.left_out.empty() ? kMarks[outcome] : kPartly;
      if (!colour) return std::string(mark);
      return fmt::format("{}{}\033[0m", kColours[outcome], mark);
    }
    return " ";
  });
  return table + fmt::format("\n  ✓ holds{}   ✗ violated   ? undecided\n",
                             partly ? "   ~ holds as far as was checked" : "");
}

std::string describe_levels() {
  std::string out = "Isolation levels, and what each directly implies; the rest follows.\n";
  const auto decided = [](Level level) {
    return decidable(level, Evidence::Timestamps) ? '*' : ' ';
  };
  out += lattice_table(decided) +
         "\n  All are decided by what clients observed, those with * by timestamps, too.\n\n";
  for (const LevelInfo& level : levels()) {
    const std::string alias = level.alias.empty() ? "" : fmt::format(" ({})", level.alias);
    out += fmt::format("{} {}{}\n", decided(level.level), level.name, alias);
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
