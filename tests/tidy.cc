#include "tests/tidy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <regex>
#include <set>
#include <sstream>

namespace ouro::tidy {
namespace {

// Core: what knows no database client and no network, and is a library of its own.
enum class Part { Core, Around };

struct Room {
  std::string_view name;
  std::vector<std::string_view> doors;  // Rooms it may include, with all that these may.
  Part part = Part::Core;
};

// The house of docs/ARCHITECTURE.md.
const std::vector<Room>& house() {
  static const std::vector<Room> rooms = {
      {"base", {}},
      {"history", {"base"}},
      {"format", {"history"}},
      {"graph", {"base"}},
      {"solver", {"graph"}},
      {"check", {"history", "graph", "solver"}},
      {"certify", {"format"}},
      {"explain", {"check"}},
      {"report", {"explain"}},
      {"stream", {"check"}},
      {"shard", {"stream", "report", "format"}},
      {"c", {"format"}},
      {"workload", {"history"}, Part::Around},
      {"net", {"base"}, Part::Around},
      {"db", {"format", "net"}, Part::Around},
      {"run", {"workload", "db", "format", "net"}, Part::Around},
      {"serve", {"stream", "report", "format", "net"}, Part::Around},
      {"kafka", {"serve", "shard"}, Part::Around},
      {"tap", {"db", "net", "format"}, Part::Around},
      {"cli", {}, Part::Around},
  };
  return rooms;
}

// The folders of check/. Files directly in check/ choose the engine and include any folder; so no
// folder includes them.
const std::vector<Room>& engines() {
  static const std::vector<Room> folders = {
      {"check/observed", {}},
      {"check/predicates", {}},
      {"check/timeline", {"check/predicates"}},
      {"check/versions", {"check/observed", "check/timeline"}},
      {"check/local", {"check/observed", "check/predicates"}},
      {"check/weak", {"check/observed"}},
      {"check/polygraph", {"check/versions"}},
      {"check", {"check/local", "check/weak", "check/polygraph"}},
  };
  return folders;
}

const Room* find_room(const std::vector<Room>& rooms, std::string_view name) {
  const auto found =
      std::find_if(rooms.begin(), rooms.end(), [&](const Room& room) { return room.name == name; });
  return found == rooms.end() ? nullptr : &*found;
}
const Room* find_room(std::string_view name) { return find_room(house(), name); }

// All of `rooms` that `name` may include, itself among them.
std::set<std::string_view> open_to(const std::vector<Room>& rooms, std::string_view name) {
  std::set<std::string_view> open;
  std::vector<std::string_view> pending = {name};
  while (!pending.empty()) {
    const std::string_view next = pending.back();
    pending.pop_back();
    if (!open.insert(next).second) continue;
    const std::vector<std::string_view>& doors = find_room(rooms, next)->doors;
    pending.insert(pending.end(), doors.begin(), doors.end());
  }
  return open;
}

bool is_header(std::string_view path) { return path.ends_with(".h"); }
bool is_test(std::string_view path) {
  return path.ends_with("_test.cc") || path.ends_with("_fuzz.cc") || path.starts_with("tests/");
}

// The first folder of a path that has one: "graph" of "graph/scc.h".
std::string_view top_folder(std::string_view path) {
  const std::size_t slash = path.find('/');
  return slash == std::string_view::npos ? std::string_view{} : path.substr(0, slash);
}

// The room of a source file: "check" of "src/check/weak/rc.cc"; empty outside src/.
std::string_view room_of(std::string_view path) {
  return path.starts_with("src/") ? top_folder(path.substr(4)) : std::string_view{};
}

// The folder of a path: "check/weak" of "check/weak/weak.h".
std::string_view folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view{} : path.substr(0, slash);
}

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

struct Include {
  std::string name;
  bool quoted = false;
  std::size_t line = 0;
};

std::vector<Include> includes_of(std::string_view text) {
  static const std::regex include(R"re(^\s*#\s*include\s*([<"])([^>"]*)[>"].*)re");
  std::vector<Include> found;
  std::size_t number = 0;
  for (const std::string_view line : split_lines(text)) {
    ++number;
    std::cmatch match;
    if (!std::regex_match(line.data(), line.data() + line.size(), match, include)) continue;
    found.push_back({match[2].str(), match[1].str() == "\"", number});
  }
  return found;
}

