// Style as a test: what the sources must look like, as functions from text to complaints.
//
// A complaint reads like a compiler's: "src/graph/scc.cc:3: error: graph/ may not include history/
// (see docs/ARCHITECTURE.md, The house)". tidy_test.cc feeds these functions every file of the
// repository, and small bad inputs to see each of them fail.
//
// The C++ here is read without a parser: comments and literals are blanked, then words and braces
// are looked at. That is enough for code that clang-format laid out.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ouro::tidy {

using Complaints = std::vector<std::string>;

inline constexpr int kMaxFileLines = 700;  // Code lines: neither blank nor comment alone.
inline constexpr int kMaxFunctionLines = 70;
inline constexpr int kMaxColumns = 100;

// The rooms of src/, each before those that may include it.
[[nodiscard]] std::vector<std::string_view> rooms();

// Whether a room belongs to the core, which knows no database client and no network. CMakeLists.txt
// names the others, too.
[[nodiscard]] bool is_core(std::string_view room);
// No room of the core may include one that is not of the core.
[[nodiscard]] Complaints check_core();

// Text that is printed names documents only by document_address() (ouro/version.h).
[[nodiscard]] Complaints check_documents(std::string_view path, std::string_view text);

// Rooms include only the rooms whose doors are open to them; the public headers only the standard
// library and themselves; the command line only the public headers and what it prints and parses
// with; benchmarks no room; rooms of the core no database client and no network. The folders of
// check/ are small rooms with doors of their own. The certifier and the oracles include nothing of
// the engines that they judge. Other tests (x_test.cc, tests/) may include anything.
[[nodiscard]] Complaints check_doors(std::string_view path, std::string_view text);

// The library neither prints nor exits. `path` decides: src/cli/ and tests may.
[[nodiscard]] Complaints check_silence(std::string_view path, std::string_view text);

// Reports render what they are given: src/report/ does not call what searches.
[[nodiscard]] Complaints check_searches(std::string_view path, std::string_view text);

// No tabs, trailing spaces, long lines (but in raw strings) or missing line break at the end;
// headers are included once.
[[nodiscard]] Complaints check_form(std::string_view path, std::string_view text);

// Kinds of operations, predicates and anomalies are not compared by their order: what they are is
// in their rows, info().
[[nodiscard]] Complaints check_kind_order(std::string_view path, std::string_view text);
// No notes to oneself; they belong to the issue tracker.
[[nodiscard]] Complaints check_words(std::string_view path, std::string_view text);

// Nobody compares levels by the order of their enumerators, which says nothing about levels of
// which neither implies the other; outside src/base/level.cc, which has the table. The header of
// Level forbids most of it; this finds the casts around that, and says what to do instead.
[[nodiscard]] Complaints check_level_order(std::string_view path, std::string_view text);

// What re-checks a verdict does not read the table of levels that the engines decide by.
[[nodiscard]] Complaints check_own_rules(std::string_view path, std::string_view text);

// A file of the project.
struct Source {
  std::string path;  // From the root of the repository.
  std::string text;
};

// No two folders of src/ include each other, be it through others. Tests do not count.
[[nodiscard]] Complaints check_folder_cycles(std::span<const Source> sources);

// No two headers define types of the same name in one namespace: a program that links both would
// silently use the code of one for the other. Nor in different namespaces, if one header is public
// or its room may include the other's: a reader of both should meet one meaning of a name.
[[nodiscard]] Complaints check_type_names(std::span<const Source> sources);

// How long things are; the key is a path, or "path name" for a function. Of functions with one
// name in one file the longest counts.
struct Sizes {
  std::map<std::string, int> files;
  std::map<std::string, int> functions;
  std::map<std::string, int> lines;  // Where the function begins.
};
void measure(std::string_view path, std::string_view text, Sizes& sizes);

// What may stay although the rules forbid it, as tests/tidy_ratchet.txt lists it: a line
// "file PATH LINES", "function PATH NAME LINES", "example PATH" or "tested PATH TEST". Only ever
// made shorter.
struct Ratchet {
  std::map<std::string, int> files;
  std::map<std::string, int> functions;
  std::vector<std::string> examples;          // Public headers whose example is not compiled.
  std::map<std::string, std::string> tested;  // By source: which other source's test tests it.
};
[[nodiscard]] Ratchet parse_ratchet(std::string_view text, Complaints& complaints);

// Nothing is longer than the limit, or than the ratchet says; and no entry of the ratchet allows
// more than there is.
[[nodiscard]] Complaints check_sizes(const Sizes& sizes, const Ratchet& ratchet);

// Every source x.cc of check/ and certify/ has x_test.cc beside it, or an entry of the ratchet that
// says whose test in the same folder tests it; and there is no other such entry.
[[nodiscard]] Complaints check_tests_beside(std::span<const Source> sources,
                                            const Ratchet& ratchet);

// The file that `header` says its example is built from, "tests/example_x.cc"; empty if it shows
// no example.
[[nodiscard]] std::string example_path(std::string_view header);
// The example of the header is in `example`, word by word.
[[nodiscard]] Complaints check_example(std::string_view path, std::string_view header,
                                       std::string_view example);

// Every folder of src/ is a room of the house, and every room has its paragraph ("## base/") in
// src/README.md.
[[nodiscard]] Complaints check_rooms(std::span<const std::string> folders, std::string_view readme);

// `text` with comments, literals and preprocessor lines blanked; line breaks stay.
[[nodiscard]] std::string blank_non_code(std::string_view text);

}  // namespace ouro::tidy