std::string complain(std::string_view path, std::size_t line, std::string_view what) {
  return fmt::format("{}:{}: error: {}", path, line, what);
}

bool is_standard(std::string_view included) {
  return included.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789") ==
         std::string_view::npos;
}

// What is wrong with the command line's including `included`; empty if nothing.
std::string check_cli_include(std::string_view included, bool quoted) {
  static const std::set<std::string_view> system = {"fcntl.h", "poll.h", "signal.h", "termios.h",
                                                    "unistd.h"};
  static const std::set<std::string_view> folders = {"CLI", "fmt", "sys"};
  const std::string_view folder = top_folder(included);
  if (quoted ? folder == "ouro" || folder == "cli"
             : is_standard(included) || folders.contains(folder) || system.contains(included)) {
    return {};
  }
  if (find_room(folder) != nullptr) {
    return fmt::format("cli/ may not include {}/ (see docs/ARCHITECTURE.md, The house)", folder);
  }
  return fmt::format(
      "cli/ may include the public headers, fmt, CLI11 and the standard library, not {} "
      "(see docs/ARCHITECTURE.md, The house)",
      included);
}

// What is wrong with a core room's including <included>, which is of no room; empty if nothing.
std::string check_core_include(std::string_view room, std::string_view included) {
  static const std::set<std::string_view> folders = {"absl", "fmt", "sys"};
  static const std::set<std::string_view> files = {"emmintrin.h", "fcntl.h", "poll.h", "signal.h",
                                                   "unistd.h",    "zlib.h",  "zstd.h"};
  static const std::set<std::string_view> network = {"sys/socket.h", "sys/un.h"};
  const bool known = is_standard(included) || files.contains(included) ||
                     (folders.contains(top_folder(included)) && !network.contains(included));
  if (known) return {};
  return fmt::format(
      "{}/ is core, which knows no database client and no network, but includes {} "
      "(see docs/ARCHITECTURE.md, The house)",
      room, included);
}

// The oracles that engines are tested against.
bool is_oracle(std::string_view path) {
  static const std::regex oracle(
      R"re(tests/(oracle|observed|relation|replay|[a-z0-9]+_oracle)\.(cc|h))re");
  return std::regex_match(path.begin(), path.end(), oracle);
}

// Whoever judges the engines has nothing of theirs. The certifier reads files, and histories as
// they lie in memory; the oracles read public headers only.
std::string check_judge_include(std::string_view path, std::string_view included) {
  static const std::set<std::string_view> shared = {"format/input.h", "format/json_tree.h",
                                                    "format/output.h", "history/columns.h"};
  if (find_room(top_folder(included)) == nullptr) return {};
  if (is_oracle(path)) return fmt::format("an oracle may include no room, hence not {}", included);
  if (top_folder(included) == "certify" || shared.contains(included)) return {};
  return fmt::format(
      "certify/ may not include {}, so that a mistake there cannot hide itself (see "
      "docs/certificates.md, Independence)",
      included);
}

// What is wrong with a file of check/ including another; empty if nothing.
std::string check_engine_include(std::string_view path, std::string_view included) {
  const std::string_view from = folder_of(path.substr(4));
  const std::string_view to = folder_of(included);
  for (const std::string_view folder : {from, to}) {
    if (find_room(engines(), folder) == nullptr) {
      return fmt::format("{}/ is no folder that tests/tidy.cc knows; give it doors there", folder);
    }
  }
  if (open_to(engines(), from).contains(to)) return {};
  return fmt::format("{}/ may not include {}/ (see src/README.md, check/)", from, to);
}

std::string check_include(std::string_view path, std::string_view included, bool quoted) {
  const std::string_view folder = top_folder(included);
  const std::string_view room = room_of(path);
  if (path.starts_with("include/")) {
    if (quoted ? folder == "ouro" : is_standard(included)) return {};
    // What C programs include, too.
    static const std::set<std::string_view> of_c = {"stddef.h", "stdint.h"};
    if (path == "include/ouro/c.h" && of_c.contains(included)) return {};
    return fmt::format("public headers include the standard library and ouro/ only, not {}",
                       included);
  }
  if (room == "cli") return check_cli_include(included, quoted);
  if (path.starts_with("bench/")) {
    if (find_room(folder) == nullptr) return {};
    return fmt::format("bench/ may not include {}/ (see docs/ARCHITECTURE.md, The house)", folder);
  }
  if (find_room(room) == nullptr) return fmt::format("{}/ is no room of the house", room);
  if (find_room(folder) != nullptr) {
    if (room == "check" && folder == "check") return check_engine_include(path, included);
    if (open_to(house(), room).contains(folder)) {
      return room == "certify" ? check_judge_include(path, included) : "";
    }
    return fmt::format("{}/ may not include {}/ (see docs/ARCHITECTURE.md, The house)", room,
                       folder);
  }
  if (quoted && folder != "ouro") {
    return fmt::format("write \"{}\" from src/ on, as in \"{}/x.h\"", included, room);
  }
  if (!quoted && is_core(room) && !path.ends_with("_benchmark.cc")) {
    return check_core_include(room, included);
  }
  return {};
}

}  // namespace

std::vector<std::string_view> rooms() {
  std::vector<std::string_view> names;
  for (const Room& room : house()) names.push_back(room.name);
  return names;
}

bool is_core(std::string_view room) {
  const Room* found = find_room(room);
  return found != nullptr && found->part == Part::Core;
}

Complaints check_core() {
  Complaints complaints;
  for (const Room& room : house()) {
    if (room.part != Part::Core) continue;
    for (const std::string_view open : open_to(house(), room.name)) {
      if (is_core(open)) continue;
      complaints.push_back(
          fmt::format("tests/tidy.cc: error: {}/ is core and must not have a door to {}/, "
                      "which is around it",
                      room.name, open));
    }
  }
  return complaints;
}

Complaints check_documents(std::string_view path, std::string_view text) {
  Complaints complaints;
  if (!path.starts_with("src/") || is_test(path)) return complaints;
  std::size_t number = 0;
  for (const std::string_view line : split_lines(text)) {
    ++number;
    const std::size_t at = line.find("docs/");
    if (at == line.npos || line.substr(0, at).find("//") != line.npos) continue;
    complaints.push_back(
        complain(path, number,
                 "where documents are is said in one place: use document_address(\"page.md\")"));
  }
  return complaints;
}

Complaints check_doors(std::string_view path, std::string_view text) {
  Complaints complaints;
  if (is_test(path) && !is_oracle(path)) return complaints;
  for (const Include& include : includes_of(text)) {
    const std::string what = is_oracle(path) ? check_judge_include(path, include.name)
                                             : check_include(path, include.name, include.quoted);
    if (!what.empty()) complaints.push_back(complain(path, include.line, what));
  }
  return complaints;
}

Complaints check_folder_cycles(std::span<const Source> sources) {
  struct Step {
    const Source* source;
    Include include;
  };
  std::map<std::pair<std::string, std::string>, Step> steps;  // The first between two folders.
  std::map<std::string, std::set<std::string>> next;
  for (const Source& source : sources) {
    if (!source.path.starts_with("src/") || is_test(source.path)) continue;
    const std::string from(folder_of(std::string_view(source.path).substr(4)));
    for (const Include& include : includes_of(source.text)) {
      const std::string to(folder_of(include.name));
      if (!include.quoted || to == from || find_room(top_folder(include.name)) == nullptr) continue;
      steps.try_emplace({from, to}, Step{&source, include});
      next[from].insert(to);
    }
  }
  const auto reaches = [&](const std::string& from, const std::string& to) {
    std::set<std::string> seen;
    std::vector<std::string> pending = {from};
    while (!pending.empty()) {
      const std::string here = pending.back();
      pending.pop_back();
      if (here == to) return true;
      if (!seen.insert(here).second) continue;
      pending.insert(pending.end(), next[here].begin(), next[here].end());
    }
    return false;
  };
  Complaints complaints;
  for (const auto& [folders, step] : steps) {
    if (!reaches(folders.second, folders.first)) continue;
    complaints.push_back(complain(step.source->path, step.include.line,
                                  fmt::format("{}/ and {}/ include each other; move what both need "
                                              "to a folder below",
                                              folders.first, folders.second)));
  }
  return complaints;
}

Complaints check_silence(std::string_view path, std::string_view text) {
  Complaints complaints;
  if (!path.starts_with("src/") || room_of(path) == "cli" || is_test(path) ||
      path.ends_with("_benchmark.cc")) {
    return complaints;
  }
  // Members may have such names: txn.exit(…).
  static const std::regex loud(
      R"((^|[^\w.>])(std::(cout|cerr|clog)\b)"
      R"(|(std::|fmt::)?(printf|fprintf|vprintf|vfprintf|puts|print)\s*\()"
      R"(|(std::)?(exit|_exit|_Exit|quick_exit)\s*\(|(std::)?abort\s*\(\s*\)))");
  std::size_t number = 0;
  const std::string code = blank_non_code(text);
  for (const std::string_view line : split_lines(code)) {
    ++number;
    std::cmatch match;
    if (!std::regex_search(line.data(), line.data() + line.size(), match, loud)) continue;
    complaints.push_back(complain(
        path, number,
        fmt::format("the library is silent and never exits, but here is {}; return an Error",
                    trim(match[2].str()))));
  }
  return complaints;
}

Complaints check_searches(std::string_view path, std::string_view text) {
  Complaints complaints;
  if (room_of(path) != "report" || is_test(path)) return complaints;
  static const std::regex search(
      R"((^|[^\w.>])((ouro::)?(check|check_within|explain|examine|precedence|counterexample|look_for))"
      R"(\s*\(|Budget\b|Observed::))");
  std::size_t number = 0;
  const std::string code = blank_non_code(text);
  for (const std::string_view line : split_lines(code)) {
    ++number;
    std::cmatch match;
    if (!std::regex_search(line.data(), line.data() + line.size(), match, search)) continue;
    complaints.push_back(
        complain(path, number,
                 fmt::format("report/ never starts a search, but here is {}; let examine() do it",
                             trim(match[2].str()))));
  }
  return complaints;
}

namespace {

// Bytes that continue a character of UTF-8 take no column.
std::size_t column_count(std::string_view line) {
  return static_cast<std::size_t>(std::count_if(line.begin(), line.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

// `text` without what raw strings hold, line breaks aside: that is data.
std::string erase_raw_strings(std::string_view text) {
  std::string kept;
  while (!text.empty()) {
    std::size_t start = text.find("R\"");
    // Not the end of a string such as "TMPDIR".
    while (start != text.npos && start > 0 &&
           std::isalnum(static_cast<unsigned char>(text[start - 1])) != 0) {
      start = text.find("R\"", start + 1);
    }
    const std::size_t open = start == text.npos ? text.npos : text.find('(', start);
    if (open == text.npos) break;
    const std::string close = fmt::format("){}\"", text.substr(start + 2, open - start - 2));
    const std::size_t end = std::min(text.find(close, open), text.size());
    kept.append(text.substr(0, open));
    kept.append(static_cast<std::size_t>(std::count(&text[open], text.data() + end, '\n')), '\n');
    text.remove_prefix(end);
  }
  return kept.append(text);
}

}  // namespace

Complaints check_form(std::string_view path, std::string_view text) {
  Complaints complaints;
  const std::string ours = erase_raw_strings(text);
  std::size_t number = 0;
  for (const std::string_view line : split_lines(ours)) {
    ++number;
    if (line.find('\t') != std::string_view::npos) {
      complaints.push_back(complain(path, number, "tab; indent with spaces"));
    }
    if (line.find('\r') != std::string_view::npos) {
      complaints.push_back(complain(path, number, "carriage return; end lines with \\n alone"));
    } else if (line.ends_with(' ')) {
      complaints.push_back(complain(path, number, "trailing space"));
    }
    const std::size_t columns = column_count(line);
    if (columns > kMaxColumns) {
      complaints.push_back(
          complain(path, number, fmt::format("{} columns, the limit is {}", columns, kMaxColumns)));
    }
  }
  if (text.empty() || text.back() != '\n') {
    complaints.push_back(complain(path, std::max<std::size_t>(number, 1),
                                  "the last line does not end; add a line break"));
  }
  if (is_header(path) && text.find("#pragma once\n") == std::string_view::npos) {
    complaints.push_back(complain(path, 1, "header without #pragma once"));
  }
  return complaints;
}

Complaints check_kind_order(std::string_view path, std::string_view text) {
  static const std::regex order(
      R"([<>]=? (\w+::)?(?!Token)\w*Kind::|\b(?!Token)\w*Kind::\w+ [<>]=? |[<>]=? Pattern::)");
  Complaints complaints;
  std::size_t number = 0;
  for (const std::string_view line : split_lines(text)) {
    ++number;
    if (!std::regex_search(line.data(), line.data() + line.size(), order)) continue;
    complaints.push_back(complain(path, number,
                                  "kinds have no order; ask their row, info(), for operations "
                                  "src/history/access.h, or name the kinds that are meant"));
  }
  return complaints;
}

Complaints check_words(std::string_view path, std::string_view text) {
  // Put together, or this file would complain about itself.
  static const std::regex words(
      "\\b(TO"
      "DO|FIX"
      "ME|XX"
      "X)\\b");
  Complaints complaints;
  std::size_t number = 0;
  for (const std::string_view line : split_lines(text)) {
    ++number;
    std::cmatch match;
    if (!std::regex_search(line.data(), line.data() + line.size(), match, words)) continue;
    complaints.push_back(
        complain(path, number, fmt::format("{}: do it now, or open an issue", match[1].str())));
  }
  return complaints;
}

Complaints check_level_order(std::string_view path, std::string_view text) {
  Complaints complaints;
  if (path == "src/base/level.cc" || path == "include/ouro/level.h") return complaints;
  static const std::string level = R"((?:\w+::)*Level::\w+)";
  static const std::string named = R"((?:\w+(?:\.|->|\(\)\.))*(?:\w*_)?level_?)";
  static const std::string value = "(?:" + level + "|" + named + R"(|static_cast<[\w:]+>\((?:)" +
                                   level + "|" + named + R"()\)))";
  static const std::string less = "(?:<|<=|>|>=|<=>)";
  static const std::regex ordered(
      "(?:^|[^\\w:.>])" + value + " " + less + " |" + " " + less + " " + level +
      "\\b|std::(?:min|max|clamp)\\((?:[^;]*\\b" + level + "|" + named + ",)" +
      R"(|std::(?:multi)?(?:set<(?:\w+::)*Level>|map<(?:\w+::)*Level, \w+>))");
  std::size_t number = 0;
  const std::string code = blank_non_code(text);
  for (const std::string_view line : split_lines(code)) {
    ++number;
    if (!std::regex_search(line.data(), line.data() + line.size(), ordered)) continue;
    complaints.push_back(complain(
        path, number,
        "levels are not a line; ask implies() or the level's row, or sort with InListOrder"));
  }
  return complaints;
}

Complaints check_own_rules(std::string_view path, std::string_view text) {
  Complaints complaints;
  if (!path.starts_with("src/certify/") && !is_oracle(path)) return complaints;
  std::size_t number = 0;
  for (const std::string_view line : split_lines(text)) {
    ++number;
    if (line.find("#include \"base/level_rules.h\"") == std::string_view::npos) continue;
    complaints.push_back(complain(path, number,
                                  "what re-checks verdicts has rules of its own, not those of the "
                                  "engines in base/level_rules.h"));
  }
  return complaints;
}

Complaints check_type_names(std::span<const Source> sources) {
  static const std::regex space(R"(^namespace ([\w:]+) \{)");
  static const std::regex type(R"(^(?:struct|class|enum class) (\w+)(?: final)?(?: : .*)? \{)");
  struct Type {
    std::string full_name;
    std::string path;
  };
  const auto meet = [](std::string_view a, std::string_view b) {
    if (a.starts_with("tests/") || b.starts_with("tests/")) return false;
    if (a.starts_with("bench/") || b.starts_with("bench/")) return false;
    if (a.starts_with("include/") || b.starts_with("include/")) return true;
    if (find_room(room_of(a)) == nullptr || find_room(room_of(b)) == nullptr) return false;
    return open_to(house(), room_of(a)).contains(room_of(b)) ||
           open_to(house(), room_of(b)).contains(room_of(a));
  };
  Complaints complaints;
  std::map<std::string, std::vector<Type>> known;  // By name without the namespace.
  for (const Source& source : sources) {
    if (!source.path.ends_with(".h")) continue;
    std::string where;
    std::size_t number = 0;
    for (const std::string_view line : split_lines(source.text)) {
      ++number;
      std::cmatch match;
      const char* end = line.data() + line.size();
      if (std::regex_search(line.data(), end, match, space)) where = match[1].str();
      if (!std::regex_search(line.data(), end, match, type)) continue;
      std::vector<Type>& others = known[match[1].str()];
      const std::string name = where + "::" + match[1].str();
      const auto other = std::find_if(others.begin(), others.end(), [&](const Type& one) {
        return one.full_name == name || meet(one.path, source.path);
      });
      if (other != others.end()) {
        complaints.push_back(complain(source.path, number,
                                      fmt::format("{} is also a type of {}", name, other->path)));
      }
      others.push_back({name, source.path});
    }
  }
  return complaints;
}

Ratchet parse_ratchet(std::string_view text, Complaints& complaints) {
  Ratchet ratchet;
  std::size_t number = 0;
  for (const std::string_view line : split_lines(text)) {
    ++number;
    if (trim(line).empty() || trim(line).starts_with('#')) continue;
    std::istringstream words{std::string(line)};
    std::string kind, path, name;
    int lines = 0;
    words >> kind >> path;
    if (kind == "file" && words >> lines) {
      ratchet.files[path] = lines;
    } else if (kind == "function" && words >> name >> lines) {
      ratchet.functions[path + ' ' + name] = lines;
    } else if (kind == "example" && !path.empty()) {
      ratchet.examples.push_back(path);
    } else if (kind == "tested" && words >> name) {
      ratchet.tested[path] = name;
    } else {
      complaints.push_back(complain("tests/tidy_ratchet.txt", number,
                                    "expected 'file PATH LINES', 'function PATH NAME LINES', "
                                    "'example PATH' or 'tested PATH TEST'"));
    }
  }
  return ratchet;
}

namespace {

int allowed(const std::map<std::string, int>& ratchet, const std::string& key, int limit) {
  const auto found = ratchet.find(key);
  return found == ratchet.end() ? limit : std::max(limit, found->second);
}

// Entries that allow more than is needed, so that what became shorter stays so.
void check_entries(std::string_view kind, const std::map<std::string, int>& ratchet,
                   const std::map<std::string, int>& sizes, int limit, Complaints& complaints) {
  for (const auto& [key, lines] : ratchet) {
    const auto found = sizes.find(key);
    const int actual = found == sizes.end() ? 0 : found->second;
    if (actual <= limit) {
      complaints.push_back(fmt::format(
          "tests/tidy_ratchet.txt: error: '{} {}' is not needed any more; remove it", kind, key));
    } else if (actual < lines) {
      complaints.push_back(
          fmt::format("tests/tidy_ratchet.txt: error: '{} {}' shrank to {}; "
                      "lower its entry from {}",
                      kind, key, actual, lines));
    }
  }
}

}  // namespace

Complaints check_sizes(const Sizes& sizes, const Ratchet& ratchet) {
  Complaints complaints;
  for (const auto& [path, lines] : sizes.files) {
    const int limit = allowed(ratchet.files, path, kMaxFileLines);
    if (lines <= limit) continue;
    complaints.push_back(complain(
        path, 1, fmt::format("{} code lines, the limit is {}; split the file", lines, limit)));
  }
  for (const auto& [key, lines] : sizes.functions) {
    const int limit = allowed(ratchet.functions, key, kMaxFunctionLines);
    if (lines <= limit) continue;
    const std::size_t space = key.find(' ');
    complaints.push_back(
        complain(key.substr(0, space), static_cast<std::size_t>(sizes.lines.at(key)),
                 fmt::format("function '{}' has {} lines, the limit is {}; split it",
                             key.substr(space + 1), lines, limit)));
  }
  check_entries("file", ratchet.files, sizes.files, kMaxFileLines, complaints);
  check_entries("function", ratchet.functions, sizes.functions, kMaxFunctionLines, complaints);
  return complaints;
}

namespace {

// The words of `text` with one space between them, so that line breaks do not matter.
std::string squeeze(std::string_view text) {
  std::istringstream words{std::string(text)};
  std::string squeezed, word;
  while (words >> word) squeezed.append(squeezed.empty() ? "" : " ").append(word);
  return squeezed;
}

const std::regex& example_intro() {
  static const std::regex intro(R"(// Example \(built and run as (tests/example_\w+\.cc?)\):\s*)");
  return intro;
}

// The code below the introduction: comment lines indented by three spaces or more.
std::string shown_example(std::string_view header) {
  std::string code;
  bool inside = false;
  for (const std::string_view line : split_lines(header)) {
    const std::string owned(line);
    if (std::regex_match(owned, example_intro())) {
      inside = true;
    } else if (inside && line.starts_with("//   ")) {
      code.append(line.substr(2)).append("\n");
    } else if (inside && trim(line) != "//") {
      break;
    }
  }
  return code;
}

}  // namespace

std::string example_path(std::string_view header) {
  for (const std::string_view line : split_lines(header)) {
    std::cmatch match;
    if (std::regex_match(line.data(), line.data() + line.size(), match, example_intro())) {
      return match[1].str();
    }
  }
  return {};
}

Complaints check_example(std::string_view path, std::string_view header, std::string_view example) {
  const std::string shown = shown_example(header);
  const std::string built = squeeze(example);
  if (shown.empty()) return {complain(path, 1, "announces an example and shows none")};
  if (built.find(squeeze(shown)) != std::string::npos) return {};
  // The first line that is nowhere is the likeliest culprit.
  const std::vector<std::string_view> lines = split_lines(shown);
  const auto missing = std::find_if(lines.begin(), lines.end(), [&](std::string_view line) {
    return built.find(squeeze(line)) == std::string::npos;
  });
  return {complain(path, 1,
                   fmt::format("the example is not in {} as shown, see '{}'", example_path(header),
                               trim(missing == lines.end() ? lines.front() : *missing)))};
}

namespace {

bool has_paragraph(const std::vector<std::string_view>& lines, std::string_view heading) {
  auto line = std::find(lines.begin(), lines.end(), heading);
  if (line == lines.end()) return false;
  while (++line != lines.end() && !line->starts_with("## ")) {
    if (!trim(*line).empty()) return true;
  }
  return false;
}

}  // namespace

Complaints check_rooms(std::span<const std::string> folders, std::string_view readme) {
  Complaints complaints;
  for (const std::string& folder : folders) {
    if (find_room(folder) != nullptr) continue;
    complaints.push_back(fmt::format(
        "src/{}: error: no room of the house (see docs/ARCHITECTURE.md, The house)", folder));
  }
  const std::vector<std::string_view> lines = split_lines(readme);
  for (const Room& room : house()) {
    const std::string heading = fmt::format("## {}/", room.name);
    if (!has_paragraph(lines, heading)) {
      complaints.push_back(fmt::format("src/README.md: error: no paragraph under '{}'", heading));
    }
  }
  return complaints;
}

}  // namespace ouro::tidy
